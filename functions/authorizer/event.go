package main

import (
	"context"
	"encoding/json"
	"fmt"

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

// readEvent reads what the authorizer asks of an event.
func readEvent(payload []byte) (events.APIGatewayCustomAuthorizerRequestTypeRequest, error) {
	return jsonscan.Object(payload, readMember)
}

func readMember(p *jsonscan.Scanner, name string, event *events.APIGatewayCustomAuthorizerRequestTypeRequest) (ok bool) {
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
}
