package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
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
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
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

	until    time.Time // up to when what the answer is made of is whole; zero where it comes as it happens
	missing  []string  // hours before that of which it is not, as the header has them
	version  time.Time // of what the answer is made of; zero where none was reported
	coverage string    // of the open interest, a fraction; "" where none was reported

	gateway    bool           // the request came through the gateway,
	resource   string         // which matched this path of the catalog
	authorizer map[string]any // and whose authorizer left this

	whole  *string                    // the body, once read
	fields map[string]json.RawMessage // its members, once parsed
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

// readBody reads the body, once.
func (r *request) readBody() (string, error) {
	if r.whole != nil {
		return *r.whole, nil
	}
	var b strings.Builder
	b.Grow(int(min(max(r.ContentLength, 0), catalog.MaxBody)) + 1)
	if _, err := io.Copy(&b, io.LimitReader(r.Body, catalog.MaxBody+1)); err != nil {
		return "", errUnreadable
	}
	if b.Len() > catalog.MaxBody {
		return "", Refuse(catalog.ReasonBodyTooLarge, "the request body is too large: at most 1 MiB is accepted")
	}
	text := b.String()
	r.whole = &text
	return text, nil
}

// body returns the members of the JSON body; an empty body has none.
func (r *request) body() (map[string]json.RawMessage, error) {
	if r.parsed {
		return r.fields, nil
	}
	text, err := r.readBody()
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) != "" {
		if !utf8.ValidString(text) {
			return nil, Refuse(catalog.ReasonBadBody, "the request body is not valid UTF-8")
		}
		decoder := json.NewDecoder(strings.NewReader(text))
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

// bodySignature finds the signature parameters in the JSON body, which is parsed only once they
// are good: whoever has no key costs a look at its members, without any copy.
func (r *request) bodySignature() (signature.Params, error) {
	text, err := r.readBody()
	if known := (*Error)(nil); errors.As(err, &known) && known.Reason == catalog.ReasonBodyTooLarge {
		return signature.Params{}, err
	}
	params, ok := signatureIn(text)
	if err != nil || !ok {
		return signature.Params{}, admission.Unsigned(catalog.ReasonSignatureMissing, "the signature parameters are neither in the query nor in a JSON body")
	}
	return params, nil
}

// maxMembers is how many members of a body are looked at for a signature. The longest lists of
// parameters have some dozens, and the signature may stand behind them all.
const maxMembers = 1000

// signatureIn reads the signature parameters from a JSON object. They may be strings or numbers,
// as clients in the field send both. What stands behind the last of them is not looked at; ok is
// false for what is no object up to there.
func signatureIn(text string) (p signature.Params, ok bool) {
	if strings.TrimSpace(text) == "" {
		return p, true
	}
	s := jsonscan.New(text)
	members, complete := 0, false
	ok = s.Object(func(name string) (ok bool) {
		if members++; members > maxMembers {
			return false
		}
		var to *string
		switch name {
		case signature.AccessKeyID:
			to = &p.AccessKeyID
		case signature.Nonce:
			to = &p.Nonce
		case signature.Timestamp:
			to = &p.Timestamp
		case signature.Signature:
			to = &p.Signature
		}
		switch c := s.Peek(); {
		case to != nil && c == '"':
			*to, ok = s.Text()
		case to != nil && (c == '-' || '0' <= c && c <= '9'):
			*to, ok = s.Number()
		default:
			ok = s.Skip()
		}
		if to != nil && !utf8.ValidString(*to) {
			return false
		}
		complete = p.AccessKeyID != "" && p.Nonce != "" && p.Timestamp != "" && p.Signature != ""
		return ok && !complete
	})
	return p, ok || complete
}

// value returns that of a query parameter under any of its spellings, "" for none; an
// empty one is as good as absent, and those that are the same are one.
func (r *request) value(names []string, same func(one, other string) bool) (found string, err error) {
	var under string
	for _, name := range names {
		for _, value := range r.query[name] {
			switch {
			case value == "":
			case found == "":
				found, under = value, name
			case !same(found, value):
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
		r.next = string(c.Of(r.list()))
	}
}

// ReportCoverage says which part of the open interest a successful answer is made of, 0 to 1.
func ReportCoverage(ctx context.Context, covered market.Decimal) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.coverage = covered.String()
	}
}

// ReportVersion says when that was made of which a successful answer is.
func ReportVersion(ctx context.Context, made time.Time) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.version = made
	}
}

// ReportUntil says up to when that is whole of which a successful answer is made, where it is not what has been
// stored by now.
func ReportUntil(ctx context.Context, until time.Time) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.until = until
	}
}

// SetNextArrival says with which cursor of arrival a successful answer goes on.
func SetNextArrival(ctx context.Context, cursor string) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.next = cursor
	}
}

// list is a number of the list that a request asks for: the rows of a path, or of a coin of it.
func (r *request) list() uint32 {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, strings.ToLower(r.URL.Path)+"?"+r.query.Get("coin"))
	return sum.Sum32()
}
