package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/admission"
	"quotary/shared/catalog"
	"quotary/shared/jsonscan"
	"quotary/shared/usage"
)

// Error is a failure that its caller may read.
type Error struct {
	Status  int    // HTTP status, 4xx or 501
	Message string // one sentence: what was wrong, which parameter, what is accepted
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// BadRequest returns a 400 with the formatted message.
func BadRequest(format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a 404 with the formatted message.
func NotFound(format string, args ...any) error {
	return &Error{Status: http.StatusNotFound, Message: fmt.Sprintf(format, args...)}
}

// maxResponse is what fits into a function's answer with room for its frame.
const maxResponse = 6<<20 - 64<<10

// response is an answer before it takes the gateway's shape.
type response struct {
	status     int
	body       []byte
	retryAfter int   // seconds, 0 = none
	fault      error // the cause of a 500, for the log
	denied     admission.Cause
}

func (r *request) succeed(e *endpoint, out any) response {
	data, err := encode(out)
	if err != nil {
		return r.fail(fmt.Errorf("encode the answer: %w", err))
	}
	if e.list && string(data) == "null" {
		data = []byte("[]")
	}
	body := data
	if !e.bare {
		body = r.envelope(e.Envelope, out, data)
	}
	if len(body) > maxResponse {
		return r.fail(BadRequest("the answer would exceed 6 MB: ask for less at once"))
	}
	return response{status: http.StatusOK, body: body}
}

// encode writes the data of an answer.
func encode(out any) ([]byte, error) {
	switch out := out.(type) {
	case json.RawMessage:
		return out, nil
	case interface{ AppendJSON([]byte) []byte }:
		return out.AppendJSON(nil), nil
	}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func (r *request) envelope(kind catalog.Envelope, out any, data []byte) []byte {
	body := make([]byte, 0, len(data)+96+len(r.message))
	switch kind {
	case catalog.EnvelopeA:
		body = append(body, `{"success":true,"errorCode":200,"error":"","data":`...)
		body = append(body, data...)
	case catalog.EnvelopeB:
		body = append(body, `{"code":"0","msg":"success","data":`...)
		body = append(body, data...)
	case catalog.EnvelopeC:
		body = append(body, `{"success":true,"status":200,"message":"success","data":`...)
		body = append(body, data...)
	default:
		body = append(body, `{"success":true,`...)
		if _, none := out.(catalog.None); !none {
			body = append(body, `"data":`...)
			body = append(body, data...)
			body = append(body, ',')
		}
		message := r.message
		if message == "" {
			message = "success"
		}
		body = append(body, `"message":`...)
		body = jsonscan.AppendText(body, message)
	}
	return append(body, '}')
}

// fail answers with the one error body that the reader of every envelope
// understands. An error that is not meant for the caller becomes a bare 500.
func (r *request) fail(err error) response {
	res := response{status: http.StatusInternalServerError}
	message := "internal error"
	var refusal *admission.Refusal
	var known *Error
	switch {
	case errors.As(err, &refusal):
		res.status, message, res.denied = refusal.Status, refusal.Message, refusal.Cause
		res.retryAfter = int(refusal.RetryAfter.Seconds())
	case errors.As(err, &known):
		res.status, message = known.Status, known.Message
	default:
		res.fault = err
	}
	code := strconv.Itoa(res.status)
	text := jsonscan.AppendText(nil, message)
	body := append([]byte(nil), `{"success":false,"code":"`...)
	body = append(body, code...)
	body = append(body, `","errorCode":`...)
	body = append(body, code...)
	body = append(body, `,"status":`...)
	body = append(body, code...)
	for _, name := range []string{`,"error":`, `,"msg":`, `,"message":`} {
		body = append(body, name...)
		body = append(body, text...)
	}
	body = append(body, `,"request_id":`...)
	body = jsonscan.AppendText(body, r.id())
	body = append(body, '}')
	res.body = body
	return res
}

// event gives the answer the gateway's shape.
func (res *response) event(r *request) events.APIGatewayProxyResponse {
	headers := map[string]string{
		"Content-Type":  "application/json",
		"Cache-Control": "no-store",
		"X-Request-Id":  r.id(),
	}
	if res.retryAfter > 0 {
		headers["Retry-After"] = strconv.Itoa(res.retryAfter)
	}
	r.limits(res, headers)
	return events.APIGatewayProxyResponse{StatusCode: res.status, Headers: headers, Body: string(res.body)}
}

// limits tells a caller of data how much is left: of the minute in RateLimit-*
// where a rate is in force, else of the month; of the month in Quota-*.
func (r *request) limits(res *response, headers map[string]string) {
	c := &r.caller
	if c.AccessKey == "" || c.Primary {
		return
	}
	if c.RateLimit > 0 {
		left := int64(0)
		if r.receipt != nil {
			left = max(c.RateLimit-r.receipt.InMinute, 0)
		}
		reset := 60 - r.now.Unix()%60
		if r.receipt != nil || res.status == http.StatusTooManyRequests {
			headers["RateLimit-Remaining"] = strconv.FormatInt(left, 10)
		}
		headers["RateLimit-Limit"] = strconv.FormatInt(c.RateLimit, 10)
		headers["RateLimit-Reset"] = strconv.FormatInt(reset, 10)
	}
	if c.MonthlyQuota > 0 {
		headers["Quota-Limit"] = strconv.FormatInt(c.MonthlyQuota, 10)
		if r.receipt != nil {
			headers["Quota-Remaining"] = strconv.FormatInt(max(c.MonthlyQuota-r.receipt.InMonth, 0), 10)
		}
		headers["Quota-Reset"] = strconv.FormatInt(int64(usage.MonthEnd(r.now).Sub(r.now).Seconds()), 10)
	}
}
