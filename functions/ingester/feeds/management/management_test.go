package management

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

var testConfig = aws.Config{
	Region:      "eu-central-1",
	Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session"),
}

func always() bool { return true }

// serve answers with handler and returns the management endpoint and how many
// connections were made to it.
func serve(t testing.TB, handler http.HandlerFunc) (endpoint string, server *httptest.Server, dials *atomic.Int32) {
	t.Helper()
	dials = new(atomic.Int32)
	server = httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dials.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL + "/prod", server, dials
}

func TestEachCallIsOneSignedRequest(t *testing.T) {
	t.Parallel()
	type request struct{ Method, Path, Body, Session string }
	seen := make(chan request, 1)
	endpoint, _, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if got := r.Header.Get("Authorization"); !strings.Contains(got, "/eu-central-1/execute-api/aws4_request") {
			t.Errorf("Authorization %q", got)
		}
		if _, ok := r.Header["X-Idempotency-Key"]; ok {
			t.Error("a header was sent that is not signed")
		}
		seen <- request{r.Method, r.URL.EscapedPath(), string(body), r.Header.Get("X-Amz-Security-Token")}
	})
	c := New(testConfig, always)
	conn := hub.Conn{ID: "L0SM9cOFvHcCIhw=", Endpoint: endpoint}
	const path = "/prod/@connections/L0SM9cOFvHcCIhw%3D"
	for _, tt := range []struct {
		call func() error
		want request
	}{
		{func() error { return c.Post(t.Context(), conn, []byte(`{"a":1}`)) }, request{"POST", path, `{"a":1}`, "session"}},
		{func() error { return c.Post(t.Context(), conn, []byte{}) }, request{"POST", path, "", "session"}},
		{func() error { return c.Disconnect(t.Context(), conn) }, request{"DELETE", path, "", "session"}},
		{func() error { return c.Probe(t.Context(), conn) }, request{"GET", path, "", "session"}},
	} {
		if err := tt.call(); err != nil {
			t.Errorf("%s: %v", tt.want.Method, err)
		}
		check.Equalf(t, tt.want, <-seen, "what the API saw")
	}
}

func TestAStatusSaysWhatBecameOfTheFrame(t *testing.T) {
	t.Parallel()
	unknown := errors.New("unknown")
	kinds := []error{hub.ErrGone, hub.ErrBusy, hub.ErrRejected}
	for status, want := range map[int]error{
		200: nil, 204: nil, 410: hub.ErrGone, 429: hub.ErrBusy, 403: hub.ErrBusy, 408: hub.ErrBusy, 500: hub.ErrBusy, 503: hub.ErrBusy,
		400: hub.ErrRejected, 413: hub.ErrRejected, 302: hub.ErrRejected, 502: unknown, 504: unknown,
	} {
		var requests atomic.Int32
		endpoint, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.WriteHeader(status)
			if status != 204 {
				_, _ = io.WriteString(w, `{"message":"why"}`)
			}
		})
		c, conn := New(testConfig, always), hub.Conn{ID: "a", Endpoint: endpoint}
		for name, err := range map[string]error{
			"Post":       c.Post(t.Context(), conn, []byte("x")),
			"Disconnect": c.Disconnect(t.Context(), conn),
		} {
			if (err == nil) != (want == nil) {
				t.Errorf("%s, %d: error %v", name, status, err)
			}
			for _, kind := range kinds {
				if errors.Is(err, kind) != (want == kind) {
					t.Errorf("%s, %d: error %v, want %v", name, status, err, want)
				}
			}
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("%d: %d requests, want one for each call", status, n)
		}
	}
}

func TestNoFrameIsSentWithoutTheLease(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int32
	endpoint, _, _ := serve(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
	var valid atomic.Bool
	c, conn := New(testConfig, valid.Load), hub.Conn{ID: "a", Endpoint: endpoint}
	if err := c.Post(t.Context(), conn, []byte("1")); !errors.Is(err, hub.ErrBusy) || arrived.Load() != 0 {
		t.Errorf("%v with %d frames sent, want none and that it may be tried again", err, arrived.Load())
	}
	valid.Store(true)
	if err := c.Post(t.Context(), conn, []byte("1")); err != nil || arrived.Load() != 1 {
		t.Errorf("with the lease: %v with %d frames sent", err, arrived.Load())
	}
}

func TestAConnectionIsUsedAgainWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"empty":      func(http.ResponseWriter, *http.Request) {},
		"an error":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("why ", 500), 500) },
		"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint, _, dials := serve(t, answer)
			c := New(testConfig, always)
			for range 5 {
				if err := c.Post(t.Context(), hub.Conn{ID: "a", Endpoint: endpoint}, []byte("x")); err != nil && !errors.Is(err, hub.ErrBusy) {
					t.Fatal(err)
				}
			}
			if got := dials.Load(); got != 1 {
				t.Errorf("%d connections for 5 requests, want 1", got)
			}
		})
	}
}

// TestAConnectionThatEndsUnansweredIsReplaced has the API close connections that were
// used before, some of them with a request on its way.
func TestAConnectionThatEndsUnansweredIsReplaced(t *testing.T) {
	t.Parallel()
	var posts atomic.Int32
	endpoint, server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) != "frame" {
			t.Errorf("the API saw %q", body)
		}
		posts.Add(1)
	})
	c := New(testConfig, always)
	for i := range int32(20) {
		must.Do(t, c.Post(t.Context(), hub.Conn{ID: "a", Endpoint: endpoint}, []byte("frame")))
		server.CloseClientConnections()
		if posts.Load() != i+1 {
			t.Fatalf("%d posts arrived, want %d", posts.Load(), i+1)
		}
	}
}

func TestAnAPIThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	err = New(testConfig, always).Post(ctx, hub.Conn{ID: "a", Endpoint: "http://" + silent.Addr().String()}, []byte("x"))
	if !errors.Is(err, context.Canceled) || errors.Is(err, hub.ErrBusy) || errors.Is(err, hub.ErrGone) || errors.Is(err, hub.ErrRejected) {
		t.Errorf("%v, want an error that leaves the outcome open", err)
	}
}

func TestWhatWasNotSentIsWorthAnotherTry(t *testing.T) {
	t.Parallel()
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()
	conn := hub.Conn{ID: "a", Endpoint: "http://" + closed.Addr().String()}
	if err := New(testConfig, always).Post(t.Context(), conn, []byte("x")); !errors.Is(err, hub.ErrBusy) {
		t.Errorf("nobody listens: %v, want ErrBusy", err)
	}
	lost := testConfig.Copy()
	lost.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, io.ErrUnexpectedEOF })
	c := New(lost, always)
	if err := c.Post(t.Context(), conn, []byte("x")); !errors.Is(err, hub.ErrBusy) {
		t.Errorf("no credentials: %v, want ErrBusy", err)
	}
	for _, endpoint := range []string{"", "ftp://host/prod", "http:///prod", "::"} {
		if err := c.Post(t.Context(), hub.Conn{ID: "a", Endpoint: endpoint}, nil); !errors.Is(err, hub.ErrRejected) {
			t.Errorf("endpoint %q: %v, want ErrRejected", endpoint, err)
		}
	}
}
