// Package gateway is a local Amazon API Gateway: a REST API and WebSocket APIs of
// one stage in front of Lambda functions, for the local stack and its tests. It gives functions the
// events, and clients the answers, that the deployed gateway gives.
//
// A request passes, in this order: the limit on request line and headers (431),
// the route table (404, 405), the body limit (413), the REQUEST authorizer where
// the route demands it (401, 403, 500), and the function (429, 502, 504). Each of
// these refusals is a gateway response: a status and a template with $context
// variables, configured by type as on AWS ([Response]).
//
// A request without a query parameter of its route's identity source is refused (401)
// before the authorizer. The authorizer gets the request without its body and returns an IAM policy,
// which is evaluated, and a context, which the function finds in its event and
// templates find under $context.authorizer. Nothing is cached.
//
// # Paths
//
// A route's path is of fixed segments and parameters. A parameter is a whole segment,
// {coin}; the last may be greedy, {coin+}, and takes one segment or more: the event's
// resource keeps the plus, and pathParameters has the key coin. As on AWS, a fixed
// segment beats a parameter where both fit, and a resource has at most one child that
// is a parameter, so that {coin} and {coin+} never stand in one place.
//
// path and pathParameters reach functions percent-encoded as the client sent them,
// because a REST API decodes only the query: /tickers/PURR%2FUSDC gives PURR%2FUSDC, to a
// greedy parameter too, and /tickers/PURR/USDC gives a greedy one PURR/USDC. A slash
// at the end stays in path and is in no parameter.
//
// The stage's own address begins with the stage, which path lacks and
// requestContext.path has. A custom domain ([Domain]) begins with the base path that is
// mapped to the stage; there both are the path that the client sent, base path included:
//
//	sent to            127.0.0.1/api/tickers/a/b    api.example.com/v1/tickers/a/b
//	path                        /tickers/a/b                       /v1/tickers/a/b
//	requestContext.path     /api/tickers/a/b                       /v1/tickers/a/b
//	resource                    /tickers/{coin+}                   /tickers/{coin+}
//	pathParameters.coin                  a/b                                a/b
//
// So only resource and pathParameters say what a function was asked for, whichever
// way the request came. The method's ARN, which the authorizer's policy is about, never
// holds the base path.
//
// # WebSocket APIs
//
// A handshake on the path of a [SocketAPI] passes the same refusals, then the
// authorizer, then the function with the route $connect. Whatever status the
// function returns but a 2xx is the answer to the handshake. On an open connection
// every message calls the function with the route $default, and what the function
// returns as its body is sent to the client; a message that the function fails on
// is answered {"message":...,"connectionId":...,"requestId":...}. The authorizer's
// context is in every event of the connection. The function gets $disconnect once
// and last, however the connection ended, from the moment it has accepted it. When
// the gateway stops, messages that wait for a function are dropped before that.
//
// A message has at most 128 KiB, in frames of at most 32 KiB (or the connection is
// closed with 1009); 10 minutes without anything and an age of 2 hours close a
// connection with 1001.
//
// Functions and the ingester reach connections through the management API at
// <stage>/@connections/{id}, which one endpoint serves for all WebSocket APIs of
// the stage. The owner passes its address on, in a stage variable for example: on AWS
// it is https://{domainName}/{stage}, here the scheme is http. POST answers when the
// message is accepted, not when the client has it, as on AWS: it waits in a queue of
// the connection's own, of at most 128 KiB beyond what the system holds for the client.
// A client that reads too slowly for that has further posts refused with 429
// LimitExceededException, and is closed when it does not read one message for a while
// ([SocketLimits]). No post waits for a client.
//
// # Differences from AWS
//
// What differs from AWS on purpose: header names reach functions in Go's canonical
// form, whatever the client wrote; a body that is not UTF-8 is always passed on in
// base64; a throttled function or authorizer is answered 429 where AWS says 500.
//
// Of WebSocket APIs: the messages of one connection reach the function one at a
// time, in order, where AWS calls it for each at once, unless [SocketLimits] say so too;
// the client's further ones wait in its network. A throttled $default or $disconnect is called again until
// it is not, where AWS delivers $disconnect at best. Refused handshakes have the
// bodies of the configured gateway responses, which AWS has for REST APIs only.
// AWS has no type of gateway response for 431 and 502 and gives them as DEFAULT_4XX and
// DEFAULT_5XX; here they may have a response of their own (HEADERS_TOO_LARGE, BAD_GATEWAY,
// and UPGRADE_REQUIRED for 426).
// The body that $connect returned with a refusal is passed on, which AWS does only
// where that route has a route response. What AWS answers to a request without
// Upgrade is not documented; here it is 426. Signatures at the management API must
// be there (or it is 403) and are not verified. A posted message that is not UTF-8
// is sent as binary. The disconnectReason is AWS's where that is documented (1005).
//
// [New] makes the handler; [Gateway.Serve] runs it with the timeouts and limits
// that a listener open to anyone needs.
package gateway
