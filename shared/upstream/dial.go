// Package upstream is how programs reach what others serve: a client that connects to the public
// internet alone ([NewClient]), bounds within which answers are read ([Bounds]), and errors that
// quote nothing of an answer ([Unquoted], [Decode]). All of it is hostile until it was read.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// ErrPrivate is the error of a connection that would leave the public internet.
var ErrPrivate = errors.New("the address is not of the public internet")

// NewClient returns a client of the upstream at base, which an operator has named. It
// connects as [Transport] does and follows no redirect: a key would be sent along to
// whoever it names.
func NewClient(base string) *http.Client {
	return &http.Client{
		Transport:     Inflate(Transport(base)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

const (
	dialWithin = 10 * time.Second
	idleFor    = 90 * time.Second
)

// mostHeader is how large the header of an answer may be, in bytes.
const mostHeader = 64 << 10

// Transport returns how every upstream is connected to: it connects to the public internet
// and, where base is spelled as a private address or name, to that host and port. What a
// name leads to is looked at when it is connected to, for each connection. No proxy is
// used, which would connect in its place, and upstreams share no connections, as what one
// of them may connect to another may not.
func Transport(base string) *http.Transport {
	g := newGuard(base)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := net.Dialer{Timeout: dialWithin, Control: func(_, resolved string, _ syscall.RawConn) error {
				return g.check(address, resolved)
			}}
			return dialer.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialWithin, IdleConnTimeout: idleFor, MaxResponseHeaderBytes: mostHeader,
	}
}

// DialSocket connects to the WebSocket of an upstream, as [NewClient] does. Reading it fails with
// [ErrFrames] where it brings too many frames.
func DialSocket(ctx context.Context, address string) (*websocket.Conn, error) {
	return dialSocket(ctx, address, mostFrames)
}

func dialSocket(ctx context.Context, address string, frames int) (*websocket.Conn, error) {
	web := NewClient(address)
	web.Transport = framed{Inflate(Transport(address)), frames}
	defer web.CloseIdleConnections()
	conn, answer, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: web}) //nolint:bodyclose // there is none to close, says Dial
	if err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("connect: %w", &RefusedError{Status: answer.StatusCode})
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", Unquoted(err))
	}
	return conn, nil
}

// private are the networks, beyond those that netip knows, that are not the public
// internet: shared and special ranges, and those that carry an IPv4 address inside.
var private = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // between a provider and its customers
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),        // an IPv4 address of old
	netip.MustParsePrefix("64:ff9b::/96"), // an IPv4 address behind a translator
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // an IPv4 address in a tunnel
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's host
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("2001::/23"), // tunnels and other special uses
	netip.MustParsePrefix("3fff::/20"), // of documents
}

// unicast is the part of IPv6 that is given out on the public internet.
var unicast = netip.MustParsePrefix("2000::/3")

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && (a.Is4() || unicast.Contains(a)) && !a.IsPrivate() && !slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(a) })
}

// metadata are addresses, beyond those of a link, at which a cloud tells its machines
// secrets.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("192.0.0.192/32"),
	netip.MustParsePrefix("168.63.129.16/32"),
}

// embedding are networks whose addresses lead to an IPv4 address that stands in them.
var embedding = []netip.Prefix{
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("::ffff:0:0:0/96"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"),
}

// nameable reports whether a private address may be connected to where an operator has
// named it: one of a network or of this machine.
func nameable(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	inside := func(p netip.Prefix) bool { return p.Contains(a) }
	return !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified() && a != netip.AddrFrom4([4]byte{255, 255, 255, 255}) &&
		!slices.ContainsFunc(metadata, inside) && (a.IsLoopback() || !slices.ContainsFunc(embedding, inside))
}

// guard decides which addresses may be connected to for one upstream.
type guard struct{ named string } // host and port that may be private; "" for none

// newGuard returns the guard of an upstream. Only a host that cannot be public is taken
// for private: an address, or a name that the public internet does not have. Any other
// that leads to a private address is refused.
func newGuard(base string) guard {
	u, err := url.Parse(base)
	if err != nil || !spelledPrivate(u.Hostname()) {
		return guard{}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme]
	}
	return guard{named: net.JoinHostPort(u.Hostname(), port)}
}

// privateDomains are those that no public name ends with.
var privateDomains = []string{"internal", "local", "localhost", "home.arpa"}

func spelledPrivate(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return !public(a)
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") ||
		slices.ContainsFunc(privateDomains, func(d string) bool { return strings.HasSuffix(host, "."+d) })
}

// check says what a connection to an address that a host was resolved to comes to.
func (g guard) check(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err == nil && (public(to.Addr()) || strings.EqualFold(host, g.named) && nameable(to.Addr())) {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrPrivate, resolved)
}
