package feeds

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"quotary/functions/ingester/source"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func one(key, title string) *Document {
	return &Document{Items: []Item{{Key: key, Title: title}}}
}

// An item that changes at every look is a row for ever each time: of a day there are 16 at
// most, and the last state always comes.
func TestAnItemIsRevisedSoOftenADay(t *testing.T) {
	t.Parallel()
	var at Position
	var delivered []string
	look := func(title string, now time.Time) (later bool) {
		var items []Item
		at, items, later = at.follow(one("a", title), now, nil, nil)
		for _, item := range items {
			if delivered = append(delivered, item.Title); item.Revised != (len(delivered) > 1) {
				t.Errorf("%s is revised: %t", item.Title, item.Revised)
			}
		}
		return later
	}
	if look("first", noon); len(delivered) != 1 {
		t.Fatal(delivered)
	}
	now := noon
	for n := range 24 * 60 {
		now = noon.Add(time.Duration(n) * time.Minute)
		look(fmt.Sprint("advert ", n), now)
	}
	if most := 1 + source.Revisions.AtOnce + int(24*time.Hour/source.Revisions.Every); len(delivered) > most || len(delivered) < most-1 {
		t.Errorf("%d states of a day", len(delivered))
	}
	for n := range source.Revisions.AtOnce {
		if want := fmt.Sprint("advert ", n); delivered[1+n] != want {
			t.Errorf("of the first changes %s is %s", want, delivered[1+n])
		}
	}
	if !look("last", now) {
		t.Error("nothing is left for later")
	}
	if later := look("last", now.Add(source.Revisions.Every)); later || delivered[len(delivered)-1] != "last" {
		t.Errorf("the last state is %s, later %t", delivered[len(delivered)-1], later)
	}
	// Others are not held back by it, nor is it after a while.
	at, items, _ := at.follow(one("b", "other"), now, nil, nil)
	if len(items) != 1 {
		t.Error("another item waits")
	}
	_, _, later := at.follow(one("b", "other, edited"), now, nil, nil)
	if later {
		t.Error("another item waits")
	}
}

// A feed that shows other items each time, which it may have shown before, makes no more rows of
// them than the busiest one; what is over comes when others may.
func TestAFeedHasSoManyStatesADay(t *testing.T) {
	t.Parallel()
	var at Position
	day := func(now time.Time, title func(look int) string) (delivered int) {
		for look := range 24 * 4 {
			doc := &Document{}
			for i := range maxItems {
				doc.Items = append(doc.Items, Item{Key: fmt.Sprint(look%3, "-", i), Title: title(look)})
			}
			var items []Item
			at, items, _ = at.follow(doc, now.Add(time.Duration(look)*15*time.Minute), nil, nil)
			delivered += len(items)
		}
		return delivered
	}
	each := int(24 * time.Hour / source.States.Every)
	if n := day(noon, func(int) string { return "T" }); n < 1500 || n > source.States.AtOnce+each {
		t.Errorf("%d items of three sets of %d are new on the first day", n, maxItems)
	}
	if n := day(noon.Add(24*time.Hour), func(look int) string { return fmt.Sprint(look) }); n > each+1 {
		t.Errorf("%d states on the second", n)
	}
	at = Position{States: noon.Add(time.Duration(source.States.AtOnce) * source.States.Every).Unix()}
	next, items, later := at.follow(one("a", "T"), noon, nil, nil)
	if len(items) > 0 || !later || len(next.Seen) > 0 {
		t.Errorf("one that is too much is delivered, or known: %+v, later %t", next, later)
	}
	if _, items, later = next.follow(one("a", "T"), noon.Add(source.States.Every), nil, nil); len(items) != 1 || later {
		t.Errorf("it is not delivered when it may be")
	}
}

// A feed that several caches answer shows and hides items: none of them is new again.
func TestAnItemThatComesBackIsNotNew(t *testing.T) {
	t.Parallel()
	var at Position
	now, delivered := noon, 0
	for n := range 100 {
		var items []Item
		at, items, _ = at.follow(one(fmt.Sprint("item ", n%2), "T"), now, nil, nil)
		delivered += len(items)
		now = now.Add(10 * time.Minute)
	}
	if delivered != 2 {
		t.Errorf("two items are delivered %d times", delivered)
	}
	_, items, _ := at.follow(one("item 0", "T2"), now, nil, nil)
	if len(items) != 1 {
		t.Error("an item that came back changed is not delivered")
	}
}

// Whatever a feed lists, what is remembered of it fits into a row many times over.
func TestAPositionIsBounded(t *testing.T) {
	t.Parallel()
	var at Position
	for n := range 50 {
		at.States = 0 // as after a day
		doc := &Document{}
		for i := range maxItems {
			doc.Items = append(doc.Items, Item{Key: fmt.Sprint(n/2, "-", i), Title: fmt.Sprint(n), Link: fmt.Sprint("https://news.example/", n/2, "-", i)})
		}
		before := at
		at, _, _ = at.follow(doc, noon.Add(time.Duration(n)*time.Minute), new(Twins), nil)
		at = at.cut(&before)
	}
	if text := valid(json.Marshal(at)); len(text) > 200_000 || len(at.Seen) != maxItems+maxLeft {
		t.Errorf("%d bytes of %d items", len(text), len(at.Seen))
	}
}

// What has no date that can be read is as old as its neighbours, never new because it was
// seen now.
func TestAnItemWithoutADateIsAsOldAsItsNeighbours(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 4, n, 12, 0, 0, 0, time.UTC) }
	none := time.Time{}
	for name, c := range map[string]struct {
		dates, want []time.Time // of the items, and of the neighbours
		newest      int64
	}{
		"behind it is one":             {[]time.Time{none, day(3), none, none, day(1)}, []time.Time{day(3), none, day(1), day(1), none}, 0},
		"before it is one":             {[]time.Time{day(3), none}, []time.Time{none, day(3)}, 0},
		"one that cannot be true":      {[]time.Time{noon.Add(time.Hour), none, day(2)}, []time.Time{none, day(2), none}, 0},
		"there was one before":         {[]time.Time{none}, []time.Time{day(2)}, day(2).Unix()},
		"a feed that never had a date": {[]time.Time{none, none}, []time.Time{none, none}, 0},
	} {
		var doc Document
		for n, date := range c.dates {
			doc.Items = append(doc.Items, Item{Key: fmt.Sprint(n), Title: "T", Published: date})
		}
		_, items, _ := (&Position{Newest: c.newest}).follow(&doc, noon, nil, nil)
		for n, item := range items {
			if !item.Neighbour.Equal(c.want[n]) {
				t.Errorf("%s: item %d is of %s, want %s", name, n, item.Neighbour, c.want[n])
			}
		}
	}
}
