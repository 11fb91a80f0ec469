package lambdahost

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
)

// maxBackground bounds the Event invocations under way at one time. Further ones
// are throttled.
const maxBackground = 64

// InvokeAPI is the Lambda Invoke API, the part of it that an SDK's Invoke uses:
//
//	POST /2015-03-31/functions/{name}/invocations
//
// X-Amz-Invocation-Type is RequestResponse (also when absent), Event (202, and
// the function runs on its own: once, where AWS would repeat a failed run twice)
// or DryRun (204, nothing is run). {name} may be a name or an ARN, with or
// without :$LATEST. Signatures are not checked: serve it on loopback only.
func (h *Host) InvokeAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", h.serveInvoke)
	return mux
}

func (h *Host) serveInvoke(w http.ResponseWriter, r *http.Request) {
	requestID := newRequestID()
	w.Header().Set("X-Amzn-Requestid", requestID)
	name := plainName(r.PathValue("name"))
	if h.functions[name] == nil {
		invokeProblem(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+name)
		return
	}
	payload, err := readBody(w, r)
	if err != nil {
		if errors.Is(err, errBodyTooLarge) {
			invokeError(w, ErrPayloadTooLarge)
			return
		}
		invokeProblem(w, http.StatusBadRequest, "InvalidRequestContentException", "the payload could not be read to its end")
		return
	}
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	if !json.Valid(payload) {
		invokeProblem(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json")
		return
	}
	switch kind := r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", "RequestResponse":
		h.serveRequestResponse(w, r, name, requestID, payload)
	case "Event":
		h.serveEvent(w, name, requestID, payload)
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
	default:
		invokeProblem(w, http.StatusBadRequest, "InvalidParameterValueException",
			"X-Amz-Invocation-Type: want RequestResponse, Event or DryRun")
	}
}

func (h *Host) serveRequestResponse(w http.ResponseWriter, r *http.Request, name, requestID string, payload []byte) {
	answer, err := h.invoke(r.Context(), name, requestID, payload)
	var failed *FunctionError
	switch {
	case errors.As(err, &failed):
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer = failed.Payload
	case err != nil:
		invokeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amz-Executed-Version", "$LATEST")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer)
}

func (h *Host) serveEvent(w http.ResponseWriter, name, requestID string, payload []byte) {
	select {
	case h.slots <- struct{}{}:
	default:
		invokeError(w, ErrThrottled)
		return
	}
	started := h.start(func() {
		defer func() { <-h.slots }()
		// Nobody waits, and Close ends every invocation: no context does.
		if _, err := h.invoke(context.Background(), name, requestID, payload); err != nil {
			h.cfg.Log.Warn("an event invocation failed", slog.String("function", name),
				slog.String("request", requestID), slog.String("error", err.Error()))
		}
	})
	if !started {
		<-h.slots
		invokeError(w, ErrClosed)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// plainName takes the function's name out of arn:aws:lambda:r:a:function:name,
// a:function:name or name, and drops the qualifier.
func plainName(s string) string {
	if _, after, found := strings.Cut(s, "function:"); found {
		s = after
	}
	name, _, _ := strings.Cut(s, ":")
	return name
}

func invokeError(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, ErrThrottled):
		invokeProblem(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
	case errors.Is(err, ErrPayloadTooLarge):
		invokeProblem(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", err.Error())
	default:
		invokeProblem(w, http.StatusServiceUnavailable, "ServiceException", err.Error())
	}
}

// invokeProblem answers as Lambda words its own refusals: Type says whose fault
// it is, and both spellings of the message are read by one SDK or another.
func invokeProblem(w http.ResponseWriter, status int, exception, message string) {
	fault := "User"
	if status >= http.StatusInternalServerError {
		fault = "Service"
	}
	document, _ := json.Marshal(map[string]string{"Type": fault, "Message": message, "message": message})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", exception)
	w.WriteHeader(status)
	_, _ = w.Write(document)
}
