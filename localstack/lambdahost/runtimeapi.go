package lambdahost

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// The headers of the Runtime API, in the form net/http keeps them.
const (
	headerRequestID  = "Lambda-Runtime-Aws-Request-Id"
	headerDeadline   = "Lambda-Runtime-Deadline-Ms"
	headerARN        = "Lambda-Runtime-Invoked-Function-Arn"
	headerTraceID    = "Lambda-Runtime-Trace-Id"
	trailerErrorType = "Lambda-Runtime-Function-Error-Type"
)

// serveRuntime answers /<function>/<instance>/2018-06-01/runtime/...
func (h *Host) serveRuntime(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	token, rest, _ := strings.Cut(rest, "/")
	call, versioned := strings.CutPrefix(rest, "2018-06-01/runtime/")
	f := h.functions[name]
	if f == nil || !versioned {
		refuse(w, http.StatusNotFound, "InvalidPath", "there is nothing at this path of the Runtime API")
		return
	}
	inst := f.instance(token)
	if inst == nil {
		refuse(w, http.StatusForbidden, "UnknownInstance", "no live instance of the function has this address")
		return
	}
	if r.Method == http.MethodGet && call == "invocation/next" {
		inst.next(w, r)
		return
	}
	invocation, isInvocation := strings.CutPrefix(call, "invocation/")
	requestID, verb, _ := strings.Cut(invocation, "/")
	switch {
	case r.Method == http.MethodPost && call == "init/error":
		inst.initError(w, r)
	case r.Method == http.MethodPost && isInvocation && verb == "response":
		inst.answer(w, r, requestID, false)
	case r.Method == http.MethodPost && isInvocation && verb == "error":
		inst.answer(w, r, requestID, true)
	default:
		refuse(w, http.StatusNotFound, "InvalidPath", "there is nothing at this path of the Runtime API")
	}
}

// next keeps the process waiting until there is an event for it.
func (inst *instance) next(w http.ResponseWriter, r *http.Request) {
	if err := inst.fn.ready(inst); err != nil {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", err.Error())
		if errors.Is(err, ErrClosed) {
			inst.process.terminate()
		}
		return
	}
	select {
	case inv := <-inst.work:
		header := w.Header()
		header["Content-Type"] = []string{"application/json"}
		header["Content-Length"] = []string{strconv.Itoa(len(inv.payload))}
		header[headerRequestID] = []string{inv.id}
		header[headerDeadline] = []string{strconv.FormatInt(inst.deadline.UnixMilli(), 10)}
		header[headerARN] = []string{inst.fn.arn}
		header[headerTraceID] = []string{newTraceID(inst.deadline.Unix())}
		_, _ = w.Write(inv.payload) // a process that is gone is noticed when it is reaped
	case <-r.Context().Done():
		inst.process.kill() // it hung up, so it will never take its event
	}
}

// answer settles the current invocation with what the process posts.
func (inst *instance) answer(w http.ResponseWriter, r *http.Request, requestID string, failed bool) {
	body, err := readBody(w, r)
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) {
		inst.process.kill() // the answer broke off; the reaper settles the invocation
		return
	}
	inv := inst.fn.take(inst, requestID)
	if inv == nil {
		refuse(w, http.StatusForbidden, "InvalidRequestID", "the instance does not hold this invocation")
		return
	}
	var out outcome
	kind := r.Trailer.Get(trailerErrorType)
	switch {
	case tooLarge != nil:
		out.err = failure(inv.id, "Function.ResponseSizeTooLarge",
			"Response payload size exceeded maximum allowed payload size ("+strconv.Itoa(MaxPayload)+" bytes).", nil)
	case failed:
		out.err = reported(inv.id, body)
	case kind != "":
		out.err = failure(inv.id, kind, "the answer broke off in the function", nil)
	default:
		out.answer = body
	}
	inv.done <- out
	if tooLarge != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
		return
	}
	accept(w)
}

// initError keeps what a process says of its failed start, for the invocation
// that it was started for. The process ends next.
func (inst *instance) initError(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "InvalidBody", "the error report could not be read")
		return
	}
	inst.fn.mu.Lock()
	inst.initReport = body
	inst.fn.mu.Unlock()
	accept(w)
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readBody reads at most MaxPayload bytes into a slice of exactly their length:
// answers come chunked, so how long they are is known only at their end.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, MaxPayload)); err != nil {
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
}

var accepted = []byte(`{"status":"OK"}`)

func accept(w http.ResponseWriter) {
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	header["Content-Length"] = []string{strconv.Itoa(len(accepted))}
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write(accepted)
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"errorMessage":`+strconv.QuoteToASCII(message)+`,"errorType":"`+kind+`"}`)
}

// newRequestID is a random UUID, as Lambda names an invocation.
func newRequestID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], u[0:4])
	hex.Encode(s[9:13], u[4:6])
	hex.Encode(s[14:18], u[6:8])
	hex.Encode(s[19:23], u[8:10])
	hex.Encode(s[24:36], u[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// newTraceID is an X-Ray trace of its own, begun at a time in s, not sampled.
func newTraceID(at int64) string {
	var id [24]byte
	binary.BigEndian.PutUint32(id[:4], uint32(at))
	_, _ = rand.Read(id[4:]) // never fails
	s := hex.EncodeToString(id[:])
	return "Root=1-" + s[:8] + "-" + s[8:32] + ";Parent=" + s[32:] + ";Sampled=0"
}
