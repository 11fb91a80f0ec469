package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/aws/batch"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/usage"
)

// Error is a failure that its caller may read.
type Error struct {
	Reason  catalog.Reason
	Message string // one sentence: what was wrong, which parameter, what is accepted

	RetryAfter time.Duration // when it is worth trying again, in whole seconds; 0 for nothing to say
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Refuse returns the error of a reason with the formatted message.
func Refuse(reason catalog.Reason, format string, args ...any) error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// BadParameter returns [catalog.ReasonBadParameter] with the formatted message, which names
// the parameter.
func BadParameter(format string, args ...any) error {
	return Refuse(catalog.ReasonBadParameter, format, args...)
}

// absence is a lookup that found nothing.
type absence struct{ msg, why string }

func (a *absence) Error() string { return a.msg + ": " + a.why }

// Absent returns the answer to a lookup that finds nothing on an endpoint of envelope B
// whose clients look for the words in msg, see [catalog.AbsentBody]. The formatted
// sentence says why.
func Absent(msg, format string, args ...any) error {
	return &absence{msg, fmt.Sprintf(format, args...)}
}

// NotFound returns [catalog.ReasonNotFound] with the formatted message.
func NotFound(format string, args ...any) error {
	return Refuse(catalog.ReasonNotFound, format, args...)
}

// NotBuilt returns [catalog.ReasonNotBuilt] with the formatted message.
func NotBuilt(format string, args ...any) error {
	return Refuse(catalog.ReasonNotBuilt, format, args...)
}

// NotReady returns [catalog.ReasonNotReady] for what is not known yet, with when to ask again (whole seconds)
// and the formatted message, which names what is awaited.
func NotReady(retryAfter time.Duration, format string, args ...any) error {
	return &Error{Reason: catalog.ReasonNotReady, Message: fmt.Sprintf(format, args...), RetryAfter: retryAfter}
}

// LookupsExhausted returns [catalog.ReasonLookupsExhausted] for a caller that has asked for
// as many others as it may, with when to ask again (whole seconds) and the formatted message,
// which names the limit.
func LookupsExhausted(retryAfter time.Duration, format string, args ...any) error {
	return &Error{Reason: catalog.ReasonLookupsExhausted, Message: fmt.Sprintf(format, args...), RetryAfter: retryAfter}
}

// What this package itself refuses.
var (
	errNoEndpoint = Refuse(catalog.ReasonNoEndpoint, "no such endpoint: see the endpoint list for paths and methods")
	errUnreadable = Refuse(catalog.ReasonBadBody, "the request body could not be read")
	errTooLong    = Refuse(catalog.ReasonTooSlow, "the request took too long")
)

// response is an answer before it takes the gateway's shape.
type response struct {
	status      int
	contentType string // "" is JSON
	body        []byte
	gzip        bool               // body is compressed
	varies      bool               // with what the client accepts
	retryAfter  int                // seconds, 0 = none
	reason      catalog.Reason     // of a failure; "" for none
	fault       error              // the cause of an error that is no refusal, for the log
	refusal     *admission.Refusal // of the gate; nil for none
	dataSince   time.Time          // what is older is no longer retained; zero where nothing is missing
	dataVenue   time.Time          // what is older is what the venue says; zero for nothing
}

func (r *request) succeed(e *endpoint, out any) response {
	var contentType string
	var body []byte
	var err error
	if r.text != nil {
		contentType, body = r.text.contentType, r.text.body
	} else {
		body, err = r.encode(e, out)
	}
	if err != nil {
		return r.fail(fmt.Errorf("encode the answer: %w", err))
	}
	res, err := r.pack(body)
	if err != nil {
		return r.fail(err)
	}
	res.contentType = contentType
	return res
}

// encode writes the body of a success.
func (r *request) encode(e *endpoint, out any) ([]byte, error) {
	if m, ok := out.(catalog.Members); ok {
		object, err := Encode(m.Members())
		if err != nil {
			return nil, err
		}
		return r.envelope(e.Envelope, object[1:len(object)-1]), nil
	}
	if _, none := out.(catalog.None); none && e.Envelope == catalog.EnvelopeD {
		return r.envelope(e.Envelope), nil
	}
	data, err := Encode(out)
	if err != nil {
		return nil, err
	}
	if e.list && string(data) == "null" {
		data = []byte("[]")
	}
	if e.bare {
		return data, nil
	}
	return r.envelope(e.Envelope, []byte(`"data":`), data), nil
}

// Encode writes the data of an answer as JSON, in which <, > and & stay as they are.
func Encode(out any) ([]byte, error) {
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

// envelope puts members, data among them, between those of an envelope.
func (r *request) envelope(kind catalog.Envelope, members ...[]byte) []byte {
	var head string
	tail := []byte("}")
	switch kind {
	case catalog.EnvelopeA:
		head = `{"success":true,"errorCode":200,"error":"",`
	case catalog.EnvelopeB:
		head = `{"code":"0","msg":"success",`
	case catalog.EnvelopeC:
		head = `{"success":true,"status":200,"message":"success",`
	default:
		head = `{"success":true,`
		message := `"message":` + string(text(cmp.Or(r.message, "success"))) + "}"
		if len(members) > 0 {
			message = "," + message
		}
		tail = []byte(message)
	}
	return slices.Concat(append(append([][]byte{[]byte(head)}, members...), tail)...)
}

// text is a JSON string.
func text(s string) []byte {
	encoded, err := Encode(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return encoded
}

// absent answers that nothing was found. It is charged as any answer with status 200.
func (r *request) absent(a *absence) response {
	body, err := Encode(catalog.AbsentBody{Code: "400", Msg: a.msg, Error: a.why})
	if err != nil {
		panic(err) // strings encode
	}
	return response{status: http.StatusOK, body: body}
}

// Render writes the one error body that the reader of every envelope understands. An error
// that is not meant for the caller is [catalog.ReasonInternal] and says no more, unless the
// store refuses it for now.
func Render(err error, requestID string) (catalog.Reason, []byte) {
	reason, message := catalog.ReasonInternal, "internal error"
	var refusal *admission.Refusal
	var known *Error
	switch {
	case errors.As(err, &refusal):
		reason, message = refusal.Reason, refusal.Message
	case errors.As(err, &known):
		reason, message = known.Reason, known.Message
	case batch.Throttled(err):
		reason, message = catalog.ReasonNotReady, "the store is busy: ask again in a second"
	}
	body, err := Encode(catalog.NewErrorBody(reason, message, requestID))
	if err != nil {
		panic(err) // strings and numbers encode
	}
	return reason, body
}

// fail answers with an error.
func (r *request) fail(err error) (res response) {
	res.reason, res.body = Render(err, r.id)
	res.status = res.reason.Status()
	var known *Error
	switch {
	case errors.As(err, &res.refusal):
		res.retryAfter = int(res.refusal.RetryAfter.Seconds())
	case errors.As(err, &known):
		res.retryAfter = int(known.RetryAfter.Seconds())
	default:
		if res.fault = err; batch.Throttled(err) {
			res.retryAfter = 1
		}
	}
	return res
}

// reword gives a refusal of a parameter the status and text of its endpoint, if it has any.
func (res *response) reword(e *endpoint) {
	if e.refuses == nil || res.reason != catalog.ReasonBadParameter {
		return
	}
	status, text := e.refuses.Refusal()
	res.status, res.contentType, res.body = status, "text/plain; charset=utf-8", []byte(text)
}

// write sends the answer. Names of headers are written as they are documented,
// which http.Header.Set would not keep.
func (res *response) write(w http.ResponseWriter, r *request) {
	headers := w.Header()
	headers["Content-Type"] = []string{cmp.Or(res.contentType, "application/json")}
	headers["Cache-Control"] = []string{"no-store"}
	headers["X-Request-Id"] = []string{r.id}
	if res.varies {
		headers["Vary"] = []string{"Accept-Encoding"}
	}
	if res.gzip {
		headers["Content-Encoding"] = []string{"gzip"}
	}
	if res.status == http.StatusOK && r.next != "" {
		headers[catalog.HeaderNextCursor] = []string{r.next}
	}
	if res.retryAfter > 0 {
		headers["Retry-After"] = []string{strconv.Itoa(res.retryAfter)}
	}
	if !res.dataSince.IsZero() {
		headers[catalog.HeaderDataSince] = []string{res.dataSince.UTC().Format(time.RFC3339)}
	}
	if !res.dataVenue.IsZero() {
		headers[catalog.HeaderDataSource] = []string{"venue until " + res.dataVenue.UTC().Format(time.RFC3339)}
	}
	if res.status == http.StatusOK && !r.until.IsZero() {
		headers[catalog.HeaderDataUntil] = []string{r.until.UTC().Format(time.RFC3339)}
	}
	if res.status == http.StatusOK && len(r.missing) > 0 {
		headers[catalog.HeaderDataMissing] = []string{strings.Join(r.missing, ", ")}
	}
	if res.status == http.StatusOK && r.coverage != "" {
		headers[catalog.HeaderDataCoverage] = []string{r.coverage}
	}
	if res.status == http.StatusOK && !r.version.IsZero() {
		headers[catalog.HeaderDataVersion] = []string{r.version.UTC().Format(time.RFC3339)}
	}
	r.limits(res, headers)
	w.WriteHeader(res.status)
	_, _ = w.Write(res.body) // the caller may have gone
}

// limits reports to a caller how much is left: of the rate in RateLimit-*
// where one is in force, for data of the month in Quota-*. The resets are seconds until more is
// left than now. A month that refuses is that of the key or, for all keys together,
// of the distributor: nothing is left of it.
func (r *request) limits(res *response, headers http.Header) {
	c := &r.caller
	set := func(name string, n int64) { headers[name] = []string{strconv.FormatInt(n, 10)} }
	var figures usage.Figures
	quota, left := c.MonthlyQuota, int64(-1)
	switch {
	case r.receipt != nil:
		figures = r.receipt.Figures
		left = max(quota-figures.InMonth, 0)
	case res.refusal != nil && res.refusal.Denied != nil:
		denied := res.refusal.Denied
		figures = denied.Figures
		if denied.Cap == usage.PerMonth || denied.Cap == usage.Total {
			quota, left = denied.Limit, 0
		}
	}
	if c.RateLimit > 0 {
		set("RateLimit-Limit", c.RateLimit)
		if !figures.RateFrees.IsZero() {
			set("RateLimit-Remaining", figures.RateLeft)
			set("RateLimit-Reset", usage.Seconds(figures.RateFrees.Sub(r.now)))
		}
	}
	if quota > 0 {
		set("Quota-Limit", quota)
		if left >= 0 {
			set("Quota-Remaining", left)
		}
		set("Quota-Reset", usage.Seconds(usage.MonthEnd(r.now).Sub(r.now)))
	}
}
