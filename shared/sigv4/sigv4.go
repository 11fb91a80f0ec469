// Package sigv4 signs requests to AWS with Signature Version 4, for senders that
// write their own HTTP.
//
// A [Keyring] holds the signing key, which is the same all day, and a [Signer]
// writes the headers of a request: those that the signature covers and the
// Authorization that proves them, so that what is sent is what was signed. A
// Signer keeps its memory and allocates nothing. Requests have no query, and
// their path is escaped a second time for the signature, as every service but S3
// wants it:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
package sigv4

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	layout = "20060102T150405Z"
	day    = len("20060102")
)

// Stamp is a time, in UTC and to the second, as the header X-Amz-Date and the
// signature have it.
type Stamp [len(layout)]byte

// StampOf returns the stamp of a time.
func StampOf(now time.Time) (s Stamp) {
	now.UTC().AppendFormat(s[:0], layout)
	return s
}

// Payload is the SHA-256 of a body in hexadecimal.
type Payload [2 * sha256.Size]byte

// PayloadOf hashes a body.
func PayloadOf(body []byte) (p Payload) {
	sum := sha256.Sum256(body)
	hex.Encode(p[:], sum[:])
	return p
}

// Key is what a signature needs that is the same all day.
type Key struct {
	credentials aws.Credentials
	day         string
	scope       string // day/region/service/aws4_request
	key         []byte
}

// NewKey derives the key of a day, written 20060102, for a service of a region.
func NewKey(credentials aws.Credentials, day, region, service string) *Key {
	key := []byte("AWS4" + credentials.SecretAccessKey)
	for _, part := range []string{day, region, service, "aws4_request"} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return &Key{
		credentials: credentials,
		day:         day,
		scope:       day + "/" + region + "/" + service + "/aws4_request",
		key:         key,
	}
}

// Keyring holds the signing key of the day and of the credentials in force.
type Keyring struct {
	Service, Region string
	Credentials     aws.CredentialsProvider // asked for each request: it must cache

	current atomic.Pointer[Key]
}

// At returns the key for requests of that time.
func (r *Keyring) At(ctx context.Context, now Stamp) (*Key, error) {
	credentials, err := r.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("retrieve credentials: %w", err)
	}
	key := r.current.Load()
	if key == nil || key.day != string(now[:day]) ||
		key.credentials.AccessKeyID != credentials.AccessKeyID ||
		key.credentials.SecretAccessKey != credentials.SecretAccessKey ||
		key.credentials.SessionToken != credentials.SessionToken {
		key = NewKey(credentials, string(now[:day]), r.Region, r.Service)
		r.current.Store(key)
	}
	return key, nil
}

// Request is what is signed of a request. A header that is empty is neither
// sent nor signed.
type Request struct {
	Method      string
	Path        []byte // escaped, as on the request line
	Host        string
	ContentType string
	Target      string   // X-Amz-Target
	Length      int      // of the body, in bytes
	Payload     *Payload // of the body, also of an empty one
	Now         Stamp
}

// Signer computes signatures one at a time. The zero value is ready for use.
type Signer struct {
	key  *Key // that mac was made for
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
	hex  Payload
}

// AppendHeader adds the lines of a request's signed headers and of Authorization
// to out, each with its CRLF.
func (s *Signer) AppendHeader(out []byte, key *Key, r Request) []byte {
	token := key.credentials.SessionToken
	if r.Length > 0 {
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(r.Length), 10)
		out = append(out, "\r\n"...)
	}
	if r.ContentType != "" {
		out = line(out, "Content-Type: ", r.ContentType)
	}
	out = line(out, "Host: ", r.Host)
	out = append(out, "X-Amz-Date: "...)
	out = append(out, r.Now[:]...)
	out = append(out, "\r\n"...)
	if token != "" {
		out = line(out, "X-Amz-Security-Token: ", token)
	}
	if r.Target != "" {
		out = line(out, "X-Amz-Target: ", r.Target)
	}
	out = append(out, "Authorization: AWS4-HMAC-SHA256 Credential="...)
	out = append(out, key.credentials.AccessKeyID...)
	out = append(out, '/')
	out = append(out, key.scope...)
	out = append(out, ", SignedHeaders="...)
	out = appendNames(out, &r, token != "")
	out = append(out, ", Signature="...)
	s.sign(key, &r)
	out = append(out, s.hex[:]...)
	return append(out, "\r\n"...)
}

func line(out []byte, name, value string) []byte {
	out = append(out, name...)
	out = append(out, value...)
	return append(out, "\r\n"...)
}

// sign leaves the signature in s.hex.
func (s *Signer) sign(key *Key, r *Request) {
	if s.key != key {
		s.key, s.mac = key, hmac.New(sha256.New, key.key)
	}
	token := key.credentials.SessionToken

	t := append(s.text[:0], r.Method...)
	t = append(t, '\n')
	t = AppendEscaped(t, r.Path, true)
	t = append(t, "\n\n"...)
	if r.Length > 0 {
		t = append(t, "content-length:"...)
		t = strconv.AppendInt(t, int64(r.Length), 10)
		t = append(t, '\n')
	}
	if r.ContentType != "" {
		t = append(t, "content-type:"...)
		t = append(t, r.ContentType...)
		t = append(t, '\n')
	}
	t = append(t, "host:"...)
	t = append(t, r.Host...)
	t = append(t, "\nx-amz-date:"...)
	t = append(t, r.Now[:]...)
	if token != "" {
		t = append(t, "\nx-amz-security-token:"...)
		t = append(t, token...)
	}
	if r.Target != "" {
		t = append(t, "\nx-amz-target:"...)
		t = append(t, r.Target...)
	}
	t = append(t, "\n\n"...)
	t = appendNames(t, r, token != "")
	t = append(t, '\n')
	t = append(t, r.Payload[:]...)
	s.sum = sha256.Sum256(t)
	hex.Encode(s.hex[:], s.sum[:])

	t = append(t[:0], "AWS4-HMAC-SHA256\n"...)
	t = append(t, r.Now[:]...)
	t = append(t, '\n')
	t = append(t, key.scope...)
	t = append(t, '\n')
	t = append(t, s.hex[:]...)
	s.mac.Reset()
	s.mac.Write(t)
	hex.Encode(s.hex[:], s.mac.Sum(s.sum[:0]))
	s.text = t
}

// appendNames adds the names of the signed headers, in alphabetical order.
func appendNames(b []byte, r *Request, token bool) []byte {
	if r.Length > 0 {
		b = append(b, "content-length;"...)
	}
	if r.ContentType != "" {
		b = append(b, "content-type;"...)
	}
	b = append(b, "host;x-amz-date"...)
	if token {
		b = append(b, ";x-amz-security-token"...)
	}
	if r.Target != "" {
		b = append(b, ";x-amz-target"...)
	}
	return b
}

// AppendEscaped escapes all but the unreserved characters of RFC 3986, and the
// slash if it is to be kept.
func AppendEscaped[T string | []byte](out []byte, text T, keepSlash bool) []byte {
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
