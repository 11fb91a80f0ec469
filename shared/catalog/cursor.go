package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// HeaderNextCursor is the header of an answer that is not all: its value is the cursor
// with which the rest is asked for.
const HeaderNextCursor = "X-Next-Cursor"

// Cursor is where an earlier answer to the same request ended, as its header
// X-Next-Cursor says. "" is the beginning.
type Cursor string

// CursorAt is the cursor behind the rows of a list in order of time up to one: its
// time in ms, and how many rows of that time come before, itself included.
func CursorAt(ms, given int64) Cursor { return Cursor(fmt.Sprintf("%d.%d", ms, given)) }

// Place is what [CursorAt] was given; zeros at the beginning.
func (c Cursor) Place() (ms, given int64) {
	before, after, _ := strings.Cut(string(c), ".")
	ms, _ = strconv.ParseInt(before, 10, 64) // UnmarshalText has seen that they are numbers
	given, _ = strconv.ParseInt(after, 10, 64)
	return ms, given
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed := Cursor(text)
	if ms, given := parsed.Place(); ms < 0 || ms > latestMillis || given < 1 || CursorAt(ms, given) != parsed {
		return errors.New("the " + HeaderNextCursor + " of an earlier answer")
	}
	*c = parsed
	return nil
}
