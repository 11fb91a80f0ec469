package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a plaintext secret key. It prints, logs and marshals as
// "[redacted]"; string(s) is the only way to its value.
type Secret string

const redacted = "[redacted]"

// String implements [fmt.Stringer].
func (Secret) String() string { return redacted }

// Format implements [fmt.Formatter], so that no verb shows the value.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements [slog.LogValuer].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// newAccessKey returns 128 random bits as 32 hexadecimal digits.
func newAccessKey() string { return randomHex() }

// newSecret returns 128 random bits as 32 hexadecimal digits.
func newSecret() Secret { return Secret(randomHex()) }

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}

// newToken returns an invite token: 256 random bits as 43 characters of
// base64url.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// inviteID returns the name under which the invite of a token is stored. A
// plain hash is enough: nobody guesses 256 random bits. It reports false for
// what cannot be a token.
func inviteID(token string) (string, bool) {
	if b, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(b) != 32 || len(token) != 43 {
		return "", false
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:]), true
}

// isAccessKey reports whether s has the form of an access key.
func isAccessKey(s string) bool { return isHex(s, 32) }

func isHex(s string, length int) bool {
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
