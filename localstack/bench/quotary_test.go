package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"quotary/localstack/gateway"
	"quotary/shared/feed"
)

type hub struct {
	*feed.Hub
	topics []string
}

func (h hub) publish(topic int, frame []byte) { h.Publish(h.topics[topic], frame, feed.Event) }

func newHub(b *testing.B, sink feed.Sink, s shape, conns []feed.Conn) fanOut {
	h := hub{Hub: feed.NewHub(feed.Config{Sink: sink, Queue: 1 << 16, QueueBytes: 16 << 20})}
	for i := range s.topics {
		h.topics = append(h.topics, fmt.Sprint("topic", i))
	}
	for i, c := range conns {
		h.Connect(c)
		for j := range s.perConn {
			if err := h.Subscribe(c.ID, h.topics[(i*s.perConn+j)%s.topics], nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	running(b, h.Run)
	return h
}

type counting struct{ *tally }

func (s counting) Post(_ context.Context, _ feed.Conn, frame []byte) error {
	s.count(frame)
	return nil
}

func startHub(b *testing.B, t *tally, s shape) fanOut {
	all := make([]feed.Conn, s.conns)
	for i := range all {
		all[i].ID = fmt.Sprint("conn", i)
	}
	return newHub(b, feed.PostFunc(counting{t}.Post), s, all)
}

// acceptor is the socket function: it lets everyone in and tells their ids.
type acceptor chan string

func (ids acceptor) Invoke(_ context.Context, _ string, event []byte) ([]byte, error) {
	var e struct {
		RequestContext struct {
			EventType    string `json:"eventType"`
			ConnectionID string `json:"connectionId"`
		} `json:"requestContext"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	if e.RequestContext.EventType == "CONNECT" {
		ids <- e.RequestContext.ConnectionID
	}
	return []byte(`{"statusCode":200}`), nil
}

func startGateway(b *testing.B, t *tally, s shape) fanOut {
	ids := make(acceptor, s.conns)
	g, err := gateway.New(gateway.Config{
		Sockets:   []gateway.SocketAPI{{Path: "/ws", Function: "socket"}},
		Functions: ids,
	})
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	running(b, func(ctx context.Context) {
		if err := g.Serve(ctx, listener); err != nil {
			b.Error(err)
		}
	})
	addr := listener.Addr().String()
	listen(b, t, "ws://"+addr+"/api/ws", s.conns, s.stalled)
	all := make([]feed.Conn, s.conns)
	for i := range all {
		all[i] = feed.Conn{ID: <-ids, Endpoint: "http://" + addr + "/api", At: time.Now()}
	}
	sink := feed.NewManagement(feed.ManagementConfig{
		Region:      "us-east-1",
		Pipeline:    64,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	b.Cleanup(sink.Close)
	return newHub(b, sink, s, all)
}
