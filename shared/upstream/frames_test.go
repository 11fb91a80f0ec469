package upstream

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // as the protocol has it
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/shared/testing/must"
)

// socketOf is a WebSocket that brings begin and then repeats a part so many times, of which so many frames are read at most.
func socketOf(t *testing.T, begin, part []byte, times, most int) *websocket.Conn {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as the protocol has it
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		go func() { _, _ = io.Copy(io.Discard, conn) }() // the answers to pings
		_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n%s",
			base64.StdEncoding.EncodeToString(sum[:]), begin)
		for n, each := 0, bytes.Repeat(part, 1<<14); err == nil && n < times; n += 1 << 14 {
			_, err = conn.Write(each)
		}
	}))
	t.Cleanup(server.Close)
	conn := must.Get(dialSocket(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), most))(t)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// Whoever reads messages sees none of them: nothing else would end such a connection.
func TestAWebSocketOfFramesThatNobodySeesIsGivenUp(t *testing.T) {
	t.Parallel()
	const most = 100_000 // so that a busy machine counts them in time
	for name, of := range map[string]struct{ begin, part []byte }{
		"pongs":            {nil, []byte{0x8A, 0}},
		"parts of nothing": {[]byte{0x01, 0}, []byte{0x00, 0}},
	} {
		conn := socketOf(t, of.begin, of.part, 2*most, most)
		ctx, cancel := context.WithTimeout(t.Context(), framesWithin)
		if _, _, err := conn.Read(ctx); !errors.Is(err, ErrFrames) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestFramesAreCountedWhereverTheyAreCut(t *testing.T) {
	t.Parallel()
	frames := []byte{0x8A, 0, 0x81, 3, 'a', 'b', 'c', 0x81, 0x81, 1, 2, 3, 4, 'x'}
	frames = append(append(frames, 0x82, 126, 1, 0), make([]byte, 256)...)
	frames = append(append(frames, 0x82, 127, 0, 0, 0, 0, 0, 1, 0, 1), make([]byte, 65537)...)
	frames = append(append(frames, 0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4), 'y')
	for _, cut := range []int{1, 2, 3, 7, 1000, len(frames)} {
		c := frameCounter{since: time.Now()}
		for rest := frames; len(rest) > 0; rest = rest[min(cut, len(rest)):] {
			c.count(rest[:min(cut, len(rest))])
		}
		if c.frames != 6 || c.have != 0 || c.left != 0 {
			t.Errorf("cut after %d bytes: %d frames, %d and %d bytes of another", cut, c.frames, c.have, c.left)
		}
	}
}
