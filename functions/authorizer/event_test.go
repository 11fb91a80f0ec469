package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quotary/shared/admission"
	"quotary/shared/signature"
)

// used is the part of an event that the authorizer asks for.
func used(event *events.APIGatewayCustomAuthorizerRequestTypeRequest) map[string]any {
	return map[string]any{
		"arn": event.MethodArn, "resource": event.Resource, "method": event.HTTPMethod,
		"query": event.QueryStringParameters, "queries": event.MultiValueQueryStringParameters,
		"variables": event.StageVariables, "id": event.RequestContext.RequestID,
	}
}

func TestAnEventIsReadAsEncodingJSONReadsIt(t *testing.T) {
	t.Parallel()
	rest, err := os.ReadFile("../../events/authorizer.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string]string{
		"REST":      string(rest),
		"handshake": `{"type":"REQUEST","methodArn":"arn","stageVariables":{"feed":"ws"},"headers":{"a":"b"},"requestContext":{"requestId":"r","eventType":"CONNECT","connectedAt":1},"queryStringParameters":{"AccessKeyId":"k"}}`,
		"nothing":   `{}`,
		"nulls":     `{"queryStringParameters":null,"multiValueQueryStringParameters":null,"stageVariables":null}`,
	} {
		var want events.APIGatewayCustomAuthorizerRequestTypeRequest
		if err := json.Unmarshal([]byte(payload), &want); err != nil {
			t.Fatal(err)
		}
		got, err := readEvent([]byte(payload))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(used(&want), used(&got), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, payload := range []string{``, `[]`, `{"methodArn":1}`, `{"methodArn":"arn"`, `{"requestContext":[]}`} {
		if _, err := readEvent([]byte(payload)); err == nil {
			t.Errorf("%s is read as an event", payload)
		}
	}
}

func TestAnInvocationIsAnsweredInTheGatewaysJSON(t *testing.T) {
	t.Parallel()
	w, a := open(t)
	payload, err := json.Marshal(request("GET", tickers, w.Sign(w.SubKey)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := a.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var out events.APIGatewayCustomAuthorizerResponse
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	caller, verdict, _ := admission.CallerFrom(out.Context)
	if verdict != admission.VerdictCaller || caller.AccessKey != w.SubKey.AccessKey || out.PolicyDocument.Statement[0].Effect != "Allow" {
		t.Errorf("%s", answer)
	}
	if payload, err = json.Marshal(request("GET", tickers, signature.Params{})); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Invoke(t.Context(), payload); err == nil || err.Error() != "Unauthorized" {
		t.Errorf("without a signature: %v", err)
	}
}
