package gateway

import (
	"encoding/binary"

	"github.com/coder/websocket"
)

// Bits of the first byte of a frame.
const (
	finBit     = 0x80
	controlBit = 0x08
	closeFrame = finBit | controlBit
)

// appendMessage adds a message to the client in frames of at most 32 KiB. The
// WebSocket library writes one message at a time, with a system call for each.
func appendMessage(b []byte, kind websocket.MessageType, body []byte) []byte {
	for first := byte(kind); ; first = 0 {
		frame := body[:min(len(body), maxFrame)]
		if body = body[len(frame):]; len(body) == 0 {
			first |= finBit
		}
		if b = append(b, first); len(frame) < 126 {
			b = append(b, byte(len(frame)))
		} else {
			b = binary.BigEndian.AppendUint16(append(b, 126), uint16(len(frame)))
		}
		if b = append(b, frame...); len(body) == 0 {
			return b
		}
	}
}

// isClose tells whether a frame is the last of its connection.
func isClose(frame []byte) bool { return len(frame) > 0 && frame[0] == closeFrame }

// frameMeter follows a client's bytes through the headers of its frames, because
// the WebSocket library bounds messages but not frames. It looks at lengths only:
// whatever breaks the protocol is for the library to find.
type frameMeter struct {
	header   [10]byte // of the frame that has begun, without its mask
	have     int      // bytes of header and mask seen
	skip     uint64   // bytes of payload still to come
	messages int      // that have ended
	over     int      // the first message with too large a frame, counted from 1; 0 for none
}

// tooLarge says whether the n-th message, counted from 1, has too large a frame.
func (f *frameMeter) tooLarge(n int) bool { return f.over == n }

// pass takes note of bytes that were read.
func (f *frameMeter) pass(p []byte) {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(p)))
			f.skip -= n
			p = p[n:]
			continue
		}
		if f.have < len(f.header) {
			f.header[f.have] = p[0]
		}
		f.have++
		p = p[1:]
		if f.have >= 2 && f.have == f.headerSize() {
			f.begin()
		}
	}
}

// headerSize is known from the second byte on: two bytes, the longer forms of the
// length, and the mask.
func (f *frameMeter) headerSize() int {
	size := 2
	switch f.header[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if f.header[1]&0x80 != 0 {
		size += 4
	}
	return size
}

// begin reads a complete header.
func (f *frameMeter) begin() {
	f.skip = uint64(f.header[1] & 0x7f)
	switch f.skip {
	case 126:
		f.skip = uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		f.skip = binary.BigEndian.Uint64(f.header[2:])
	}
	f.have = 0
	if f.header[0]&controlBit != 0 {
		return
	}
	if f.skip > maxFrame && f.over == 0 {
		f.over = f.messages + 1
	}
	if f.header[0]&finBit != 0 {
		f.messages++
	}
}
