package upstream

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrFrames is why a WebSocket is given up: it brings more frames than any upstream would send.
var ErrFrames = errors.New("more frames come than any upstream would send")

const (
	// mostFrames is how many frames a WebSocket brings within framesWithin: more than all markets of an
	// exchange need when they fall. Pings, pongs and empty parts of a message are among them, which
	// whoever reads messages never sees: a connection of nothing else would take a core.
	mostFrames   = 3_000_000
	framesWithin = 30 * time.Second
)

// framed counts the frames of the WebSocket that is connected to.
type framed struct {
	Inflating
	most int // that come within framesWithin
}

// RoundTrip implements [http.RoundTripper].
func (f framed) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := f.Inflating.RoundTrip(req)
	if err != nil {
		return res, err
	}
	if socket, ok := res.Body.(io.ReadWriteCloser); ok {
		res.Body = &frameCounter{ReadWriteCloser: socket, most: f.most, since: time.Now()}
	}
	return res, nil
}

// mostFrameHeader is how long the header of a frame is at most, in bytes.
const mostFrameHeader = 14

// frameCounter passes on what a WebSocket brings, and fails at too many frames. It is read by one
// goroutine.
type frameCounter struct {
	io.ReadWriteCloser
	header [mostFrameHeader]byte
	have   int    // bytes of the header that begins
	left   uint64 // bytes of the frame behind its header
	most   int    // frames that come within framesWithin
	frames int
	since  time.Time // when the first of them came
}

// Read implements [io.Reader].
func (c *frameCounter) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	if c.count(p[:n]); c.frames > c.most {
		if time.Since(c.since) < framesWithin {
			return 0, ErrFrames
		}
		c.frames, c.since = 0, time.Now()
	}
	return n, err
}

func (c *frameCounter) count(p []byte) {
	for len(p) > 0 {
		if c.left > 0 {
			n := min(c.left, uint64(len(p)))
			c.left, p = c.left-n, p[n:]
			continue
		}
		c.header[c.have] = p[0]
		c.have, p = c.have+1, p[1:]
		if c.have < 2 { // behind them the length of the header is known
			continue
		}
		length, wide := c.header[1]&0x7F, 0
		switch length {
		case 126: // what says that two bytes of the length follow
			wide = 2
		case 127: // eight
			wide = 8
		}
		masked := int(c.header[1]>>7) * 4 // bytes of the mask
		if c.have < 2+wide+masked {
			continue
		}
		switch wide {
		case 2: // bytes
			c.left = uint64(binary.BigEndian.Uint16(c.header[2:]))
		case 8: // bytes
			c.left = binary.BigEndian.Uint64(c.header[2:])
		default:
			c.left = uint64(length)
		}
		c.have = 0
		c.frames++
	}
}
