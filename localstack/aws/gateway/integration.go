package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"quotary/localstack/aws/lambdahost"
)

// integrate calls the route's function and reads its answer. With decode, a
// base64 body is decoded.
func (g *Gateway) integrate(ctx context.Context, function string, event []byte, decode bool) (*proxyAnswer, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	answer, err := g.cfg.Functions.Invoke(ctx, function, event)
	if err != nil {
		return nil, integrationRefusal(err)
	}
	out, err := parseProxyAnswer(answer, decode)
	if err != nil {
		return nil, malformed(fmt.Errorf("read the answer of %s: %w", function, err))
	}
	return out, nil
}

func integrationRefusal(err error) *refusal {
	var failed *lambdahost.FunctionError
	switch {
	case errors.Is(err, lambdahost.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return &refusal{kind: "INTEGRATION_TIMEOUT", message: "Endpoint request timed out", cause: err}
	case errors.Is(err, lambdahost.ErrThrottled):
		return &refusal{kind: "THROTTLED", message: "Too Many Requests", cause: err}
	case errors.As(err, &failed), errors.Is(err, lambdahost.ErrPayloadTooLarge):
		return malformed(err)
	}
	return &refusal{kind: "INTEGRATION_FAILURE", message: "Internal server error", cause: err}
}

// malformed is a function that failed or gave no proper answer: AWS has no type
// of its own for that, but a status.
func malformed(err error) *refusal {
	return &refusal{kind: badGateway, message: "Internal server error", cause: err}
}

// proxyAnswer is the output format of a Lambda proxy integration, read.
type proxyAnswer struct {
	status int
	header http.Header
	body   []byte
	binary bool // the body came in base64
}

// parseProxyAnswer is strict about the members' names, which encoding/json's structs
// are not: on AWS an answer with a name too many or in other letters is malformed.
func parseProxyAnswer(answer []byte, decode bool) (*proxyAnswer, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return nil, err
	}
	out := new(proxyAnswer)
	var status scalar
	var single map[string]*scalar
	var multi map[string][]*scalar
	var body string
	for name, raw := range members {
		var err error
		switch name {
		case "statusCode":
			err = json.Unmarshal(raw, &status)
		case "headers":
			err = json.Unmarshal(raw, &single)
		case "multiValueHeaders":
			err = json.Unmarshal(raw, &multi)
		case "isBase64Encoded":
			err = json.Unmarshal(raw, &out.binary)
		case "body":
			err = json.Unmarshal(raw, &body)
		default:
			err = errors.New("want statusCode, headers, multiValueHeaders, body, isBase64Encoded")
		}
		if err != nil {
			return nil, fmt.Errorf("the answer's %q: %w", name, err)
		}
	}
	var err error
	if out.status, err = strconv.Atoi(string(status)); err != nil || out.status < 200 || out.status > 599 {
		return nil, errors.New("statusCode: want a number from 200 to 599")
	}
	out.header = responseHeader(single, multi)
	out.body = []byte(body)
	if out.binary && decode {
		if out.body, err = base64.StdEncoding.DecodeString(body); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	return out, nil
}

// responseHeader joins the two lists. A name in both has the values of the second.
func responseHeader(single map[string]*scalar, multi map[string][]*scalar) http.Header {
	header := make(http.Header)
	for name, value := range single {
		setHeader(header, name, value)
	}
	for name, values := range multi {
		setHeader(header, name, values...)
	}
	return header
}

func setHeader(header http.Header, name string, values ...*scalar) {
	var texts []string
	for _, value := range values {
		if value != nil {
			texts = append(texts, string(*value))
		}
	}
	if name = headerName(name); name != "" && len(texts) > 0 {
		header[name] = texts
	}
}

// scalar is a JSON string, or a number or boolean as it is written. A pointer to one
// is nil for null.
type scalar string

func (s *scalar) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(s))
	case '{', '[', 'n':
		return errors.New("want a string, a number or a boolean")
	}
	*s = scalar(data)
	return nil
}

// Headers of an answer that the gateway renames or drops, as AWS does.
var remapped = map[string]bool{
	"Connection": true, "Content-Length": true, "Date": true, "Host": true, "Server": true, "User-Agent": true, "Www-Authenticate": true,
}

var dropped = map[string]bool{
	"Keep-Alive": true, "Proxy-Authenticate": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"X-Amzn-Requestid": true, "X-Amz-Apigw-Id": true,
}

// headerName is the name under which a function's header leaves; empty if it does
// not.
func headerName(name string) string {
	name = http.CanonicalHeaderKey(name)
	switch {
	case dropped[name]:
		return ""
	case remapped[name]:
		return "X-Amzn-Remapped-" + name
	}
	return name
}

func (a *proxyAnswer) write(w http.ResponseWriter) {
	header := w.Header()
	maps.Copy(header, a.header)
	if header["Content-Type"] == nil {
		header["Content-Type"] = []string{"application/json"}
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone is none of the gateway's concern
}
