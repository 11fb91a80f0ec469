package exchange

import (
	"context"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
)

// coinsPast emits what is made of the past of the followed perpetuals of several exchanges
// together: sums of open interest, and the rates that were paid of each coin. Each of these is
// asked for by itself, of all of its perpetuals: it waits for an exchange that does not answer,
// as the sum of the others would be wrong, and what is made without that exchange does not.
//
// The newest of each comes first and then, backwards, as much as the configuration says; behind
// it, every five minutes, what has come since. The past of a sum and of a coin's rate stays that
// of the perpetuals that were followed when it was asked for: what they said minute by minute
// stands between.
type coinsPast struct {
	pastSpans
	venues []listedVenue
	busy   map[string]bool // names of asks that are under way; under mu
}

// listedVenue is a venue of perpetuals with its lists.
type listedVenue struct {
	*patientVenue
	lists *lister
}

// listPatience is for how long what is made of several exchanges waits at the beginning for one
// that does not list its pairs: for as long as the sums of what happens wait for a value.
const listPatience = time.Duration(valueFor) * time.Millisecond

// follow emits until ctx ends or the sink fails.
func (c *coinsPast) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	if err := c.begin(from, sink); err != nil {
		return err
	}
	c.busy = map[string]bool{}
	// A perpetual alone is for the source of its venue, which says again what it has.
	if _, err := c.forget(ctx, isOfCoin); err != nil {
		return err
	}
	if err := c.awaitLists(ctx); err != nil {
		return err
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return c.rounds(ctx, group) })
	return group.Wait()
}

// awaitLists waits until each venue has listed its pairs, as its own sources have it do, or for
// [listPatience].
func (c *coinsPast) awaitLists(ctx context.Context) error {
	patience := time.NewTimer(listPatience)
	defer patience.Stop()
	for _, v := range c.venues {
		select {
		case <-v.lists.first:
		case <-patience.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// rounds begins to ask for everything, round by round, in a goroutine of the group each. What is
// still asked for since an earlier round is left alone.
func (c *coinsPast) rounds(ctx context.Context, group *guard.Group) error {
	for {
		c.round()
		asks, all := c.asks()
		if all {
			if err := c.forgetOthers(ctx, asks); err != nil {
				return err
			}
		}
		for i := range asks {
			if a := &asks[i]; c.start(a) {
				group.Go(func() error {
					defer c.ended(a)
					return c.askFor(ctx, a)
				})
			}
		}
		for began := c.now(); ; {
			left := c.next(began).Sub(c.now())
			if left <= 0 {
				break
			}
			if err := c.sleep(ctx, min(left, quietRepeat)); err != nil { // something may be refused meanwhile
				return err
			}
		}
	}
}

// asks are those of the perpetuals that are followed, and whether all venues have listed theirs.
func (c *coinsPast) asks() (asks []ask, all bool) {
	coins := map[string][]contract{}
	all = true
	for _, v := range c.venues {
		for _, pair := range v.lists.lastFollowed() {
			coins[pair.Coin()] = append(coins[pair.Coin()], contract{pair, v, v})
		}
		all = all && v.lists.known.Load() != nil
	}
	return asksOfCoins(coins), all
}

// forgetOthers drops what was delivered of coins and sums that are not asked for.
func (c *coinsPast) forgetOthers(ctx context.Context, asks []ask) error {
	asked := make(map[string]bool, len(asks))
	for i := range asks {
		asked[asks[i].name] = true
	}
	_, err := c.forget(ctx, func(name string) bool { return asked[name] })
	return err
}

// start reports whether an ask may begin, which is then under way until it has ended.
func (c *coinsPast) start(a *ask) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	started := !c.busy[a.name]
	c.busy[a.name] = true
	return started
}

func (c *coinsPast) ended(a *ask) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, a.name)
}

// askFor asks for all of something, what is newest first, until it is refused.
func (c *coinsPast) askFor(ctx context.Context, a *ask) error {
	for {
		way := newer
		if !c.pending(newer, a) {
			way = older
			if !c.pending(older, a) {
				return nil
			}
		}
		if err := c.step(ctx, way, a); err != nil {
			return err
		}
	}
}
