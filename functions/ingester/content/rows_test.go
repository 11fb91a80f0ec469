package content

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/blockbeats"
	"quotary/functions/ingester/source/feeds"
	"quotary/shared/data/news"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// keys are those of the rows that a batch makes in all logs.
func keys(logs []engine.Log[*Batch], b *Batch) (list []string) {
	for _, log := range logs {
		for _, row := range log.Append(nil, b) {
			list = append(list, fmt.Sprint(log.Dataset, row.Subject, row.Time.UnixMilli(), row.ID))
		}
	}
	return list
}

// What a source has forgotten comes again whenever it likes. As long as it is in its first state,
// that is the same row.
func TestWhatIsSeenAgainIsTheSameRow(t *testing.T) {
	t.Parallel()
	published := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	announcement := func(revised bool) func(time.Time) *Batch {
		one := market.Announcement{Venue: "binance", ID: "a", Listing: true, AnnouncementText: market.AnnouncementText{Title: "HODLer Airdrop: Acme (ACME)"}, Published: published.UnixMilli(), Revised: revised}
		return func(seen time.Time) *Batch { return announced([]market.Announcement{one}, seen) }
	}
	flash := func(revised bool) func(time.Time) *Batch {
		v := vendorList{blockbeats.List{Language: "en"}, new(source.Stats)}
		return func(seen time.Time) *Batch {
			return v.batch(&feeds.Delivery{Time: seen, Items: []feeds.Item{{Key: "1", Title: "T", Published: published, Revised: revised}}})
		}
	}
	_, logs := Projections()
	for name, c := range map[string]struct {
		seen func(time.Time) *Batch
		rows int // of two sights
	}{
		"an announcement, of which are a flash and an airdrop": {announcement(false), 2},
		"one that was revised":                                 {announcement(true), 4},
		"a flash":                                              {flash(false), 1},
		"a revised flash":                                      {flash(true), 2},
	} {
		all := slices.Concat(keys(logs, c.seen(published.Add(time.Minute))), keys(logs, c.seen(published.Add(time.Hour))))
		slices.Sort(all)
		if n := len(slices.Compact(all)); n != c.rows {
			t.Errorf("%s: %d rows, want %d", name, n, c.rows)
		}
	}
}

// A feed that shows again what it has forgotten makes no row, whatever changes in between.
func TestNewsThatIsStoredIsNotStoredAgain(t *testing.T) {
	t.Parallel()
	all, logs := Projections()
	p := all[0].(*newest)
	rows := func(title string, seen int64) int {
		item := news.Item{ID: news.ID("Acme", "1"), Source: "Acme", Key: "1", Language: news.English, Title: title, Seen: seenAt + seen, FirstSeen: seenAt + seen}
		b, r := &Batch{News: []news.Item{item}}, engine.NewReads()
		n := len(keys(logs, b))
		p.Prefetch(b, r)
		r.Fill(nil, map[store.SeriesAt]store.Point{})
		must.Do(t, p.Apply(b, r, time.Now()))
		return n
	}
	for n, c := range []struct {
		title string
		rows  int
	}{{"a", 1}, {"a", 0}, {"a", 0}, {"b", 1}, {"b", 0}, {"a", 1}, {"a", 0}} {
		if got := rows(c.title, int64(n)); got != c.rows {
			t.Errorf("state %d, %s, makes %d rows, want %d", n, c.title, got, c.rows)
		}
	}
	body := p.Changes(time.Now(), true).Views[0].Body
	all, logs = Projections()
	p = all[0].(*newest)
	if err := p.Restore(map[string][]byte{news.Name: body}); err != nil || rows("a", 9) != 0 {
		t.Errorf("after a restart it is stored again: %v", err)
	}
}
