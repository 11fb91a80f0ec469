package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// refusal is why the gateway answers by itself.
type refusal struct {
	kind    string // the gateway response type
	message string // $context.error.message; empty is null, as AWS has it for some
	cause   error  // for the log
}

// What is not a type of AWS. Deployed, methodNotAllowed is a method of its own, and the
// others are given as DEFAULT_4XX and DEFAULT_5XX, as here where they are not configured.
const (
	methodNotAllowed = "METHOD_NOT_ALLOWED"
	upgradeRequired  = "UPGRADE_REQUIRED"
	headersTooLarge  = "HEADERS_TOO_LARGE"
	badGateway       = "BAD_GATEWAY"
)

// kinds are the types that occur, with AWS's status and what it puts into
// x-amzn-ErrorType.
var kinds = map[string]struct {
	status int
	name   string
}{
	"ACCESS_DENIED":                  {http.StatusForbidden, "AccessDeniedException"},
	"AUTHORIZER_CONFIGURATION_ERROR": {http.StatusInternalServerError, "AuthorizerConfigurationException"},
	"AUTHORIZER_FAILURE":             {http.StatusInternalServerError, "AuthorizerFailureException"},
	"BAD_REQUEST_BODY":               {http.StatusBadRequest, "BadRequestException"},
	"BAD_REQUEST_PARAMETERS":         {http.StatusBadRequest, "BadRequestException"},
	"INTEGRATION_FAILURE":            {http.StatusGatewayTimeout, "InternalServerErrorException"},
	"INTEGRATION_TIMEOUT":            {http.StatusGatewayTimeout, "InternalServerErrorException"},
	"MISSING_AUTHENTICATION_TOKEN":   {http.StatusForbidden, "MissingAuthenticationTokenException"},
	"REQUEST_TOO_LARGE":              {http.StatusRequestEntityTooLarge, "RequestTooLargeException"},
	"THROTTLED":                      {http.StatusTooManyRequests, "TooManyRequestsException"},
	"UNAUTHORIZED":                   {http.StatusUnauthorized, "UnauthorizedException"},
	"DEFAULT_4XX":                    {http.StatusBadRequest, "BadRequestException"},
	"DEFAULT_5XX":                    {http.StatusInternalServerError, "InternalServerErrorException"},
	methodNotAllowed:                 {http.StatusMethodNotAllowed, ""},
	upgradeRequired:                  {http.StatusUpgradeRequired, "BadRequestException"},
	headersTooLarge:                  {http.StatusRequestHeaderFieldsTooLarge, "BadRequestException"},
	badGateway:                       {http.StatusBadGateway, "InternalServerErrorException"},
}

// answer is a Response, compiled.
type answer struct {
	status  int
	body    template
	headers map[string]template
}

const awsTemplate = `{"message":$context.error.messageString}`

func compileResponse(r Response) (answer, error) {
	if r.Template == "" {
		r.Template = awsTemplate
	}
	a := answer{status: r.Status, body: compile(r.Template), headers: make(map[string]template)}
	if err := a.body.validate(); err != nil {
		return a, fmt.Errorf("gateway response %s: %w", r.Type, err)
	}
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return a, fmt.Errorf("gateway response %s: status %d: want 200 to 599", r.Type, r.Status)
	}
	for name, value := range r.Headers {
		a.headers[http.CanonicalHeaderKey(name)] = compile(value)
	}
	return a, nil
}

func compileResponses(cfg Config) (map[string]answer, error) {
	answers := make(map[string]answer)
	for _, r := range append(slices.Clone(cfg.Responses), asMethodNotAllowed(cfg.MethodNotAllowed)) {
		if _, twice := answers[r.Type]; twice {
			return nil, fmt.Errorf("gateway response %s is there twice", r.Type)
		}
		a, err := compileResponse(r)
		if err != nil {
			return nil, err
		}
		answers[r.Type] = a
	}
	for _, fallback := range []string{"DEFAULT_4XX", "DEFAULT_5XX"} {
		if _, configured := answers[fallback]; !configured {
			answers[fallback], _ = compileResponse(Response{Type: fallback}) // the built-in template is valid
		}
	}
	return answers, nil
}

func asMethodNotAllowed(r Response) Response {
	r.Type = methodNotAllowed
	if r.Template == "" {
		r.Template = `{"message":"Method Not Allowed"}`
	}
	return r
}

// rendered is a refusal ready to be written.
type rendered struct {
	status int
	header http.Header
	body   []byte
}

func (g *Gateway) render(req *request, refused *refusal) rendered {
	usual := kinds[refused.kind]
	status := usual.status
	a, configured := g.answers[refused.kind]
	if !configured {
		fallback := "DEFAULT_4XX"
		if status >= http.StatusInternalServerError {
			fallback = "DEFAULT_5XX"
		}
		a = g.answers[fallback]
	}
	if a.status != 0 {
		status = a.status
	}
	lookup := func(name string) (string, bool) { return g.variable(req, refused, name) }
	out := rendered{status: status, header: make(http.Header, 4), body: a.body.json(lookup)}
	out.header["Content-Type"] = []string{"application/json"}
	out.header["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	if usual.name != "" {
		out.header["x-amzn-ErrorType"] = []string{usual.name}
	}
	if refused.kind == methodNotAllowed {
		out.header["Allow"] = []string{req.resource.allow}
	}
	for name, value := range a.headers {
		out.header[name] = []string{value.text(lookup)}
	}
	return out
}

func (g *Gateway) refuse(w http.ResponseWriter, req *request, refused *refusal) int {
	out := g.render(req, refused)
	maps.Copy(w.Header(), out.header)
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // a client that is gone is none of the gateway's concern
	return out.status
}

// variable looks a $context variable up.
func (g *Gateway) variable(req *request, refused *refusal, name string) (string, bool) {
	r := req.http
	switch name {
	case "requestId":
		return req.id, true
	case "extendedRequestId":
		return req.extendedID, true
	case "error.message":
		return refused.message, refused.message != ""
	case "error.responseType":
		return refused.kind, true
	case "requestTimeEpoch":
		return strconv.FormatInt(req.at.UnixMilli(), 10), true
	case "requestTime":
		return req.at.UTC().Format("02/Jan/2006:15:04:05 -0700"), true
	case "identity.sourceIp":
		return req.sourceIP, true
	case "stage":
		return g.cfg.Stage, true
	case "apiId":
		return g.cfg.APIID, true
	case "accountId":
		return g.cfg.AccountID, true
	}
	if key, ok := strings.CutPrefix(name, "authorizer."); ok && req.grant != nil {
		if key == "principalId" {
			return req.grant.principal, true
		}
		value, found := req.grant.context[key]
		return value, found
	}
	if r == nil {
		return "", false
	}
	switch name {
	case "httpMethod":
		return r.Method, true
	case "path":
		return req.sent, true
	case "protocol":
		return r.Proto, true
	case "domainName":
		return hostname(r.Host), true
	case "identity.userAgent":
		return r.UserAgent(), true
	case "resourcePath":
		if req.resource != nil {
			return req.resource.path, true
		}
	}
	return "", false
}
