package stack

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"quotary/shared/testing/must"
)

func TestWhatIsSharedAnswersAtTheOtherAddress(t *testing.T) {
	t.Parallel()
	var urls []string
	for _, name := range []string{"database", "objects"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
		defer server.Close()
		urls = append(urls, server.URL)
	}
	const other = "127.0.0.2"
	if listener, err := net.Listen("tcp", other+":0"); err != nil {
		t.Skipf("this machine has no %s: %v", other, err)
	} else {
		listener.Close()
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Share(ctx, State{DynamoDB: urls[0], S3: urls[1]}, other, func() { close(ready) })
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	for i, want := range []string{"database", "objects"} {
		at := must.Get(url.Parse(urls[i]))(t)
		for range 2 { // on one connection
			res := must.Get(http.Get("http://" + other + ":" + at.Port()))(t)
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if string(text) != want {
				t.Errorf("%s answers %q", want, text)
			}
		}
	}
	stop() // while the client's connections are open
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnAddressOfNobodyIsNotShared(t *testing.T) {
	t.Parallel()
	if err := Share(t.Context(), State{DynamoDB: "http://127.0.0.1:1", S3: "http://127.0.0.1:2"}, "203.0.113.1", func() {}); err == nil {
		t.Error("an address of another machine is shared")
	}
}
