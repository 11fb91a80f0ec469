// Package signature computes and verifies the signature that every request
// carries.
//
// The signed text names the key, a nonce and a time, and neither path nor
// body: a captured signature would open any endpoint while its timestamp is
// valid. That is why the gate gives each nonce to one request (see package admission).
package signature

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"strconv"
	"time"
)

// Validity is how far a timestamp may lie from the server's clock, in the past
// or in the future.
const Validity = 30 * time.Second

// Names of the four parameters, in the query or in a POST body.
const (
	AccessKeyID = "AccessKeyId"
	Nonce       = "SignatureNonce"
	Timestamp   = "Timestamp"
	Signature   = "Signature"
)

// encodedLen is the length of a signature: base64 of 40 hexadecimal digits.
const encodedLen = 56

// maxNonce and maxKey bound what a stranger can make the service store or hash.
const (
	maxNonce = 128
	maxKey   = 64
)

// ErrMalformed is returned by [FromQuery] and [Params.Check] for parameters that no valid
// request can carry, ErrExpired for a timestamp outside [Validity].
var (
	ErrMalformed = errors.New("AccessKeyId, SignatureNonce (1 to 128 characters), Timestamp (Unix seconds) and Signature are all required once")
	ErrExpired   = errors.New("the Timestamp must lie within 30 seconds of now, in Unix seconds")
)

// Params are the four signature parameters of a request, as received.
type Params struct {
	AccessKeyID string
	Nonce       string
	Timestamp   string
	Signature   string
}

// Empty reports whether none of the parameters is there.
func (p Params) Empty() bool { return p == Params{} }

// FromQuery reads the parameters from a query, each at most once.
func FromQuery(query url.Values) (p Params, err error) {
	for name, value := range map[string]*string{
		AccessKeyID: &p.AccessKeyID, Nonce: &p.Nonce, Timestamp: &p.Timestamp, Signature: &p.Signature,
	} {
		switch values := query[name]; len(values) {
		case 0:
		case 1:
			*value = values[0]
		default:
			return Params{}, ErrMalformed
		}
	}
	return p, nil
}

// Check returns the signed time when the parameters have a possible shape and
// the timestamp is valid at now. It costs no secret and no store.
func (p Params) Check(now time.Time) (time.Time, error) {
	if p.AccessKeyID == "" || len(p.AccessKeyID) > maxKey || p.Nonce == "" || len(p.Nonce) > maxNonce ||
		len(p.Signature) != encodedLen || len(p.Timestamp) > 12 {
		return time.Time{}, ErrMalformed
	}
	seconds, err := strconv.ParseUint(p.Timestamp, 10, 63)
	if err != nil || p.Timestamp[0] == '+' {
		return time.Time{}, ErrMalformed
	}
	signed := time.Unix(int64(seconds), 0).UTC()
	if age := now.Unix() - signed.Unix(); age > int64(Validity/time.Second) || -age > int64(Validity/time.Second) {
		return signed, ErrExpired
	}
	return signed, nil
}

// Verify reports whether the signature was made with secret. It takes the same
// time for every signature of the right length.
func (p Params) Verify(secret []byte) bool {
	var want [encodedLen]byte
	compute(want[:], secret, p.AccessKeyID, p.Nonce, p.Timestamp)
	return subtle.ConstantTimeCompare(want[:], []byte(p.Signature)) == 1
}

// Compute returns the signature for the given parameters: HMAC-SHA1 of
// AccessKeyId=<k>&SignatureNonce=<n>&Timestamp=<t> under the secret, as
// lower-case hexadecimal digits, in base64.
func Compute(secret []byte, accessKeyID, nonce, timestamp string) string {
	var out [encodedLen]byte
	compute(out[:], secret, accessKeyID, nonce, timestamp)
	return string(out[:])
}

func compute(dst, secret []byte, accessKeyID, nonce, timestamp string) {
	var buf [len("AccessKeyId=&SignatureNonce=&Timestamp=") + maxKey + maxNonce + 12]byte
	text := append(buf[:0], "AccessKeyId="...)
	text = append(text, accessKeyID...)
	text = append(text, "&SignatureNonce="...)
	text = append(text, nonce...)
	text = append(text, "&Timestamp="...)
	text = append(text, timestamp...)

	mac := hmac.New(sha1.New, secret)
	mac.Write(text)
	var sum [sha1.Size]byte
	var digits [2 * sha1.Size]byte
	hex.Encode(digits[:], mac.Sum(sum[:0]))
	base64.StdEncoding.Encode(dst, digits[:])
}
