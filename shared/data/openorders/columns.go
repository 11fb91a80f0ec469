package openorders

import (
	"encoding/binary"
	"slices"
)

func appendUvarint(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

func appendVarint(b []byte, n int64) []byte { return binary.AppendVarint(b, n) }

// columns reads numbers one behind the other. After a failure all numbers are 0.
type columns struct {
	b      []byte
	failed bool
}

func (c *columns) uvarint() uint64 {
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *columns) varint() int64 {
	n, size := binary.Varint(c.b)
	if size <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *columns) bytes(n int) []byte {
	if n > len(c.b) {
		c.fail()
		return make([]byte, n)
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *columns) fail() { c.b, c.failed = nil, true }

// done reports whether everything was read, and nothing but that.
func done(all ...*columns) bool {
	return !slices.ContainsFunc(all, func(c *columns) bool { return c.failed || len(c.b) > 0 })
}
