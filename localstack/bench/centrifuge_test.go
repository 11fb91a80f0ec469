package bench

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge"
	"github.com/coder/websocket"

	"quotary/shared/testing/must"
)

type node struct {
	*centrifuge.Node
	b      *testing.B
	topics []string
}

func (n node) publish(topic int, frame []byte) {
	if _, err := n.Publish(n.topics[topic], frame); err != nil {
		n.b.Error(err)
	}
}

// newNode subscribes each client, in the order in which they come, as newHub does.
func newNode(b *testing.B, topics, perConn int) node {
	n := must.Get(centrifuge.New(centrifuge.Config{LogLevel: centrifuge.LogLevelNone, ClientQueueMaxSize: 16 << 20, ClientChannelLimit: topics}))(b)
	f := node{Node: n, b: b}
	for i := range topics {
		f.topics = append(f.topics, fmt.Sprint("topic", i))
	}
	next := make(chan int, 1)
	next <- 0
	n.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		i := <-next
		next <- i + perConn
		subscriptions := map[string]centrifuge.SubscribeOptions{}
		for j := range perConn {
			subscriptions[f.topics[(i+j)%topics]] = centrifuge.SubscribeOptions{}
		}
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{UserID: fmt.Sprint(i)}, Subscriptions: subscriptions}, nil
	})
	must.Do(b, n.Run())
	b.Cleanup(func() { _ = n.Shutdown(context.Background()) })
	return f
}

// transport counts what it is given to write.
type transport struct{ *tally }

func (transport) Name() string                                { return "counting" }
func (transport) AcceptProtocol() string                      { return "" }
func (transport) Protocol() centrifuge.ProtocolType           { return centrifuge.ProtocolTypeJSON }
func (transport) ProtocolVersion() centrifuge.ProtocolVersion { return centrifuge.ProtocolVersion2 }
func (transport) Unidirectional() bool                        { return true }
func (transport) Emulation() bool                             { return false }
func (transport) DisabledPushFlags() uint64                   { return 0 }
func (transport) Close(centrifuge.Disconnect) error           { return nil }
func (transport) PingPongConfig() centrifuge.PingPongConfig {
	return centrifuge.PingPongConfig{PingInterval: -1}
}

func (t transport) Write(frame []byte) error {
	t.count(frame)
	return nil
}

func (t transport) WriteMany(frames ...[]byte) error {
	for _, frame := range frames {
		t.count(frame)
	}
	return nil
}

func startNode(b *testing.B, t *tally, s shape) fanOut {
	f := newNode(b, s.topics, s.perConn)
	for range s.conns {
		client, closed := must.Get2(centrifuge.NewClient(context.Background(), f.Node, transport{t}))(b)
		b.Cleanup(func() { _ = closed() })
		client.Connect(centrifuge.ConnectRequest{})
	}
	return f
}

func startServer(b *testing.B, t *tally, s shape) fanOut {
	f := newNode(b, s.topics, s.perConn)
	server := httptest.NewServer(centrifuge.NewWebsocketHandler(f.Node, centrifuge.WebsocketConfig{
		PingPongConfig: centrifuge.PingPongConfig{PingInterval: -1},
	}))
	b.Cleanup(server.Close)
	for _, client := range listen(b, t, "ws"+server.URL[len("http"):], s.conns, s.stalled) {
		must.Do(b, client.Write(b.Context(), websocket.MessageText, []byte(`{"id":1,"connect":{}}`)))
	}
	begun := time.Now()
	for _, topic := range f.topics {
		for f.Hub().NumSubscribers(topic) < s.conns*s.perConn/s.topics {
			if pause(); time.Since(begun) > 30*time.Second {
				b.Fatalf("%s has %d subscribers", topic, f.Hub().NumSubscribers(topic))
			}
		}
	}
	return f
}
