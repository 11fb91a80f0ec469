package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// socketEvent is the input of a WebSocket API's function. Members that an event of its
// kind does not have are left out.
type socketEvent struct {
	headers
	QueryStringParameters           map[string]string   `json:"queryStringParameters,omitempty"`
	MultiValueQueryStringParameters map[string][]string `json:"multiValueQueryStringParameters,omitempty"`
	StageVariables                  map[string]string   `json:"stageVariables,omitempty"`
	RequestContext                  socketContext       `json:"requestContext"`
	Body                            string              `json:"body,omitempty"`
	IsBase64Encoded                 bool                `json:"isBase64Encoded"`
}

// socketAuthorizerEvent is the input of the REQUEST authorizer of $connect. Unlike a
// REST API's it names no resource, path or method.
type socketAuthorizerEvent struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	headers
	QueryStringParameters           map[string]string   `json:"queryStringParameters,omitempty"`
	MultiValueQueryStringParameters map[string][]string `json:"multiValueQueryStringParameters,omitempty"`
	StageVariables                  map[string]string   `json:"stageVariables,omitempty"`
	RequestContext                  socketContext       `json:"requestContext"`
}

type socketContext struct {
	RouteKey             string               `json:"routeKey"`
	EventType            string               `json:"eventType"`
	MessageID            string               `json:"messageId,omitempty"`
	DisconnectStatusCode websocket.StatusCode `json:"disconnectStatusCode,omitempty"`
	DisconnectReason     *string              `json:"disconnectReason,omitempty"`
	RequestID            string               `json:"requestId"`
	ExtendedRequestID    string               `json:"extendedRequestId"`
	RequestTime          string               `json:"requestTime"`
	RequestTimeEpoch     int64                `json:"requestTimeEpoch"` // ms
	MessageDirection     string               `json:"messageDirection"`
	Stage                string               `json:"stage"`
	ConnectedAt          int64                `json:"connectedAt"` // ms
	Identity             socketIdentity       `json:"identity"`
	DomainName           string               `json:"domainName"`
	ConnectionID         string               `json:"connectionId"`
	APIID                string               `json:"apiId"`
	Authorizer           map[string]any       `json:"authorizer,omitempty"`
}

type socketIdentity struct {
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

// context is the requestContext of an event of the connection; id is the event's
// request id.
func (c *connection) context(route, eventType, id string, at time.Time) socketContext {
	return socketContext{
		RouteKey:          route,
		EventType:         eventType,
		RequestID:         id,
		ExtendedRequestID: id,
		RequestTime:       requestTime(at),
		RequestTimeEpoch:  at.UnixMilli(),
		MessageDirection:  "IN",
		Stage:             c.gateway.cfg.Stage,
		ConnectedAt:       c.connectedAt.UnixMilli(),
		Identity:          c.identity(),
		DomainName:        c.domain,
		ConnectionID:      c.id,
		APIID:             c.api.APIID,
		Authorizer:        c.grant.members(),
	}
}

func (c *connection) identity() socketIdentity { return socketIdentity{c.sourceIP, c.userAgent} }

func (c *connection) connectEvent(req *request) socketEvent {
	e := socketEvent{
		headers:        eventHeaders(forwardedHeaders(req)),
		StageVariables: c.api.StageVariables,
		RequestContext: c.context("$connect", "CONNECT", req.id, req.at),
	}
	e.RequestContext.ExtendedRequestID = req.extendedID
	if len(req.query) > 0 {
		e.QueryStringParameters, e.MultiValueQueryStringParameters = lastValues(req.query), req.query
	}
	return e
}

func (c *connection) authorizerEvent(req *request) []byte {
	e := c.connectEvent(req)
	return encodeJSON(socketAuthorizerEvent{
		"REQUEST", c.api.arn, e.headers, e.QueryStringParameters, e.MultiValueQueryStringParameters, e.StageVariables, e.RequestContext,
	})
}

// messageEvent is the input of $default; id is its request id.
func (c *connection) messageEvent(m incoming, id string) []byte {
	e := socketEvent{
		StageVariables:  c.api.StageVariables,
		RequestContext:  c.context("$default", "MESSAGE", id, m.at),
		Body:            string(m.body),
		IsBase64Encoded: m.binary,
	}
	e.RequestContext.MessageID = newID()
	if m.binary {
		e.Body = base64.StdEncoding.EncodeToString(m.body)
	}
	return encodeJSON(e)
}

// disconnectEvent is the input of $disconnect.
func (c *connection) disconnectEvent(why *closeReason) []byte {
	e := socketEvent{
		headers:        eventHeaders(http.Header{"Host": {c.host}, "X-Forwarded-For": {c.sourceIP}}),
		StageVariables: c.api.StageVariables,
		RequestContext: c.context("$disconnect", "DISCONNECT", newID(), c.gateway.cfg.Now()),
	}
	e.RequestContext.DisconnectStatusCode, e.RequestContext.DisconnectReason = why.code, &why.reason
	return encodeJSON(e)
}

// newID makes an id in the form of AWS's for connections, messages and their requests.
// It ends in "=", so it is percent-encoded in a URL.
func newID() string {
	var random [idLength]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.URLEncoding.EncodeToString(random[:])
}
