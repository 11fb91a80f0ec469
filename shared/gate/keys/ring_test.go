package keys

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
)

const (
	vectorKey    = "975988f45090561684b7d8f4e45b85c2"
	vectorSecret = Secret("957f23f2d6435e37d4ac21f3e9a67d45")
)

// The box was made with Node's crypto module: aes-256-gcm, a key of 32 bytes 7,
// the access key as additional data.
func TestOpensWhatAnotherImplementationSealed(t *testing.T) {
	t.Parallel()
	box := must.Get(hex.DecodeString("000102030405060708090a0b21b4de162f3abf7b1384d1afd73d5fcd8508d7ed2a53110273f7028cb9b35930be955bd382f63665a61946c9fad284fd"))(t)
	got, err := testRing(t).open(vectorKey, sealed{"a", box})
	if err != nil || got != vectorSecret {
		t.Errorf("got %q and error %v", string(got), err)
	}
}

func TestASealedSecretOpensForItsKeyOnly(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	s := ring.seal(vectorKey, vectorSecret)
	if bytes.Contains(s.box, []byte(vectorSecret)) {
		t.Error("the sealed form holds the plaintext")
	}
	if got, err := ring.open(vectorKey, s); err != nil || got != vectorSecret {
		t.Errorf("got %q and error %v", string(got), err)
	}
	if bytes.Equal(s.box, ring.seal(vectorKey, vectorSecret).box) {
		t.Error("two seals of one secret are equal: the nonce repeats")
	}
	changed := bytes.Clone(s.box)
	changed[len(changed)-1] ^= 1
	for name, c := range map[string]struct {
		accessKey string
		sealed    sealed
	}{
		"another key":      {strings.Repeat("0", 32), s},
		"changed":          {vectorKey, sealed{"a", changed}},
		"cut":              {vectorKey, sealed{"a", s.box[:5]}},
		"empty":            {vectorKey, sealed{"a", nil}},
		"unknown data key": {vectorKey, sealed{"b", s.box}},
	} {
		_, err := ring.open(c.accessKey, c.sealed)
		if err == nil {
			t.Errorf("%s: opened", name)
		} else if strings.Contains(err.Error(), string(vectorSecret)) {
			t.Errorf("%s: the error shows the secret", name)
		}
	}
}

func TestARotatedRingOpensOldSecretsAndSealsWithTheNewKey(t *testing.T) {
	t.Parallel()
	old := testRing(t)
	rotated := must.Get(OpenRing(t.Context(), func(context.Context) (DataKeys, error) {
		return DataKeys{Current: "b", Keys: map[string][]byte{
			"a": bytes.Repeat([]byte{7}, 32), "b": bytes.Repeat([]byte{8}, 32),
		}}, nil
	}))(t)
	if got, err := rotated.open(vectorKey, old.seal(vectorKey, vectorSecret)); err != nil || got != vectorSecret {
		t.Errorf("a secret sealed before: got %q and error %v", string(got), err)
	}
	s := rotated.seal(vectorKey, vectorSecret)
	if s.dataKey != "b" {
		t.Errorf("sealed with data key %q, want b", s.dataKey)
	}
	if _, err := old.open(vectorKey, s); err == nil {
		t.Error("the old ring opened what the new key sealed")
	}
}

func TestAKeyFileOpensARing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	text, _ := json.Marshal(DataKeys{Current: "a", Keys: map[string][]byte{"a": bytes.Repeat([]byte{7}, 32)}})
	must.Do(t, os.WriteFile(path, text, 0o600))
	ring := must.Get(OpenRing(t.Context(), File(path)))(t)
	if got, err := ring.open(vectorKey, testRing(t).seal(vectorKey, vectorSecret)); err != nil || got != vectorSecret {
		t.Errorf("got %q and error %v", string(got), err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	must.Do(t, os.Chmod(path, 0o644))
	if _, err := OpenRing(t.Context(), File(path)); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a key file open to others: got error %v", err)
	}
}

func TestAFaultyKeyFileIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	const material = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
	for name, text := range map[string]string{
		"not JSON":        `{"current":"a","keys":{"a":"` + material,
		"trailing":        `{"current":"a","keys":{"a":"` + material + `"}}{}`,
		"not base64":      `{"current":"a","keys":{"a":"!` + material + `"}}`,
		"unknown field":   `{"current":"a","` + material + `":1}`,
		"short key":       `{"current":"a","keys":{"a":"BwcH"}}`,
		"no current":      `{"keys":{"a":"` + material + `"}}`,
		"unknown current": `{"current":"b","keys":{"a":"` + material + `"}}`,
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := OpenRing(t.Context(), File(path))
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), material) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
	if _, err := OpenRing(t.Context(), File(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got error %v", err)
	}
}

// wrapper answers as KMS does: the ciphertext opens with its own context only.
type wrapper struct {
	plain map[string][]byte // ciphertext and data key id -> plaintext
	calls int
}

func (w *wrapper) Decrypt(_ context.Context, in *kms.DecryptInput, _ ...func(*kms.Options)) (*kms.DecryptOutput, error) {
	w.calls++
	plain, ok := w.plain[string(in.CiphertextBlob)+"/"+in.EncryptionContext[DataKeyContext]]
	if !ok {
		return nil, errors.New("InvalidCiphertextException")
	}
	return &kms.DecryptOutput{Plaintext: plain}, nil
}

func TestKMSUnwrapsEachDataKeyOnceWithItsContext(t *testing.T) {
	t.Parallel()
	w := &wrapper{plain: map[string][]byte{
		"wrapped-a/a": bytes.Repeat([]byte{7}, 32), "wrapped-b/b": bytes.Repeat([]byte{8}, 32),
	}}
	text, _ := json.Marshal(DataKeys{Current: "b", Keys: map[string][]byte{"a": []byte("wrapped-a"), "b": []byte("wrapped-b")}})
	ring := must.Get(OpenRing(t.Context(), KMS(w, string(text))))(t)
	for range 3 {
		if got, err := ring.open(vectorKey, ring.seal(vectorKey, vectorSecret)); err != nil || got != vectorSecret {
			t.Errorf("got %q and error %v", string(got), err)
		}
	}
	if w.calls != 2 {
		t.Errorf("KMS was called %d times, want 2", w.calls)
	}
	swapped, _ := json.Marshal(DataKeys{Current: "b", Keys: map[string][]byte{"b": []byte("wrapped-a")}})
	if _, err := OpenRing(t.Context(), KMS(w, string(swapped))); err == nil {
		t.Error("a data key under another id was unwrapped")
	}
}

func TestNothingPrintsASecret(t *testing.T) {
	t.Parallel()
	plain := bytes.Repeat([]byte{7}, 32)
	material := DataKeys{Current: "a", Keys: map[string][]byte{"a": plain}}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, v := range []any{vectorSecret, Principal{Secret: vectorSecret}, Registration{Secret: vectorSecret}, material, testRing(t)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if _, isRing := v.(*Ring); isRing && verb == "%d" {
				continue // no number in it
			}
			if _, isKeys := v.(DataKeys); isKeys && verb == "%d" {
				continue // printed with a verb that asks for raw numbers
			}
			log.WriteString(fmt.Sprintf(verb, v) + "\n")
		}
		logger.Info("one", "value", v)
		if _, isKeys := v.(DataKeys); !isKeys {
			text := must.Get(json.Marshal(v))(t)
			log.Write(text)
		}
	}
	for _, form := range []string{
		string(vectorSecret), hex.EncodeToString([]byte(vectorSecret)), string(plain), hex.EncodeToString(plain),
		"BwcHBwcH", "7 7 7", "0x7, 0x7",
	} {
		if strings.Contains(log.String(), form) {
			t.Errorf("a secret shows as %q", form)
		}
	}
}

func TestGeneratedKeysHaveTheirForm(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		token := newToken()
		id, ok := inviteID(token)
		if !ok || !isHex(id, 64) {
			t.Fatalf("token %q has the id %q", token, id)
		}
		for _, s := range []string{newAccessKey(), string(newSecret()), token} {
			if seen[s] {
				t.Fatalf("%q came twice", s)
			}
			seen[s] = true
		}
	}
	var got [6]bool
	for i, s := range []string{vectorKey, "", vectorKey[:31], vectorKey + "0", strings.ToUpper(vectorKey), vectorKey[:31] + "g"} {
		got[i] = isAccessKey(s)
	}
	if diff := cmp.Diff([6]bool{true}, got); diff != "" {
		t.Error(diff)
	}
}
