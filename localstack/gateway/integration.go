package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
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
	binary bool // the body came in base64
}

func parseProxyAnswer(answer []byte) (*proxyAnswer, error) {
	in := &scanner{data: answer}
	out := new(proxyAnswer)
	single := http.Header{}
	err := in.object(func(key string) (err error) {
		switch key {
		case "statusCode":
			out.status, err = readStatus(in)
		case "headers":
			single, err = readHeaders(in, (*scanner).scalar)
		case "multiValueHeaders":
			out.header, err = readHeaders(in, (*scanner).scalars)
		case "isBase64Encoded":
			out.binary, err = readFlag(in)
		case "body":
			if out.body = nil; !in.null() {
				out.body, err = in.string(len(in.data) - in.at) // nearly all of the answer
			}
		default:
			return fmt.Errorf("the answer has a key %q: want statusCode, headers, multiValueHeaders, body, isBase64Encoded", key)
		}
		return err
	})
	if err == nil {
		err = in.end()
	}
	if err != nil {
		return nil, err
	}
	if out.status < 200 || out.status > 599 {
		return nil, errors.New("statusCode: want a number from 200 to 599")
	}
	// A name in both lists has the values of multiValueHeaders.
	maps.Copy(single, out.header)
	out.header = single
	if out.binary {
		if out.body, err = base64.StdEncoding.AppendDecode(nil, out.body); err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	return out, nil
}

// readStatus takes a number, or a string that holds one.
func readStatus(in *scanner) (int, error) {
	values, err := in.scalar()
	if err != nil || len(values) == 0 {
		return 0, err
	}
	return strconv.Atoi(values[0])
}

func readFlag(in *scanner) (bool, error) {
	in.next()
	text, err := in.literal()
	if err == nil && text != "true" && text != "false" && text != "null" {
		err = errors.New("isBase64Encoded: want true or false")
	}
	return text == "true", err
}

func readHeaders(in *scanner, values func(*scanner) ([]string, error)) (http.Header, error) {
	header := make(http.Header, 8)
	if in.null() {
		return header, nil
	}
	return header, in.object(func(name string) error {
		all, err := values(in)
		if name = headerName(name); name != "" && len(all) > 0 {
			header[name] = all
		}
		return err
	})
}

// scalar reads a string, or a number or boolean as it is written; none for null.
func (s *scanner) scalar() ([]string, error) {
	if s.null() {
		return nil, nil
	}
	if s.next() == '"' {
		text, err := s.string(0)
		return []string{string(text)}, err
	}
	text, err := s.literal()
	return []string{text}, err
}

// scalars reads a list of them.
func (s *scanner) scalars() ([]string, error) {
	var all []string
	if s.null() {
		return nil, nil
	}
	err := s.array(func() error {
		one, err := s.scalar()
		all = append(all, one...)
		return err
	})
	return all, err
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
