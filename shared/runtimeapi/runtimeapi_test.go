package runtimeapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/runtimeapi"
)

// event is what a host hands out, and answer what it gets for it.
type event struct {
	payload  string
	deadline time.Time
}

type answer struct{ path, kind, body string }

// host hands out events one after the other and then ends the connection.
func host(t *testing.T, events []event) (address string, answers *[]answer) {
	answers = new([]answer)
	next := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, "/fn/token/2018-06-01/runtime/invocation"); {
		case r.Method == http.MethodGet && path == "/next" && next < len(events):
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "id-"+strconv.Itoa(next))
			w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(events[next].deadline.UnixMilli(), 10))
			_, _ = io.WriteString(w, events[next].payload)
			next++
		case r.Method == http.MethodPost:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			*answers = append(*answers, answer{path, r.Header.Get("Lambda-Runtime-Function-Error-Type"), string(body)})
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/fn/token", answers
}

type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

var soon = time.Now().Add(time.Minute).Truncate(time.Millisecond)

func TestEventsAreAnsweredOneAfterTheOther(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 5<<20)
	address, answers := host(t, []event{{`"a"`, soon}, {"", soon}, {large, soon}})
	var deadlines []time.Time
	err := runtimeapi.Serve(t.Context(), address, handler(func(ctx context.Context, payload []byte) ([]byte, error) {
		deadline, _ := ctx.Deadline()
		deadlines = append(deadlines, deadline)
		return append([]byte("re: "), payload...), nil
	}))
	if err == nil || !strings.Contains(err.Error(), "410") {
		t.Errorf("ended with %v", err)
	}
	want := []answer{{"/id-0/response", "", `re: "a"`}, {"/id-1/response", "", "re: "}, {"/id-2/response", "", "re: " + large}}
	if len(*answers) != len(want) {
		t.Fatalf("%d answers, want %d", len(*answers), len(want))
	}
	for i, got := range *answers {
		if got != want[i] || !deadlines[i].Equal(soon) {
			t.Errorf("answer %d: %.80v at %v, want %.80v at %v", i, got, deadlines[i], want[i], soon)
		}
	}
}

type refusalError struct{}

func (*refusalError) Error() string { return "refused" }

func TestAFailureIsToldAndThePanicEndsTheProcess(t *testing.T) {
	t.Parallel()
	address, answers := host(t, []event{{"plain", soon}, {"typed", soon}, {"panic", soon}, {"never", soon}})
	err := runtimeapi.Serve(t.Context(), address, handler(func(_ context.Context, payload []byte) ([]byte, error) {
		switch string(payload) {
		case "plain":
			return nil, errors.New("Unauthorized")
		case "typed":
			return nil, fmt.Errorf("wrapped: %w", &refusalError{})
		}
		panic("out of order")
	}))
	if err == nil || len(*answers) != 3 {
		t.Fatalf("%v after %d answers", err, len(*answers))
	}
	for i, want := range []struct{ path, kind, message string }{
		{"/id-0/error", "errorString", "Unauthorized"},
		{"/id-1/error", "wrapError", "wrapped: refused"},
		{"/id-2/error", "string", "out of order"},
	} {
		got := (*answers)[i]
		var body struct {
			ErrorMessage, ErrorType string
			StackTrace              []string
		}
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatal(err)
		}
		if got.path != want.path || got.kind != want.kind || body.ErrorType != want.kind || body.ErrorMessage != want.message {
			t.Errorf("%+v, want %+v", got, want)
		}
		if panicked := len(body.StackTrace) > 0; panicked != (i == 2) {
			t.Errorf("%s: a stack of %d lines", want.message, len(body.StackTrace))
		}
	}
}

func TestServingEndsWithTheContextAndWithTheHost(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(waiting)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	address := strings.TrimPrefix(server.URL, "http://")
	nobody := handler(func(context.Context, []byte) ([]byte, error) { return nil, nil })
	if err := runtimeapi.Serve(ctx, address, nobody); err == nil {
		t.Error("no error when the context ended")
	}
	server.Close()
	if err := runtimeapi.Serve(t.Context(), address, nobody); err == nil {
		t.Error("no error without a host")
	}
}

// TestAConnectionThatClosesIsMadeAnew has a host that closes each after its
// response, whether it says so or not.
func TestAConnectionThatClosesIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"announced": "Connection: close\r\n", "silent": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
			answers := make(chan string, 4)
			go func() {
				for n := 0; n < 3; {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					in := bufio.NewReader(conn)
					for range 2 { // an event, and the answer to it
						r, err := http.ReadRequest(in)
						if err != nil {
							break
						}
						body, _ := io.ReadAll(r.Body)
						if r.Method == http.MethodGet {
							_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: id-%d\r\nLambda-Runtime-Deadline-Ms: %d\r\nContent-Length: 0\r\n%s\r\n",
								n, soon.UnixMilli(), says)
							if n++; says != "" {
								break
							}
							continue
						}
						answers <- r.URL.Path + " " + string(body)
						_, _ = io.WriteString(conn, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
					}
					conn.Close()
				}
				listener.Close()
			}()
			err = runtimeapi.Serve(t.Context(), listener.Addr().String(), handler(func(context.Context, []byte) ([]byte, error) { return []byte("ok"), nil }))
			if err == nil {
				t.Error("served without a host")
			}
			if len(answers) < 2 {
				t.Errorf("%d answers, want at least 2: %v", len(answers), err)
			}
		})
	}
}

func TestAnEventWithoutIDOrDeadlineIsNotServed(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Lambda-Runtime-Aws-Request-Id", "Lambda-Runtime-Deadline-Ms"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, "1793260800000")
		}))
		t.Cleanup(server.Close)
		err := runtimeapi.Serve(t.Context(), strings.TrimPrefix(server.URL, "http://"), handler(func(context.Context, []byte) ([]byte, error) {
			t.Error("called")
			return nil, nil
		}))
		if err == nil {
			t.Errorf("served with %s alone", header)
		}
	}
}

func TestThePayloadIsWhatWasSent(t *testing.T) {
	t.Parallel()
	binary := string([]byte{0, 1, 0xff, '\r', '\n', 0})
	address, answers := host(t, []event{{binary, soon}})
	_ = runtimeapi.Serve(t.Context(), address, handler(func(_ context.Context, payload []byte) ([]byte, error) {
		return bytes.Clone(payload), nil
	}))
	if len(*answers) != 1 || (*answers)[0].body != binary {
		t.Errorf("%q", *answers)
	}
}
