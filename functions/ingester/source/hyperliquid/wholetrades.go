package hyperliquid

import (
	"slices"
	"sync"
	"time"

	"quotary/shared/market"
)

// wholeTrades finds whether trades of a coin were missed between two connections: not where the last ones that the
// venue tells at the beginning of one have the last that came by the one before. The zero value has seen none.
type wholeTrades struct {
	mu     sync.Mutex
	newest map[string]int64 // tid by coin
	before map[string]int64 // the same as the connection began, without those of which the one before did not find out
	found  map[string]bool  // of which this connection has found out
}

// clockMost is how far the venue's clock may be ahead of ours.
const clockMost = 10 * time.Second

// begin begins a connection.
func (w *wholeTrades) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = map[string]int64{}
	for coin, tid := range w.newest {
		if w.found[coin] {
			w.before[coin] = tid
		}
	}
	w.found = map[string]bool{}
}

// came notes trades that the connection has brought, oldest first.
func (w *wholeTrades) came(trades []market.Trade) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.newest == nil {
		w.newest = map[string]int64{}
	}
	for i := range trades {
		w.newest[trades[i].Coin] = trades[i].Tid
	}
}

// lost is since when, ms, all trades of a coin have come, where some may be missing before; ok is false where none are. The
// connection is subscribed to them, and trades are the last ones that the venue tells, none where it does not.
func (w *wholeTrades) lost(coin string, trades []market.Trade, now time.Time) (since int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found[coin] = true
	last, had := w.before[coin]
	if _, newest := w.newest[coin]; !newest && len(trades) > 0 {
		if w.newest == nil {
			w.newest = map[string]int64{}
		}
		w.newest[coin] = slices.MaxFunc(trades, func(a, b market.Trade) int { return a.Order().Compare(b.Order()) }).Tid
	}
	if had && slices.ContainsFunc(trades, func(t market.Trade) bool { return t.Tid == last }) {
		return 0, false
	}
	since = now.Add(clockMost).UnixMilli()
	for i := range trades {
		since = min(since, trades[i].Time+1) // some of the millisecond of the oldest may be missing
	}
	return since, true
}
