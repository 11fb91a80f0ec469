package market

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Arrival is the place of an event in the order in which the service learned of events, which
// is not that of their times: twice the microseconds since 1970 at which it arrived, or a little
// more where that is another's already. It is odd for an event that arrived late: one that
// happened more than [LateAfter] before, or that was missed while nothing followed the venue.
// 0 is not known.
type Arrival int64

// Arrived is when an event arrived: see [Arrival].
type Arrived struct {
	At Arrival
	// Again reports that the event may be stored already, with an earlier place, which is then
	// its place.
	Again bool
	// Whole is the place at which it came to be known whom a fill liquidated, where the fill itself had come before as a
	// provisional one; 0 where that is At.
	Whole Arrival
}

// LateAfter is how long after it happened an event arrives at most that is not late.
const LateAfter = 10 * time.Minute

// ArrivalAt is the earliest place of what arrives at a time and is not late.
func ArrivalAt(t time.Time) Arrival { return Arrival(2 * t.UnixMicro()) }

// Late reports whether the event arrived late.
func (a Arrival) Late() bool { return a&1 != 0 }

// When is about when the event arrived.
func (a Arrival) When() time.Time { return time.UnixMicro(int64(a >> 1)).UTC() }

// Or is the place, or where it is not known that of something that arrived as it happened, ms.
func (a Arrival) Or(ms int64) Arrival {
	if a == 0 {
		return ArrivalAt(time.UnixMilli(ms))
	}
	return a
}

// ArrivalCursor is how far somebody has events: all that arrived by Fresh, and of those that
// arrived late all by Late. Both are apart as what is late waits behind what is not, for each
// who is sent events.
type ArrivalCursor struct {
	Fresh, Late Arrival
	Search      ArrivalSearch // that it is within; the zero value where it is within none
	of          string        // digest of what the events are of; "" is anything
	page        string        // digest of the request that it leads on, "" where it is none of a page
}

// ArrivalSearch is how far a log was looked through, by the time of events, for all that arrived
// behind a cursor up to a place: where what is late lies too far back to be brought into the order
// of arrival at once.
type ArrivalSearch struct {
	To   Arrival // what arrived behind it is not looked for
	From int64   // ms: of what happened before all was found
	Skip int     // so many of those that happened then were found too
}

// CursorAt is the cursor of whoever has all events of something that arrived up to one; "" is
// of anything.
func CursorAt(of string, at Arrival) ArrivalCursor { return CursorBetween(of, at, at) }

// CursorBetween is the cursor of some events, "" for any.
func CursorBetween(of string, fresh, late Arrival) ArrivalCursor {
	c := ArrivalCursor{Fresh: fresh, Late: late}
	if of != "" {
		c.of = cursorDigest(of)
	}
	return c
}

// OfPage is the cursor as one that leads a request on, whatever page it is behind: whoever has it
// has of the events only what the request asks for.
func (c *ArrivalCursor) OfPage(request string) ArrivalCursor {
	page := *c
	page.page = cursorDigest(request)
	return page
}

// LeadsOn reports whether the cursor is one of no page, or of one of some requests.
func (c *ArrivalCursor) LeadsOn(requests ...string) bool {
	return c.page == "" || slices.ContainsFunc(requests, func(r string) bool { return c.page == cursorDigest(r) })
}

// Behind is the cursor of whoever has besides all that arrived up to a place.
func (c *ArrivalCursor) Behind(at Arrival) ArrivalCursor {
	next := *c
	next.Fresh, next.Late, next.Search = max(c.Fresh, at), max(c.Late, at), ArrivalSearch{}
	return next
}

// Before reports whether an event came after what the cursor stands for.
func (c *ArrivalCursor) Before(a Arrival) bool {
	if a.Late() {
		return a > c.Late
	}
	return a > c.Fresh
}

// Is reports whether the cursor is one of some events.
func (c *ArrivalCursor) Is(of string) bool { return c.of == "" || c.of == cursorDigest(of) }

// What opens the bytes of a cursor, and of one within a search.
const (
	arrivalCursorVersion = 1
	arrivalSearchVersion = 2
)

// Text is the cursor as clients have it, opaque to them.
func (c *ArrivalCursor) Text() string {
	b := append(make([]byte, 0, 48), arrivalCursorVersion)
	b = binary.AppendUvarint(b, uint64(c.Fresh))
	b = binary.AppendVarint(b, int64(c.Fresh-c.Late))
	if s := c.Search; s.To != 0 {
		b[0] = arrivalSearchVersion
		for _, n := range [...]int64{int64(s.To - c.Fresh), s.From, int64(s.Skip)} {
			b = binary.AppendVarint(b, n)
		}
	}
	if b = append(b, c.of...); c.page != "" {
		b = append(append(b, anything[len(c.of):]...), c.page...)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, checksum(b)))
}

var errArrivalCursor = errors.New("the cursor of an earlier frame, reply or answer")

// ParseArrivalCursor reads the text of a cursor.
func ParseArrivalCursor(text string) (c ArrivalCursor, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 4 || checksum(b[:len(b)-1]) != b[len(b)-1] {
		return c, errArrivalCursor
	}
	version, rest, ok := b[0], b[1:len(b)-1], true
	number := func() int64 {
		n, size := binary.Varint(rest)
		if size <= 0 {
			ok = false
			return 0
		}
		rest = rest[size:]
		return n
	}
	fresh, size := binary.Uvarint(rest)
	if size <= 0 || fresh > math.MaxInt64 {
		return c, errArrivalCursor
	}
	rest = rest[size:]
	c.Fresh = Arrival(fresh)
	c.Late = c.Fresh - Arrival(number())
	switch version {
	case arrivalCursorVersion:
	case arrivalSearchVersion:
		c.Search = ArrivalSearch{To: c.Fresh + Arrival(number()), From: number(), Skip: int(number())}
		ok = ok && c.Search.To > 0 && c.Search.From >= 0 && c.Search.Skip >= 0
	default:
		ok = false
	}
	digests := string(rest)
	if !ok || c.Fresh <= 0 || c.Late <= 0 || !slices.Contains([]int{0, digestSize, 2 * digestSize}, len(digests)) {
		return ArrivalCursor{}, errArrivalCursor
	}
	if len(digests) > 0 {
		c.of, c.page = digests[:digestSize], digests[digestSize:]
	}
	if c.of == anything {
		c.of = ""
	}
	return c, nil
}

const (
	digestSize = 4
	anything   = "\x00\x00\x00\x00" // in place of the digest, before that of a page
)

// cursorDigest tells what cursors are of.
func cursorDigest(of string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(of)) // never fails
	return string(h.Sum(nil))
}

// checksum finds most texts that are no cursor.
func checksum(b []byte) byte {
	h := fnv.New32a()
	_, _ = h.Write(b) // never fails
	sum := h.Sum32()
	return byte(sum ^ sum>>8 ^ sum>>16 ^ sum>>24)
}
