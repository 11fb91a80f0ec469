package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/api"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
)

// errUnauthorized is the one error text that the gateway answers with 401.
var errUnauthorized = errors.New("Unauthorized") //nolint:staticcheck // the gateway compares it letter by letter

// authorizer decides on requests before any function sees them.
type authorizer struct {
	gate      *admission.Gate
	log       *slog.Logger
	metrics   *metrics.Writer // nil counts nothing
	endpoints map[endpointName]*catalog.Endpoint
}

type endpointName struct{ method, resource string }

// nameOf returns the endpoint that an event is about. That of a connection names no
// path, but the stage variable of its feed.
func nameOf(event *events.APIGatewayCustomAuthorizerRequestTypeRequest) endpointName {
	if feed := event.StageVariables[catalog.VariableFeed]; feed != "" && event.Resource == "" {
		return endpointName{catalog.MethodWS, feed}
	}
	return endpointName{event.HTTPMethod, event.Resource}
}

func newAuthorizer(gate *admission.Gate, log *slog.Logger) *authorizer {
	a := &authorizer{gate: gate, log: log, endpoints: make(map[endpointName]*catalog.Endpoint)}
	for _, e := range catalog.All() {
		name := endpointName{e.Method, e.Path}
		if e.Method == catalog.MethodWS {
			name.resource = e.Feed()
		}
		a.endpoints[name] = e
	}
	return a
}

// authorize allows, denies with a reason that the gateway shows (403), or
// returns the error that the gateway answers with 401.
func (a *authorizer) authorize(ctx context.Context, event events.APIGatewayCustomAuthorizerRequestTypeRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	endpoint, ok := a.endpoints[nameOf(&event)]
	if !ok {
		return policy("Deny", "nobody", event.MethodArn, reason("no such endpoint")), nil
	}
	query := queryOf(&event)
	params, err := signature.FromQuery(query)
	if err != nil {
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
	if params.Empty() && event.HTTPMethod == http.MethodPost {
		return policy("Allow", "unverified", event.MethodArn, admission.BodyContext()), nil
	}
	within, cancel := api.WithReserve(ctx)
	defer cancel()
	request := ""
	if endpoint.Method == http.MethodGet {
		request = admission.Repeatable(event.Path, query)
	}
	caller, err := a.gate.Check(within, params, request, endpoint.Access)
	a.record(ctx, &event, params.AccessKeyID, endpoint, err)
	var refusal *admission.Refusal
	switch {
	case err == nil:
		return policy("Allow", caller.AccessKey, event.MethodArn, caller.Context()), nil
	case !errors.As(err, &refusal):
		return events.APIGatewayCustomAuthorizerResponse{}, fmt.Errorf("authorize: %w", err)
	case refusal.Reason.Status() == http.StatusForbidden:
		return policy("Deny", "refused", event.MethodArn, reason(refusal.Message)), nil
	case refusal.Proven:
		return policy("Allow", "refused", event.MethodArn, admission.RefusedContext(refusal)), nil
	default:
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
}

// record writes a line for what was refused: who was allowed is in the log of
// the function. The access key is the caller's word, not a secret.
func (a *authorizer) record(ctx context.Context, event *events.APIGatewayCustomAuthorizerRequestTypeRequest, key string, endpoint *catalog.Endpoint, err error) {
	var refusal *admission.Refusal
	switch {
	case err == nil:
	case errors.As(err, &refusal):
		a.log.InfoContext(ctx, "refused", "request_id", event.RequestContext.RequestID, "endpoint", endpoint.String(),
			"status", refusal.Reason.Status(), "reason", string(refusal.Reason), "message", refusal.Message, "key", key)
		a.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(refusal.Reason)})
	default:
		a.log.ErrorContext(ctx, "failed", "request_id", event.RequestContext.RequestID, "endpoint", endpoint.String(), "err", err.Error())
		a.metrics.Count(metrics.Faults, metrics.Label{Name: metrics.Function, Value: catalog.FunctionAuthorizer})
	}
}

// queryOf is the query of a request, decoded.
func queryOf(event *events.APIGatewayCustomAuthorizerRequestTypeRequest) url.Values {
	query := url.Values(event.MultiValueQueryStringParameters)
	if len(query) == 0 {
		query = make(url.Values, len(event.QueryStringParameters))
		for name, value := range event.QueryStringParameters {
			query.Set(name, value)
		}
	}
	return query
}

func reason(text string) map[string]any {
	return map[string]any{admission.ReasonContext: text}
}

// policy decides on the one request that the event is about. It names the stage and not
// the path, in which a client may write what a policy takes for a pattern.
func policy(effect, principal, arn string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principal,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{stageOf(arn) + "/*"},
			}},
		},
		Context: context,
	}
}

// stageOf cuts the ARN of a method, as in arn:aws:execute-api:<region>:<account>:<api>/<stage>/GET/v2/coin,
// after the stage.
func stageOf(arn string) string {
	api, rest, _ := strings.Cut(arn, "/")
	stage, _, _ := strings.Cut(rest, "/")
	return api + "/" + stage
}
