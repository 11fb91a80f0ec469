package hyperliquid

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// markets asks what there is to follow, again and again.
func (f *Feed) markets(ctx context.Context, sink Sink) error {
	for try := 1; ; {
		meta, mids, err := f.look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause := cmp.Or(f.MetaEvery, metaEvery)
		if err != nil {
			f.Log.Warn("cannot look at the venue's markets; trying again", "error", err.Error())
			pause = min(pause, pauses.Delay(try-1))
			try++
		} else {
			try = 1
			d := Delivery{Events: market.Events{Meta: meta, Mids: mids}}
			if err := emit(ctx, time.Now(), &d, f.Stats, f.Log, sink); err != nil {
				return err
			}
			f.wantAll(meta) // after its mid prices, so that they do not come late
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// look asks for all descriptions and mid prices.
func (f *Feed) look(ctx context.Context) (*market.Meta, []market.Mids, error) {
	dexs, err := f.info.PerpDexs(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.described == nil && f.Stored != nil {
		if f.described, err = f.Stored(ctx); err != nil {
			return nil, nil, fmt.Errorf("reading what is stored of dexs: %w", err)
		}
	}
	looks := make([]dexLook, len(dexs))
	asks, asking := guard.WithContext(ctx)
	asks.SetLimit(dexsAtOnce)
	for i, dex := range dexs {
		if f.silent.has(dex, time.Now()) {
			continue
		}
		asks.Go(func() error {
			looks[i] = f.lookAt(asking, dex)
			if dex == "" {
				return looks[i].err
			}
			return nil // strangers make dexs: one that does not answer costs no other
		})
	}
	if err := asks.Wait(); err != nil {
		return nil, nil, err
	}
	meta := &market.Meta{Perps: map[string]json.RawMessage{}}
	var mids []market.Mids
	for i, dex := range dexs {
		look := &looks[i]
		if known, ok := f.described[dex]; ok {
			meta.Perps[dex] = known // for as long as it does not answer
		}
		switch {
		case look.err != nil && ctx.Err() == nil:
			f.silent.note(dex, time.Now())
			f.Stats.Malformed.Add(1)
			f.Log.Warn("a dex is left out for a while, but for what is known of it", "dex", dex, "for", dexSilentFor.String(), "error", look.err.Error())
		case look.meta != nil:
			meta.Perps[dex] = look.meta
			mids = append(mids, look.mids)
		}
	}
	if meta.Spot, err = f.info.SpotMeta(ctx); err != nil {
		return nil, nil, err
	}
	meta.Time, f.described = time.Now().UnixMilli(), meta.Perps
	return meta, mids, nil
}

// dexsAtOnce is how many dexs are looked at at a time: several that do not answer take as long as
// one.
const dexsAtOnce = 8

// dexLook is what a look at a dex has found: its description and mid prices, or an error.
type dexLook struct {
	meta json.RawMessage
	mids market.Mids
	err  error
}

func (f *Feed) lookAt(ctx context.Context, dex string) dexLook {
	raw, err := f.info.Meta(ctx, dex)
	if err != nil {
		return dexLook{err: err}
	}
	px, err := f.info.AllMids(ctx, dex)
	if err != nil {
		return dexLook{err: err}
	}
	return dexLook{meta: raw, mids: market.Mids{Dex: dex, Time: time.Now().UnixMilli(), Px: px}}
}

// wantAll notes what to subscribe to, in the order in which the limit is spent: all of the main
// dex, the mid prices of the others, which are one subscription each, spot, and the coins of the
// others. Strangers make dexs: one with many coins takes nothing from the main dex or spot, not even
// from what they list later, and from another such dex no more than a coin for each of its.
func (f *Feed) wantAll(meta *market.Meta) {
	left := 0 // out, as there is no room for them
	kinds := f.ofCoins()
	most := maxSubscriptions
	want := func(s subscription) {
		if f.want(s, most) {
			return
		}
		if left++; left == 1 && f.Stats.Dropped.Load() == 0 {
			f.Log.Error("the venue allows no more subscriptions; the rest is left out, from this one on", "type", s.Type, "coin", s.Coin, "dex", s.Dex, "fast", s.Fast, "limit", maxSubscriptions)
		}
	}
	wantCoins := func(coins []string) {
		for _, s := range kinds {
			for _, s.Coin = range coins {
				want(s)
			}
		}
	}
	want(subscription{Type: "allMids"})
	wantCoins(f.traded(meta.Perps[""]))
	var others [][]string
	for _, dex := range slices.Sorted(maps.Keys(meta.Perps)) {
		if dex != "" {
			want(subscription{Type: "allMids", Dex: dex})
			others = append(others, f.traded(meta.Perps[dex]))
		}
	}
	wantCoins(f.traded(meta.Spot))
	most -= listedLater * len(kinds)
	wantCoins(inTurn(others))
	f.Stats.Dropped.Store(int64(left))
}

// listedLater is for how many coins of the main dex and spot there is room left that are listed
// after the start: a subscription is never given up. The venue lists some two a week.
const listedLater = 4

// ofCoins are the kinds of subscription to a coin: trades, whole books, fast ones (see [layers]),
// and best prices, which the books have too, only less often.
func (f *Feed) ofCoins() (kinds []subscription) {
	if f.Trades {
		kinds = append(kinds, subscription{Type: "trades"})
	}
	if f.Books {
		kinds = append(kinds, subscription{Type: "l2Book"}, subscription{Type: "l2Book", Fast: true}, subscription{Type: "bbo"})
	}
	return kinds
}

// inTurn is the first of each list, then the second of each, until all have ended.
func inTurn(lists [][]string) (all []string) {
	for n := 0; len(lists) > 0; n++ {
		lists = slices.DeleteFunc(lists, func(list []string) bool { return len(list) == n })
		for _, list := range lists {
			all = append(all, list[n])
		}
	}
	return all
}

func (f *Feed) traded(description json.RawMessage) []string {
	coins, err := wire.TradedCoins(description)
	if err != nil {
		f.Log.Warn("a description of markets has no universe", "error", err.Error())
	}
	return coins
}

// want notes a subscription; false where there are as many as there may be.
func (f *Feed) want(s subscription, most int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[s] {
		return true
	}
	if len(f.wanted) >= most {
		return false
	}
	f.known[s] = true
	f.wanted = append(f.wanted, s)
	select {
	case f.news <- struct{}{}:
	default:
	}
	return true
}
