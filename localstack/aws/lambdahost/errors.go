package lambdahost

import (
	"encoding/json"
	"errors"
	"fmt"
)

var (
	// ErrUnknownFunction: the host was not configured with a function of that name.
	ErrUnknownFunction = errors.New("unknown function")
	// ErrThrottled: every instance is busy and the queue is full, or the queue
	// did not move in time.
	ErrThrottled = errors.New("every instance of the function is busy")
	// ErrTimeout: the function was still at work at its deadline, and was ended.
	// It is wrapped by a *FunctionError.
	ErrTimeout = errors.New("the function did not answer in time")
	// ErrPayloadTooLarge: the event is larger than MaxPayload.
	ErrPayloadTooLarge = fmt.Errorf("the event is larger than %d bytes", MaxPayload)
	// ErrClosed: the host is closed or closing.
	ErrClosed = errors.New("the function host is closed")
)

// FunctionError is an invocation that reached a function and failed there: the
// handler returned an error, the process ended, or its time was up.
type FunctionError struct {
	RequestID string // the invocation, as the function's own log lines name it
	Type      string // errorType, such as "errorString" or "Runtime.ExitError"
	Message   string // errorMessage; written by the function, so foreign text
	Payload   []byte // the whole error document, as the Invoke API returns it
	cause     error
}

// Error quotes what the function wrote.
func (e *FunctionError) Error() string {
	return fmt.Sprintf("function failed: %s: %q", e.Type, e.Message)
}

// Unwrap gives ErrTimeout for an invocation that ran out of time.
func (e *FunctionError) Unwrap() error { return e.cause }

// errorDocument is how Lambda writes a failed invocation down.
type errorDocument struct {
	Message string `json:"errorMessage"`
	Type    string `json:"errorType"`
}

// reported is the failure a function reported about itself. A document that is
// not JSON is passed on as the message, so that nothing is lost.
func reported(requestID string, document []byte) *FunctionError {
	var d errorDocument
	if err := json.Unmarshal(document, &d); err != nil {
		return failure(requestID, "Runtime.UnknownReason", string(document), nil)
	}
	return &FunctionError{RequestID: requestID, Type: d.Type, Message: d.Message, Payload: document}
}

// failure is one that the host noticed, worded as Lambda words it.
func failure(requestID, kind, message string, cause error) *FunctionError {
	document, _ := json.Marshal(errorDocument{Message: message, Type: kind}) // two strings always encode
	return &FunctionError{RequestID: requestID, Type: kind, Message: message, Payload: document, cause: cause}
}
