package stack

import (
	"context"
	"slices"

	"quotary/localstack/aws/gateway"
	"quotary/shared/catalog"
)

// CustomDomain is a host name by which the gateway is reached as behind a deployed
// custom domain: base path /api mapped to the stage. Any other name is the stage's
// own address.
const CustomDomain = "quotary.localhost"

// startGateway opens the API in front of the functions.
func (s *Stack) startGateway(context.Context) error {
	var routes []gateway.Route
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			routes = append(routes, gateway.Route{Method: e.Method, Path: e.Path, Function: e.Function(), Authorize: e.Authorized(), IdentitySource: e.IdentitySource()})
		}
	}
	var responses []gateway.Response
	for _, r := range slices.Concat(catalog.GatewayResponses(), catalog.LocalResponses()) {
		responses = append(responses, response(r))
	}
	listener, err := s.listen(offsetAPI)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	api, err := gateway.New(gateway.Config{
		Stage: catalog.Stage, Domains: []gateway.Domain{{Name: CustomDomain, BasePath: catalog.BasePath}},
		Routes: routes, Sockets: sockets("http://" + address + catalog.BasePath), Authorizer: catalog.FunctionAuthorizer, Functions: s.host,
		Responses: responses, MethodNotAllowed: response(catalog.MethodNotAllowed()),
		Binary: true, MaxBody: catalog.MaxBody, Log: s.log, Region: region,
		SocketLimits: gateway.SocketLimits{Parallel: s.cfg.Parallel},
	})
	if err != nil {
		listener.Close()
		return err
	}
	s.State.BaseURL = "http://" + address + catalog.BasePath
	s.State.WSBaseURL = "ws://" + address + catalog.BasePath
	s.background(func(ctx context.Context) error { return api.Serve(ctx, listener) })
	return nil
}

// sockets are the WebSocket APIs. Each names its feed, and the management API
// that reaches its clients, in its stage variables.
func sockets(management string) []gateway.SocketAPI {
	var apis []gateway.SocketAPI
	for _, e := range catalog.All() {
		name := e.Feed()
		if name == "" {
			continue
		}
		apis = append(apis, gateway.SocketAPI{
			Path: e.Path, Function: e.Function(), Authorize: e.Authorized(), IdentitySource: e.IdentitySource(), APIID: "local-" + name,
			StageVariables: map[string]string{catalog.VariableFeed: name, catalog.VariableManagement: management},
		})
	}
	return apis
}

func response(r catalog.GatewayResponse) gateway.Response {
	return gateway.Response{
		Type: r.Type, Status: r.Status, Template: r.Template,
		Headers: map[string]string{"X-Request-Id": "$context.requestId", "Cache-Control": "no-store"},
	}
}
