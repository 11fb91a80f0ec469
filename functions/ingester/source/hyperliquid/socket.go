package hyperliquid

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/coder/websocket"

	"quotary/shared/backoff"
	"quotary/shared/upstream"
)

const (
	silentFor    = 60 * time.Second // without any frame a connection is given up
	writeTimeout = 10 * time.Second
	maxFrame     = 4 << 20  // bytes
	largeFrame   = 64 << 10 // bytes, above which rows are counted before they are decoded
)

// frameBounds are those of a frame: the venue has some hundred coins.
var frameBounds = upstream.Bounds{Bytes: maxFrame, Rows: 5000}

// push is a frame that the venue sends.
type push struct {
	Channel string          `json:"channel"`
	Data    json.RawMessage `json:"data"`
}

// dial connects to the WebSocket of the venue at base.
func dial(ctx context.Context, base string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	conn, err := upstream.DialSocket(ctx, socketURL(base))
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxFrame)
	return conn, nil
}

// socketURL is the WebSocket beside the info endpoint.
func socketURL(base string) string {
	base = strings.TrimSuffix(base, "/") + "/ws"
	if rest, ok := strings.CutPrefix(base, "http"); ok {
		return "ws" + rest // https becomes wss
	}
	return base
}

// receive returns the next frame.
func receive(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, silentFor)
	defer cancel()
	_, frame, err := conn.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if len(frame) > largeFrame {
		if err := frameBounds.CheckRows(frame); err != nil {
			return nil, fmt.Errorf("read a frame: %w", err)
		}
	}
	return frame, nil
}

// heartbeat pings until ctx ends or the connection is lost.
func heartbeat(ctx context.Context, conn *websocket.Conn, every time.Duration) error {
	for {
		if err := backoff.Sleep(ctx, every); err != nil {
			return err
		}
		if err := send(ctx, conn, map[string]string{"method": "ping"}); err != nil {
			return fmt.Errorf("ping: %w", err)
		}
	}
}

func send(ctx context.Context, conn *websocket.Conn, message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, b)
}
