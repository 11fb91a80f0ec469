package lambdahost

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// The headers of the Runtime API.
const (
	headerRequestID  = "Lambda-Runtime-Aws-Request-Id"
	headerDeadline   = "Lambda-Runtime-Deadline-Ms"
	headerARN        = "Lambda-Runtime-Invoked-Function-Arn"
	headerTraceID    = "Lambda-Runtime-Trace-Id"
	trailerErrorType = "Lambda-Runtime-Function-Error-Type"
)

// maxHeader bounds the headers of a request, in bytes: an error report carries its
// X-Ray cause, up to 1 MiB, in one.
const maxHeader = 2 << 20

// runtimeServer answers the functions' processes. It sets no limit on the time
// between requests: a process asks for its next event long before there is one.
func (h *Host) runtimeServer() *http.Server {
	const base = "/{function}/{instance}/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"invocation/next", h.forInstance((*instance).serveNext))
	mux.HandleFunc("POST "+base+"invocation/{id}/response", h.forInstance((*instance).serveResponse))
	mux.HandleFunc("POST "+base+"invocation/{id}/error", h.forInstance((*instance).serveError))
	mux.HandleFunc("POST "+base+"init/error", h.forInstance((*instance).serveInitError))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "InvalidPath", "there is nothing at this path of the Runtime API")
	})
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(h.cfg.Log.Handler(), slog.LevelDebug),
	}
}

// forInstance finds the instance whose address was called.
func (h *Host) forInstance(serve func(*instance, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := h.functions[r.PathValue("function")]
		if f == nil {
			refuse(w, http.StatusNotFound, "InvalidPath", "there is no such function")
			return
		}
		inst := f.instance(r.PathValue("instance"))
		if inst == nil {
			refuse(w, http.StatusForbidden, "UnknownInstance", "no live instance of the function has this address")
			return
		}
		serve(inst, w, r)
	}
}

// serveNext waits for the process's next event and sends it.
func (inst *instance) serveNext(w http.ResponseWriter, r *http.Request) {
	if err := inst.fn.ready(inst); err != nil {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", err.Error())
		if errors.Is(err, ErrClosed) {
			inst.process.terminate()
		}
		return
	}
	select {
	case next := <-inst.events:
		if inst.send(w, next) != nil {
			inst.fn.requeue(inst, next.invocation)
		}
	case <-r.Context().Done():
		inst.fn.hungUp(inst)
	}
}

// send writes an event with what the runtime has to know of it.
func (inst *instance) send(w http.ResponseWriter, next event) error {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(next.payload)))
	header.Set(headerRequestID, next.id)
	header.Set(headerDeadline, strconv.FormatInt(next.deadline.UnixMilli(), 10))
	header.Set(headerARN, inst.fn.arn)
	header.Set(headerTraceID, newTraceID(next.deadline))
	if _, err := w.Write(next.payload); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// serveResponse ends the current invocation with the answer that the process posts.
func (inst *instance) serveResponse(w http.ResponseWriter, r *http.Request) {
	inst.serveOutcome(w, r, func(inv *invocation, body []byte) outcome {
		if kind := r.Trailer.Get(trailerErrorType); kind != "" {
			return outcome{err: failure(inv.id, kind, "the answer broke off in the function", nil)}
		}
		return outcome{answer: body}
	})
}

// serveError ends the current invocation with the error that the process posts.
func (inst *instance) serveError(w http.ResponseWriter, r *http.Request) {
	inst.serveOutcome(w, r, func(inv *invocation, body []byte) outcome {
		return outcome{err: reported(inv.id, body)}
	})
}

func (inst *instance) serveOutcome(w http.ResponseWriter, r *http.Request, read func(*invocation, []byte) outcome) {
	body, err := readBody(w, r)
	tooLarge := errors.Is(err, errBodyTooLarge)
	if err != nil && !tooLarge {
		inst.process.kill() // the answer broke off; the invocation fails when the process is reaped
		return
	}
	inv := inst.fn.finish(inst, r.PathValue("id"))
	if inv == nil {
		refuse(w, http.StatusForbidden, "InvalidRequestID", "the instance does not hold this invocation")
		return
	}
	if tooLarge {
		inv.done <- outcome{err: failure(inv.id, "Function.ResponseSizeTooLarge",
			fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", MaxPayload), nil)}
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "the answer is too large")
		return
	}
	inv.done <- read(inv, body)
	accept(w)
}

// serveInitError keeps what a process says of its failed start, for the invocation
// that it was started for. The process ends next.
func (inst *instance) serveInitError(w http.ResponseWriter, r *http.Request) {
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

func accept(w http.ResponseWriter) {
	writeJSON(w, http.StatusAccepted, map[string]string{"status": "OK"})
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorDocument{Message: message, Type: kind})
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	body, _ := json.Marshal(document) // strings always encode
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that is gone needs no answer
}

var errBodyTooLarge = fmt.Errorf("the body is larger than %d bytes", MaxPayload)

// readBody reads a payload.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxPayload))
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		return nil, errBodyTooLarge
	}
	return body, err
}

// newRequestID is a random UUID, as Lambda names an invocation.
func newRequestID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// newTraceID is an X-Ray trace of its own, not sampled.
func newTraceID(at time.Time) string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("Root=1-%08x-%x;Parent=%x;Sampled=0", at.Unix(), id[:12], id[12:])
}
