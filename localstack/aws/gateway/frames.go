package gateway

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
)

// The WebSocket library bounds the size of messages, but does not show frames. So it
// reads from the client through a frameConn, which follows the headers of the frames
// and looks at nothing but their lengths: what breaks the protocol the library finds.

// Bits of the first byte of a frame.
const (
	finBit     = 0x80
	controlBit = 0x08
)

// frameConn is a client's connection that notices frames larger than maxFrame. It has
// one reader.
type frameConn struct {
	net.Conn
	in       io.Reader // Conn, after what net/http had already read from it
	received func()    // called whenever bytes have come

	header   [10]byte // of the frame that has begun, without its mask
	have     int      // bytes of header and mask seen
	skip     uint64   // bytes of payload still to come
	messages int      // that have ended
	tooLarge int      // the first message with too large a frame, counted from 1; 0 for none
}

// frameHijacker gives the WebSocket library a frameConn in place of the connection.
type frameHijacker struct {
	http.ResponseWriter
	conn *frameConn // set by Hijack
}

func (h *frameHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if c, ok := conn.(*refusalConn); ok { // of use to net/http only
		conn = c.Conn
	}
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // what is buffered can be peeked at
	h.conn.Conn, h.conn.in = conn, io.MultiReader(bytes.NewReader(slices.Clone(early)), conn)
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

func (c *frameConn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if n > 0 {
		c.received()
		c.follow(p[:n])
	}
	return n, err
}

// follow takes note of bytes that were read.
func (c *frameConn) follow(p []byte) {
	for len(p) > 0 {
		if c.skip > 0 {
			n := min(c.skip, uint64(len(p)))
			c.skip -= n
			p = p[n:]
			continue
		}
		if c.have < len(c.header) {
			c.header[c.have] = p[0]
		}
		c.have++
		p = p[1:]
		if c.have >= 2 && c.have == c.headerSize() {
			c.begin()
		}
	}
}

// headerSize is known from the second byte on: two bytes, the longer forms of the
// length, and the mask.
func (c *frameConn) headerSize() int {
	size := 2
	switch c.header[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if c.header[1]&0x80 != 0 {
		size += 4
	}
	return size
}

// begin reads a complete header.
func (c *frameConn) begin() {
	c.skip = uint64(c.header[1] & 0x7f)
	switch c.skip {
	case 126:
		c.skip = uint64(binary.BigEndian.Uint16(c.header[2:]))
	case 127:
		c.skip = binary.BigEndian.Uint64(c.header[2:])
	}
	c.have = 0
	if c.header[0]&controlBit != 0 {
		return
	}
	if c.skip > maxFrame && c.tooLarge == 0 {
		c.tooLarge = c.messages + 1
	}
	if c.header[0]&finBit != 0 {
		c.messages++
	}
}
