// Package gateway is a local Amazon API Gateway: a REST API of one stage in front
// of Lambda functions, for the local stack and its tests. It gives functions the
// events, and clients the answers, that the deployed gateway gives.
//
// A request passes, in this order: the limit on request line and headers (431),
// the route table (404, 405), the body limit (413), the REQUEST authorizer where
// the route demands it (401, 403, 500), and the function (429, 502, 504). Each of
// these refusals is a gateway response: a status and a template with $context
// variables, configured by type as on AWS ([Response]).
//
// The authorizer gets the request without its body and returns an IAM policy,
// which is evaluated, and a context, which the function finds in its event and
// templates find under $context.authorizer. Nothing is cached.
//
// What differs from AWS on purpose: header names reach functions in Go's canonical
// form, whatever the client wrote; a body that is not UTF-8 is always passed on in
// base64; a throttled function or authorizer is answered 429 where AWS says 500.
//
// [New] makes the handler; [Gateway.Serve] runs it with the timeouts and limits
// that a listener open to anyone needs.
package gateway
