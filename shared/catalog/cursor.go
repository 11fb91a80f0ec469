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

// Of is the cursor of one list, by a number that others hardly have.
func (c Cursor) Of(list uint32) Cursor { return Cursor(fmt.Sprintf("%s.%08x", c, list)) }

// IsOf reports whether the cursor is not of another list.
func (c Cursor) IsOf(list uint32) bool {
	parts := strings.Split(string(c), ".")
	return len(parts) < 3 || parts[2] == fmt.Sprintf("%08x", list)
}

// Place is what [CursorAt] was given; zeros at the beginning.
func (c Cursor) Place() (ms, given int64) {
	parts := strings.Split(string(c), ".")
	if len(parts) < 2 {
		return 0, 0
	}
	ms, _ = strconv.ParseInt(parts[0], 10, 64) // UnmarshalText has seen that they are numbers
	given, _ = strconv.ParseInt(parts[1], 10, 64)
	return ms, given
}

// EventCursor is a [Cursor] of rows that go back in time, or one of a frame of a feed or of an
// answer to it, behind which they go forward in the order in which they arrived. "" is the
// beginning.
type EventCursor string

// Rows is the cursor of rows, "" where it is one of arrival.
func (c EventCursor) Rows() Cursor {
	if strings.ContainsRune(string(c), '.') {
		return Cursor(c)
	}
	return ""
}

// Arrived is the text of a cursor of arrival, "" where it is one of rows.
func (c EventCursor) Arrived() string {
	if c.Rows() == "" {
		return string(c)
	}
	return ""
}

// What the text of a cursor of arrival is made of, beginning with the first, and how long it is
// in bytes; whoever handles it reads it.
const (
	eventCursorLetters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	shortestEventCursor = 8
	longestEventCursor  = 64
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *EventCursor) UnmarshalText(text []byte) error {
	*c = EventCursor(text)
	if rows := c.Rows(); rows != "" {
		return rows.UnmarshalText(text)
	}
	if len(text) < shortestEventCursor || len(text) > longestEventCursor || text[0] != eventCursorLetters[0] || strings.Trim(string(text), eventCursorLetters) != "" {
		return errors.New("the " + HeaderNextCursor + " of an earlier answer, or the cursor of a frame")
	}
	return nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Cursor) UnmarshalText(text []byte) error {
	parsed := Cursor(text)
	ms, given := parsed.Place()
	place := CursorAt(ms, given)
	list, err := strconv.ParseUint(strings.TrimPrefix(string(parsed), string(place)+"."), 16, 32)
	of := err == nil && place.Of(uint32(list)) == parsed
	if ms < 0 || ms > latestMillis || given < 1 || place != parsed && !of {
		return errors.New("the " + HeaderNextCursor + " of an earlier answer")
	}
	*c = parsed
	return nil
}
