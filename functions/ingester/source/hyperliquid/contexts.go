package hyperliquid

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// Contexts asks the info endpoint for the figures of all coins, again and again:
// mark prices, open interest, funding. Those of the main dex come every ten
// seconds, for 120 of the 1,200 units of weight a minute; the other dexs and spot
// once a minute, for 20 units each.
type Contexts struct {
	Info  *Info // shared with whatever else spends of the venue's budget
	Stats *Stats
	Log   *slog.Logger

	Every time.Duration // between looks at the main dex; 0 means ten seconds
	Rest  time.Duration // between looks at the others and spot; 0 means a minute
}

const (
	contextsEvery = 10 * time.Second
	contextsRest  = time.Minute
)

// Follow delivers contexts until ctx ends or the sink fails. It owns two goroutines, so that
// nobody waits for the main dex while another does not answer, and ends after both.
func (c *Contexts) Follow(ctx context.Context, sink Sink) error {
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return c.again(ctx, cmp.Or(c.Every, contextsEvery), sink, c.main) })
	var silent silentDexs
	group.Go(func() error {
		return c.again(ctx, cmp.Or(c.Rest, contextsRest), sink, func(ctx context.Context, sink Sink) error { return c.others(ctx, sink, &silent) })
	})
	return group.Wait()
}

// again looks, and looks again so long after, or later where it has failed.
func (c *Contexts) again(ctx context.Context, every time.Duration, sink Sink, look func(context.Context, Sink) error) error {
	for try := 1; ; {
		pause := every
		err := look(ctx, sink)
		if end := final(ctx, err); end != nil {
			return end
		}
		if err != nil {
			c.Log.Warn("cannot ask for the figures of the coins; trying again", "error", err.Error())
			pause = max(pause, pauses.Delay(try-1))
			try++
		} else {
			try = 1
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func (c *Contexts) main(ctx context.Context, sink Sink) error {
	contexts, err := c.Info.Contexts(ctx, "")
	if err != nil {
		return err
	}
	return c.deliver(ctx, sink, contexts)
}

// others asks for spot and the other dexs, but for those that are silent. What cannot be read of
// one does not hold up the others.
func (c *Contexts) others(ctx context.Context, sink Sink, silent *silentDexs) error {
	spot, err := c.Info.SpotContexts(ctx)
	if err := c.noted(ctx, sink, spot, err); err != nil {
		return err
	}
	dexs, err := c.Info.PerpDexs(ctx)
	if err != nil {
		return err
	}
	asks, ctx := guard.WithContext(ctx)
	asks.SetLimit(dexsAtOnce)
	for _, dex := range dexs {
		if dex == "" || silent.has(dex, time.Now()) {
			continue
		}
		asks.Go(func() error {
			contexts, err := c.Info.Contexts(ctx, dex)
			if err != nil {
				silent.note(dex, time.Now())
			}
			return c.noted(ctx, sink, contexts, err)
		})
	}
	return asks.Wait()
}

func (c *Contexts) noted(ctx context.Context, sink Sink, contexts market.Contexts, err error) error {
	switch {
	case err == nil:
		return c.deliver(ctx, sink, contexts)
	case ctx.Err() != nil:
		return err
	}
	c.Stats.Malformed.Add(1)
	c.Log.Warn("cannot ask for the figures of some coins", "error", err.Error())
	return nil
}

func (c *Contexts) deliver(ctx context.Context, sink Sink, contexts market.Contexts) error {
	if contexts.Unread > 0 {
		c.Stats.Malformed.Add(int64(contexts.Unread))
		c.Log.Warn("skipped the figures of coins that cannot be read", "dex", contexts.Dex, "spot", contexts.Spot, "count", contexts.Unread)
	}
	d := Delivery{Events: market.Events{Contexts: []market.Contexts{contexts}}}
	c.Stats.Lines.Add(1)
	return source.OfSink(emit(ctx, time.Now(), &d, c.Stats, c.Log, sink))
}

// Contexts returns the figures of a dex's coins; "" is the main one.
func (i *Info) Contexts(ctx context.Context, dex string) (market.Contexts, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightOther, infoRequest{Type: "metaAndAssetCtxs", Dex: dex}, &raw); err != nil {
		return market.Contexts{}, err
	}
	c, err := wire.ParseContexts(dex, time.Now().UnixMilli(), raw)
	if err != nil {
		return c, fmt.Errorf("dex %q: %w", dex, err)
	}
	i.leaveOut(&c)
	return c, nil
}

// leaveOut leaves out the coins that are not taken.
func (i *Info) leaveOut(c *market.Contexts) {
	all := len(c.Coins)
	c.Coins = slices.DeleteFunc(c.Coins, func(one market.Context) bool { return !i.coins.take(one.Coin) })
	c.Unread += all - len(c.Coins)
}

// SpotContexts returns the figures of the spot markets.
func (i *Info) SpotContexts(ctx context.Context) (market.Contexts, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightOther, infoRequest{Type: "spotMetaAndAssetCtxs"}, &raw); err != nil {
		return market.Contexts{}, err
	}
	c, err := wire.ParseSpotContexts(time.Now().UnixMilli(), raw)
	i.leaveOut(&c)
	return c, err
}
