package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// How long a connection may take, so that slow or silent clients hold little.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = time.Minute
	writeAllowance    = 30 * time.Second // beyond authorizer and function
	drainTimeout      = 5 * time.Second
)

// tooLarge refuses a request with too large headers.
var tooLarge = &refusal{kind: headersTooLarge, message: "the request line and headers are larger than 10240 bytes"}

// Serve answers requests on a listener until ctx ends, then lets those under way
// finish for a few seconds, closes the WebSocket connections with 1001 and calls
// their functions with $disconnect. It closes the listener. A gateway is served once.
func (g *Gateway) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:                      g,
		ReadHeaderTimeout:            readHeaderTimeout,
		ReadTimeout:                  readTimeout,
		WriteTimeout:                 readTimeout + 2*g.cfg.Timeout + writeAllowance,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               MaxHeader, // net/http allows 4 KiB more, in which the gateway itself answers
		DisableGeneralOptionsHandler: true,      // "OPTIONS *" is refused like any unknown path
		ErrorLog:                     slog.NewLogLogger(g.cfg.Log.Handler(), slog.LevelDebug),
	}
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		var sockets sync.WaitGroup
		sockets.Go(func() { g.connections.close(grace) })
		err := server.Shutdown(grace)
		if err != nil {
			_ = server.Close() // what would not end by itself
		}
		sockets.Wait()
		drained <- err
	})
	err := server.Serve(refusalListener{listener, g})
	if stop() { // serving ended on its own account
		grace, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		g.connections.close(grace)
		return fmt.Errorf("serve the gateway: %w", err)
	}
	if err := <-drained; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop the gateway: %w", err)
	}
	return nil
}

// net/http answers what it cannot parse before any handler sees it, in plain text
// and straight to the connection. A refusalListener puts the gateway's own
// refusal in its place, so that a malformed path is refused like anything else.
type refusalListener struct {
	net.Listener
	gateway *Gateway
}

func (l refusalListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusalConn{Conn: conn, gateway: l.gateway}, nil
}

type refusalConn struct {
	net.Conn
	gateway *Gateway
}

// bareHeader is all the header that such an answer has; an answer of a handler
// always has a Date.
var bareHeader = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

func (c *refusalConn) Write(p []byte) (int, error) {
	if len(p) > 512 || !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return c.Conn.Write(p)
	}
	line, _, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(p[len(line):], bareHeader) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.gateway.unparsable(c.RemoteAddr(), line)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite is what net/http looks for, to let its last words arrive.
func (c *refusalConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// unparsable is the answer, as bytes, to something that is not a proper request.
func (g *Gateway) unparsable(from net.Addr, statusLine []byte) []byte {
	refused := &refusal{kind: "BAD_REQUEST_PARAMETERS", message: "the request is not valid HTTP, or its path is not percent-encoded UTF-8"}
	if bytes.Contains(statusLine, []byte(" 431 ")) {
		refused = tooLarge
	}
	req := g.newRequest(&http.Request{RemoteAddr: from.String()})
	out := g.render(req, refused)
	out.header["Connection"] = []string{"close"}
	out.header["x-amzn-RequestId"] = []string{req.id}
	out.header["x-amz-apigw-id"] = []string{req.extendedID}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", out.status, http.StatusText(out.status))
	_ = out.header.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	b.Write(out.body)
	g.log(req, out.status, 0, refused)
	return b.Bytes()
}
