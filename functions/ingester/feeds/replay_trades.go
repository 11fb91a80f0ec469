package feeds

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"quotary/shared/data/fills"
	"quotary/shared/data/klines"
	"quotary/shared/market"
)

// sharedTrades are the trades of coins that were read lately: clients that come back together,
// as after an ingester has ended, share what is read.
type sharedTrades struct {
	mu    sync.Mutex
	coins map[string]*readTrades
}

// readTrades are the trades of a coin, as they were stored at a time.
type readTrades struct {
	mu   sync.Mutex // is held while they are read
	from time.Time
	at   time.Time
	list []market.Trade // oldest first
	all  bool           // they reach back to from
}

const (
	// tradesKept is for how long trades that were read are shown: what arrived since is among
	// what arrived lately.
	tradesKept = 10 * time.Second
	// tradesFrom is to what the beginning of a read is rounded, so that it serves others.
	tradesFrom = 10 * time.Minute
)

func (ts *trades) datasets() []string { return []string{fills.Name, klines.Name} }

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
		if name != coin && one.mu.TryLock() { // else it is being read
			if now.Sub(one.at) > tradesKept {
				delete(ts.read.coins, name)
			}
			one.mu.Unlock()
		}
	}
	if ts.read.coins == nil {
		ts.read.coins = map[string]*readTrades{}
	}
	one := ts.read.coins[coin]
	if one == nil {
		one = &readTrades{}
		ts.read.coins[coin] = one
	}
	ts.read.mu.Unlock()

	one.mu.Lock()
	defer one.mu.Unlock()
	if now.Sub(one.at) <= tradesKept && (!one.all || !from.Before(one.from)) {
		return one.list, nil
	}
	begin := from.Truncate(tradesFrom)
	list, all, err := klines.TradesSince(ctx, ts.Series, coin, begin, replayMost+1)
	if err != nil {
		return nil, err
	}
	one.from, one.at, one.list, one.all = begin, now, list, all
	return list, nil
}

func (ts *trades) recent(about map[string]bool) []replayed {
	return recentlyOf(&ts.arriving.recentTrades, about, func(t *market.Trade) string { return t.Coin }, ts.replay)
}

func (ts *trades) replay(t *market.Trade) replayed {
	return replayed{t.Coin, tradeKey{t.Time, t.Tid}, t.Arrival, t.Time, t.AppendJSON(make([]byte, 0, 384))}
}

func (ts *trades) replayFrame(_ string, bodies [][]byte) []byte { return tradesFrame(bodies) }
