package market

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestACursorIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		place := rapid.Int64Range(1, 1<<62)
		of := rapid.SampledFrom([]string{"", "fills", "userFills 0xa"}).Draw(rt, "of")
		c := CursorBetween(of, Arrival(place.Draw(rt, "fresh")), Arrival(place.Draw(rt, "late")))
		if request := rapid.SampledFrom([]string{"", "fills 0xa ", "fills 0xa BTC"}).Draw(rt, "request"); request != "" {
			c = c.OfPage(request)
		}
		if rapid.Bool().Draw(rt, "search") {
			c.Search = ArrivalSearch{Arrival(place.Draw(rt, "to")), rapid.Int64Range(0, 1<<45).Draw(rt, "from"), rapid.IntRange(0, 1<<20).Draw(rt, "skip")}
		}
		read := must.Get(ParseArrivalCursor(c.Text()))(rt)
		check.Equal(rt, c == read, true)
	})
}

func TestACursorOfAPageLeadsOnItsRequestAlone(t *testing.T) {
	t.Parallel()
	frame := CursorAt("fills", 2)
	page := frame.OfPage("fills 0xa BTC")
	for _, test := range []struct {
		cursor   ArrivalCursor
		requests []string
		want     bool
	}{
		{frame, nil, true},
		{frame, []string{"fills 0xb "}, true},
		{page, nil, false},
		{page, []string{"fills 0xa "}, false},
		{page, []string{"fills 0xa ", "fills 0xa BTC"}, true},
	} {
		if got := test.cursor.LeadsOn(test.requests...); got != test.want || !test.cursor.Is("fills") {
			t.Errorf("%+v leads on %q: %t", test.cursor, test.requests, got)
		}
	}
}

func FuzzAnyTextIsACursorOrNone(f *testing.F) {
	c := CursorAt("fills", 1<<50)
	page := c.OfPage("fills 0xa BTC")
	search := page
	search.Search = ArrivalSearch{1 << 51, 1 << 40, 7}
	for _, seed := range []string{"", "AfDn6ueazrAGAFs", c.Text(), page.Text(), search.Text()} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseArrivalCursor(text)
		if err == nil && (c.Fresh <= 0 || c.Late <= 0 || c.Search.From < 0 || c.Search.Skip < 0) {
			t.Errorf("%q is read as %+v", text, c)
		}
	})
}
