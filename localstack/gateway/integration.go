package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"quotary/localstack/lambdahost"
)

// integrate calls the route's function and reads its answer.
func (g *Gateway) integrate(ctx context.Context, function string, event []byte) (*proxyAnswer, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	answer, err := g.cfg.Functions.Invoke(ctx, function, event)
	if err != nil {
		return nil, integrationRefusal(err)
	}
	out, err := parseProxyAnswer(answer)
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
	return &refusal{kind: "DEFAULT_5XX", status: http.StatusBadGateway, message: "Internal server error", cause: err}
}

// proxyAnswer is the output format of a Lambda proxy integration, read.
type proxyAnswer struct {
	status int
	header http.Header
	body   []byte
}

func parseProxyAnswer(answer []byte) (*proxyAnswer, error) {
	var raw struct {
		StatusCode        json.RawMessage     `json:"statusCode"`
		Headers           map[string]scalar   `json:"headers"`
		MultiValueHeaders map[string][]scalar `json:"multiValueHeaders"`
		Body              *string             `json:"body"`
		IsBase64Encoded   bool                `json:"isBase64Encoded"`
	}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.DisallowUnknownFields() // AWS takes no other keys either
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	status, err := strconv.Atoi(string(bytes.Trim(raw.StatusCode, `"`)))
	if err != nil || status < 200 || status > 599 {
		return nil, fmt.Errorf("statusCode %q: want a number from 200 to 599", raw.StatusCode)
	}
	out := &proxyAnswer{status: status, header: make(http.Header, len(raw.Headers)+len(raw.MultiValueHeaders)+4)}
	for name, values := range raw.MultiValueHeaders {
		for _, value := range values {
			addHeader(out.header, name, string(value))
		}
	}
	for name, value := range raw.Headers {
		// Of a name in both lists, the values of the longer one count.
		if _, again := raw.MultiValueHeaders[name]; !again {
			addHeader(out.header, name, string(value))
		}
	}
	switch {
	case raw.Body == nil:
	case raw.IsBase64Encoded:
		if out.body, err = base64.StdEncoding.DecodeString(*raw.Body); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	default:
		out.body = []byte(*raw.Body)
	}
	return out, nil
}

// Headers of an answer that the gateway renames or drops, as AWS does.
var remapped = map[string]bool{
	"Connection": true, "Content-Length": true, "Date": true, "Host": true, "Server": true, "User-Agent": true, "Www-Authenticate": true,
}

var dropped = map[string]bool{
	"Keep-Alive": true, "Proxy-Authenticate": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"X-Amzn-Requestid": true, "X-Amz-Apigw-Id": true,
}

func addHeader(header http.Header, name, value string) {
	name = http.CanonicalHeaderKey(name)
	switch {
	case dropped[name]:
		return
	case remapped[name]:
		name = "X-Amzn-Remapped-" + name
	}
	header[name] = append(header[name], value)
}

func (a *proxyAnswer) write(w http.ResponseWriter) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	if header["Content-Type"] == nil {
		header["Content-Type"] = []string{"application/json"}
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone is none of the gateway's concern
}

// scalar is a header value: a string, or a number or boolean written as one.
type scalar string

func (s *scalar) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(s))
	}
	if data[0] == '{' || data[0] == '[' {
		return errors.New("a header value is a string")
	}
	*s = scalar(data)
	return nil
}
