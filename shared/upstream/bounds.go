package upstream

import (
	"errors"
	"fmt"
	"io"
)

// Bounds are how large an answer may be. What one costs to read follows from both: a few bytes
// of JSON may be a row that takes a hundred in memory.
type Bounds struct {
	Bytes int64 // of the answer
	Rows  int   // elements of one of its arrays and members of one of its objects, at most; of all together a hundred times as many
}

// allTogether is how many times as many rows all arrays and objects of an answer may have as
// one of them.
const allTogether = 100

// UsualBounds are those of answers that have no others: several times what upstreams answer to
// what they are asked for.
var UsualBounds = Bounds{Bytes: 2 << 20, Rows: 5000}

// ErrBounds is why an answer is not read: it is larger than any that the upstream would give.
var ErrBounds = errors.New("the answer is beyond its bounds")

// mostNested is how deep arrays and objects of an answer may be in one another.
const mostNested = 64

// Read reads an answer, of any kind, within its bytes.
func (b Bounds) Read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, b.Bytes+1))
	switch {
	case err != nil:
		return nil, Unquoted(err, ErrBounds)
	case int64(len(text)) > b.Bytes:
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrBounds, b.Bytes)
	}
	return text, nil
}

// ReadJSON reads an answer of JSON. It counts rows as they come and reads none behind the first
// that is one too many.
func (b Bounds) ReadJSON(r io.Reader) ([]byte, error) {
	return b.Read(&rowCounter{of: r, most: b.Rows})
}

// CheckRows returns an error of JSON text with more rows than may be.
func (b Bounds) CheckRows(text []byte) error { return (&rowCounter{most: b.Rows}).count(text) }

// rowCounter passes JSON text on and counts the rows of each array and object. Text that is no
// JSON it counts somehow: who decodes it says what it is.
type rowCounter struct {
	of      io.Reader
	most    int
	rows    []int // of the arrays and objects that are open
	all     int   // of all so far
	quoted  bool  // inside of a string
	escaped bool  // behind a backslash in it
}

// Read passes text on.
func (c *rowCounter) Read(p []byte) (int, error) {
	n, err := c.of.Read(p)
	if bad := c.count(p[:n]); bad != nil {
		return 0, bad
	}
	return n, err
}

func (c *rowCounter) count(text []byte) error {
	for _, b := range text {
		if c.quoted {
			switch {
			case c.escaped:
				c.escaped = false
			case b == '\\':
				c.escaped = true
			case b == '"':
				c.quoted = false
			}
			continue
		}
		switch b {
		case '"':
			c.quoted = true
		case '[', '{':
			if len(c.rows) == mostNested {
				return fmt.Errorf("%w: it is nested deeper than %d", ErrBounds, mostNested)
			}
			c.rows = append(c.rows, 1)
		case ']', '}':
			c.rows = c.rows[:max(0, len(c.rows)-1)]
		case ',':
			if open := len(c.rows); open > 0 {
				c.all++
				if c.rows[open-1]++; c.rows[open-1] > c.most || c.all > allTogether*c.most {
					return fmt.Errorf("%w: it has more than %d rows", ErrBounds, c.most)
				}
			}
		}
	}
	return nil
}
