package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"quotary/localstack/aws/lambdahost"
)

// grant is what the authorizer said of a request, allowed or not.
type grant struct {
	principal string
	context   map[string]string // functions and templates get every value as text
	latency   time.Duration
}

// members are what functions find of a grant in their events; none where no
// authorizer was asked.
func (g *grant) members() map[string]any {
	if g == nil {
		return nil
	}
	members := map[string]any{"principalId": g.principal, "integrationLatency": g.latency.Milliseconds()}
	for key, value := range g.context {
		members[key] = value
	}
	return members
}

var unauthorized = &refusal{kind: "UNAUTHORIZED", message: "Unauthorized"}

// identified reports whether a request has every parameter of an identity source.
func identified(req *request, source []string) bool {
	return !slices.ContainsFunc(source, func(name string) bool { return req.query.Get(name) == "" })
}

// authorize asks the authorizer. The grant is there whenever the authorizer gave
// one, so that the template of a denial can show it.
func (g *Gateway) authorize(ctx context.Context, methodARN string, event []byte) (*grant, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	began := time.Now()
	answer, err := g.cfg.Functions.Invoke(ctx, g.cfg.Authorizer, event)
	if err != nil {
		return nil, authorizerRefusal(err)
	}
	given, policy, err := parseAuthorizerAnswer(answer)
	if err != nil {
		return nil, &refusal{kind: "AUTHORIZER_CONFIGURATION_ERROR", cause: fmt.Errorf("read the authorizer's answer: %w", err)}
	}
	given.latency = time.Since(began)
	if !policy.decide("execute-api:Invoke", methodARN) {
		return given, &refusal{kind: "ACCESS_DENIED", message: "User is not authorized to access this resource"}
	}
	return given, nil
}

func authorizerRefusal(err error) *refusal {
	var failed *lambdahost.FunctionError
	switch {
	case errors.As(err, &failed) && failed.Message == "Unauthorized":
		return unauthorized
	case errors.Is(err, lambdahost.ErrThrottled):
		return &refusal{kind: "THROTTLED", message: "Too Many Requests", cause: err}
	}
	return &refusal{kind: "AUTHORIZER_FAILURE", cause: fmt.Errorf("ask the authorizer: %w", err)}
}

// authorizerAnswer is the output format of a REST API's Lambda authorizer.
type authorizerAnswer struct {
	PrincipalID    string             `json:"principalId"`
	PolicyDocument policy             `json:"policyDocument"`
	Context        map[string]*scalar `json:"context"`
}

func parseAuthorizerAnswer(answer []byte) (*grant, policy, error) {
	var out authorizerAnswer
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, policy{}, err
	}
	if out.PrincipalID == "" {
		return nil, policy{}, errors.New("principalId is missing")
	}
	if err := out.PolicyDocument.validate(); err != nil {
		return nil, policy{}, err
	}
	given := &grant{principal: out.PrincipalID, context: make(map[string]string, len(out.Context))}
	for key, value := range out.Context {
		if value == nil {
			return nil, policy{}, fmt.Errorf("context key %q: want a string, a number or a boolean", key)
		}
		given.context[key] = string(*value)
	}
	return given, out.PolicyDocument, nil
}
