package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/source"
)

// contractsPast emits what exchanges tell of the past of the followed perpetuals: the rates
// that were paid, by pair and by coin, open interest and the shares of accounts. At the
// beginning that is the newest of each and then, backwards, as much as the configuration says;
// behind it, every five minutes, what has come since: so a gap in what is pushed and polled is
// filled, and shares of accounts, which nobody pushes, come this way alone.
//
// Open interest is asked of all perpetuals of a sum at once, as the sum of some of them would
// be wrong: where one of them has none in a time, the others' is emitted without a sum.
type contractsPast struct {
	venues []listedVenue
	config Config
	stats  *source.Stats
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error // by the clock of now

	sink   engine.Sink[*Batch]
	told   map[string]span // by what is asked for
	again  bool            // something was refused in this round
	warned time.Time
}

// span is what was emitted of something, ms: from From until before To.
type span struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// pastPosition is where the source stands, as the checkpoint holds it.
type pastPosition struct {
	Told map[string]span `json:"told"`
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

// steps are the times of which exchanges tell something, ms.
type steps struct {
	every  int64
	window int64 // of what is emitted at once
	again  int64 // of what was emitted that is asked for once more, as it may be told late
}

var (
	paidSteps  = steps{every: 3_600_000, window: 7 * day.Milliseconds(), again: 3_600_000} // rates are paid on full hours
	otherSteps = steps{every: stepEvery, window: pastWindow.Milliseconds()}
)

// follow emits until ctx ends or the sink fails.
func (c *contractsPast) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	position := pastPosition{Told: map[string]span{}}
	if from != nil {
		if err := json.Unmarshal(from, &position); err != nil {
			return fmt.Errorf("read a position: %w", err)
		}
	}
	c.sink, c.told = sink, position.Told
	for {
		coins, err := c.followed(ctx)
		if err != nil {
			return err
		}
		c.again = false
		// What is newest of all, and once more what of it was refused, before what is old of any.
		for _, way := range []direction{onwards, onwards, backwards} {
			for _, coin := range slices.Sorted(maps.Keys(coins)) {
				if err := c.coin(ctx, way, coin, coins[coin]); err != nil {
					return err
				}
			}
		}
		now := c.now()
		next := now.Truncate(pastEvery).Add(pastEvery + pastLag)
		if soon := now.Add(quietRepeat); c.again && soon.Before(next) {
			next = soon
		}
		if err := c.sleep(ctx, next.Sub(now)); err != nil {
			return err
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
	onwards   direction = true
	backwards direction = false
)

// coin emits everything of the perpetuals of a coin that lies in a direction.
func (c *contractsPast) coin(ctx context.Context, way direction, coin string, members []contract) error {
	sums := map[string][]contract{}
	for _, m := range members {
		key := pairseries.Stable(coin)
		if m.Inverse {
			key = pairseries.CoinMargined(coin)
		}
		sums[key] = append(sums[key], m)
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		err := c.each(ctx, way, "interest "+key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			return interestOf(ctx, key, sums[key], from, to)
		})
		if err != nil {
			return err
		}
	}
	for i := range members {
		m := &members[i]
		err := c.each(ctx, way, "funding "+m.Key, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			list, err := m.of.PastFundings(ctx, m.Pair, from, to)
			return &Batch{PairEvents: market.PairEvents{Fundings: list}}, err
		})
		if err != nil {
			return err
		}
		err = c.each(ctx, way, "accounts "+m.Key, otherSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
			list, err := m.of.PastRatios(ctx, m.Pair, from, to)
			return &Batch{PairEvents: market.PairEvents{Ratios: list}}, err
		})
		if err != nil {
			return err
		}
	}
	return c.each(ctx, way, "rates "+coin, paidSteps, func(ctx context.Context, from, to int64) (*Batch, error) {
		return ratesOf(ctx, coin, members, from, to)
	})
}

// interestOf is the open interest of the perpetuals of a sum in a time.
func interestOf(ctx context.Context, key string, members []contract, from, to int64) (*Batch, error) {
	var all []market.PairInterest
	whole := true
	for i := range members {
		list, err := members[i].of.PastInterests(ctx, members[i].Pair, from, to)
		if err != nil {
			return nil, err
		}
		all, whole = append(all, list...), whole && len(list) > 0
	}
	if !whole {
		return &Batch{PairEvents: market.PairEvents{Interests: all}}, nil
	}
	return &Batch{PastInterests: []PastInterest{{Key: key, Interests: all}}}, nil
}

// each asks for what is behind what was emitted, up to the last step that has ended, or for
// what is before it, as far back as the configuration says: a window at a time. What a
// venue refuses is said, and asked for again soon.
func (c *contractsPast) each(ctx context.Context, way direction, name string, s steps, ask func(ctx context.Context, from, to int64) (*Batch, error)) error {
	now := c.now()
	oldest := now.Add(-time.Duration(c.config.Depth.Contracts)*day).UnixMilli() / s.every * s.every
	end := now.UnixMilli()/s.every*s.every + 1
	done, ok := c.told[name]
	if !ok || done.To < oldest {
		first := max(oldest, end-s.window)
		done = span{first, first}
	}
	for {
		next := done
		var asked span
		if way == onwards {
			next.To = min(end, done.To+s.window)
			asked = span{done.To, next.To}
		} else {
			next.From = max(oldest, done.From-s.window)
			asked = span{next.From, done.From}
		}
		if asked.From >= asked.To {
			return nil
		}
		if way == onwards {
			asked.From = max(done.From, asked.From-s.again)
		}
		b, err := ask(ctx, asked.From, asked.To)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			c.refused(name, err)
			return nil
		}
		c.stats.Lines.Add(1)
		done, c.told[name] = next, next
		if err := c.emit(ctx, b); err != nil {
			return err
		}
	}
}

func (c *contractsPast) refused(name string, err error) {
	c.stats.Malformed.Add(1)
	c.again = true
	if now := c.now(); now.Sub(c.warned) >= quietRepeat {
		c.warned = now
		what, key, _ := strings.Cut(name, " ")
		c.config.Logger.Warn("an exchange does not tell the past of a perpetual; asking again in a minute", "what", what, "of", key, "error", fmt.Sprintf("%.200s", err))
	}
}

// emit delivers a batch and where the source stands behind it.
func (c *contractsPast) emit(ctx context.Context, b *Batch) error {
	position, err := json.Marshal(pastPosition{c.told})
	if err != nil {
		return fmt.Errorf("encode a position: %w", err)
	}
	c.stats.Seen(c.now(), 0)
	return c.sink(ctx, engine.Delivery[*Batch]{Batch: b, Position: position})
}
