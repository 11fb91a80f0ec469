package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// Depth is how much of the past is filled back when a pair is first followed, in days
// before that day. K-lines of four hours, and so of days in either opening, are filled
// back as far as the exchange has them: 8,000 rows for each pair in ten years of them.
type Depth struct {
	Minutes int // K-lines of a minute and everything wider
	Hours   int // K-lines of an hour and everything wider

	Contracts int // funding, open interest and accounts of perpetuals
}

const (
	day        = 24 * time.Hour
	confirmLag = 3 * time.Second  // after a minute has ended, until it is asked for
	openEvery  = 15 * time.Second // between two looks at the open minute, before trades make it:
	openFor    = 2 * time.Minute  // as long as trades may take from the beginning of a term
	hourBlock  = 40 * day         // of K-lines of an hour that are asked for at once
	wideBlock  = 160 * day        // of K-lines of four hours

	// foldedFor is for how long (ms) what was folded of a pair is still known after its last
	// minute: see [pairFor].
	foldedFor = int64(day / time.Millisecond)
)

// history emits what a venue itself says of the followed pairs, once a minute: minutes that have
// ended and the open one. In the time between, the past of those and all of the pairs that
// clients want have their turns. At the beginning of a term, when trades do not make the open
// minute yet, it is asked for more often.
type history struct {
	venue  venue
	config Config
	lists  *lister
	wanted *wantedPairs // nil where clients cannot want any
	stats  *source.Stats
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error // by the clock of now

	sink   engine.Sink[*Batch]
	filled map[string]progress // by pair, as the checkpoint holds it
	folded map[string]int64    // by pair: the minutes that this term has emitted, ms
	listed time.Time           // when pairs were asked for
	warned time.Time

	pairs  []market.Pair                    // the followed ones
	wants  followrequests.List[market.Pair] // those that are wanted, by distributor
	others map[string]market.Pair           // by key: those that trade besides the followed ones
	said   map[string]pairpast.Past         // by pair: how much was said to be stored in this term

	turns source.Turns[string, historyStep] // by distributor; followedLine has what is followed
	asked map[string]bool                   // wanted pairs of which the minutes of this round were asked for
	stuck map[string]bool                   // pairs of which the past was not told in this round
}

// progress is how far the K-lines of a pair are filled. Times are ms.
type progress struct {
	Since int64 `json:"since"`           // UTC day from which on minutes were followed
	Until int64 `json:"until"`           // minutes that open before are confirmed and stored
	Back  int64 `json:"back"`            // the past is filled from here to Since; 0 when there is no more
	First int64 `json:"first,omitempty"` // UTC day on which trading began; 0 until the days are stored

	Wanted bool `json:"wanted,omitempty"` // by clients; the pair is not followed
}

// follow emits until ctx ends or the sink fails.
func (h *history) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	h.sink, h.filled, h.folded, h.said = sink, map[string]progress{}, map[string]int64{}, nil
	if err := from.Decode(&h.filled); err != nil {
		return err
	}
	for began := h.now(); ; {
		if err := h.list(ctx); err != nil {
			return err
		}
		for _, pair := range h.pairs {
			if err := h.try(ctx, pair, h.confirm); err != nil {
				return err
			}
		}
		h.asked, h.stuck = map[string]bool{}, map[string]bool{}
		now := h.now()
		next := now.Truncate(time.Minute).Add(time.Minute + confirmLag)
		if soon := now.Add(openEvery); now.Sub(began) < openFor && soon.Before(next) {
			next = soon
		}
		if err := h.fillUntil(ctx, next); err != nil {
			return err
		}
	}
}

// list asks for the pairs, once in a while.
func (h *history) list(ctx context.Context) error {
	if now := h.now(); now.Sub(h.listed) < h.config.listEvery() {
		return nil
	}
	all, err := h.lists.all(ctx)
	if err != nil {
		return err
	}
	h.listed, h.pairs = h.now(), pairsOf(h.config.Coins, all)
	h.others = othersOf(h.config.Coins, all)
	listing := Listing{Time: h.listed.UnixMilli(), Platform: h.venue.Platform, Swap: h.venue.Swap, Inverse: h.venue.Inverse, Pairs: all, Followed: map[string]bool{}}
	for _, p := range h.pairs {
		listing.Followed[p.Key] = true
	}
	h.forget()
	return h.emit(ctx, &Batch{Listings: []Listing{listing}})
}

// mostResting is of how many pairs that are not followed it is remembered how far they are
// filled: more than twice as many as clients may want at a time.
const mostResting = 500

// forget forgets how far those of the pairs that are not followed are filled that have not been
// asked for longest: what an exchange lists, and clients want, changes, and a checkpoint does
// not grow. One of them that is wanted again is filled again.
func (h *history) forget() {
	followed := make(map[string]bool, len(h.pairs))
	for _, p := range h.pairs {
		followed[p.Key] = true
	}
	var resting []string
	for key := range h.filled {
		if !followed[key] {
			resting = append(resting, key)
		}
	}
	if len(resting) <= mostResting {
		return
	}
	slices.SortFunc(resting, func(a, b string) int {
		return cmp.Or(cmp.Compare(h.filled[b].Until, h.filled[a].Until), cmp.Compare(a, b))
	})
	for _, key := range resting[mostResting:] {
		delete(h.filled, key)
		delete(h.folded, key)
		delete(h.said, key)
	}
}

// try does something for a pair. What the venue refuses is said, and comes again with
// the next round.
func (h *history) try(ctx context.Context, pair market.Pair, do func(context.Context, market.Pair) error) error {
	err := do(ctx, pair)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case source.SinkError(err) != nil:
		return source.SinkError(err)
	}
	h.stats.Malformed.Add(1)
	if now := h.now(); now.Sub(h.warned) >= quietRepeat {
		h.warned = now
		h.venue.Log.Warn("the venue gives no K-lines; asking again in a minute", "pair", pair.Key, "error", fmt.Sprintf("%.200s", err))
	}
	if ofPair(err) {
		return nil
	}
	return pauses.Wait(ctx, 0)
}

// ofPair reports whether a pair is refused, not everything by the venue: it may have been
// delisted.
func ofPair(err error) bool {
	var refused *upstream.RefusedError
	return errors.As(err, &refused) && refused.Status == http.StatusBadRequest
}

// confirm emits the minutes of a pair that have ended since it was last asked for, and
// the open one. In a term, and for a new pair, that begins at the opening of a day, from which the
// candles of all tiers can be folded. The days of a pair that clients have begun to want come
// together with it: what is composed of days would begin with a part of a bucket until then.
func (h *history) confirm(ctx context.Context, pair market.Pair) error {
	p, known := h.filled[pair.Key]
	if !known {
		today := market.Day1.StartMs(h.now().UnixMilli())
		_, other := h.others[pair.Key]
		p = progress{Since: today, Until: today, Back: today, Wanted: other}
	}
	var past []market.CandleRun
	if p.Wanted && p.First == 0 {
		days, err := h.days(ctx, pair, &p)
		if err != nil {
			return err
		}
		past = append(past, days)
	}
	from, folded := h.folded[pair.Key]
	if !folded || h.now().UnixMilli()-from >= foldedFor {
		from = market.Day1.StartMs(p.Until)
	}
	for {
		run, more, err := h.minutes(ctx, pair, from)
		for !known && more && err == nil { // clients may wait for it: what is stored first is up to date
			var next market.CandleRun
			next, more, err = h.minutes(ctx, pair, run.To)
			run.Candles = append(run.Candles, next.Candles...)
			run.To, run.Open = next.To, next.Open
		}
		if err != nil {
			return err
		}
		for _, part := range split(run, p.Until) {
			p.Until = max(p.Until, part.To)
			h.filled[pair.Key], h.folded[pair.Key] = p, part.To
			if err := h.emit(ctx, &Batch{Runs: []Run{part}, Past: past}); err != nil {
				return err
			}
			past = nil
		}
		if !more {
			return h.say(ctx, pair.Key)
		}
		from = run.To
	}
}

// say says how much of a pair is stored, where that is not what was said before.
func (h *history) say(ctx context.Context, key string) error {
	p, known := h.filled[key]
	past := pairpast.Nothing
	if known {
		past = h.pastOf(p)
	}
	if said, ok := h.said[key]; ok && said == past {
		return nil
	}
	switch {
	case !known:
		delete(h.said, key)
	case h.said == nil:
		h.said = map[string]pairpast.Past{key: past}
	default:
		h.said[key] = past
	}
	return h.emit(ctx, &Batch{Stored: []Stored{{Pair: key, What: pairpast.Klines, Past: past, Awaited: p.Wanted}}})
}

// pastOf is how much is stored of a pair that is filled so far.
func (h *history) pastOf(p progress) pairpast.Past {
	if p.Back == 0 && p.First != 0 {
		return pairpast.AllStored
	}
	past := pairpast.Past{Minutes: p.Back, Hours: p.Back, FourHours: p.Back, Days: p.Back}
	minutes, hours := h.bounds(p)
	if p.First != 0 {
		past.Days = 0
	}
	if p.Back <= hours {
		past.Hours = 0
	}
	if p.Back <= minutes {
		past.Minutes = 0
	}
	return past
}

// minutes asks for a page of minutes from a time (ms) on, and reports whether there are more.
func (h *history) minutes(ctx context.Context, pair market.Pair, from int64) (run market.CandleRun, more bool, err error) {
	most, page := int((h.now().UnixMilli()-from)/60_000)+1, h.venue.KlinesMost()
	if run, err = h.venue.Klines(ctx, pair, market.Minute1, from, max(1, min(most, page))); err != nil {
		return run, false, err
	}
	h.stats.Lines.Add(1)
	return run, run.To > from && most > page, nil
}

// split divides a run into what was stored before and what is new, its open candle
// included.
func split(run market.CandleRun, stored int64) (parts []Run) {
	if run.From < stored {
		before, after := run, run
		before.To, after.From = min(run.To, stored), stored
		n := 0
		for n < len(run.Candles) && run.Candles[n].OpenTime < stored {
			n++
		}
		before.Candles, after.Candles, before.Open = run.Candles[:n], run.Candles[n:], market.Candle{}
		parts = append(parts, Run{before, true})
		run = after
	}
	if run.To > run.From || run.To == run.From && !run.Open.Empty() {
		parts = append(parts, Run{CandleRun: run})
	}
	return parts
}

// emit delivers a batch and where the source stands behind it.
func (h *history) emit(ctx context.Context, b *Batch) error {
	position, err := engine.PositionOf(h.filled)
	if err != nil {
		return err
	}
	newest := int64(0)
	for i := range b.Runs {
		newest = max(newest, b.Runs[i].To)
	}
	h.stats.Seen(h.now(), newest)
	if err := h.sink(ctx, engine.Delivery[*Batch]{Batch: b, Position: position}); err != nil {
		return source.OfSink(err)
	}
	return nil
}
