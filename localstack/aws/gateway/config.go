package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Limits of the APIs on AWS, and of this gateway where AWS has none.
const (
	// DefaultTimeout bounds the authorizer, and separately the function.
	DefaultTimeout = 29 * time.Second
	// DefaultMaxBody bounds a request body, in bytes.
	DefaultMaxBody = 10 << 20
	// MaxHeader bounds the request line and all headers together, in bytes.
	MaxHeader = 10_240
	// DefaultMaxInFlight bounds the requests under way at one time. It is not
	// AWS's figure, which is a rate, but what a developer's machine can hold.
	DefaultMaxInFlight = 1024
	// DefaultMaxConnections bounds the WebSocket connections open at one time.
	// AWS bounds only how fast they are opened.
	DefaultMaxConnections = 16_384
	// DefaultSocketWrite is how long a client may leave a message unread.
	DefaultSocketWrite = 10 * time.Second
)

// Invoker runs a function by name and returns its answer. The event must not
// change until the function has ended. A *lambdahost.Host is one, and its errors
// are understood.
type Invoker interface {
	Invoke(ctx context.Context, function string, event []byte) ([]byte, error)
}

// Route is one method of one resource.
type Route struct {
	Method string // GET, POST, PUT, DELETE, ...
	// Path is without the stage. Parameters are whole segments, /fills/{address}; the
	// last one may be greedy and take one or more segments: /tickers/{coin+}.
	Path     string
	Function string // that answers it
	// Authorize demands that the authorizer allows the request first.
	Authorize bool
	// IdentitySource lists query parameters: a request that lacks one, or has an empty
	// one, is refused with UNAUTHORIZED before the authorizer sees it.
	IdentitySource []string
}

// Response is an answer that the gateway gives by itself.
type Response struct {
	// Type is AWS's name for the occasion: UNAUTHORIZED, ACCESS_DENIED, ... A
	// type that is not configured is answered as DEFAULT_4XX or DEFAULT_5XX.
	Type string
	// Status replaces the status that is usual for the occasion; 0 keeps it.
	Status int
	// Template is the JSON body. Its variables are $context.requestId,
	// $context.authorizer.<key>, $context.error.message (text),
	// $context.error.messageString (the same with quotes), and the others that
	// AWS documents for the request's context. Values are escaped: a body is
	// valid JSON whenever its template is. Empty is AWS's own template.
	Template string
	// Headers are added to the answer; values may hold the same variables.
	Headers map[string]string
}

// SocketAPI is one WebSocket API: the routes $connect, $default (two-way) and
// $disconnect, all answered by one function.
type SocketAPI struct {
	Path string // without the stage, with no parameters: /upgrade/v2/hl/ws
	// StageVariables are in every event of the API, for the authorizer too.
	StageVariables map[string]string
	Function       string
	// Authorize demands that the authorizer allows the connection first.
	Authorize bool
	// IdentitySource is that of [Route].
	IdentitySource []string
	// APIID appears in ARNs and events; empty is Config.APIID.
	APIID string
}

// Domain is a custom domain name whose base path is mapped to the stage.
type Domain struct {
	// Name is the host that clients name, in lower case and without a port:
	// api.example.com.
	Name string
	// BasePath is what precedes the path within the stage: /api. Empty is none.
	BasePath string
}

// SocketLimits bound the connections of all WebSocket APIs. A zero is AWS's limit,
// or the default where AWS has none.
type SocketLimits struct {
	// Idle closes a connection that carried nothing for so long (10 minutes).
	Idle time.Duration
	// Lifetime closes every connection at this age (2 hours).
	Lifetime time.Duration
	// Write closes a connection whose client has not read one message for so long
	// while there was one to read (DefaultSocketWrite). One that pings meanwhile is
	// closed after 5 s, because its ping cannot be answered.
	Write time.Duration
	// Connections bounds those open at one time (DefaultMaxConnections).
	Connections int
	// Parallel has messages of one connection reach the function at once, up to
	// 16 of them, as on AWS; else one at a time, in order.
	Parallel bool
}

// Config is what a Gateway needs.
type Config struct {
	// Stage is the first segment of every path; empty is "api".
	Stage string
	// Routes may share paths, but as on AWS all parameters in one place of the
	// path must have one name.
	Routes []Route
	// Domains are custom domains that lead to the stage. A request that names none
	// of them as its host has come by the stage's own address, where the path begins
	// with the stage.
	Domains []Domain
	// Sockets are the WebSocket APIs of the stage. No path may be in Routes too.
	Sockets []SocketAPI
	// SocketLimits bound their connections.
	SocketLimits SocketLimits
	// Functions runs the authorizer and the functions of the routes.
	Functions Invoker
	// Authorizer names the function that decides on routes with Authorize.
	Authorizer string
	// Responses hold each type at most once.
	Responses []Response
	// MethodNotAllowed answers a known path with a method that it does not have;
	// an Allow header is added. Its Type is of no interest, its Status 405 when 0.
	MethodNotAllowed Response
	// Binary makes every media type of the Routes binary, as AWS does for the binary
	// media type */*: bodies reach functions in base64, and the body of an answer
	// marked isBase64Encoded is decoded, which otherwise leaves as it is.
	Binary bool
	// MaxBody bounds a request body in bytes; 0 is DefaultMaxBody.
	MaxBody int64
	// Timeout bounds each of authorizer and function; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxInFlight bounds the requests under way; 0 is DefaultMaxInFlight.
	MaxInFlight int
	// Log takes a line for each request and each end of a connection, without
	// path and query: a query may carry a signature. Requests to the management
	// API have one only when they are refused, at the level debug. Nil discards
	// it.
	Log *slog.Logger
	// Region, AccountID and APIID appear in ARNs and events. Empty are
	// "us-east-1", "000000000000" and "local00000".
	Region, AccountID, APIID string
	// Now is the clock of events and logs; nil is time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() (Config, error) {
	if c.Functions == nil {
		return c, errors.New("gateway: Functions is not set")
	}
	for _, r := range c.Routes {
		if r.Authorize && c.Authorizer == "" {
			return c, fmt.Errorf("gateway: %s %s is to be authorized, and no Authorizer is set", r.Method, r.Path)
		}
	}
	for _, s := range c.Sockets {
		switch {
		case s.Authorize && c.Authorizer == "":
			return c, fmt.Errorf("gateway: connections to %s are to be authorized, and no Authorizer is set", s.Path)
		case s.Function == "" || !strings.HasPrefix(s.Path, "/") || strings.ContainsAny(s.Path, "{}"):
			return c, fmt.Errorf("gateway: WebSocket API %q: want a function, and a path without parameters that begins with a slash", s.Path)
		}
	}
	for _, d := range c.Domains {
		if d.Name == "" || d.Name != strings.ToLower(hostname(d.Name)) || d.BasePath != "" && (d.BasePath[0] != '/' || strings.HasSuffix(d.BasePath, "/")) {
			return c, fmt.Errorf("gateway: domain %q with base path %q: want a name in lower case without a port, and a base path such as /api", d.Name, d.BasePath)
		}
	}
	c.SocketLimits = c.SocketLimits.withDefaults()
	if c.Stage == "" {
		c.Stage = "api"
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.AccountID == "" {
		c.AccountID = "000000000000"
	}
	if c.APIID == "" {
		c.APIID = "local00000"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

func (l SocketLimits) withDefaults() SocketLimits {
	if l.Idle <= 0 {
		l.Idle = 10 * time.Minute
	}
	if l.Lifetime <= 0 {
		l.Lifetime = 2 * time.Hour
	}
	if l.Write <= 0 {
		l.Write = DefaultSocketWrite
	}
	if l.Connections <= 0 {
		l.Connections = DefaultMaxConnections
	}
	return l
}
