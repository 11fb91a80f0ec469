package main

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/jsonscan"
)

// Invoke answers one event of the gateway, in its JSON. The error
// errUnauthorized is the gateway's 401.
func (a *authorizer) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	event, err := readEvent(payload)
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	answer, err := a.authorize(ctx, event)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// readEvent reads what the authorizer asks of an event, once and without
// reflection. What is not as expected is left to encoding/json and its errors.
func readEvent(payload []byte) (events.APIGatewayCustomAuthorizerRequestTypeRequest, error) {
	var event events.APIGatewayCustomAuthorizerRequestTypeRequest
	if utf8.Valid(payload) {
		// The texts of the event are parts of a copy: the runtime uses its buffer again.
		p := jsonscan.New(string(payload))
		if readMembers(&p, &event) && p.End() {
			return event, nil
		}
		event = events.APIGatewayCustomAuthorizerRequestTypeRequest{}
	}
	return event, json.Unmarshal(payload, &event)
}

func readMembers(p *jsonscan.Scanner, event *events.APIGatewayCustomAuthorizerRequestTypeRequest) bool {
	return p.Object(func(name string) (ok bool) {
		switch name {
		case "methodArn":
			event.MethodArn, ok = p.Text()
		case "resource":
			event.Resource, ok = p.Text()
		case "httpMethod":
			event.HTTPMethod, ok = p.Text()
		case "queryStringParameters":
			event.QueryStringParameters, ok = p.TextMap()
		case "multiValueQueryStringParameters":
			event.MultiValueQueryStringParameters, ok = p.TextsMap()
		case "stageVariables":
			event.StageVariables, ok = p.TextMap()
		case "requestContext":
			ok = p.Object(func(name string) bool {
				if name != "requestId" {
					return p.Skip()
				}
				event.RequestContext.RequestID, ok = p.Text()
				return ok
			})
		default:
			ok = p.Skip()
		}
		return ok
	})
}
