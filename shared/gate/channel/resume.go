package channel

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/text/strictjson"
)

// Resume is where what a client follows begins, of what is made of events: behind a cursor, or at
// a time. The zero value is now, with a snapshot where the channel has one.
type Resume struct {
	Cursor string `json:"cursor,omitempty"` // of a frame, reply or answer
	Since  int64  `json:"since,omitempty"`  // ms; events from then on
}

// EventsOf names what cursors of a channel's subscriptions are of, "" where it shows no events
// with cursors.
func (s *Subscription) EventsOf() string {
	if c := s.Type.Channel(); c.events {
		return string(s.Type) + " " + s.About()
	}
	return ""
}

// About is what a channel of events shows: a coin or a user, of which it has one, or, of
// liquidations, a coin and a least value, either or none.
func (s *Subscription) About() string {
	about := s.Coin + s.User
	if s.MinValue != "" {
		about += "=" + s.MinValue
	}
	return about
}

// Lists of events over HTTP that cursors lead through, see [Page].
const (
	PageFills        = "fills"
	PageOrders       = "orders"
	PageFilledOrders = "filled-orders"
)

// Page names what the pages of a list have: the events of an address, and of a coin or of any "".
func Page(list, address, coin string) string { return list + " " + address + " " + coin }

// pagesOf names the pages that have all that a subscription to an address shows.
func pagesOf(of, address string) []string {
	if of == FeedFilledOrders.EventsOf() {
		return []string{Page(PageFilledOrders, address, ""), Page(PageOrders, address, "")}
	}
	return []string{Page(PageFills, address, "")}
}

// EventsOf names what cursors of a feed of addresses are of, whatever the address; "" where it
// shows no events with cursors.
func (f Feed) EventsOf() string {
	if slices.Contains([]Feed{FeedFills, FeedFilledOrders}, f) {
		return string(f)
	}
	return ""
}

// DecodeResume reads where what a message asks for begins, about some addresses or none. Of what
// shows no events with cursors it is not read. A cursor that was paged on is one of the address of
// the pages alone, and of all its coins. Its error is a [*strictjson.Error].
func DecodeResume(o strictjson.Object, of string, addresses []string, now time.Time) (r Resume, err error) {
	given := func(name string) bool { raw, ok := o[name]; return of != "" && ok && string(raw) != "null" }
	if given("cursor") {
		err = o.Text("cursor", func(text []byte) error {
			c, err := market.ParseArrivalCursor(string(text))
			var pages []string
			if len(addresses) == 1 {
				pages = pagesOf(of, addresses[0])
			}
			if err == nil && (!c.Is(of) || !c.LeadsOn(pages...)) {
				err = errors.New("that of an earlier frame, reply or answer about the same")
			}
			if err == nil && c.Search.To != 0 {
				err = errors.New("that of the last page: that of an earlier one leads to the next")
			}
			r.Cursor = string(text)
			return err
		})
	}
	if err == nil && given("since") {
		r.Since, err = strconv.ParseInt(strings.Trim(string(o["since"]), `"`), 10, 64)
		switch {
		case err != nil || r.Since < 0:
			err = strictjson.Errorf("since %s is not accepted: it must be a time in milliseconds since 1970", strictjson.Shown(o["since"]))
		case r.Cursor != "":
			err = strictjson.Errorf("cursor and since are both given: one of them is accepted")
		}
		r.Since = min(max(r.Since, 1), now.UnixMilli()) // 0 is without
	}
	return r, err
}

// Text is what is kept of it, "" of the zero value.
func (r Resume) Text() string {
	if r.Since != 0 {
		return "@" + strconv.FormatInt(r.Since, 10)
	}
	return r.Cursor
}

// ResumeOf reads a text of [Resume.Text].
func ResumeOf(text string) Resume {
	if len(text) > 0 && text[0] == '@' {
		ms, _ := strconv.ParseInt(text[1:], 10, 64) // it was written by Text
		return Resume{Since: ms}
	}
	return Resume{Cursor: text}
}
