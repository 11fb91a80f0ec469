package feed

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// AWS Signature Version 4, for requests without a query to execute-api:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
const (
	signatureService = "execute-api"
	signatureTime    = "20060102T150405Z"
	signatureDay     = len("20060102")
)

// stamp is a time as the header X-Amz-Date and the signature have it.
type stamp [len(signatureTime)]byte

func stampOf(now time.Time) (s stamp) {
	now.UTC().AppendFormat(s[:0], signatureTime)
	return s
}

// signingKey is what a signature needs that is the same all day.
type signingKey struct {
	credentials aws.Credentials
	day         string
	scope       string // day/region/service/aws4_request
	key         []byte
}

func newSigningKey(credentials aws.Credentials, day, region string) *signingKey {
	key := []byte("AWS4" + credentials.SecretAccessKey)
	for _, part := range []string{day, region, signatureService, "aws4_request"} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return &signingKey{
		credentials: credentials,
		day:         day,
		scope:       day + "/" + region + "/" + signatureService + "/aws4_request",
		key:         key,
	}
}

// keyring holds the signing key of the day and of the credentials in force.
type keyring struct {
	region      string
	credentials aws.CredentialsProvider
	current     atomic.Pointer[signingKey]
}

func (r *keyring) at(ctx context.Context, now stamp) (*signingKey, error) {
	credentials, err := r.credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("retrieve credentials: %w", err)
	}
	key := r.current.Load()
	if key == nil || key.day != string(now[:signatureDay]) ||
		key.credentials.AccessKeyID != credentials.AccessKeyID ||
		key.credentials.SecretAccessKey != credentials.SecretAccessKey ||
		key.credentials.SessionToken != credentials.SessionToken {
		key = newSigningKey(credentials, string(now[:signatureDay]), r.region)
		r.current.Store(key)
	}
	return key, nil
}

// request is what is signed of a request.
type request struct {
	method  string
	host    string
	path    []byte // escaped, as on the request line
	length  int    // of the body
	now     stamp
	payload *[2 * sha256.Size]byte
}

// signature computes signatures one at a time. It keeps its memory.
type signature struct {
	key  *signingKey // that mac was made for
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
	hex  [2 * sha256.Size]byte
}

// append adds the value of the header Authorization to out.
func (s *signature) append(out []byte, key *signingKey, r request) []byte {
	if s.key != key {
		s.key, s.mac = key, hmac.New(sha256.New, key.key)
	}
	signed := signedHeaders(r.length > 0, key.credentials.SessionToken != "")

	t := append(s.text[:0], r.method...)
	t = append(t, '\n')
	t = appendEscaped(t, r.path, true) // the path is escaped a second time
	t = append(t, "\n\n"...)
	if r.length > 0 {
		t = append(t, "content-length:"...)
		t = appendInt(t, r.length)
		t = append(t, '\n')
	}
	t = append(t, "host:"...)
	t = append(t, r.host...)
	t = append(t, "\nx-amz-date:"...)
	t = append(t, r.now[:]...)
	if token := key.credentials.SessionToken; token != "" {
		t = append(t, "\nx-amz-security-token:"...)
		t = append(t, token...)
	}
	t = append(t, "\n\n"...)
	t = append(t, signed...)
	t = append(t, '\n')
	t = append(t, r.payload[:]...)
	s.sum = sha256.Sum256(t)
	hex.Encode(s.hex[:], s.sum[:])

	t = append(t[:0], "AWS4-HMAC-SHA256\n"...)
	t = append(t, r.now[:]...)
	t = append(t, '\n')
	t = append(t, key.scope...)
	t = append(t, '\n')
	t = append(t, s.hex[:]...)
	s.mac.Reset()
	s.mac.Write(t)
	hex.Encode(s.hex[:], s.mac.Sum(s.sum[:0]))
	s.text = t

	out = append(out, "AWS4-HMAC-SHA256 Credential="...)
	out = append(out, key.credentials.AccessKeyID...)
	out = append(out, '/')
	out = append(out, key.scope...)
	out = append(out, ", SignedHeaders="...)
	out = append(out, signed...)
	out = append(out, ", Signature="...)
	return append(out, s.hex[:]...)
}

func signedHeaders(body, token bool) string {
	switch {
	case body && token:
		return "content-length;host;x-amz-date;x-amz-security-token"
	case body:
		return "content-length;host;x-amz-date"
	case token:
		return "host;x-amz-date;x-amz-security-token"
	default:
		return "host;x-amz-date"
	}
}

// appendEscaped escapes all but the unreserved characters of RFC 3986.
func appendEscaped[T string | []byte](out []byte, text T, keepSlash bool) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~', c == '/' && keepSlash:
			out = append(out, c)
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return out
}

// digests remembers the payload hashes of the newest frames, since a frame goes
// to many connections. A frame is known by its address: it never changes, and
// cannot be collected while it is remembered here.
type digests [digestSlots]atomic.Pointer[digest]

const digestSlots = 512

type digest struct {
	frame []byte
	hex   [2 * sha256.Size]byte
}

func (d *digests) of(frame []byte) *[2 * sha256.Size]byte {
	if len(frame) == 0 {
		return &emptyDigest.hex
	}
	// The allocator hands out neighbors 16 bytes or more apart.
	address := uintptr(unsafe.Pointer(unsafe.SliceData(frame)))
	slot := &d[(address>>4^address>>13)%digestSlots]
	if known := slot.Load(); known != nil && &known.frame[0] == &frame[0] && len(known.frame) == len(frame) {
		return &known.hex
	}
	fresh := newDigest(frame)
	slot.Store(fresh)
	return &fresh.hex
}

var emptyDigest = newDigest(nil)

func newDigest(frame []byte) *digest {
	d := &digest{frame: frame}
	sum := sha256.Sum256(frame)
	hex.Encode(d.hex[:], sum[:])
	return d
}
