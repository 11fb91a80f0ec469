package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/feeds/management"
	"quotary/localstack/aws/gateway"
	"quotary/shared/testing/must"
)

// quotaryHub is our hub with the topics of a benchmark.
type quotaryHub struct {
	*hub.Hub
	topics []string
}

func (h quotaryHub) publish(topic int, frame []byte) { h.Publish(h.topics[topic], frame, hub.Event) }

func newHub(b *testing.B, sink hub.Sink, s shape, conns []hub.Conn) fanOut {
	h := quotaryHub{Hub: hub.New(hub.Config{Sink: sink, Queue: 1 << 16, QueueBytes: 16 << 20})}
	for i := range s.topics {
		h.topics = append(h.topics, fmt.Sprint("topic", i))
	}
	for i, c := range conns {
		h.Connect(c)
		for j := range s.perConn {
			must.Do(b, h.Subscribe(c.ID, h.topics[(i*s.perConn+j)%s.topics], nil))
		}
	}
	running(b, h.Run)
	return h
}

type counting struct{ *tally }

func (s counting) Post(_ context.Context, _ hub.Conn, frame []byte) error {
	s.count(frame)
	return nil
}

func startHub(b *testing.B, t *tally, s shape) fanOut {
	all := make([]hub.Conn, s.conns)
	for i := range all {
		all[i].ID = fmt.Sprint("conn", i)
	}
	return newHub(b, counting{t}, s, all)
}

// acceptor is the socket function: it lets everyone in and reports their ids.
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
	g := must.Get(gateway.New(gateway.Config{
		Sockets:   []gateway.SocketAPI{{Path: "/ws", Function: "socket"}},
		Functions: ids,
	}))(b)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	running(b, func(ctx context.Context) {
		if err := g.Serve(ctx, listener); err != nil {
			b.Error(err)
		}
	})
	addr := listener.Addr().String()
	listen(b, t, "ws://"+addr+"/api/ws", s.conns, s.stalled)
	all := make([]hub.Conn, s.conns)
	for i := range all {
		all[i] = hub.Conn{ID: <-ids, Endpoint: "http://" + addr + "/api", At: time.Now()}
	}
	sink := management.New(aws.Config{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, func() bool { return true })
	return newHub(b, sink, s, all)
}
