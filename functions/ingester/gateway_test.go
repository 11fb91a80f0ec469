package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"quotary/functions/ingester/feeds"
	"quotary/functions/ingester/feeds/hub"
)

var _ feeds.Gateway = (*gateway)(nil)

func TestNoFrameIsSentWithoutTheLease(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer api.Close()
	var valid atomic.Bool
	g := newGateway(aws.Config{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, valid.Load, 8)
	defer g.frames.Close()
	if got := g.Batch(); got != 8 {
		t.Errorf("a batch has %d frames, want 8", got)
	}
	c := hub.Conn{ID: "a", Endpoint: api.URL}
	send := func() []error {
		all := []hub.Delivery{{Conn: c, Frame: []byte("1")}, {Conn: c, Frame: []byte("2")}}
		g.PostAll(t.Context(), all)
		return []error{all[0].Err, all[1].Err}
	}
	for i, err := range send() {
		if !errors.Is(err, hub.ErrBusy) {
			t.Errorf("frame %d: %v, want that it may be tried again", i, err)
		}
	}
	if n := arrived.Load(); n != 0 {
		t.Errorf("%d frames were sent", n)
	}
	valid.Store(true)
	if err := errors.Join(send()...); err != nil || arrived.Load() != 2 {
		t.Errorf("with the lease %d frames were sent: %v", arrived.Load(), err)
	}
}
