package hub

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// post sends one frame.
func (m *Management) post(ctx context.Context, c Conn, frame []byte) error {
	one := []Delivery{{Conn: c, Frame: frame}}
	m.PostAll(ctx, one)
	return one[0].Err
}

func managementOf(t testing.TB, session string, change func(*ManagementConfig)) *Management {
	t.Helper()
	config := ManagementConfig{
		Region:      "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", session),
		Now:         func() time.Time { return noon },
	}
	if change != nil {
		change(&config)
	}
	m := NewManagement(config)
	t.Cleanup(m.Close)
	return m
}

// serve answers with handler and returns the management endpoint.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/prod"
}

// sdkSignature is what the SDK's signer makes of a request that arrived.
func sdkSignature(t interface{ Fatal(...any) }, r *http.Request, body []byte, session string) string {
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.EscapedPath(), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	again.URL.RawPath = r.URL.EscapedPath()
	sum := sha256.Sum256(body)
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		t.Fatal(err)
	}
	key := aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", SessionToken: session}
	if err := v4.NewSigner().SignHTTP(context.Background(), key, again, hex.EncodeToString(sum[:]), "execute-api", "eu-central-1", at); err != nil {
		t.Fatal(err)
	}
	return again.Header.Get("Authorization")
}

func TestARequestIsSignedAsTheSDKSignsIt(t *testing.T) {
	t.Parallel()
	type arrived struct {
		*http.Request
		body []byte
	}
	var last atomic.Pointer[arrived]
	endpoint := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last.Store(&arrived{r, body})
	})
	for _, session := range []string{"", "IQoJb3JpZ2luX2VjEJr//////////w=="} {
		now := noon
		m := managementOf(t, session, func(c *ManagementConfig) { c.Now = func() time.Time { return now } })
		rapid.Check(t, func(t *rapid.T) {
			now = noon.Add(time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "seconds")) * time.Second)
			c := Conn{
				ID:       rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9_-]{14}=`), rapid.StringN(1, 30, 100)).Draw(t, "id"),
				Endpoint: endpoint + rapid.SampledFrom([]string{"", "/", "/a b", "/%40x"}).Draw(t, "stage"),
			}
			frame := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "frame")
			method, call := "POST", func() error { return m.post(t.Context(), c, frame) }
			if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
				frame, method, call = nil, "DELETE", func() error { return m.Disconnect(t.Context(), c) }
			}
			if err := call(); err != nil {
				t.Fatal(err)
			}
			got := last.Load()
			if _, id, _ := strings.Cut(got.URL.Path, "/@connections/"); id != c.ID {
				t.Errorf("the API saw connection %q, want %q", id, c.ID)
			}
			if got.Method != method || !bytes.Equal(got.body, frame) {
				t.Errorf("the API saw %s with %d bytes, want %s with %d", got.Method, len(got.body), method, len(frame))
			}
			if got, want := got.Header.Get("Authorization"), sdkSignature(t, got.Request, got.body, session); got != want {
				t.Errorf("Authorization\n got %s\nwant %s", got, want)
			}
			if got.Header.Get("X-Amz-Security-Token") != session {
				t.Error("the session token is missing")
			}
		})
	}
}

func TestTheKeyChangesWithTheDayAndTheCredentials(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	endpoint := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != sdkSignature(t, r, []byte("x"), r.Header.Get("X-Amz-Security-Token")) {
			t.Error("signed with an old key")
		}
		seen <- r.Header.Get("X-Amz-Date") + " " + r.Header.Get("X-Amz-Security-Token")
	})
	now, session := noon, ""
	m := managementOf(t, "", func(c *ManagementConfig) {
		c.Now = func() time.Time { return now }
		c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", SessionToken: session}, nil
		})
	})
	for _, want := range []string{"20260304T120000Z ", "20260305T120000Z ", "20260305T120000Z fresh"} {
		if err := m.post(t.Context(), Conn{ID: "a", Endpoint: endpoint}, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if got := <-seen; got != want {
			t.Errorf("the API saw %q, want %q", got, want)
		}
		if now.Equal(noon) {
			now = noon.Add(24 * time.Hour)
		} else {
			session = "fresh"
		}
	}
}

func TestAStatusTellsWhatBecameOfTheFrame(t *testing.T) {
	t.Parallel()
	known := []error{ErrGone, ErrBusy, ErrRejected}
	for status, want := range map[int]error{
		200: nil, 204: nil, 410: ErrGone, 429: ErrBusy, 403: ErrBusy, 500: ErrBusy, 503: ErrBusy,
		400: ErrRejected, 413: ErrRejected, 302: ErrRejected, 502: errors.ErrUnsupported, 504: errors.ErrUnsupported,
	} {
		endpoint := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if status != 204 {
				io.WriteString(w, `{"message":"why"}`)
			}
		})
		err := managementOf(t, "", nil).post(t.Context(), Conn{ID: "a", Endpoint: endpoint}, []byte("x"))
		if want == nil && err != nil || want != nil && err == nil {
			t.Errorf("%d: error %v", status, err)
		}
		for _, kind := range known {
			if errors.Is(err, kind) != (want == kind) {
				t.Errorf("%d: error %v, want %v", status, err, want)
			}
		}
	}
}

func TestLinksAreUsedAgainWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		dials  int32
	}{
		"empty":       {func(http.ResponseWriter, *http.Request) {}, 1},
		"an error":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("why ", 500), 500) }, 1},
		"no content":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 1},
		"hints first": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(200) }, 1},
		"in pieces":   {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a"); w.(http.Flusher).Flush() }, 5},
		"closing":     {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dials atomic.Int32
			server := httptest.NewUnstartedServer(test.answer)
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					dials.Add(1)
				}
			}
			server.Start()
			t.Cleanup(server.Close)
			m := managementOf(t, "", nil)
			for range 5 {
				if err := m.post(t.Context(), Conn{ID: "a", Endpoint: server.URL}, []byte("x")); err != nil && !errors.Is(err, ErrBusy) {
					t.Fatal(err)
				}
			}
			if got := dials.Load(); got != test.dials {
				t.Errorf("%d connections for 5 requests, want %d", got, test.dials)
			}
		})
	}
}

func TestALinkThatWasClosedWhileIdleIsReplaced(t *testing.T) {
	t.Parallel()
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posts.Add(1) }))
	t.Cleanup(server.Close)
	m := managementOf(t, "", nil)
	for i := range int32(3) {
		if err := m.post(t.Context(), Conn{ID: "a", Endpoint: server.URL}, []byte("x")); err != nil {
			t.Fatal(err)
		}
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
	c := Conn{ID: "a", Endpoint: "http://" + silent.Addr().String()}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	for name, err := range map[string]error{
		"the caller gives up": managementOf(t, "", nil).post(ctx, c, []byte("x")),
		"time is up": managementOf(t, "", func(c *ManagementConfig) { c.Timeout = 20 * time.Millisecond }).
			post(t.Context(), c, []byte("x")),
	} {
		if err == nil || errors.Is(err, ErrBusy) || errors.Is(err, ErrGone) || errors.Is(err, ErrRejected) {
			t.Errorf("%s: %v, want an error that leaves the outcome open", name, err)
		}
	}
}

func TestWhatNeverLeftIsWorthAnotherTry(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	c := Conn{ID: "a", Endpoint: "http://" + closed.Addr().String()}
	if err := managementOf(t, "", nil).post(t.Context(), c, []byte("x")); !errors.Is(err, ErrBusy) {
		t.Errorf("nobody listens: %v, want ErrBusy", err)
	}
	lost := managementOf(t, "", func(c *ManagementConfig) {
		c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, io.ErrUnexpectedEOF })
	})
	if err := lost.post(t.Context(), c, []byte("x")); !errors.Is(err, ErrBusy) {
		t.Errorf("no credentials: %v, want ErrBusy", err)
	}
	for _, endpoint := range []string{"", "ftp://host/prod", "http:///prod", "::"} {
		if err := lost.post(t.Context(), Conn{ID: "a", Endpoint: endpoint}, nil); !errors.Is(err, ErrRejected) {
			t.Errorf("endpoint %q: %v, want ErrRejected", endpoint, err)
		}
	}
}

func TestAnswersThatAreNotHTTPAreErrors(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another protocol": "SSH-2.0-OpenSSH_9.6\r\n\r\n",
		"cut short":        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
		"a bad length":     "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
		"a bad status":     "HTTP/1.1 abc OK\r\n\r\n",
		"a long line":      "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 10000) + "\r\n\r\n",
		"endless":          "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100),
		"only hints":       strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := net.Pipe()
			go func() {
				io.WriteString(there, answer)
				there.Close()
			}()
			defer there.Close()
			defer here.Close()
			l := newLink(nil, here)
			if status, err := l.response(); err == nil {
				t.Errorf("status %d, want an error", status)
			}
		})
	}
}

func TestAnHTTPSEndpointIsVerified(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	c := Conn{ID: "a", Endpoint: server.URL}
	if err := managementOf(t, "", nil).post(t.Context(), c, []byte("x")); err == nil {
		t.Error("a certificate of nobody was accepted")
	}
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	m := managementOf(t, "", func(c *ManagementConfig) { c.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} })
	for range 3 {
		if err := m.post(t.Context(), c, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheUsualPortIsNotPartOfTheHost(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string][2]string{
		"https://abc.execute-api.eu-central-1.amazonaws.com/prod": {"abc.execute-api.eu-central-1.amazonaws.com", "abc.execute-api.eu-central-1.amazonaws.com:443"},
		"https://abc.example:443/prod":                            {"abc.example", "abc.example:443"},
		"http://[::1]:80":                                         {"[::1]", "[::1]:80"},
		"http://[::1]:8080":                                       {"[::1]:8080", "[::1]:8080"},
		"https://abc.example:80":                                  {"abc.example:80", "abc.example:80"},
	} {
		got, err := newTarget(endpoint, &ManagementConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if got.host != want[0] || got.addr != want[1] {
			t.Errorf("%s: host %s at %s, want %s at %s", endpoint, got.host, got.addr, want[0], want[1])
		}
	}
}

// deliveries are frames for as many connections, whose ids tell what the API of
// statuses is to answer.
func deliveries(endpoint string, ids ...string) []Delivery {
	all := make([]Delivery, len(ids))
	for i, id := range ids {
		all[i] = Delivery{Conn: Conn{ID: id, Endpoint: endpoint}, Frame: []byte(id)}
	}
	return all
}

// statuses answers 410 to a connection id that starts with "gone" and 429 to
// "busy", and keeps what arrived in order.
type statuses struct {
	mu       sync.Mutex
	arrived  []string
	requests int
	closing  int // every so many requests the connection is closed; 0: never
}

func (s *statuses) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	frame, _ := io.ReadAll(r.Body)
	_, id, _ := strings.Cut(r.URL.Path, "/@connections/")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.closing > 0 && s.requests%s.closing == 0 {
		w.Header().Set("Connection", "close")
	}
	switch {
	case strings.HasPrefix(id, "gone"):
		w.WriteHeader(http.StatusGone)
	case strings.HasPrefix(id, "busy"):
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		s.arrived = append(s.arrived, string(frame))
	}
}

func TestEveryFrameOfABatchGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pipeline, closing int }{
		"all at once":                     {pipeline: 1000},
		"a few at a time":                 {pipeline: 8},
		"one at a time":                   {pipeline: 0},
		"with connections that are ended": {pipeline: 8, closing: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apis := [2]*statuses{{closing: tt.closing}, {closing: tt.closing}}
			endpoints := [2]string{serve(t, apis[0].ServeHTTP), serve(t, apis[1].ServeHTTP)}
			m := managementOf(t, "", func(c *ManagementConfig) { c.Pipeline = tt.pipeline })
			var all []Delivery
			want := [2][]string{}
			for i := range 100 {
				kind := []string{"fine", "gone", "busy", "fine"}[i/3%4]
				all = append(all, deliveries(endpoints[i%2], fmt.Sprint(kind, i))...)
				if kind == "fine" {
					want[i%2] = append(want[i%2], fmt.Sprint(kind, i))
				}
			}
			m.PostAll(t.Context(), all)
			for _, d := range all {
				kind := map[string]error{"gone": ErrGone, "busy": ErrBusy}[d.Conn.ID[:4]]
				if kind == nil && d.Err != nil || !errors.Is(d.Err, kind) {
					t.Errorf("%s: %v", d.Conn.ID, d.Err)
				}
			}
			for i, api := range apis {
				if diff := cmp.Diff(want[i], api.arrived); diff != "" {
					t.Errorf("what arrived at API %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestABatchKeepsToItsConnection(t *testing.T) {
	t.Parallel()
	var dials atomic.Int32
	server := httptest.NewUnstartedServer(&statuses{})
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dials.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	m := managementOf(t, "", func(c *ManagementConfig) { c.Pipeline = 8 })
	for range 5 {
		m.PostAll(t.Context(), deliveries(server.URL, "a", "b", "gone", "busy", "a", "b"))
	}
	if got := dials.Load(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
}

func TestWhatIsAbandonedLeavesNoTraceInWhatFollows(t *testing.T) {
	t.Parallel()
	arrived, proceed := make(chan bool, 1), make(chan bool)
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "slow") {
			arrived <- true
			<-proceed
			w.WriteHeader(http.StatusGone)
		}
	})
	m := managementOf(t, "", func(c *ManagementConfig) { c.Pipeline = 8 })
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan []Delivery)
	go func() {
		all := deliveries(endpoint, "slow", "last")
		m.PostAll(ctx, all)
		given <- all
	}()
	<-arrived
	cancel()
	all := <-given
	close(proceed)
	for _, d := range all {
		if !errors.Is(d.Err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", d.Conn.ID, d.Err)
		}
	}
	if err := m.post(t.Context(), Conn{ID: "next", Endpoint: endpoint}, nil); err != nil {
		t.Errorf("the next request: %v, want its own answer", err)
	}
}

func TestABatchThatIsCutOffIsSentAgainOnlyWhereNothingOfItWasRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers int // to the second batch, before its connection ends
		again   bool
	}{
		"before an answer": {0, true},
		"after an answer":  {1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { api.Close() })
			go func() {
				for answers := range slices.Values([]int{2 + tt.answers, 2}) {
					conn, err := api.Accept()
					if err != nil {
						return
					}
					in := bufio.NewReader(conn)
					for range answers {
						if r, err := http.ReadRequest(in); err == nil {
							_, _ = io.Copy(io.Discard, r.Body)
							_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
						}
					}
					if _, err := http.ReadRequest(in); err == nil { // the batch is there, and perhaps more of it
						_ = conn.(*net.TCPConn).CloseWrite()
					}
					_, _ = io.Copy(io.Discard, in)
					_ = conn.Close()
				}
			}()
			m := managementOf(t, "", func(c *ManagementConfig) { c.Pipeline = 8 })
			endpoint := "http://" + api.Addr().String()
			all := deliveries(endpoint, "a", "b")
			m.PostAll(t.Context(), all)
			if all[0].Err != nil || all[1].Err != nil {
				t.Fatal(all[0].Err, all[1].Err)
			}
			m.PostAll(t.Context(), all)
			if all[0].Err != nil || (all[1].Err == nil) != tt.again {
				t.Errorf("%v, %v: want the second sent again: %v", all[0].Err, all[1].Err, tt.again)
			}
		})
	}
}

func TestALinkThatIsIdleIsClosedAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api, err := newTarget("http://abc.example", &ManagementConfig{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var ended [3]time.Duration
		var reading sync.WaitGroup
		for i := range ended {
			here, there := net.Pipe()
			reading.Go(func() {
				_, _ = there.Read(make([]byte, 1))
				ended[i] = time.Since(began)
			})
			api.give(newLink(api, here))
			time.Sleep(10 * time.Second)
		}
		last, err := api.take(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		api.give(last) // after 30 s
		reading.Wait()
		if want := [3]time.Duration{45 * time.Second, 55 * time.Second, 75 * time.Second}; ended != want {
			t.Errorf("links ended after %v, want %v", ended, want)
		}
	})
}
