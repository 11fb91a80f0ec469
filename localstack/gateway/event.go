package gateway

import (
	"encoding/base64"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The events are written by hand: they are on the path of every request, and
// encoding/json with the maps it wants costs several times as much. A fuzz test
// holds them against the types of aws-lambda-go.

// Both events of a request end with the same members, which are written once.
// The last one, requestContext, is left open for the function's event to add the
// authorizer's context to.
func (g *Gateway) commonMembers(req *request) []byte {
	r := req.http
	b := make([]byte, 0, 2048)
	b = appendMember(b, `"resource":`, req.resource.path)
	b = appendMember(b, `,"path":`, req.eventPath())
	b = appendMember(b, `,"httpMethod":`, r.Method)
	b = appendHeaders(b, forwardedHeaders(req))
	b = append(b, `,"requestContext":{`...)
	b = appendMember(b, `"resourceId":`, req.resource.id)
	b = appendMember(b, `,"resourcePath":`, req.resource.path)
	b = appendMember(b, `,"httpMethod":`, r.Method)
	b = appendMember(b, `,"extendedRequestId":`, req.extendedID)
	b = append(b, `,"requestTime":"`...)
	b = req.at.UTC().AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, '"')
	b = appendMember(b, `,"path":`, req.sent)
	b = appendMember(b, `,"accountId":`, g.cfg.AccountID)
	b = appendMember(b, `,"protocol":`, r.Proto)
	b = appendMember(b, `,"stage":`, g.cfg.Stage)
	domain := hostname(r.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	b = appendMember(b, `,"domainName":`, domain)
	b = appendMember(b, `,"domainPrefix":`, prefix)
	b = append(b, `,"requestTimeEpoch":`...)
	b = strconv.AppendInt(b, req.at.UnixMilli(), 10)
	b = appendMember(b, `,"requestId":`, req.id)
	b = append(b, `,"identity":{"cognitoIdentityPoolId":null,"accountId":null,"cognitoIdentityId":null,"caller":null`...)
	b = appendMember(b, `,"sourceIp":`, req.sourceIP)
	b = append(b, `,"principalOrgId":null,"accessKey":null,"cognitoAuthenticationType":null,"cognitoAuthenticationProvider":null,"userArn":null`...)
	b = appendMember(b, `,"userAgent":`, r.UserAgent())
	b = append(b, `,"user":null}`...)
	return appendMember(b, `,"apiId":`, g.cfg.APIID)
}

// authorizerEvent is the input of a REQUEST authorizer. It holds no body. What is
// absent is an empty object here, and null in the function's event.
func (g *Gateway) authorizerEvent(req *request, common []byte) []byte {
	b := make([]byte, 0, len(common)+512)
	b = append(b, `{"type":"REQUEST"`...)
	b = appendMember(b, `,"methodArn":`, g.methodARN(req))
	b = appendQuery(b, req.query, `{}`)
	b = appendParams(b, req.params, `{}`)
	b = append(b, `,"stageVariables":{},`...)
	b = append(b, common...)
	return append(b, `}}`...)
}

// functionEvent is the input of a Lambda proxy integration.
func (g *Gateway) functionEvent(req *request, common []byte) []byte {
	b := make([]byte, 0, len(common)+len(req.body)+len(req.body)/2+512)
	b = appendBody(b, req.body)
	b = appendQuery(b, req.query, `null`)
	b = appendParams(b, req.params, `null`)
	b = append(b, `,"stageVariables":null,`...)
	b = append(b, common...)
	b = appendGrant(b, req.grant)
	return append(b, `}}`...)
}

// appendGrant writes what the authorizer said, if one was asked.
func appendGrant(b []byte, given *grant) []byte {
	if given == nil {
		return b
	}
	b = appendMember(b, `,"authorizer":{"principalId":`, given.principal)
	for _, key := range slices.Sorted(maps.Keys(given.context)) {
		b = append(b, ',')
		b = appendString(b, key)
		b = append(b, ':')
		b = appendString(b, given.context[key])
	}
	b = append(b, `,"integrationLatency":`...)
	b = strconv.AppendInt(b, given.latency.Milliseconds(), 10)
	return append(b, '}')
}

// methodARN is what the authorizer's policy is about.
func (g *Gateway) methodARN(req *request) string {
	return g.arn + req.http.Method + req.path
}

// Headers that concern one connection, or that the gateway answers for itself.
var hopByHop = map[string]bool{
	"Connection": true, "Content-Length": true, "Expect": true, "Keep-Alive": true,
	"Proxy-Authenticate": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// forwardedHeaders are the client's with those that AWS adds. It takes the
// request's own map: nobody reads it after this.
func forwardedHeaders(req *request) http.Header {
	header := req.http.Header
	for name := range header {
		if hopByHop[name] {
			delete(header, name)
		}
	}
	_, port, err := net.SplitHostPort(req.http.Host)
	if err != nil {
		port = "80"
	}
	forwarded := req.sourceIP
	if before := header["X-Forwarded-For"]; len(before) > 0 {
		forwarded = strings.Join(before, ", ") + ", " + forwarded
	}
	header["X-Forwarded-For"] = []string{forwarded}
	header["X-Forwarded-Port"] = []string{port}
	header["X-Forwarded-Proto"] = []string{"http"}
	header["Host"] = []string{req.http.Host}
	if header["X-Amzn-Trace-Id"] == nil {
		id := strings.ReplaceAll(req.id, "-", "")
		header["X-Amzn-Trace-Id"] = []string{"Root=1-" + strconv.FormatInt(req.at.Unix(), 16) + "-" + id[8:]}
	}
	return header
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// appendHeaders writes headers, of which a name that occurs more than once keeps
// its last value, and multiValueHeaders, with all of them.
func appendHeaders(b []byte, header http.Header) []byte {
	b = append(b, `,"headers":`...)
	b = appendLast(b, header)
	b = append(b, `,"multiValueHeaders":`...)
	return appendAll(b, header)
}

func appendQuery(b []byte, query url.Values, none string) []byte {
	if len(query) == 0 {
		b = append(b, `,"queryStringParameters":`...)
		b = append(b, none...)
		b = append(b, `,"multiValueQueryStringParameters":`...)
		return append(b, none...)
	}
	b = append(b, `,"queryStringParameters":`...)
	b = appendLast(b, query)
	b = append(b, `,"multiValueQueryStringParameters":`...)
	return appendAll(b, query)
}

func appendParams(b []byte, params []param, none string) []byte {
	b = append(b, `,"pathParameters":`...)
	if len(params) == 0 {
		return append(b, none...)
	}
	for i, p := range params {
		b = append(b, separator(i, '{'))
		b = appendString(b, p.name)
		b = append(b, ':')
		b = appendString(b, p.value)
	}
	return append(b, '}')
}

func appendLast(b []byte, values map[string][]string) []byte {
	b = append(b, '{')
	first := len(b)
	for name, all := range values {
		if len(all) == 0 {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, ':')
		b = appendString(b, all[len(all)-1])
	}
	return append(b, '}')
}

func appendAll(b []byte, values map[string][]string) []byte {
	b = append(b, '{')
	first := len(b)
	for name, all := range values {
		if len(all) == 0 {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, ':')
		for i, value := range all {
			b = append(b, separator(i, '['))
			b = appendString(b, value)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func separator(i int, open byte) byte {
	if i == 0 {
		return open
	}
	return ','
}

// appendBody opens the event with the body, in base64 when it is not text.
func appendBody(b, body []byte) []byte {
	switch {
	case len(body) == 0:
		return append(b, `{"body":null,"isBase64Encoded":false`...)
	case utf8.Valid(body):
		b = append(b, `{"body":`...)
		b = appendString(b, body)
		return append(b, `,"isBase64Encoded":false`...)
	}
	b = append(b, `{"body":"`...)
	b = base64.StdEncoding.AppendEncode(b, body)
	return append(b, `","isBase64Encoded":true`...)
}

// appendMember writes a key, given with its punctuation, and a string.
func appendMember(b []byte, key, value string) []byte {
	b = append(b, key...)
	return appendString(b, value)
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString[S string | []byte](b []byte, s S) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

// appendEscaped writes s as the inside of a JSON string.
func appendEscaped[S string | []byte](b []byte, s S) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[done:i]...)
		switch {
		case c >= utf8.RuneSelf:
			b = append(b, "\ufffd"...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		done = i
	}
	return append(b, s[done:]...)
}
