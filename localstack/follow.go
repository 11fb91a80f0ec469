package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

type follow struct {
	Message string `arg:"" help:"What is sent first, as {\"method\":\"subscribe\",\"subscription\":{\"type\":\"trades\",\"coin\":\"BTC\"}}."`
	Feed    string `default:"${feed}" help:"Path of the feed: ${default}, or one of those that take addresses."`
	Frames  int    `help:"End after so many frames; 0 for never."`
}

const (
	pingEvery = 25 * time.Second
	maxFrame  = 1 << 20
)

// Run follows a feed with the running stack's demo sub-key.
func (f *follow) Run(c *cli) error {
	state, err := c.running()
	if err != nil {
		return err
	}
	address, err := signed(state.WSBaseURL, f.Feed, state.Demo.SubKey)
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	conn, res, err := websocket.Dial(ctx, address, nil) //nolint:bodyclose // of a handshake it need not be closed
	if err != nil {
		if res != nil {
			return fmt.Errorf("the feed answered %s", res.Status)
		}
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	if err := conn.Write(ctx, websocket.MessageText, []byte(f.Message)); err != nil {
		return err
	}
	go f.ping(ctx, conn)
	for n := 1; ; n++ {
		_, frame, err := conn.Read(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(string(frame))
		if n == f.Frames {
			return conn.Close(websocket.StatusNormalClosure, "")
		}
	}
}

// ping keeps the connection from being idle until ctx or the connection ends.
func (f *follow) ping(ctx context.Context, conn *websocket.Conn) {
	message := `{"type":"ping"}`
	if strings.HasSuffix(f.Feed, "/ws") {
		message = `{"method":"ping"}`
	}
	for tick := time.Tick(pingEvery); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if conn.Write(ctx, websocket.MessageText, []byte(message)) != nil {
				return
			}
		}
	}
}
