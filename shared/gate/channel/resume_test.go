package channel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/text/strictjson"
)

const alice, bob = "0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb"

// A page of a coin, or of another address, says nothing of what a subscription shows besides.
func TestThePagesOfAnAddressLeadToASubscriptionToIt(t *testing.T) {
	t.Parallel()
	userFills := (&Subscription{Type: UserFills, User: alice}).EventsOf()
	for _, test := range []struct {
		frame, page string // of what frame the first cursor was, and what was paged
		of          string
		addresses   []string
		want        bool
	}{
		{userFills, Page(PageFills, alice, ""), userFills, []string{alice}, true},
		{"", Page(PageFills, alice, ""), userFills, []string{alice}, true},
		{"fills", Page(PageFills, alice, ""), "fills", []string{alice}, true},
		{"filled-orders", Page(PageFilledOrders, alice, ""), "filled-orders", []string{alice}, true},
		{"filled-orders", Page(PageOrders, alice, ""), "filled-orders", []string{alice}, true},
		{"fills", Page(PageFills, alice, "BTC"), "fills", []string{alice}, false},
		{"fills", Page(PageFills, alice, ""), "fills", []string{bob}, false},
		{"fills", Page(PageFills, alice, ""), "fills", []string{alice, bob}, false},
		{"fills", Page(PageFills, alice, ""), userFills, []string{alice}, false},
		{"", Page(PageFills, alice, ""), "trades BTC", []string{""}, false},
	} {
		c := market.CursorAt(test.frame, 2_000_000_000_000_000)
		c = c.OfPage(test.page)
		o := must.Get(strictjson.Decode(fmt.Appendf(nil, `{"cursor":%q}`, c.Text()), "message"))(t)
		r, err := DecodeResume(o, test.of, test.addresses, time.Now())
		switch {
		case test.want && (err != nil || r.Cursor != c.Text()):
			t.Errorf("%+v: %+v, %v", test, r, err)
		case !test.want && (err == nil || !strings.Contains(err.Error(), "cursor")):
			t.Errorf("%+v is accepted: %v", test, err)
		}
	}
}

func TestASinceIsATimeThatHasCome(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	for text, want := range map[string]int64{
		`0`: 1, `1000`: 1000, `"1000"`: 1000, `1800000000000`: 1_800_000_000_000, `1900000000000`: 1_800_000_000_000, `null`: 0,
		`-1`: -1, `"now"`: -1, `1.5`: -1, `[]`: -1,
	} {
		o := must.Get(strictjson.Decode([]byte(`{"since":`+text+`}`), "message"))(t)
		r, err := DecodeResume(o, "fills", []string{alice}, now)
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), "since")):
			t.Errorf("since %s is accepted: %v", text, err)
		case want >= 0 && (err != nil || r != Resume{Since: want}):
			t.Errorf("since %s is %+v, %v", text, r, err)
		}
	}
}
