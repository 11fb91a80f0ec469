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

// Funding asks for the funding that each perpetual paid: at the start for what
// is not stored yet, and after every full hour for that hour. It takes a part of
// the venue's budget only, so that a first start, which asks for a month of
// every coin, does not keep the others waiting.
type Funding struct {
	Info  *Info // shared with whatever else spends of the venue's budget
	Stats *Stats
	Log   *slog.Logger

	// Newest is the time of the last funding of a coin that is stored as the
	// venue reported it, zero without any.
	Newest func(ctx context.Context, coin string) (time.Time, error)

	Now   func() time.Time // nil means time.Now
	Every time.Duration    // how often to see whether an hour is over; 0 means 15 s
}

const (
	fundingBack   = 30 * 24 * time.Hour // of a coin that nothing is stored of
	fundingEvery  = 15 * time.Second
	fundingSettle = 10 * time.Second // after the hour, the venue has reported it
	fundingWeight = 300              // of the budget of a minute
	fundingPage   = 500              // the most that one answer holds
)

// weightFunding of one fundingHistory: 20, and 1 for every 20 items.
const weightFunding = weightOther + fundingPage/20

// Follow delivers funding until ctx ends or the sink fails. It runs in the
// caller's goroutine.
func (f *Funding) Follow(ctx context.Context, sink Sink) error {
	if f.Now == nil {
		f.Now = time.Now
	}
	share := source.NewBudget(fundingWeight, time.Now)
	known := map[string]time.Time{} // the newest of each coin
	var done time.Time              // the hour that everything is known of
	for try := 1; ; {
		pause := cmp.Or(f.Every, fundingEvery)
		if hour := f.Now().Add(-fundingSettle).Truncate(time.Hour); hour.After(done) {
			err := f.round(ctx, share, hour, known, sink)
			if end := final(ctx, err); end != nil {
				return end
			}
			if err != nil {
				f.Log.Warn("cannot ask for funding; trying again", "error", err.Error())
				pause = max(pause, pauses.Delay(try-1))
				try++
			} else {
				done, try = hour, 1
			}
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// round asks for every coin whose funding of the hour is not known. A coin
// that the venue refuses is left for the next hour.
func (f *Funding) round(ctx context.Context, share *source.Budget, hour time.Time, known map[string]time.Time, sink Sink) error {
	coins, err := f.coins(ctx)
	if err != nil {
		return err
	}
	for _, coin := range coins {
		if _, ok := known[coin]; !ok {
			newest, err := f.Newest(ctx, coin)
			if err != nil {
				return fmt.Errorf("read the newest funding of %s: %w", coin, err)
			}
			known[coin] = newest
		}
		for full := true; full && known[coin].Before(hour); {
			from := f.Now().Add(-fundingBack)
			if newest := known[coin]; newest.After(from) {
				from = newest.Add(time.Millisecond)
			}
			if err := share.Spend(ctx, weightFunding); err != nil {
				return err
			}
			fundings, malformed, err := f.Info.FundingHistory(ctx, coin, from)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			f.Stats.Malformed.Add(int64(malformed))
			if err != nil {
				f.Log.Warn("cannot ask for the funding of a coin", "coin", coin, "error", err.Error())
				break
			}
			full = len(fundings)+malformed >= fundingPage
			if len(fundings) == 0 {
				break
			}
			d := Delivery{Events: market.Events{Funding: fundings}}
			f.Stats.Lines.Add(1)
			if err := emit(ctx, f.Now(), &d, f.Stats, f.Log, sink); err != nil {
				return source.OfSink(err)
			}
			newest := known[coin]
			for i := range d.Events.Funding {
				if at := time.UnixMilli(d.Events.Funding[i].Time).UTC(); at.After(newest) {
					newest = at
				}
			}
			if newest.Equal(known[coin]) { // it would answer the same again and again
				break
			}
			known[coin] = newest
		}
	}
	return nil
}

// coins are those of all dexs that are traded, the main one's first. Strangers make the other
// dexs: the coins of one that cannot be described are left for the next hour.
func (f *Funding) coins(ctx context.Context) ([]string, error) {
	dexs, err := f.Info.PerpDexs(ctx)
	if err != nil {
		return nil, err
	}
	traded := make([][]string, len(dexs))
	asks, asking := guard.WithContext(ctx)
	asks.SetLimit(dexsAtOnce)
	for i, dex := range dexs {
		asks.Go(func() error {
			raw, err := f.Info.Meta(asking, dex)
			if err == nil {
				traded[i], err = wire.TradedCoins(raw)
			}
			if err == nil || dex == "" || asking.Err() != nil {
				return err
			}
			f.Stats.Malformed.Add(1)
			f.Log.Warn("the funding of a dex is left out for an hour", "dex", dex, "error", err.Error())
			return nil
		})
	}
	if err := asks.Wait(); err != nil {
		return nil, err
	}
	var coins []string
	for _, coin := range slices.Concat(traded...) {
		if f.Info.coins.take(coin) {
			coins = append(coins, coin)
		}
	}
	return coins, nil
}

// FundingHistory returns what a coin paid from a time on, oldest first, at most
// 500 hours of it, and how many of them could not be read.
func (i *Info) FundingHistory(ctx context.Context, coin string, from time.Time) (fundings []market.Funding, malformed int, err error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightFunding, infoRequest{Type: "fundingHistory", Coin: coin, StartTime: from.UnixMilli()}, &raw); err != nil {
		return nil, 0, err
	}
	return wire.ParseFundings(raw, coin)
}
