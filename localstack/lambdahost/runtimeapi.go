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

// answer answers /<function>/<instance>/2018-06-01/runtime/... It returns the
// instance, if one waits on this connection for its event.
func (h *Host) answer(c *conn, r *http.Request) (waiting *instance) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	token, rest, _ := strings.Cut(rest, "/")
	call, versioned := strings.CutPrefix(rest, "2018-06-01/runtime/")
	f := h.functions[name]
	if f == nil || !versioned {
		c.refuse(http.StatusNotFound, "InvalidPath", "there is nothing at this path of the Runtime API")
		return nil
	}
	inst := f.instance(token)
	if inst == nil {
		c.refuse(http.StatusForbidden, "UnknownInstance", "no live instance of the function has this address")
		return nil
	}
	if r.Method == http.MethodGet && call == "invocation/next" {
		return inst.next(c)
	}
	invocation, isInvocation := strings.CutPrefix(call, "invocation/")
	requestID, verb, _ := strings.Cut(invocation, "/")
	switch {
	case r.Method == http.MethodPost && call == "init/error":
		inst.initError(c, r)
	case r.Method == http.MethodPost && isInvocation && verb == "response":
		inst.answer(c, r, requestID, false)
	case r.Method == http.MethodPost && isInvocation && verb == "error":
		inst.answer(c, r, requestID, true)
	default:
		c.refuse(http.StatusNotFound, "InvalidPath", "there is nothing at this path of the Runtime API")
	}
	return nil
}

// next hands the process an event, or has it wait until there is one.
func (inst *instance) next(c *conn) (waiting *instance) {
	over, err := inst.fn.ready(inst, c)
	switch {
	case err != nil:
		c.refuse(http.StatusForbidden, "InvalidStateTransition", err.Error())
		if errors.Is(err, ErrClosed) {
			inst.process.terminate()
		}
		return nil
	case over == nil:
		return inst
	case !over.send():
		inst.fn.giveBack(over)
	}
	return nil
}

// answer settles the current invocation with what the process posts.
func (inst *instance) answer(c *conn, r *http.Request, requestID string, failed bool) {
	body, err := readBody(r)
	tooLarge := errors.Is(err, errBodyTooLarge)
	if err != nil && !tooLarge {
		inst.process.kill() // the answer broke off; the reaper settles the invocation
		return
	}
	inv := inst.fn.take(inst, requestID)
	if inv == nil {
		c.refuse(http.StatusForbidden, "InvalidRequestID", "the instance does not hold this invocation")
		return
	}
	var out outcome
	kind := r.Trailer.Get(trailerErrorType)
	switch {
	case tooLarge:
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
	if tooLarge {
		r.Close = true // what is left of it is not worth reading
		c.refuse(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
		return
	}
	c.accept()
}

// initError keeps what a process says of its failed start, for the invocation
// that it was started for. The process ends next.
func (inst *instance) initError(c *conn, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		c.refuse(http.StatusBadRequest, "InvalidBody", "the error report could not be read")
		return
	}
	inst.fn.mu.Lock()
	inst.initReport = body
	inst.fn.mu.Unlock()
	c.accept()
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var errBodyTooLarge = errors.New("the body is larger than a payload may be")

// readBody reads at most MaxPayload bytes into a slice of exactly their length:
// answers come chunked, so how long they are is known only at their end.
func readBody(r *http.Request) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	n, err := buf.ReadFrom(io.LimitReader(r.Body, MaxPayload+1))
	switch {
	case n > MaxPayload:
		return nil, errBodyTooLarge
	case err != nil:
		return nil, err
	}
	return bytes.Clone(buf.Bytes()), nil
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
