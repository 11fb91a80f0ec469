package exchange

import (
	"context"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// contractsPast emits what a venue tells of the past of its perpetuals, each for itself: the
// rates that were paid, open interest and the shares of accounts. What is made of perpetuals of
// several exchanges is that of [coinsPast].
//
// Every five minutes it asks for the newest of all that are followed: so a gap in what is
// pushed and polled is filled, and shares of accounts, which nobody pushes, come this way
// alone. In the time between it asks for what is older of them, as far back as the
// configuration says, and for the past of the perpetuals that clients want, a request at a time:
// each distributor has its turns, and the older past of what is followed has them too.
type contractsPast struct {
	pastSpans
	venue  *patientVenue
	lists  *lister
	wanted *wantedPairs // nil where clients cannot want any

	turns  source.Turns[string, pastStep] // by distributor; followedLine has what is followed
	wants  []wantedAsks
	looked time.Time       // when it was last seen what is wanted
	said   map[string]bool // keys of perpetuals of which it was said in this term that all is stored
}

// wantedAsks is what is asked for of the perpetuals that a distributor's clients want, or of those
// that are followed.
type wantedAsks struct {
	distributor string
	pairs       []wantedPair
}

// asks are those of all perpetuals.
func (w *wantedAsks) asks() (all []ask) {
	for i := range w.pairs {
		all = append(all, w.pairs[i].asks...)
	}
	return all
}

type wantedPair struct {
	key  string
	asks []ask
}

// pastStep is one request.
type pastStep struct {
	*ask
	way direction
}

// followedLine is the line of what is followed: no distributor has that name.
const followedLine = ""

// follow emits until ctx ends or the sink fails.
func (c *contractsPast) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	if err := c.begin(from, sink); err != nil {
		return err
	}
	c.said = map[string]bool{}
	for {
		pairs, err := c.lists.followed(ctx)
		if err != nil {
			return err
		}
		followed := c.asksOf(followedLine, pairs)
		if err := c.look(ctx); err != nil {
			return err
		}
		if err := c.forgetOthers(ctx, &followed); err != nil {
			return err
		}
		c.round()
		if err := c.newest(ctx, followed.asks()); err != nil {
			return err
		}
		for began := c.now(); c.now().Before(c.next(began)); {
			some, err := c.turn(ctx, &followed)
			if err != nil {
				return err
			}
			left := c.next(began).Sub(c.now())
			if c.wanted != nil {
				left = min(left, wantedEvery)
			}
			if some || left <= 0 {
				continue
			}
			if err := c.sleep(ctx, left); err != nil {
				return err
			}
		}
	}
}

// newest asks for the newest of asks, and once more for what of it the venue refused.
func (c *contractsPast) newest(ctx context.Context, asks []ask) error {
	for try := range 2 {
		if try > 0 {
			c.restOfPairs()
		}
		for i := range asks {
			for c.pending(newer, &asks[i]) {
				if err := c.step(ctx, newer, &asks[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turn makes the request whose turn it is; some is false where there is none.
func (c *contractsPast) turn(ctx context.Context, followed *wantedAsks) (some bool, err error) {
	if c.now().Sub(c.looked) >= wantedEvery {
		if err := c.look(ctx); err != nil {
			return false, err
		}
	}
	if err := c.sayStored(ctx, followed); err != nil {
		return false, err
	}
	lines := map[string]pastStep{}
	if step, ok := c.first(followed, older); ok {
		lines[followedLine] = step
	}
	for i := range c.wants {
		if step, ok := c.first(&c.wants[i], newer, older); ok {
			lines[c.wants[i].distributor] = step
		}
	}
	some = c.turns.ServeOne(lines, strings.Compare, func(step pastStep) (cost int) {
		err = c.step(ctx, step.way, step.ask)
		return 1
	})
	return some, err
}

// first is the first request at one of the ends.
func (c *contractsPast) first(of *wantedAsks, ways ...direction) (step pastStep, ok bool) {
	for _, way := range ways {
		for i := range of.pairs {
			for k := range of.pairs[i].asks {
				if one := &of.pairs[i].asks[k]; c.pending(way, one) {
					return pastStep{one, way}, true
				}
			}
		}
	}
	return step, false
}

// look sees what clients want.
func (c *contractsPast) look(ctx context.Context) error {
	c.looked = c.now()
	lines, err := c.wanted.lines(ctx, c.lists)
	if err != nil {
		return err
	}
	c.wants = nil
	for _, line := range lines {
		c.wants = append(c.wants, c.asksOf(line.Distributor, line.Things))
	}
	return nil
}

func (c *contractsPast) asksOf(distributor string, pairs []market.Pair) wantedAsks {
	of := wantedAsks{distributor: distributor}
	for _, pair := range pairs {
		of.pairs = append(of.pairs, wantedPair{pair.Key, asksOfOne(contract{pair, c.venue, c.venue})})
	}
	return of
}

// forgetOthers drops what was delivered of what is neither followed nor wanted.
func (c *contractsPast) forgetOthers(ctx context.Context, followed *wantedAsks) error {
	asked := map[string]bool{}
	for _, of := range append(slices.Clip(c.wants), *followed) {
		for _, one := range of.asks() {
			asked[one.name] = true
		}
	}
	keys, err := c.forget(ctx, func(name string) bool { return asked[name] })
	for _, key := range keys {
		delete(c.said, key)
	}
	return err
}

// sayStored says of perpetuals, followed and wanted, that all of their past is stored, once it is.
func (c *contractsPast) sayStored(ctx context.Context, followed *wantedAsks) error {
	var keys []string
	for _, of := range append(slices.Clip(c.wants), *followed) {
		for i := range of.pairs {
			if pair := &of.pairs[i]; !c.said[pair.key] && c.complete(pair.asks) {
				c.said[pair.key] = true
				keys = append(keys, pair.key)
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return c.sayComplete(ctx, keys)
}
