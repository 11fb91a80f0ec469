package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
)

// request is one request on its way through the family.
type request struct {
	*http.Request

	id      string
	now     time.Time
	query   url.Values
	caller  admission.Caller
	receipt *usage.Receipt    // once the request is counted
	read    *readunits.Budget // once its handler was called
	message string            // of success, for the envelopes that show one
	text    *textBody         // in place of JSON; nil for JSON
	next    string            // cursor of the rest; "" when the answer is all

	gateway    bool           // the request came through the gateway,
	resource   string         // which matched this path of the catalog
	authorizer map[string]any // and whose authorizer left this

	fields map[string]json.RawMessage // the JSON body, once parsed
	parsed bool
}

func newRequest(r *http.Request, now time.Time) *request {
	req := &request{Request: r, now: now, query: queryOf(r)}
	if gateway, ok := core.GetAPIGatewayContextFromContext(r.Context()); ok {
		req.gateway, req.id, req.resource, req.authorizer = true, gateway.RequestID, gateway.ResourcePath, gateway.Authorizer
	} else {
		req.id = rand.Text()
	}
	return req
}

// queryOf is the query of a request, in which a semicolon is data, as the URL standard
// has it.
func queryOf(r *http.Request) url.Values {
	query, _ := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")) // what is malformed is left out
	return query
}

// body returns the members of the JSON body; an empty body has none.
func (r *request) body() (map[string]json.RawMessage, error) {
	if r.parsed {
		return r.fields, nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, catalog.MaxBody+1))
	if err != nil {
		return nil, errUnreadable
	}
	if len(text) > catalog.MaxBody {
		return nil, Refuse(catalog.ReasonBodyTooLarge, "the request body is too large: at most 1 MiB is accepted")
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if !utf8.Valid(text) {
			return nil, Refuse(catalog.ReasonBadBody, "the request body is not valid UTF-8")
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		if err := decoder.Decode(&r.fields); err != nil || r.fields == nil {
			return nil, Refuse(catalog.ReasonBadBody, "the request body must be one JSON object")
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, Refuse(catalog.ReasonBadBody, "the request body must be one JSON object and nothing after it")
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
		if errors.As(err, &known) && known.Reason == catalog.ReasonBodyTooLarge {
			return signature.Params{}, err
		}
		return signature.Params{}, admission.Unsigned(catalog.ReasonSignatureMissing, "the signature parameters are neither in the query nor in a JSON body")
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

// value returns that of a query parameter under any of its spellings, "" for none; an
// empty one is as good as absent.
func (r *request) value(names []string) (found string, err error) {
	var under string
	for _, name := range names {
		for _, value := range r.query[name] {
			switch {
			case value == "" || value == found:
			case found == "":
				found, under = value, name
			default:
				return "", contradiction(under, name)
			}
		}
	}
	return found, nil
}

// listValues returns those of a list in the query, also written x[]=a&x[]=b or
// x[0]=a&x[1]=b.
func (r *request) listValues(names []string) (values []string) {
	for _, name := range names {
		values = append(values, r.query[name]...)
		values = append(values, r.query[name+"[]"]...)
		values = append(values, r.numbered(name)...)
	}
	return values
}

// numbered returns the values of x[0]=a&x[1]=b, in the order of their numbers.
func (r *request) numbered(name string) (values []string) {
	var numbers []uint64
	for key := range r.query {
		if rest, ok := strings.CutPrefix(key, name+"["); ok {
			number, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 16)
			if err == nil && rest == strconv.FormatUint(number, 10)+"]" {
				numbers = append(numbers, number)
			}
		}
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		values = append(values, r.query[fmt.Sprintf("%s[%d]", name, number)]...)
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

// SetMessage sets the message of a successful answer, for the envelopes that show
// one.
func SetMessage(ctx context.Context, message string) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.message = message
	}
}

// textBody is a successful answer that is not JSON.
type textBody struct {
	contentType string
	body        []byte
}

// SetBody has a successful answer be a text of its own in place of JSON.
func SetBody(ctx context.Context, contentType string, body []byte) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.text = &textBody{contentType, body}
	}
}

// SetNext says that a successful answer is not all, and with which cursor the rest is
// asked for.
func SetNext(ctx context.Context, c catalog.Cursor) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.next = string(c)
	}
}
