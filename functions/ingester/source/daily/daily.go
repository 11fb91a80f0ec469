// Package daily asks for indexes and prices that upstreams publish once a day, as lists of
// days: the Fear and Greed index of alternative.me ([FearGreed]), the VIX of Cboe ([VIX]),
// and prices of shares from Stooq, or whoever writes the same files ([Stooq]).
//
// Each is asked for all of its history at the start, and then so often. What is delivered is
// what has changed since it was last delivered.
package daily

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// bounds are those of an answer: the longest history, of a century of working days, has some
// 27,000 rows and 2 MB.
var bounds = upstream.Bounds{Bytes: 8 << 20, Rows: 60_000}

// Series polls lists of days of one host.
type Series struct {
	Every time.Duration // between two looks
	Stats *source.Stats
	Log   *slog.Logger
	Now   func() time.Time // nil means time.Now

	host  *source.Host
	what  string // for logs
	lists []*list
}

// list is one of the lists.
type list struct {
	path  string
	query func(whole bool) url.Values
	read  func(answer []byte) (days []market.DayQuote, malformed int, err error)

	known     map[string]market.DayQuote // what was delivered, by date
	rewritten int64                      // until when the changes of old days are used up, Unix s
}

// recent is for how long days may change as often as they are asked for. An older one is as it was, but all are
// others where a share is split: of decades that is a thousand rows, which are paid for, each time.
const recent = 60 * 24 * time.Hour

// rewrites are the changes of old days of one list.
var rewrites = source.Rate{AtOnce: 3, Every: 24 * time.Hour}

// Sink takes days in any order, which were asked for at a time. It blocks while its consumer
// is behind.
type Sink func(ctx context.Context, asked time.Time, days []market.DayQuote) error

func series(base, what string, perMinute int, lists ...*list) *Series {
	host := source.NewHost(base, perMinute)
	host.Usual = bounds
	for _, l := range lists {
		l.known = map[string]market.DayQuote{}
	}
	return &Series{host: host, what: what, lists: lists, Now: time.Now}
}

// Follow delivers the days of all lists, and then so often those that are new or have
// changed, until ctx ends or the sink fails. A list that cannot be read is tried again with
// the others, or soon where there is no other. It runs in the caller's goroutine.
func (s *Series) Follow(ctx context.Context, sink Sink) error {
	return source.PollEach(ctx, s.Every, s.Log, s.what, s.lists, func(ctx context.Context, l *list) error { return s.ask(ctx, l, sink) })
}

func (s *Series) ask(ctx context.Context, l *list, sink Sink) error {
	asked := s.Now()
	answer, err := s.host.Body(ctx, l.path, l.query(len(l.known) == 0), 1)
	if err != nil {
		return err
	}
	days, malformed, err := l.read(answer)
	if err != nil {
		s.Stats.Malformed.Add(int64(malformed))
		return fmt.Errorf("read %s: %w", s.what, err)
	}
	byDate := make(map[string]market.DayQuote, len(days)) // of rows of the same day the last
	// Nothing is known of the day after tomorrow, and what says so would be the newest for
	// ever.
	last := asked.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	for _, day := range days {
		if day.Date > last {
			malformed++
			continue
		}
		byDate[day.Date] = day
	}
	s.Stats.Malformed.Add(int64(malformed))
	s.Stats.Lines.Add(1)
	s.Stats.Seen(asked, 0)
	if changed := l.changed(byDate, asked); len(changed) > 0 {
		if err := sink(ctx, asked, changed); err != nil {
			return source.OfSink(err)
		}
		for _, day := range changed {
			l.known[day.Date] = day
		}
	}
	return nil
}

// changed are the days that are not as they were delivered, oldest first: the old ones among them where they may
// change again. Else they stay known as they were, so that they are looked at again.
func (l *list) changed(byDate map[string]market.DayQuote, asked time.Time) (changed []market.DayQuote) {
	old, since := 0, asked.UTC().Add(-recent).Format(time.DateOnly)
	for _, date := range slices.Sorted(maps.Keys(byDate)) {
		if have, ok := l.known[date]; ok && have == byDate[date] {
			continue
		}
		if changed = append(changed, byDate[date]); date < since {
			old = len(changed)
		}
	}
	if old > 0 {
		var may bool
		if l.rewritten, may = rewrites.Take(l.rewritten, asked); !may {
			changed = changed[old:]
		}
	}
	return changed
}
