package projection

import (
	"fmt"
	"time"

	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Set holds all projections. The zero value is not usable; see [New]. A Set is
// used by one goroutine.
type Set struct {
	// Trades counts the trades that were applied, those told again included.
	Trades int64

	klines  klineTrees
	tops    tops
	tickers lastPrices
	mids    midPrices
	meta    descriptions

	books    lastBooks
	figures  figures
	funding  fundings
	interest openInterest

	cache  cache
	trades []market.Trade // behind the fills of the events at hand, and those told as such
	of     *market.Events // the events that trades belongs to
}

// New returns projections without state: what was stored before is loaded as
// events touch it.
func New() *Set {
	return &Set{
		klines:  klineTrees{coins: map[string]*klineTree{}},
		tops:    tops{coins: map[string]*topCoin{}, opening: map[string]bool{}},
		tickers: lastPrices{last: map[string]tickers.Ticker{}},
		mids:    midPrices{byDex: map[string]map[string]string{}},
		cache:   newCache(),

		books:    newBooks(),
		figures:  newFigures(),
		funding:  newFunding(),
		interest: newOpenInterest(),
	}
}

// Want names what must be read before events can be applied.
type Want struct {
	Latest []store.SeriesKey // the time of the newest point of each
	Rows   []store.SeriesAt  // the points themselves, with Extra
}

// Empty tells that nothing must be read.
func (w Want) Empty() bool { return len(w.Latest) == 0 && len(w.Rows) == 0 }

// cache holds what was read for the events at hand, absence included.
type cache struct {
	latest map[store.SeriesKey]int64 // ms, -1 where the series is empty
	rows   map[store.SeriesAt]*store.Point
}

func newCache() cache {
	return cache{latest: map[store.SeriesKey]int64{}, rows: map[store.SeriesAt]*store.Point{}}
}

// point is a row that was read, nil where there is none.
func (c *cache) point(at store.SeriesAt) *store.Point { return c.rows[at] }

// request collects what is not read yet.
type request struct {
	cache *cache
	want  Want
	asked map[any]bool
}

func (r *request) ask(key any) bool {
	if r.asked[key] {
		return false
	}
	if r.asked == nil {
		r.asked = map[any]bool{}
	}
	r.asked[key] = true
	return true
}

func (r *request) row(key store.SeriesAt) {
	if _, read := r.cache.rows[key]; !read && r.ask(key) {
		r.want.Rows = append(r.want.Rows, key)
	}
}

// latest is the newest point of a series of one-second rows, in ms, or -1
// without any; ok is false while it is not read.
func (r *request) latest(key store.SeriesKey) (ms int64, ok bool) {
	if ms, ok = r.cache.latest[key]; !ok && r.ask(key) {
		r.want.Latest = append(r.want.Latest, key)
	}
	return ms, ok
}

// Open makes the projections look at coins as if an event had touched their
// newest bucket. After a restart this finishes the buckets that closed while
// nothing was running, of coins that trade no more.
func (s *Set) Open(coins []string) {
	for _, coin := range coins {
		s.tops.opening[coin] = true
	}
}

// Need tells what must be read before e can be applied. It is asked again after
// [Set.Load] until nothing is wanted.
func (s *Set) Need(e *market.Events) Want {
	s.derive(e)
	r := request{cache: &s.cache}
	s.klines.need(s.trades, &r)
	s.tops.need(e.Fills, &r)
	return r.want
}

// derive brings the trades of the events at hand together, once.
func (s *Set) derive(e *market.Events) {
	if s.of == e {
		return
	}
	s.trades = market.AppendTrades(s.trades[:0], e.Fills)
	s.trades = append(s.trades, e.Trades...)
	s.of = e
}

// Load takes what was read for w; what is missing in latest or rows does not
// exist.
func (s *Set) Load(w Want, latest map[store.SeriesKey]time.Time, rows map[store.SeriesAt]store.Point) {
	for _, key := range w.Latest {
		s.cache.latest[key] = -1
		if t, ok := latest[key]; ok {
			s.cache.latest[key] = t.UnixMilli()
		}
	}
	for _, key := range w.Rows {
		s.cache.rows[key] = nil
		if p, ok := rows[key]; ok {
			s.cache.rows[key] = &p
		}
	}
}

// Apply folds the events in; everything that [Set.Need] wanted is loaded. It
// fails only on a stored row that cannot be read.
func (s *Set) Apply(e *market.Events, now time.Time) error {
	s.derive(e)
	s.Trades += int64(len(s.trades))
	if err := s.klines.apply(s.trades, &s.cache); err != nil {
		return fmt.Errorf("apply to klines: %w", err)
	}
	if err := s.tops.apply(e.Fills, &s.cache, now); err != nil {
		return fmt.Errorf("apply to top fills: %w", err)
	}
	s.tickers.apply(s.trades)
	for i := range e.Mids {
		s.mids.apply(&e.Mids[i])
	}
	if e.Meta != nil {
		s.meta.apply(e.Meta)
	}
	for i := range e.Books {
		s.books.apply(&e.Books[i])
	}
	for i := range e.Funding {
		s.funding.paid(&e.Funding[i])
	}
	for i := range e.Contexts {
		s.figures.apply(&e.Contexts[i])
		s.funding.show(&e.Contexts[i])
	}
	s.interest.apply(e.Fills)
	s.of = nil
	clear(s.cache.rows)
	clear(s.cache.latest)
	return nil
}

// Changes is what must be written, in the order of its fields: the coarse rows
// of top fills are closed from memory only, and it is their finer rows that
// tell after a crash which of them were written.
type Changes struct {
	Coarse []store.SeriesRow
	Fine   []store.SeriesRow
	Views  []View

	// Held tells that something applied is in memory only: the checkpoints of
	// the sources must not move yet. Settling writes everything.
	Held bool
}

// View is a view to publish.
type View struct {
	Name string
	Body []byte // JSON
}

// Changes returns what differs from what is stored and counts it as written:
// the caller writes it, however often it must try. With settle, buckets that
// have ended by the clock are closed without waiting for more events.
func (s *Set) Changes(now time.Time, settle bool) Changes {
	var c Changes
	s.tops.changes(&c, now, settle)
	c.Fine = s.klines.changes(c.Fine)
	if s.tickers.changed {
		c.Views = append(c.Views, View{tickers.Name, s.tickers.body(now)})
	}
	if s.mids.changed {
		c.Views = append(c.Views, View{mids.Name, s.mids.body()})
	}
	if s.meta.changed {
		c.Views = append(c.Views, View{meta.Name, s.meta.body()})
	}
	c.Fine = s.funding.changes(c.Fine)
	c.Fine = s.books.samples(c.Fine, now)
	if s.books.changed {
		c.Views = append(c.Views, View{books.Name, s.books.body()})
	}
	if s.figures.changed {
		c.Views = append(c.Views, View{contexts.Name, s.figures.body()})
	}
	s.interestChanges(&c, now, settle)
	return c
}
