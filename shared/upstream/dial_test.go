package upstream

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

func TestOnlyAddressesOfThePublicInternetArePublic(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "1.1.1.1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "fd00:ec2::254": false, "fc00::1": false, "0.0.0.0": false, "::": false, "0.1.2.3": false,
		"100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "::7f00:1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestOnlyWhatAnOperatorHasNamedIsPrivate(t *testing.T) {
	t.Parallel()
	type connection struct{ host, resolved string }
	for base, allowed := range map[string]map[connection]bool{
		"https://api.example.com/": {
			{"api.example.com:443", "127.0.0.1:443"}: false, {"api.example.com:443", "10.0.0.1:443"}: false, {"api.example.com:443", "[::1]:443"}: false,
			{"api.example.com:443", "169.254.169.254:443"}: false, {"api.example.com:443", "8.8.8.8:443"}: true, {"other.example:22", "8.8.8.8:22"}: true,
		},
		"http://127.0.0.1:8085/a": {
			{"127.0.0.1:8085", "127.0.0.1:8085"}: true, {"127.0.0.1:8086", "127.0.0.1:8086"}: false, {"localhost:8085", "127.0.0.1:8085"}: false,
			{"10.0.0.1:8085", "10.0.0.1:8085"}: false, {"8.8.8.8:80", "8.8.8.8:80"}: true,
		},
		"http://localhost/": {{"localhost:80", "127.0.0.1:80"}: true, {"localhost:80", "[::1]:80"}: true, {"localhost:8080", "127.0.0.1:8080"}: false},
		"wss://[::1]/":      {{"[::1]:443", "[::1]:443"}: true, {"192.168.0.1:443", "192.168.0.1:443"}: false},
		"ws://10.0.0.1":     {{"10.0.0.1:80", "10.0.0.1:80"}: true, {"10.0.0.2:80", "10.0.0.2:80"}: false},
		"http://Node.internal:3001": {
			{"node.internal:3001", "10.1.2.3:3001"}: true, {"node.internal:3001", "[fd12::1]:3001"}: true, {"node.internal:3002", "10.1.2.3:3002"}: false,
			{"node.internal:3001", "169.254.169.254:3001"}: false, {"node.internal:3001", "[fd00:ec2::254]:3001"}: false, {"node.internal:3001", "100.100.100.200:3001"}: false,
		},
		"http://sim:8080":             {{"sim:8080", "172.17.0.2:8080"}: true},
		"http://169.254.169.254/":     {{"169.254.169.254:80", "169.254.169.254:80"}: false},
		"http://[fd00:ec2::254]/":     {{"[fd00:ec2::254]:80", "[fd00:ec2::254]:80"}: false},
		"http://0.0.0.0:80/":          {{"0.0.0.0:80", "0.0.0.0:80"}: false},
		"http://127.0.0.1.nip.test":   {{"127.0.0.1.nip.test:80", "127.0.0.1:80"}: false},
		"http://internal.example.com": {{"internal.example.com:80", "10.0.0.1:80"}: false},
		"http://%zz":                  {{"x:80", "127.0.0.1:80"}: false, {":80", "127.0.0.1:80"}: false},
		"":                            {{":80", "127.0.0.1:80"}: false, {"", "127.0.0.1:80"}: false},
	} {
		g := newGuard(base)
		for c, want := range allowed {
			if err := g.check(c.host, c.resolved); (err == nil) != want || err != nil && !errors.Is(err, ErrPrivate) {
				t.Errorf("%s: to %s at %s: %v", base, c.host, c.resolved, err)
			}
		}
	}
}

// A proxy would connect in the place of the dialer, which looks where a name leads to.
func TestNoProxyIsUsed(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://api.example.com", "http://127.0.0.1:8085", "wss://feed.example.com"} {
		if through, ok := NewClient(base).Transport.(Inflating); !ok || through.Proxy != nil || Transport(base).Proxy != nil {
			t.Errorf("%s is asked through a proxy of the environment", base)
		}
	}
}

// TestNoClientLeavesThePublicInternet has upstreams that lead to a service of this machine,
// by their name and by a redirect: it is not asked, and nothing that anybody answers is in
// the error, which is logged.
func TestNoClientLeavesThePublicInternet(t *testing.T) {
	t.Parallel()
	const secret = "the words of a private service"
	var asked atomic.Int64
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, secret)
	}))
	defer private.Close()
	redirects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", private.URL+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = io.WriteString(w, secret)
	}))
	defer redirects.Close()
	port := strings.TrimPrefix(private.URL, "http://127.0.0.1:")
	socket := func(base string) error {
		conn, err := DialSocket(t.Context(), strings.Replace(base, "http", "ws", 1))
		if err == nil {
			_ = conn.CloseNow()
		}
		return err
	}
	for name, ask := range map[string]func(base string) error{
		"REST": func(base string) error {
			res, err := NewClient(base).Get(base + "/a")
			if err == nil {
				res.Body.Close()
				err = &RefusedError{Status: res.StatusCode}
			}
			return err
		},
		"WebSocket": socket,
	} {
		err := ask(redirects.URL)
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "307") {
			t.Errorf("%s, redirected: %v", name, err)
		}
	}
	transport := Transport("http://api.example.com:" + port)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, private.Listener.Addr().String()) // as a resolver would answer
	}
	res, err := (&http.Client{Transport: transport}).Get("http://api.example.com:" + port)
	if !errors.Is(err, ErrPrivate) {
		t.Errorf("a name that leads to this machine: %v", err)
	}
	if err == nil {
		res.Body.Close()
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the private service was asked %d times", n)
	}
	if err := socket("http://" + private.Listener.Addr().String()); errors.Is(err, ErrPrivate) || asked.Load() != 1 {
		t.Errorf("what the operator has named is not asked: %v", err)
	}
}

// What an upstream sends is in no error, however it breaks off the answer.
func TestAnErrorQuotesNothingOfAnAnswer(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("SECRET", 10_000)
	for name, said := range map[string]string{
		"a header line without a colon": "HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n",
		"a header that never ends":      "HTTP/1.1 200 OK\r\nA: " + strings.Repeat(secret, 10),
		"a place that is no address":    "HTTP/1.1 302 Found\r\nLocation: http://[" + secret + "\r\nContent-Length: 0\r\n\r\n",
		"a status that is none":         secret + "\r\n\r\n",
		"a trailer that is none":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + secret[:60] + "\r\n\r\n",
		"a length that is none":         "HTTP/1.1 200 OK\r\nContent-Length: " + secret + "\r\n\r\n",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 1024))
				_, _ = conn.Write([]byte(said))
				_ = conn.Close()
			}
		}()
		address := "http://" + listener.Addr().String()
		res, err := NewClient(address).Get(address)
		if err == nil {
			_, err = Bounds{Bytes: 1 << 20}.Read(res.Body)
			_ = res.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if text := Unquoted(err).Error(); strings.Contains(text, "SECRET") || len(text) > 200 {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

// Nor is what stands in a certificate.
func TestAnErrorQuotesNothingOfACertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for host, want := range map[string]string{"localhost": "the certificate is of another host", "127.0.0.1": "the certificate is of an unknown issuer"} {
		address := "https://" + host + port
		res, err := NewClient(address).Get(address)
		if err == nil {
			_ = res.Body.Close()
			t.Fatalf("%s: no error", host)
		}
		if got := Unquoted(err).Error(); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

func TestTheHeaderOfAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]bool{mostHeader / 2: true, 2 * mostHeader: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("A", strings.Repeat("x", bytes))
		}))
		t.Cleanup(server.Close)
		answer, err := NewClient(server.URL).Get(server.URL)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != want {
			t.Errorf("a header of %d bytes: %v", bytes, err)
		}
	}
}

func TestAddressesThatLeadElsewhereAreNotPublic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"168.63.129.16", "192.88.99.1", "2001::1", "::ffff:0:a9fe:a9fe", "100::1", "2001:2::1", "3fff::1", "5f00::1", "4000::1"} {
		if a := netip.MustParseAddr(text); public(a) {
			t.Errorf("%s is public", a)
		}
	}
	if !public(netip.MustParseAddr("2606:4700:4700::1111")) || !public(netip.MustParseAddr("1.1.1.1")) {
		t.Error("a public address is not")
	}
	g := newGuard("http://feed.internal")
	for _, text := range []string{"[64:ff9b::a9fe:a9fe]:80", "[::169.254.169.254]:80", "[2002:a9fe:a9fe::1]:80", "255.255.255.255:80", "168.63.129.16:80"} {
		if g.check("feed.internal:80", text) == nil {
			t.Errorf("a private name may lead to %s", text)
		}
	}
}
