package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// request is one client request on its way through the gateway.
type request struct {
	http       *http.Request
	id         string // UUID; $context.requestId
	extendedID string // $context.extendedRequestId
	at         time.Time
	sent       string // path as the client sent it, percent-encoded
	path       string // the same within the stage: without the stage's name or the base path
	mapped     bool   // it came by a custom domain
	resource   *resource
	route      Route
	params     []param
	query      url.Values
	sourceIP   string
	body       []byte
	grant      *grant // what the authorizer said; nil where none was asked
}

func (g *Gateway) newRequest(r *http.Request) *request {
	var extendedID [11]byte
	_, _ = rand.Read(extendedID[:]) // never fails
	sourceIP, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		sourceIP = r.RemoteAddr
	}
	req := &request{
		http:       r,
		id:         newUUID(),
		extendedID: base64.URLEncoding.EncodeToString(extendedID[:]),
		at:         g.cfg.Now(),
		sourceIP:   sourceIP,
	}
	if r.URL != nil { // nil when the request could not be parsed
		req.sent = r.URL.EscapedPath()
	}
	return req
}

// eventPath is what an event calls the path of a request: on the stage's own
// address the path within the stage, on a custom domain all that the client sent.
func (r *request) eventPath() string {
	if r.mapped {
		return r.sent
	}
	return r.path
}

func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// headerSize is what the request line and the headers took on the wire.
func headerSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len("  \r\n") + len("Host: \r\n") + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size
}

// locate finds the request's resource, parameters and query.
func (g *Gateway) locate(req *request) *refusal {
	var ok bool
	if req.path, req.mapped, ok = g.inStage(req.http); !ok {
		return &refusal{kind: "MISSING_AUTHENTICATION_TOKEN", message: "no such stage"}
	}
	segments, err := parseSegments(req.path)
	if err != nil {
		return &refusal{kind: "BAD_REQUEST_PARAMETERS", message: "the path must be percent-encoded UTF-8"}
	}
	req.resource, req.params = g.routes.find(segments, nil)
	if req.resource == nil {
		return &refusal{kind: "MISSING_AUTHENTICATION_TOKEN", message: "no such path"}
	}
	if req.route, ok = req.resource.methods[req.http.Method]; !ok {
		return &refusal{kind: methodNotAllowed}
	}
	return parseQuery(req)
}

// inStage returns a request's path within the stage, percent-encoded, and whether
// the request came by a custom domain.
func (g *Gateway) inStage(r *http.Request) (path string, mapped, ok bool) {
	prefix := g.prefix
	host := strings.ToLower(hostname(r.Host))
	for _, domain := range g.cfg.Domains {
		if host == domain.Name {
			prefix, mapped = domain.BasePath, true
			break
		}
	}
	path, ok = strings.CutPrefix(r.URL.EscapedPath(), prefix)
	return path, mapped, ok && (path == "" || path[0] == '/')
}

// parseQuery reads the query. A semicolon in it is data, as the URL standard has it.
func parseQuery(req *request) *refusal {
	query, err := url.ParseQuery(strings.ReplaceAll(req.http.URL.RawQuery, ";", "%3B"))
	if err != nil || !validUTF8(query) {
		return &refusal{kind: "BAD_REQUEST_PARAMETERS",
			message: "the query must be name=value pairs in percent-encoded UTF-8, separated by &"}
	}
	req.query = query
	return nil
}

func validUTF8(values url.Values) bool {
	for name, all := range values {
		if !utf8.ValidString(name) {
			return false
		}
		for _, value := range all {
			if !utf8.ValidString(value) {
				return false
			}
		}
	}
	return true
}

// readBody takes the body in, up to the limit.
func (g *Gateway) readBody(w http.ResponseWriter, req *request) *refusal {
	body, err := readLimited(w, req.http, g.cfg.MaxBody)
	switch {
	case errors.Is(err, errTooLarge):
		return &refusal{kind: "REQUEST_TOO_LARGE", message: errTooLarge.Error()}
	case err != nil:
		return &refusal{kind: "BAD_REQUEST_BODY", message: "the request body could not be read to its end"}
	}
	req.body = body
	return nil
}

var errTooLarge = errors.New("the request body is too large")

// readLimited reads a body. It does not wait for one that is announced as too large.
func readLimited(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, errTooLarge
	}
	return body, err
}
