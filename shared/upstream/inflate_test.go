package upstream_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

func TestAnswersAreAskedForCompressedAndInflated(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" {
			_, _ = io.WriteString(w, "as it is")
			return
		}
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		if r.URL.Path == "/broken" {
			_, _ = io.WriteString(w, "no gzip")
			return
		}
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, strings.Repeat("inflated ", 1000))
		_ = packed.Close()
	}))
	defer server.Close()
	for path, want := range map[string]string{"/plain": "as it is", "/packed": strings.Repeat("inflated ", 1000), "/broken": ""} {
		res := must.Get(upstream.NewClient(server.URL).Get(server.URL + path))(t)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(text) != want || (err != nil) != (path == "/broken") || res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

// An answer of compressed blocks of nothing, without end, is given up behind so many bytes.
func TestACompressedAnswerOfNothingHasAnEnd(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
		blocks := []byte(strings.Repeat("\x00\x00\x00\xff\xff", 10_000)) // stored blocks of no bytes
		for sent.Load() < 1<<30 {
			n, err := w.Write(blocks)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	defer server.Close()
	res := must.Get(upstream.NewClient(server.URL).Get(server.URL))(t)
	text, err := upstream.UsualBounds.Read(res.Body)
	res.Body.Close()
	if len(text) != 0 || !errors.Is(err, upstream.ErrBounds) || sent.Load() > 64<<20 {
		t.Errorf("%d bytes of %d that were sent, %v", len(text), sent.Load(), err)
	}
}
