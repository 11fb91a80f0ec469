package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// managementPath is the path of the management API within the stage, before the
// connection's id.
const managementPath = "/@connections/"

// managementReply is the answer to a request to the management API.
type managementReply struct {
	status    int
	errorType string // by which the SDK knows the error; empty for none
	body      []byte
}

// What the API answers. A connection that is gone has no body on AWS either.
var (
	replyPosted     = managementReply{status: http.StatusOK}
	replyDeleted    = managementReply{status: http.StatusNoContent}
	replyGone       = managementReply{http.StatusGone, "GoneException", nil}
	replyForbidden  = managementError(http.StatusForbidden, "ForbiddenException", "Forbidden")
	replyTooLarge   = managementError(http.StatusRequestEntityTooLarge, "PayloadTooLargeException", "Message too long")
	replyFull       = managementError(http.StatusTooManyRequests, "LimitExceededException", "The client has not read what was sent before")
	replyUnreadable = managementError(http.StatusBadRequest, "BadRequestException", "the request body could not be read to its end")
	replyMethod     = managementError(http.StatusMethodNotAllowed, "BadRequestException", "a connection takes POST, GET and DELETE")
)

func managementError(status int, errorType, message string) managementReply {
	return managementReply{status, errorType, encodeJSON(map[string]string{"message": message})}
}

// managedID is the connection's id, percent-encoded, in a request to the management
// API; false for any other request.
func (g *Gateway) managedID(r *http.Request) (id string, ok bool) {
	path, _, ok := g.inStage(r)
	if !ok || len(g.connections.apis) == 0 {
		return "", false
	}
	return strings.CutPrefix(path, managementPath)
}

// serveManagement answers a request to the management API.
func (g *Gateway) serveManagement(w http.ResponseWriter, r *http.Request, id string) {
	reply := g.manage(w, r, id)
	if reply.errorType != "" { // the others would be a line for each message to each client
		g.cfg.Log.LogAttrs(context.Background(), slog.LevelDebug, "management",
			slog.Int("status", reply.status), slog.String("type", reply.errorType))
	}
	header := w.Header()
	header["x-amzn-RequestId"] = []string{newUUID()}
	if reply.errorType != "" {
		header["x-amzn-ErrorType"] = []string{reply.errorType}
	}
	if reply.body != nil {
		header.Set("Content-Type", "application/json")
	}
	w.WriteHeader(reply.status)
	_, _ = w.Write(reply.body) // a client that is gone is none of the gateway's concern
}

// manage does what a request asks for.
func (g *Gateway) manage(w http.ResponseWriter, r *http.Request, encodedID string) managementReply {
	if !signed(r.Header.Get("Authorization")) {
		return replyForbidden
	}
	id, err := url.PathUnescape(encodedID)
	c := g.connections.find(id)
	if c == nil && (err != nil || !validID(id)) {
		return managementError(http.StatusBadRequest, "BadRequestException", fmt.Sprintf("Invalid connectionId: %.64s", id))
	}
	body, err := readLimited(w, r, maxMessage)
	switch {
	case errors.Is(err, errTooLarge):
		return replyTooLarge
	case err != nil:
		return replyUnreadable
	case c == nil:
		return replyGone
	}
	switch r.Method {
	case http.MethodPost:
		return c.post(body)
	case http.MethodDelete:
		c.end(deleted)
		return replyDeleted
	case http.MethodGet:
		return managementReply{status: http.StatusOK, body: c.describe()}
	}
	return replyMethod
}

// post leaves a message for the client: as text when it is text.
func (c *connection) post(body []byte) managementReply {
	kind := websocket.MessageText
	if !utf8.Valid(body) {
		kind = websocket.MessageBinary
	}
	switch err := c.outbox.put(outgoing{kind, body}); {
	case errors.Is(err, errFull):
		return replyFull
	case err != nil:
		return replyGone
	}
	return replyPosted
}

// describe is what GET answers of a connection.
func (c *connection) describe() []byte {
	const layout = "2006-01-02T15:04:05.000Z"
	var out struct {
		ConnectedAt  string         `json:"connectedAt"`
		Identity     socketIdentity `json:"identity"`
		LastActiveAt string         `json:"lastActiveAt"`
	}
	out.ConnectedAt = c.connectedAt.UTC().Format(layout)
	out.Identity = c.identity()
	out.LastActiveAt = time.Unix(0, c.active.Load()).UTC().Format(layout)
	return encodeJSON(out)
}

// signed reports whether a request carries a signature at all. It is not verified: the
// gateway knows no secret keys.
func signed(authorization string) bool {
	rest, ok := strings.CutPrefix(authorization, "AWS4-HMAC-SHA256 ")
	return ok && strings.Contains(rest, "Credential=") && strings.Contains(rest, "SignedHeaders=") && strings.Contains(rest, "Signature=")
}
