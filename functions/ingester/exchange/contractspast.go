package exchange

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
)

// contractsPast emits what exchanges tell of the past of the followed perpetuals: the rates
// that were paid, by pair and by coin, open interest and the shares of accounts. At the
// beginning that is the newest of each and then, backwards, as much as the configuration says;
// behind it, every five minutes, what has come since: so a gap in what is pushed and polled is
// filled, and shares of accounts, which nobody pushes, come this way alone.
//
// Open interest is asked of all perpetuals of a sum at once, as the sum of some of them would
// be wrong: where one of them has none in a time, the others' is emitted without a sum. The
// past of a sum and of a coin's rate stays that of the perpetuals that were followed when it
// was asked for: what they said minute by minute stands between.
type contractsPast struct {
	venues []listedVenue
	config Config
	wanted *wantedPairs // nil where clients cannot want any
	stats  *source.Stats
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error // by the clock of now

	sink      engine.Sink[*Batch]
	delivered map[string]span // by what is asked for
	retrySoon bool            // a venue refused something in this round
	rests     map[string]bool // by what is asked for: the pair is refused, until the next round
	warned    time.Time
	wants     map[string]wantedPast // by the key of a wanted perpetual
	looked    time.Time             // when it was last seen what is wanted
}

// wantedPast is how far the past of a wanted perpetual is.
type wantedPast struct {
	next  time.Time // when it is asked for again
	whole bool      // all of it was delivered in this term, and that was said
}

// span is what was emitted of something, ms: from From until before To.
type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// pastPosition is where the source stands, as the checkpoint holds it.
type pastPosition struct {
	Delivered map[string]span `json:"told"`
}

// listedVenue is a venue of perpetuals with its lists.
type listedVenue struct {
	venue
	Contracts
	lists *lister
}

// contract is a followed perpetual, and who tells of it.
type contract struct {
	market.Pair
	of    Contracts
	venue Venue
}

const (
	pastEvery  = 5 * time.Minute
	pastLag    = 20 * time.Second // after a step has ended, until it is asked for
	pastWindow = 12 * time.Hour   // of what is emitted at once, but of rates
	stepEvery  = int64(300_000)   // ms, of everything but rates
)

// follow emits until ctx ends or the sink fails.
func (c *contractsPast) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	position := pastPosition{Delivered: map[string]span{}}
	if err := from.Decode(&position); err != nil {
		return err
	}
	c.sink, c.delivered, c.wants = sink, position.Delivered, map[string]wantedPast{}
	for {
		coins, err := c.followed(ctx)
		if err != nil {
			return err
		}
		asks := c.asks(coins)
		c.retrySoon, c.rests = false, map[string]bool{}
		wanted, err := c.wantedAsks(ctx)
		if err != nil {
			return err
		}
		if err := c.forget(ctx, slices.Concat(append(slices.Collect(maps.Values(wanted)), asks)...)); err != nil {
			return err
		}
		// What is newest of all, and once more what of it was refused, before what is old of any.
		for _, way := range []direction{newer, newer, older} {
			for i := range asks {
				if err := c.want(ctx); err != nil {
					return err
				}
				if err := c.each(ctx, way, &asks[i]); err != nil {
					return err
				}
			}
		}
		now := c.now()
		next := now.Truncate(pastEvery).Add(pastEvery + pastLag)
		if soon := now.Add(quietRepeat); c.retrySoon && soon.Before(next) {
			next = soon
		}
		for left := next.Sub(now); ; left = next.Sub(c.now()) {
			if err := c.want(ctx); err != nil {
				return err
			}
			if c.wanted != nil {
				left = min(left, wantedEvery)
			}
			if err := c.sleep(ctx, left); err != nil {
				return err
			}
			if c.wanted == nil || !c.now().Before(next) {
				break
			}
		}
	}
}

// followed are the followed perpetuals by their coin.
func (c *contractsPast) followed(ctx context.Context) (map[string][]contract, error) {
	coins := map[string][]contract{}
	for _, v := range c.venues {
		pairs, err := v.lists.followed(ctx)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			coins[pair.Coin()] = append(coins[pair.Coin()], contract{pair, v.Contracts, v.Venue})
		}
	}
	return coins, nil
}

// direction is which end of what was emitted is gone on from.
type direction bool

const (
	newer direction = true
	older direction = false
)

// mark has something count as delivered in a span, besides where it was before. Of two that do not
// meet the newer one stands, as what is before it will be asked for.
func (c *contractsPast) mark(name string, s span) {
	if old, ok := c.delivered[name]; ok {
		switch {
		case old.From > s.To:
			s = old
		case old.To >= s.From:
			s = span{min(old.From, s.From), max(old.To, s.To)}
		}
	}
	c.delivered[name] = s
}

// forget drops what was delivered of what is no longer asked for: a checkpoint does not grow,
// and of a perpetual that is asked for again there is a gap.
func (c *contractsPast) forget(ctx context.Context, asks []ask) error {
	names := make(map[string]bool, len(asks))
	for i := range asks {
		names[asks[i].name] = true
	}
	b := new(Batch)
	for name := range c.delivered {
		if names[name] {
			continue
		}
		delete(c.delivered, name)
		if key, ok := strings.CutPrefix(name, "interest "); ok {
			delete(c.wants, key)
			b.Stored = append(b.Stored, Stored{Pair: key, What: pairpast.Contracts, Past: pairpast.Nothing})
		}
	}
	if len(b.Stored) == 0 {
		return nil
	}
	return c.emit(ctx, b)
}

// wantedAsks is what is asked for of the perpetuals that clients want, by their keys.
func (c *contractsPast) wantedAsks(ctx context.Context) (map[string][]ask, error) {
	asks := map[string][]ask{}
	for _, v := range c.venues {
		pairs, err := c.wanted.of(ctx, v.lists)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			asks[pair.Key] = c.asksOfOne(contract{pair, v.Contracts, v.Venue})
		}
	}
	return asks, nil
}

// want asks for all of each perpetual that clients have begun to want, and once in a while
// for what has come since.
func (c *contractsPast) want(ctx context.Context) error {
	if c.wanted == nil || c.now().Sub(c.looked) < wantedEvery {
		return nil // it is called between any two questions
	}
	c.looked = c.now()
	wanted, err := c.wantedAsks(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		past := c.wants[key]
		if c.now().Before(past.next) {
			continue
		}
		all := true
		for i := range wanted[key] {
			a := &wanted[key][i]
			end := c.end(a)
			for _, way := range []direction{newer, older} {
				if err := c.each(ctx, way, a); err != nil {
					return err
				}
			}
			done, told := c.delivered[a.name]
			// What the exchange refuses of the pair itself it does not have.
			all = all && (c.rests[a.name] || told && done.From <= c.oldest(a) && done.To >= end)
		}
		past.next = c.now().Add(pastEvery)
		if !all {
			past.next = c.now().Add(quietRepeat)
		} else if !past.whole {
			if err := c.sayWhole(ctx, key); err != nil {
				return err
			}
			past.whole = true
		}
		c.wants[key] = past
	}
	return nil
}

// sayWhole says that all of the past of a perpetual is stored, once it is.
func (c *contractsPast) sayWhole(ctx context.Context, key string) error {
	position, err := engine.PositionOf(pastPosition{c.delivered})
	if err != nil {
		return err
	}
	if err := c.sink.Store(ctx, engine.Delivery[*Batch]{Position: position}); err != nil {
		return err
	}
	return c.emit(ctx, &Batch{Stored: []Stored{{Pair: key, What: pairpast.Contracts, Past: pairpast.AllStored, Awaited: true}}})
}

// end is up to when something is asked for, ms.
func (c *contractsPast) end(a *ask) int64 { return c.now().UnixMilli()/a.every*a.every + 1 }

// oldest is from when on something is asked for, ms.
func (c *contractsPast) oldest(a *ask) int64 {
	return c.now().Add(-time.Duration(c.config.Depth.Contracts)*day).UnixMilli() / a.every * a.every
}

// each asks for what is behind what was emitted, up to the last step that has ended, or for
// what is before it, as far back as the configuration says: a window at a time. What a
// venue refuses is said, and asked for again soon, a pair that is refused in the next round.
func (c *contractsPast) each(ctx context.Context, way direction, a *ask) error {
	if c.rests[a.name] {
		return nil
	}
	oldest := c.oldest(a)
	end := c.end(a)
	done, ok := c.delivered[a.name]
	if !ok || done.To < oldest {
		first := max(oldest, end-a.window)
		done = span{first, first}
	}
	for {
		next := done
		var asked span
		if way == newer {
			next.To = min(end, done.To+a.window)
			asked = span{done.To, next.To}
		} else {
			next.From = max(oldest, done.From-a.window)
			asked = span{next.From, done.From}
		}
		if asked.From >= asked.To {
			return nil
		}
		if way == newer {
			asked.From = max(done.From, asked.From-a.overlap)
		}
		b, err := a.of(ctx, asked.From, asked.To)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			c.refused(a.name, err)
			return nil
		}
		c.stats.Lines.Add(1)
		done, c.delivered[a.name] = next, next
		if err := c.emit(ctx, b); err != nil {
			return err
		}
	}
}

func (c *contractsPast) refused(name string, err error) {
	c.stats.Malformed.Add(1)
	pair := ofPair(err)
	c.rests[name], c.retrySoon = pair, c.retrySoon || !pair
	if now := c.now(); now.Sub(c.warned) >= quietRepeat {
		c.warned = now
		what, key, _ := strings.Cut(name, " ")
		c.config.Logger.Warn("an exchange does not tell the past of a perpetual; asking again", "what", what, "of", key, "error", fmt.Sprintf("%.200s", err))
	}
}

// emit delivers a batch and where the source stands behind it.
func (c *contractsPast) emit(ctx context.Context, b *Batch) error {
	position, err := engine.PositionOf(pastPosition{c.delivered})
	if err != nil {
		return err
	}
	c.stats.Seen(c.now(), 0)
	return c.sink(ctx, engine.Delivery[*Batch]{Batch: b, Position: position})
}
