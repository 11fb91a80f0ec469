package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/admission"
	"quotary/shared/signature"
	"quotary/shared/usage"
)

// MaxBody is the largest request body that is accepted, in bytes.
const MaxBody = 1 << 20

// request is one invocation on its way through the family.
type request struct {
	event   *events.APIGatewayProxyRequest
	now     time.Time
	caller  admission.Caller
	receipt *usage.Receipt // once the request is counted
	message string         // of success, for the envelopes that show one

	fields map[string]json.RawMessage // the JSON body, once parsed
	parsed bool
}

func (r *request) id() string { return r.event.RequestContext.RequestID }

// body returns the members of the JSON body; an empty body has none.
func (r *request) body() (map[string]json.RawMessage, error) {
	if r.parsed {
		return r.fields, nil
	}
	text := []byte(r.event.Body)
	if r.event.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(r.event.Body)
		if err != nil {
			return nil, BadRequest("the request body could not be read")
		}
		text = decoded
	}
	if len(text) > MaxBody {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Message: "the request body is too large: at most 1 MiB is accepted"}
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if !utf8.Valid(text) {
			return nil, BadRequest("the request body is not valid UTF-8")
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&r.fields); err != nil || r.fields == nil {
			return nil, BadRequest("the request body must be one JSON object")
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, BadRequest("the request body must be one JSON object and nothing after it")
		}
	}
	r.parsed = true
	return r.fields, nil
}

// bodySignature reads the signature parameters from the JSON body. They may be
// strings or numbers, as clients in the field send both.
func (r *request) bodySignature() (signature.Params, error) {
	fields, err := r.body()
	if err != nil {
		var known *Error
		if errors.As(err, &known) && known.Status == http.StatusRequestEntityTooLarge {
			return signature.Params{}, err
		}
		return signature.Params{}, admission.Unsigned("the signature parameters are neither in the query nor in a JSON body")
	}
	text := func(name string) string {
		s, err := scalar(fields[name])
		if err != nil {
			return ""
		}
		return s
	}
	return signature.Params{
		AccessKeyID: text(signature.AccessKeyID),
		Nonce:       text(signature.Nonce),
		Timestamp:   text(signature.Timestamp),
		Signature:   text(signature.Signature),
	}, nil
}

// query returns the values of a query parameter under any of its spellings.
func (r *request) query(names []string) []string {
	var values []string
	for _, name := range names {
		if multi, ok := r.event.MultiValueQueryStringParameters[name]; ok {
			values = append(values, multi...)
		} else if single, ok := r.event.QueryStringParameters[name]; ok {
			values = append(values, single)
		}
	}
	return values
}

type requestKey struct{}

func withRequest(ctx context.Context, r *request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// Caller returns who is calling. It is the zero value for a public endpoint.
func Caller(ctx context.Context) admission.Caller {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.caller
	}
	return admission.Caller{}
}

// Now returns the moment at which the request arrived, in UTC: one request
// sees one time.
func Now(ctx context.Context) time.Time {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.now.UTC()
	}
	return time.Now().UTC()
}

// Say sets the message of a successful answer, for the envelopes that show one.
func Say(ctx context.Context, message string) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.message = message
	}
}
