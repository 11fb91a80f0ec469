package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// newID makes an id in the form of AWS's for connections, messages and their
// requests. It ends in "=", so it is percent-encoded in a URL.
func newID() string {
	var random [idLength]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.URLEncoding.EncodeToString(random[:])
}

// stageVariables is left out of events where there are none.
func stageVariables(variables map[string]string) []byte {
	if len(variables) == 0 {
		return nil
	}
	b := []byte(`"stageVariables":`)
	for i, name := range slices.Sorted(maps.Keys(variables)) {
		b = append(b, separator(i, '{'))
		b = appendString(b, name)
		b = append(b, ':')
		b = appendString(b, variables[name])
	}
	return append(b, `},`...)
}

// describe notes who connects, when and where, and writes the members of
// requestContext that all events of the connection share.
func (s *socket) describe(req *request) {
	r := req.http
	s.sourceIP, s.userAgent, s.connectedAt = req.sourceIP, r.UserAgent(), req.at
	s.active.Store(req.at.UnixNano())
	// Where the client says it connected is its own affair; the management API
	// is where it did connect. The port belongs to it, since it is not 443.
	domain := r.Host
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		domain = at.String()
	}
	b := make([]byte, 0, 512)
	b = appendMember(b, `,"messageDirection":"IN","stage":`, s.gateway.cfg.Stage)
	b = append(b, `,"connectedAt":`...)
	b = strconv.AppendInt(b, s.connectedAt.UnixMilli(), 10)
	b = appendMember(b, `,"identity":{"userAgent":`, s.userAgent)
	b = appendMember(b, `,"sourceIp":`, s.sourceIP)
	b = appendMember(b, `},"domainName":`, domain)
	b = appendMember(b, `,"connectionId":`, s.id)
	s.fixed = appendMember(b, `,"apiId":`, s.api.APIID)
	s.host = r.Host
}

// connectMembers is what both events of a handshake hold after their first
// members, with its comma; the requestContext is left open for the members of describe and the
// grant.
func (s *socket) connectMembers(req *request) []byte {
	shown := *req // the WebSocket library needs the headers that are taken out
	shown.http = req.http.WithContext(req.http.Context())
	shown.http.Header = req.http.Header.Clone()
	b := make([]byte, 0, 2048)
	b = appendHeaders(b, forwardedHeaders(&shown))
	if len(req.query) > 0 {
		b = appendQuery(b, req.query, "")
	}
	b = append(b, ',')
	b = append(b, s.api.variables...)
	b = append(b, `"requestContext":{"routeKey":"$connect","eventType":"CONNECT"`...)
	return appendOccasion(b, req.at, req.id, req.extendedID)
}

func appendOccasion(b []byte, at time.Time, id, extendedID string) []byte {
	b = appendMember(b, `,"requestId":`, id)
	b = appendMember(b, `,"extendedRequestId":`, extendedID)
	b = append(b, `,"requestTime":"`...)
	b = at.UTC().AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, `","requestTimeEpoch":`...)
	return strconv.AppendInt(b, at.UnixMilli(), 10)
}

// authorizerEvent is the input of the REQUEST authorizer of $connect. Unlike a
// REST API's it names no resource, path or method.
func (s *socket) authorizerEvent(opening []byte) []byte {
	b := make([]byte, 0, len(opening)+len(s.fixed)+128)
	b = appendMember(b, `{"type":"REQUEST","methodArn":`, s.api.arn)
	b = append(b, opening...)
	b = append(b, s.fixed...)
	return append(b, `}}`...)
}

func (s *socket) connectEvent(opening []byte) []byte {
	b := make([]byte, 0, len(opening)+len(s.fixed)+64)
	b = append(b, `{"isBase64Encoded":false`...)
	b = append(b, opening...)
	b = append(b, s.fixed...)
	return append(b, `}}`...)
}

// messageEvent is the input of $default; id is its request id.
func (s *socket) messageEvent(m *message, id string) []byte {
	b := make([]byte, 0, len(s.fixed)+len(s.api.variables)+2*len(m.body)+512)
	b = append(b, '{')
	b = append(b, s.api.variables...)
	b = append(b, `"requestContext":{"routeKey":"$default","eventType":"MESSAGE"`...)
	b = appendMember(b, `,"messageId":`, newID())
	b = appendOccasion(b, m.at, id, id)
	b = append(b, s.fixed...)
	if m.binary {
		b = append(b, `},"body":"`...)
		b = base64.StdEncoding.AppendEncode(b, m.body)
		return append(b, `","isBase64Encoded":true}`...)
	}
	b = append(b, `},"body":`...)
	b = appendString(b, m.body)
	return append(b, `,"isBase64Encoded":false}`...)
}

// disconnectEvent is the input of $disconnect.
func (s *socket) disconnectEvent(how ending) []byte {
	b := make([]byte, 0, len(s.fixed)+len(s.api.variables)+1024)
	b = append(b, `{"isBase64Encoded":false`...)
	b = appendHeaders(b, http.Header{"Host": {s.host}, "X-Forwarded-For": {s.sourceIP}})
	b = append(b, ',')
	b = append(b, s.api.variables...)
	b = append(b, `"requestContext":{"routeKey":"$disconnect","eventType":"DISCONNECT","disconnectStatusCode":`...)
	b = strconv.AppendInt(b, int64(how.code), 10)
	b = appendMember(b, `,"disconnectReason":`, how.reason)
	id := newID()
	b = appendOccasion(b, s.gateway.cfg.Now(), id, id)
	b = append(b, s.fixed...)
	return append(b, `}}`...)
}
