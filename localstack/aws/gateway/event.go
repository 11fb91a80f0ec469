package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// functionEvent is the input of a Lambda proxy integration. What is absent is null.
type functionEvent struct {
	requestMembers
	RequestContext  requestContext `json:"requestContext"`
	Body            *string        `json:"body"`
	IsBase64Encoded bool           `json:"isBase64Encoded"`
}

// authorizerEvent is the input of a REQUEST authorizer. It holds no body, and what is
// absent is an empty object.
type authorizerEvent struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	requestMembers
	RequestContext requestContext `json:"requestContext"`
}

// requestMembers are those that both events have.
type requestMembers struct {
	Resource   string `json:"resource"`
	Path       string `json:"path"`
	HTTPMethod string `json:"httpMethod"`
	headers
	QueryStringParameters           map[string]string   `json:"queryStringParameters"`
	MultiValueQueryStringParameters map[string][]string `json:"multiValueQueryStringParameters"`
	PathParameters                  map[string]string   `json:"pathParameters"`
	StageVariables                  map[string]string   `json:"stageVariables"`
}

// headers hold each name with its last value, and with all of them.
type headers struct {
	Headers           map[string]string   `json:"headers,omitempty"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders,omitempty"`
}

type requestContext struct {
	ResourceID        string         `json:"resourceId"`
	ResourcePath      string         `json:"resourcePath"`
	HTTPMethod        string         `json:"httpMethod"`
	ExtendedRequestID string         `json:"extendedRequestId"`
	RequestTime       string         `json:"requestTime"`
	Path              string         `json:"path"`
	AccountID         string         `json:"accountId"`
	Protocol          string         `json:"protocol"`
	Stage             string         `json:"stage"`
	DomainName        string         `json:"domainName"`
	DomainPrefix      string         `json:"domainPrefix"`
	RequestTimeEpoch  int64          `json:"requestTimeEpoch"` // ms
	RequestID         string         `json:"requestId"`
	Identity          identity       `json:"identity"`
	APIID             string         `json:"apiId"`
	Authorizer        map[string]any `json:"authorizer,omitempty"`
}

// identity is who sent a request. What IAM and Cognito would say is null.
type identity struct {
	CognitoIdentityPoolID         *string `json:"cognitoIdentityPoolId"`
	AccountID                     *string `json:"accountId"`
	CognitoIdentityID             *string `json:"cognitoIdentityId"`
	Caller                        *string `json:"caller"`
	SourceIP                      string  `json:"sourceIp"`
	PrincipalOrgID                *string `json:"principalOrgId"`
	AccessKey                     *string `json:"accessKey"`
	CognitoAuthenticationType     *string `json:"cognitoAuthenticationType"`
	CognitoAuthenticationProvider *string `json:"cognitoAuthenticationProvider"`
	UserARN                       *string `json:"userArn"`
	UserAgent                     string  `json:"userAgent"`
	User                          *string `json:"user"`
}

func (g *Gateway) functionEvent(req *request) []byte {
	e := functionEvent{requestMembers: g.requestMembers(req), RequestContext: g.requestContext(req)}
	e.RequestContext.Authorizer = req.grant.members()
	if len(req.body) > 0 {
		text, binary := eventBody(req.body, g.cfg.Binary)
		e.Body, e.IsBase64Encoded = &text, binary
	}
	return encodeJSON(e)
}

// eventBody is a body as events hold it: in base64 when it is binary or not text.
func eventBody(body []byte, always bool) (text string, binary bool) {
	if !always && utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func (g *Gateway) authorizerEvent(req *request) []byte {
	e := authorizerEvent{
		Type: "REQUEST", MethodARN: g.methodARN(req),
		requestMembers: g.requestMembers(req), RequestContext: g.requestContext(req),
	}
	if e.QueryStringParameters == nil {
		e.QueryStringParameters, e.MultiValueQueryStringParameters = map[string]string{}, map[string][]string{}
	}
	if e.PathParameters == nil {
		e.PathParameters = map[string]string{}
	}
	e.StageVariables = map[string]string{}
	return encodeJSON(e)
}

func (g *Gateway) requestMembers(req *request) requestMembers {
	m := requestMembers{
		Resource:   req.resource.path,
		Path:       req.eventPath(),
		HTTPMethod: req.http.Method,
		headers:    eventHeaders(forwardedHeaders(req)),
	}
	if len(req.query) > 0 {
		m.QueryStringParameters, m.MultiValueQueryStringParameters = lastValues(req.query), req.query
	}
	for _, p := range req.params {
		if m.PathParameters == nil {
			m.PathParameters = make(map[string]string)
		}
		m.PathParameters[p.name] = p.value
	}
	return m
}

func (g *Gateway) requestContext(req *request) requestContext {
	domain := hostname(req.http.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	return requestContext{
		ResourceID:        req.resource.id,
		ResourcePath:      req.resource.path,
		HTTPMethod:        req.http.Method,
		ExtendedRequestID: req.extendedID,
		RequestTime:       requestTime(req.at),
		Path:              req.sent,
		AccountID:         g.cfg.AccountID,
		Protocol:          req.http.Proto,
		Stage:             g.cfg.Stage,
		DomainName:        domain,
		DomainPrefix:      prefix,
		RequestTimeEpoch:  req.at.UnixMilli(),
		RequestID:         req.id,
		Identity:          identity{SourceIP: req.sourceIP, UserAgent: req.http.UserAgent()},
		APIID:             g.cfg.APIID,
	}
}

func requestTime(at time.Time) string { return at.UTC().Format("02/Jan/2006:15:04:05 -0700") }

// methodARN is what the authorizer's policy is about.
func (g *Gateway) methodARN(req *request) string {
	return g.arn + req.http.Method + req.path
}

// Headers that concern one connection, or that the gateway answers for itself.
var hopByHop = []string{"Connection", "Content-Length", "Expect", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// forwardedHeaders are the client's with those that AWS adds.
func forwardedHeaders(req *request) http.Header {
	header := req.http.Header.Clone()
	for _, name := range hopByHop {
		header.Del(name)
	}
	_, port, err := net.SplitHostPort(req.http.Host)
	if err != nil {
		port = "80"
	}
	forwarded := req.sourceIP
	if before := header["X-Forwarded-For"]; len(before) > 0 {
		forwarded = strings.Join(before, ", ") + ", " + forwarded
	}
	header.Set("X-Forwarded-For", forwarded)
	header.Set("X-Forwarded-Port", port)
	header.Set("X-Forwarded-Proto", "http")
	header.Set("Host", req.http.Host)
	if header["X-Amzn-Trace-Id"] == nil {
		id := strings.ReplaceAll(req.id, "-", "")
		header.Set("X-Amzn-Trace-Id", "Root=1-"+strconv.FormatInt(req.at.Unix(), 16)+"-"+id[8:])
	}
	return header
}

func eventHeaders(header http.Header) headers { return headers{lastValues(header), header} }

func lastValues(values map[string][]string) map[string]string {
	last := make(map[string]string, len(values))
	for name, all := range values {
		if len(all) > 0 {
			last[name] = all[len(all)-1]
		}
	}
	return last
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// encodeJSON encodes what always can be: strings, numbers and lists of them. What is
// not UTF-8 becomes U+FFFD.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
