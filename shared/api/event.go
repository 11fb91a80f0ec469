package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/jsonscan"
)

// Invoke answers one event of API Gateway, in its JSON. An error is a payload
// that is no such event.
func (f *Family) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := readEvent(payload)
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	answer := f.Answer(ctx, event)
	return appendAnswer(make([]byte, 0, len(answer.Body)+len(answer.Body)/8+1024), answer), nil
}

// readEvent reads what this package asks of an event.
func readEvent(payload []byte) (events.APIGatewayProxyRequest, error) {
	return jsonscan.Object(payload, readMember)
}

func readMember(p *jsonscan.Scanner, name string, event *events.APIGatewayProxyRequest) (ok bool) {
	switch name {
	case "resource":
		event.Resource, ok = p.Text()
	case "httpMethod":
		event.HTTPMethod, ok = p.Text()
	case "pathParameters":
		event.PathParameters, ok = p.TextMap()
	case "queryStringParameters":
		event.QueryStringParameters, ok = p.TextMap()
	case "multiValueQueryStringParameters":
		event.MultiValueQueryStringParameters, ok = p.TextsMap()
	case "body":
		if ok = p.Literal("null"); !ok {
			event.Body, ok = p.Text()
		}
	case "isBase64Encoded":
		event.IsBase64Encoded = p.Literal("true")
		ok = event.IsBase64Encoded || p.Literal("false")
	case "requestContext":
		ok = readContext(p, &event.RequestContext)
	default:
		ok = p.Skip()
	}
	return ok
}

// readContext reads the request's id and the texts that the authorizer left.
func readContext(p *jsonscan.Scanner, c *events.APIGatewayProxyRequestContext) bool {
	return p.Object(func(name string) (ok bool) {
		switch name {
		case "requestId":
			c.RequestID, ok = p.Text()
			return ok
		case "authorizer":
			if p.Literal("null") {
				return true
			}
			c.Authorizer = make(map[string]any, 16)
			return p.Object(func(name string) bool {
				if p.Peek() != '"' {
					return p.Skip()
				}
				text, ok := p.Text()
				c.Authorizer[name] = text
				return ok
			})
		}
		return p.Skip()
	})
}

// appendAnswer appends the answer in the gateway's JSON.
func appendAnswer(b []byte, answer events.APIGatewayProxyResponse) []byte {
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(answer.StatusCode), 10)
	b = append(b, `,"headers":{`...)
	first := true
	for name, value := range answer.Headers {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(jsonscan.AppendText(b, name), ':')
		b = jsonscan.AppendText(b, value)
	}
	b = append(b, `},"body":`...)
	b = jsonscan.AppendText(b, answer.Body)
	return append(b, '}')
}
