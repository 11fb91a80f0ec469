// Package runtimeapi is a function's side of Lambda's Runtime API: it asks for an
// event, has the handler answer it, and asks for the next.
//
// The public runtime does the same over net/http, in which every call passes three
// goroutines and an answer is sent in two pieces. Here the one goroutine that
// runs the handler writes and reads the one connection, which takes a third off
// what a short invocation costs beside its own work. The protocol is small and
// its version never changes:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
package runtimeapi

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
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Handler answers events. The payload is valid until Invoke returns.
//
// An error fails the invocation and is its message; its type's name is its kind.
// A handler that panics fails its invocation and ends the process.
type Handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

const (
	version = "/2018-06-01/runtime/invocation/"
	// maxHeader bounds what is read beside a payload.
	maxHeader = 1 << 20
	// maxPayload is Lambda's own bound on an event, in bytes.
	maxPayload = 6 << 20
)

// Start serves the process's invocations. It does not return: when the Runtime
// API is gone or a handler panicked, the process has no use any more and ends.
func Start(h Handler) {
	err := Serve(context.Background(), os.Getenv("AWS_LAMBDA_RUNTIME_API"), h)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Serve answers events until the Runtime API at address, host:port and perhaps
// the start of a path, is gone or ctx ends.
func Serve(ctx context.Context, address string, h Handler) error {
	host, path, _ := strings.Cut(address, "/")
	if path != "" {
		path = "/" + path
	}
	s := &session{host: host, path: path + version}
	defer s.hangUp()
	for {
		if err := s.invocation(ctx, h); err != nil {
			return err
		}
	}
}

// session is the connection with the memory of its invocations.
type session struct {
	host string
	path string // of invocations, with a slash at its end

	conn    net.Conn // nil where the next request makes one
	watch   func() bool
	limit   io.LimitedReader
	in      *bufio.Reader
	out     []byte
	payload bytes.Buffer
}

// dial connects until ctx ends.
func (s *session) dial(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.host)
	if err != nil {
		return fmt.Errorf("connect to the Runtime API: %w", err)
	}
	s.conn, s.limit.R = conn, conn
	s.in = bufio.NewReaderSize(&s.limit, 16<<10)
	s.watch = context.AfterFunc(ctx, func() { conn.Close() })
	return nil
}

func (s *session) hangUp() {
	if s.conn != nil {
		s.watch()
		s.conn.Close()
		s.conn = nil
	}
}

// invocation answers the next event.
func (s *session) invocation(ctx context.Context, h Handler) error {
	s.out = s.head(s.out[:0], http.MethodGet, "next", "")
	header, err := s.exchange(ctx, nextEvent, http.StatusOK)
	if err != nil {
		return fmt.Errorf("ask for an event: %w", err)
	}
	id := header.Get("Lambda-Runtime-Aws-Request-Id")
	millis, err := strconv.ParseInt(header.Get("Lambda-Runtime-Deadline-Ms"), 10, 64)
	if err != nil || id == "" {
		return errors.New("the event has no id or no deadline")
	}
	answer, fault := call(ctx, h, time.UnixMilli(millis), s.payload.Bytes())
	if fault == nil {
		s.out = s.head(s.out[:0], http.MethodPost, id, "/response")
	} else {
		if answer, err = json.Marshal(fault); err != nil {
			return fmt.Errorf("word a failure: %w", err)
		}
		s.out = s.head(s.out[:0], http.MethodPost, id, "/error")
		s.out = append(append(s.out, "Lambda-Runtime-Function-Error-Type: "...), fault.Type...)
		s.out = append(s.out, "\r\n"...)
	}
	s.out = append(s.out, "Content-Type: application/json\r\nContent-Length: "...)
	s.out = strconv.AppendInt(s.out, int64(len(answer)), 10)
	s.out = append(append(s.out, "\r\n\r\n"...), answer...)
	if _, err := s.exchange(ctx, answered, http.StatusAccepted); err != nil {
		return fmt.Errorf("answer an event: %w", err)
	}
	if fault != nil && fault.fatal {
		return errors.New("the handler panicked")
	}
	return nil
}

// head opens a request. A GET is complete with it.
func (s *session) head(b []byte, method, id, verb string) []byte {
	b = append(append(b, method...), ' ')
	b = append(append(append(b, s.path...), id...), verb...)
	b = append(append(b, " HTTP/1.1\r\nHost: "...), s.host...)
	if method == http.MethodGet {
		return append(b, "\r\n\r\n"...)
	}
	return append(b, "\r\n"...)
}

// What responses are read as a response to.
var (
	nextEvent = &http.Request{Method: http.MethodGet}
	answered  = &http.Request{Method: http.MethodPost}
)

// exchange sends s.out and reads the response into s.payload. An event is asked
// for again where the connection turns out to be closed.
func (s *session) exchange(ctx context.Context, to *http.Request, want int) (http.Header, error) {
	kept := s.conn != nil
	if !kept {
		if err := s.dial(ctx); err != nil {
			return nil, err
		}
	}
	res, err := s.roundTrip(to) //nolint:bodyclose // it has read and closed the body
	if err != nil {
		s.hangUp()
		if kept && to == nextEvent && ctx.Err() == nil {
			return s.exchange(ctx, to, want)
		}
		return nil, err
	}
	if res.Close {
		s.hangUp()
	}
	if res.StatusCode != want {
		return nil, fmt.Errorf("status %d, want %d", res.StatusCode, want)
	}
	return res.Header, nil
}

func (s *session) roundTrip(to *http.Request) (*http.Response, error) {
	if _, err := s.conn.Write(s.out); err != nil {
		return nil, err
	}
	s.limit.N = maxHeader + maxPayload
	res, err := http.ReadResponse(s.in, to)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	s.payload.Reset()
	_, err = s.payload.ReadFrom(res.Body)
	return res, err
}

// failure is how Lambda is told of a failed invocation.
type failure struct {
	Message string   `json:"errorMessage"`
	Type    string   `json:"errorType"`
	Stack   []string `json:"stackTrace,omitempty"`
	fatal   bool
}

// call runs the handler until the deadline of the event.
func call(ctx context.Context, h Handler, deadline time.Time, payload []byte) (answer []byte, fault *failure) {
	defer func() {
		if cause := recover(); cause != nil {
			stack := strings.Split(strings.TrimSpace(string(debug.Stack())), "\n")
			fault = &failure{Message: fmt.Sprint(cause), Type: kindOf(cause), Stack: stack, fatal: true}
		}
	}()
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	answer, err := h.Invoke(ctx, payload)
	if err != nil {
		return nil, &failure{Message: err.Error(), Type: kindOf(err)}
	}
	return answer, nil
}

// kindOf is the name of a value's type, without its package.
func kindOf(value any) string {
	t := reflect.TypeOf(value)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" {
		return "error"
	}
	return t.Name()
}
