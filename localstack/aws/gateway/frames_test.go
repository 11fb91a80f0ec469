package gateway

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestTooLargeAFrameIsFoundHoweverTheBytesArrive draws frames, and pieces in which
// their bytes are read.
func TestTooLargeAFrameIsFoundHoweverTheBytesArrive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var wire []byte
		messages, tooLarge := 0, 0
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			opcode := rapid.SampledFrom([]byte{0, 1, 2, 8, 9, 10}).Draw(t, "opcode")
			fin := rapid.Bool().Draw(t, "fin")
			size := rapid.SampledFrom([]int{0, 1, 125, 126, 127, maxFrame - 1, maxFrame, maxFrame + 1, 1<<16 - 1, 1 << 16}).Draw(t, "size")
			masked := rapid.Bool().Draw(t, "masked")
			wire = append(wire, frame(opcode, fin, masked, size)...)
			if opcode < 8 {
				if size > maxFrame && tooLarge == 0 {
					tooLarge = messages + 1
				}
				if fin {
					messages++
				}
			}
		}
		counter := new(frameConn)
		for len(wire) > 0 {
			n := min(len(wire), rapid.SampledFrom([]int{1, 2, 3, 7, 512, 40_000}).Draw(t, "piece"))
			counter.follow(wire[:n])
			wire = wire[n:]
		}
		if counter.messages != messages || counter.tooLarge != tooLarge || counter.have != 0 || counter.skip != 0 {
			t.Fatalf("%d messages, the first too large is %d: want %d and %d", counter.messages, counter.tooLarge, messages, tooLarge)
		}
	})
}

func frame(opcode byte, fin, masked bool, size int) []byte {
	first, second := opcode, byte(0)
	if fin {
		first |= 0x80
	}
	if masked {
		second = 0x80
	}
	var b []byte
	switch {
	case size < 126:
		b = []byte{first, second | byte(size)}
	case size < 1<<16:
		b = binary.BigEndian.AppendUint16([]byte{first, second | 126}, uint16(size))
	default:
		b = binary.BigEndian.AppendUint64([]byte{first, second | 127}, uint64(size))
	}
	if masked {
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	}
	return append(b, bytes.Repeat([]byte{0xff}, size)...)
}
