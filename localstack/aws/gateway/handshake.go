package gateway

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// serveSocket answers a request on the path of a WebSocket API: it refuses it, or
// serves its connection until that ends.
func (g *Gateway) serveSocket(w http.ResponseWriter, req *request, api *socketAPI) {
	began := time.Now()
	req.resource = api.resource
	conn, answer, refused := g.connect(req, api)
	if conn == nil {
		status := g.reply(w, req, answer, refused)
		g.log(req, status, time.Since(began), refused)
		return
	}
	g.log(req, http.StatusSwitchingProtocols, time.Since(began), nil)
	conn.serve(w, req.http, answer.header.Get("Sec-Websocket-Protocol"))
}

// connect makes a connection when authorizer and function agree. From then on the
// function has taken it for open, and gets its $disconnect whatever happens. Otherwise
// the connection is nil, and the function's answer or the refusal is the client's.
func (g *Gateway) connect(req *request, api *socketAPI) (*connection, *proxyAnswer, *refusal) {
	if !g.connections.reserve() {
		return nil, nil, &refusal{kind: "THROTTLED", message: "Too Many Requests"}
	}
	conn := newConnection(g, api, req)
	answer, refused := g.askToConnect(req, conn)
	if refused != nil || answer.status >= http.StatusMultipleChoices {
		g.connections.release(conn)
		return nil, answer, refused
	}
	return conn, answer, nil
}

// askToConnect takes a handshake through everything that can refuse it.
func (g *Gateway) askToConnect(req *request, conn *connection) (*proxyAnswer, *refusal) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		return nil, &refusal{kind: "THROTTLED", message: "Too Many Requests"}
	}
	if headerSize(req.http) > MaxHeader {
		return nil, tooLarge
	}
	if refused := upgradeFault(req.http); refused != nil {
		return nil, refused
	}
	if refused := parseQuery(req); refused != nil {
		return nil, refused
	}
	if conn.api.Authorize {
		if !identified(req, conn.api.IdentitySource) {
			return nil, unauthorized
		}
		given, refused := g.authorize(req.http.Context(), conn.api.arn, conn.authorizerEvent(req))
		req.grant, conn.grant = given, given
		if refused != nil {
			return nil, refused
		}
	}
	// A client that leaves now does not undo what the function does: its answer is
	// waited for, so that it can get its $disconnect.
	return g.integrate(g.connections.ctx, conn.api.Function, encodeJSON(conn.connectEvent(req)), true)
}

// upgradeFault says what keeps a request from being a WebSocket handshake. What
// AWS answers to it is not documented; these are the statuses of RFC 6455 and 9110.
func upgradeFault(r *http.Request) *refusal {
	bad := func(message string) *refusal {
		return &refusal{kind: "BAD_REQUEST_PARAMETERS", message: message}
	}
	switch {
	case r.Method != http.MethodGet:
		return &refusal{kind: methodNotAllowed}
	case !r.ProtoAtLeast(1, 1) || !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return &refusal{kind: upgradeRequired,
			message: "this path takes WebSocket connections only: send the headers Connection: Upgrade and Upgrade: websocket"}
	case r.Header.Get("Sec-Websocket-Version") != "13":
		return bad("Sec-WebSocket-Version must be 13")
	}
	keys := r.Header["Sec-Websocket-Key"]
	if len(keys) != 1 {
		return bad("Sec-WebSocket-Key must be given once")
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return bad("Sec-WebSocket-Key must be 16 bytes in base64")
	}
	return nil
}

func hasToken(header http.Header, name, token string) bool {
	for _, value := range header[name] {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}
