package feeds

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
)

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
}

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(a) })
}

// guard decides which addresses may be connected to for one feed.
type guard struct {
	loopback bool   // the feed's own address is one of this machine,
	port     string // with this port
}

// newGuard returns the guard of a feed. Only an address that is spelled out as this
// machine's own (127.0.0.1, ::1, localhost) is one: a name that leads there is not.
func newGuard(feed *url.URL) guard {
	host, port := feed.Hostname(), feed.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[feed.Scheme]
	}
	address, err := netip.ParseAddr(host)
	return guard{loopback: host == "localhost" || err == nil && address.Unmap().IsLoopback(), port: port}
}

// control is that of a [net.Dialer]: it sees the address that a name was resolved to.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", errPrivate, address)
	}
	a, err := netip.ParseAddr(host)
	if err != nil || !public(a) && (!g.loopback || !a.Unmap().IsLoopback() || port != g.port) {
		return fmt.Errorf("%w: %s", errPrivate, address)
	}
	return nil
}
