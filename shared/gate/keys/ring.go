package keys

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"

	"github.com/aws/aws-sdk-go-v2/service/kms"
)

// Ring seals and opens secrets with AES-256-GCM. It holds every data key that
// stored secrets may need and seals with the current one, so keys rotate by
// adding one and making it current: what older ones sealed still opens, and
// moves to the current key when its secret is reset, or with [Store.Reseal].
type Ring struct {
	current string
	keys    map[string]cipher.AEAD
}

// DataKeys is the material of a [Ring] as key files and environment variables
// hold it: data keys by their id, in base64, and the id of the one that seals.
// In a file they are 32 plain bytes each, in an environment variable what KMS
// made of them.
type DataKeys struct {
	Current string            `json:"current"`
	Keys    map[string][]byte `json:"keys"`
}

// Source yields the plain data keys of a ring.
type Source func(ctx context.Context) (DataKeys, error)

// OpenRing reads the data keys once; a function does so at its cold start.
func OpenRing(ctx context.Context, source Source) (*Ring, error) {
	material, err := source(ctx)
	if err != nil {
		return nil, fmt.Errorf("open key ring: %w", err)
	}
	r := &Ring{current: material.Current, keys: make(map[string]cipher.AEAD, len(material.Keys))}
	for id, key := range material.Keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("open key ring: data key %q has %d bytes instead of 32", id, len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("open key ring: data key %q: %w", id, err)
		}
		if r.keys[id], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("open key ring: data key %q: %w", id, err)
		}
	}
	if r.keys[r.current] == nil {
		return nil, fmt.Errorf("open key ring: the current data key %q is not among its keys", r.current)
	}
	return r, nil
}

// File reads plain data keys from a JSON file. Only its owner may be able to
// read it.
func File(path string) Source {
	return func(context.Context) (DataKeys, error) {
		info, err := os.Stat(path)
		if err != nil {
			return DataKeys{}, fmt.Errorf("key file: %w", err)
		}
		if others := info.Mode().Perm() & 0o077; others != 0 && runtime.GOOS != "windows" {
			return DataKeys{}, fmt.Errorf("key file %s is open to others (mode %04o): only its owner may read it (mode 0600)", path, info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return DataKeys{}, fmt.Errorf("key file: %w", err)
		}
		return ParseDataKeys(text)
	}
}

// Decrypter is what the ring needs of the KMS client.
type Decrypter interface {
	Decrypt(ctx context.Context, in *kms.DecryptInput, options ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// DataKeyContext names the entry of the KMS encryption context that binds a
// wrapped data key to its id.
const DataKeyContext = "quotary:data-key"

// KMS unwraps data keys that KMS encrypted with the encryption context
// {[DataKeyContext]: id}. The text is the JSON form of [DataKeys].
func KMS(client Decrypter, text string) Source {
	return func(ctx context.Context) (DataKeys, error) {
		wrapped, err := ParseDataKeys([]byte(text))
		if err != nil {
			return DataKeys{}, err
		}
		plain := DataKeys{Current: wrapped.Current, Keys: make(map[string][]byte, len(wrapped.Keys))}
		for id, blob := range wrapped.Keys {
			out, err := client.Decrypt(ctx, &kms.DecryptInput{
				CiphertextBlob:    blob,
				EncryptionContext: map[string]string{DataKeyContext: id},
			})
			if err != nil {
				return DataKeys{}, fmt.Errorf("unwrap data key %q: %w", id, err)
			}
			plain.Keys[id] = out.Plaintext
		}
		return plain, nil
	}
}

// ParseDataKeys reads the JSON form of [DataKeys] and nothing beside it. Its errors
// repeat nothing of the text, which may hold keys.
func ParseDataKeys(text []byte) (DataKeys, error) {
	var out DataKeys
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil || d.Decode(new(json.RawMessage)) != io.EOF {
		return DataKeys{}, errors.New(`data keys must be JSON of the form {"current": id, "keys": {id: base64}}`)
	}
	return out, nil
}

// String implements [fmt.Stringer]: the ids alone.
func (r *Ring) String() string {
	return fmt.Sprintf("key ring of %d data keys, current %q", len(r.keys), r.current)
}

// GoString implements [fmt.GoStringer].
func (r *Ring) GoString() string { return r.String() }

// LogValue implements [slog.LogValuer].
func (r *Ring) LogValue() slog.Value { return slog.StringValue(r.String()) }

// String implements [fmt.Stringer]: how many keys, no key.
func (d DataKeys) String() string {
	return fmt.Sprintf("%d data keys, current %q", len(d.Keys), d.Current)
}

// GoString implements [fmt.GoStringer].
func (d DataKeys) GoString() string { return d.String() }

// LogValue implements [slog.LogValuer].
func (d DataKeys) LogValue() slog.Value { return slog.StringValue(d.String()) }

// sealed is a secret as it is stored.
type sealed struct {
	dataKey string
	box     []byte // nonce, then ciphertext and tag
}

// seal encrypts the secret of an access key.
func (r *Ring) seal(accessKey string, secret Secret) sealed {
	aead := r.keys[r.current]
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(secret)+aead.Overhead())
	_, _ = rand.Read(nonce)
	return sealed{r.current, aead.Seal(nonce, nonce, []byte(secret), []byte(accessKey))}
}

// open decrypts the secret of an access key.
func (r *Ring) open(accessKey string, s sealed) (Secret, error) {
	aead := r.keys[s.dataKey]
	if aead == nil {
		return "", fmt.Errorf("the secret of %s is sealed with data key %q, which the key ring lacks", accessKey, s.dataKey)
	}
	if len(s.box) < aead.NonceSize() {
		return "", fmt.Errorf("the sealed secret of %s is cut short", accessKey)
	}
	nonce, box := s.box[:aead.NonceSize()], s.box[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, box, []byte(accessKey))
	if err != nil {
		return "", fmt.Errorf("the sealed secret of %s does not open with data key %q: %w", accessKey, s.dataKey, err)
	}
	return Secret(plain), nil
}
