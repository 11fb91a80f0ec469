package upstream

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// mostPacked is how much of a compressed answer is taken from the network: several times what any
// upstream sends. What is inflated is bounded by who reads it, which says nothing of an answer that
// is without end and inflates to nothing.
const mostPacked = 16 << 20

// Inflating asks for answers compressed, through a transport, and inflates them within bounds.
type Inflating struct{ *http.Transport }

// Inflate returns a transport as one that inflates within bounds. The transport itself inflates
// nothing any longer.
func Inflate(through *http.Transport) Inflating {
	through.DisableCompression = true
	return Inflating{through}
}

// RoundTrip implements [http.RoundTripper].
func (i Inflating) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Accept-Encoding") != "" || req.Header.Get("Range") != "" || req.Header.Get("Upgrade") != "" || req.Method == http.MethodHead {
		return i.Transport.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := i.Transport.RoundTrip(req)
	if err != nil || !strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		return res, err
	}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	res.ContentLength, res.Uncompressed = -1, true
	res.Body = &inflated{Closer: res.Body, packed: packed{of: res.Body, left: mostPacked}}
	return res, nil
}

// inflated is a compressed body as it was before.
type inflated struct {
	io.Closer
	packed packed
	gzip   *gzip.Reader // nil before the first read
	err    error
}

// Read implements [io.Reader].
func (b *inflated) Read(p []byte) (n int, err error) {
	if b.gzip == nil && b.err == nil {
		b.gzip, b.err = gzip.NewReader(&b.packed)
	}
	if b.err != nil {
		return 0, b.err
	}
	n, b.err = b.gzip.Read(p)
	return n, b.err
}

var errPacked = errors.New("the answer is beyond its bounds before it is inflated")

// packed reads so much of a body, and fails behind it.
type packed struct {
	of   io.Reader
	left int
}

// Read implements [io.Reader].
func (b *packed) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, errors.Join(ErrBounds, errPacked)
	}
	n, err = b.of.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
