package signature_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/gate/signature"
)

func TestTheCatalogNamesTheSameParameters(t *testing.T) {
	t.Parallel()
	if names := []string{signature.AccessKeyID, signature.Nonce, signature.Timestamp, signature.Signature}; !slices.Equal(names, catalog.SignatureParameters) {
		t.Errorf("%v, in the catalog %v", names, catalog.SignatureParameters)
	}
}

// The expected values were made with openssl dgst -sha1 -hmac and base64, not
// with this package.
func TestSignaturesMatchThoseOfOpenSSL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ key, secret, nonce, timestamp, want string }{
		{"975988f45090561684b7d8f4e45b85c2", "957f23f2d6435e37d4ac21f3e9a67d45", "2", "1612149637",
			"M2Y0ODNlYTUwNDFiMTg5MjRmMGQxNmY1YTMyMzc1NTc5NTUzNDAzYw=="},
		{"a", "b", "c", "1", "ODE3NGVkN2JiODhmOTg4M2VhNmRlYjM5OWRmZjY1NjMwZWU1MmRlYQ=="},
		{"00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff", "ünïcode nonce &=", "1793260800", "MDE4N2U5YzhiZGFkOTVjNzBiMWQ0ZmQ4MGVkMDUwNzIyMGExN2MwNQ=="},
	} {
		if got := signature.Compute([]byte(tt.secret), tt.key, tt.nonce, tt.timestamp); got != tt.want {
			t.Errorf("Compute(%q, %q, %q) = %s, want %s", tt.key, tt.nonce, tt.timestamp, got, tt.want)
		}
		p := signature.Params{AccessKeyID: tt.key, Nonce: tt.nonce, Timestamp: tt.timestamp, Signature: tt.want}
		if !p.Verify([]byte(tt.secret)) {
			t.Errorf("Verify refused the signature of %q", tt.key)
		}
		if p.Verify([]byte(tt.secret + "x")) {
			t.Errorf("Verify accepted the signature of %q under another secret", tt.key)
		}
	}
}

func TestAnyChangedParameterBreaksTheSignature(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9_-]{1,40}`)
		secret := []byte(text.Draw(t, "secret"))
		p := signature.Params{AccessKeyID: text.Draw(t, "key"), Nonce: text.Draw(t, "nonce"), Timestamp: "1793260800"}
		p.Signature = signature.Compute(secret, p.AccessKeyID, p.Nonce, p.Timestamp)
		if !p.Verify(secret) {
			t.Fatal("own signature refused")
		}
		changed := p
		switch rapid.IntRange(0, 3).Draw(t, "field") {
		case 0:
			changed.AccessKeyID += "0"
		case 1:
			changed.Nonce += "0"
		case 2:
			changed.Timestamp = "1793260801"
		case 3:
			i := rapid.IntRange(0, len(p.Signature)-1).Draw(t, "position")
			flipped := []byte(p.Signature)
			flipped[i] ^= 1
			changed.Signature = string(flipped)
		}
		if changed.Verify(secret) {
			t.Fatalf("accepted %+v with the signature of %+v", changed, p)
		}
	})
}

func TestCheckAcceptsThirtySecondsEitherWay(t *testing.T) {
	t.Parallel()
	now := time.Unix(1793260800, 999_000_000).UTC()
	valid := strings.Repeat("A", 56)
	for _, tt := range []struct {
		name string
		p    signature.Params
		want error
	}{
		{"now", signature.Params{"k", "n", "1793260800", valid}, nil},
		{"30 s ago", signature.Params{"k", "n", "1793260770", valid}, nil},
		{"31 s ago", signature.Params{"k", "n", "1793260769", valid}, signature.ErrExpired},
		{"30 s ahead", signature.Params{"k", "n", "1793260830", valid}, nil},
		{"31 s ahead", signature.Params{"k", "n", "1793260831", valid}, signature.ErrExpired},
		{"milliseconds", signature.Params{"k", "n", "1793260800000", valid}, signature.ErrMalformed},
		{"no key", signature.Params{"", "n", "1793260800", valid}, signature.ErrMalformed},
		{"no nonce", signature.Params{"k", "", "1793260800", valid}, signature.ErrMalformed},
		{"no timestamp", signature.Params{"k", "n", "", valid}, signature.ErrMalformed},
		{"no signature", signature.Params{"k", "n", "1793260800", ""}, signature.ErrMalformed},
		{"short signature", signature.Params{"k", "n", "1793260800", valid[1:]}, signature.ErrMalformed},
		{"signed number", signature.Params{"k", "n", "+1793260800", valid}, signature.ErrMalformed},
		{"negative", signature.Params{"k", "n", "-1793260800", valid}, signature.ErrMalformed},
		{"fraction", signature.Params{"k", "n", "1793260800.5", valid}, signature.ErrMalformed},
		{"long nonce", signature.Params{"k", strings.Repeat("n", 129), "1793260800", valid}, signature.ErrMalformed},
		{"long key", signature.Params{strings.Repeat("k", 65), "n", "1793260800", valid}, signature.ErrMalformed},
	} {
		if _, err := tt.p.Check(now); !errors.Is(err, tt.want) {
			t.Errorf("%s: Check = %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzHostileParametersNeverVerify(f *testing.F) {
	f.Add("k", "n", "1793260800", "sig")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, key, nonce, timestamp, sig string) {
		p := signature.Params{AccessKeyID: key, Nonce: nonce, Timestamp: timestamp, Signature: sig}
		if _, err := p.Check(time.Unix(1793260800, 0)); err != nil {
			return
		}
		secret := []byte("a secret that no fuzzer knows")
		if p.Verify(secret) && sig != signature.Compute(secret, key, nonce, timestamp) {
			t.Fatalf("verified a foreign signature: %+v", p)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	secret := []byte("957f23f2d6435e37d4ac21f3e9a67d45")
	p := signature.Params{AccessKeyID: "975988f45090561684b7d8f4e45b85c2", Nonce: "2", Timestamp: "1612149637"}
	p.Signature = signature.Compute(secret, p.AccessKeyID, p.Nonce, p.Timestamp)
	now := time.Unix(1612149637, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Check(now); err != nil || !p.Verify(secret) {
			b.Fatal("refused")
		}
	}
}
