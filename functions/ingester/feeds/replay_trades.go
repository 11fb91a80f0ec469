package feeds

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"quotary/shared/data/klines"
	"quotary/shared/market"
)

// sharedTrades are the trades of coins that were read lately, oldest first.
type sharedTrades struct {
	mu    sync.Mutex
	coins map[string]*readLately[market.Trade]
}

// tradesFrom is to what the beginning of a read is rounded, so that it serves others.
const tradesFrom = 10 * time.Minute

func (ts *trades) datasets() []string { return []string{klines.Name} }

func (ts *trades) replayed(ctx context.Context, coin string, from time.Time) iter.Seq2[replayed, error] {
	list, err := ts.readShared(ctx, coin, from)
	return func(yield func(replayed, error) bool) {
		if err != nil {
			yield(replayed{}, err)
			return
		}
		for i := range slices.Backward(list) {
			if list[i].Time < from.UnixMilli() || !yield(ts.replay(&list[i]), nil) {
				return
			}
		}
	}
}

// readShared reads the newest trades of a coin, back to a time where they are not too many.
func (ts *trades) readShared(ctx context.Context, coin string, from time.Time) ([]market.Trade, error) {
	ts.read.mu.Lock()
	now := ts.Now()
	for name, one := range ts.read.coins {
		if name != coin && one.forget(now) {
			delete(ts.read.coins, name)
		}
	}
	if ts.read.coins == nil {
		ts.read.coins = map[string]*readLately[market.Trade]{}
	}
	one := ts.read.coins[coin]
	if one == nil {
		one = new(readLately[market.Trade])
		ts.read.coins[coin] = one
	}
	ts.read.mu.Unlock()

	return one.since(from, now, func() (begin time.Time, list []market.Trade, all bool, err error) {
		begin = from.Truncate(tradesFrom)
		list, all, err = klines.TradesSince(ctx, ts.Series, coin, begin, replayMost+1)
		return begin, list, all, err
	})
}

func (ts *trades) recent(about map[string]bool) []replayed {
	return recentlyOf(&ts.arriving.recentTrades, about, func(t *market.Trade) string { return t.Coin }, ts.replay)
}

func (ts *trades) replay(t *market.Trade) replayed {
	return replayed{t.Coin, tradeKey{t.Time, t.Tid}, t.Arrival, t.Time, t.AppendJSON(make([]byte, 0, 384))}
}

func (ts *trades) replayFrame(_ string, bodies [][]byte) []byte { return tradesFrame(bodies) }
