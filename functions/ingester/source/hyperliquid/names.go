package hyperliquid

import (
	"slices"
	"strings"
	"sync"

	"quotary/shared/market"
)

// How many dexs and coins are taken from the venue: many times as many as it has.
const (
	mostDexs  = 100
	mostCoins = 50_000
)

// Names are what the venue calls its dexs or its coins, those that came first: one that
// names others again and again makes nothing grow that is kept of each. They are known for
// as long as the process runs, and may be used by goroutines.
type Names struct {
	most int

	mu    sync.Mutex
	taken map[string]bool
}

// NewCoins returns the coins of a node, none yet: its files share them ([Files.Coins]).
func NewCoins() *Names { return newNames(mostCoins) }

func newNames(most int) *Names { return &Names{most: most, taken: map[string]bool{}} }

// take reports whether a name is one of those, or has become one.
func (n *Names) take(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken[name] {
		return true
	}
	if len(n.taken) == n.most {
		return false
	}
	n.taken[strings.Clone(name)] = true
	return true
}

// drop takes out what is of other coins, and returns how much that is. Nil takes any coin.
func (n *Names) drop(e *market.Events) int {
	if n == nil {
		return 0
	}
	had := e.Len()
	e.Fills = slices.DeleteFunc(e.Fills, func(f market.Fill) bool { return !n.take(f.Coin) })
	e.Orders = slices.DeleteFunc(e.Orders, func(s market.OrderStatus) bool { return !n.take(s.Coin) })
	e.Payments = slices.DeleteFunc(e.Payments, func(p market.FundingPayment) bool { return !n.take(p.Coin) })
	e.Twaps = slices.DeleteFunc(e.Twaps, func(s market.TwapStatus) bool { return !n.take(s.Coin) })
	return had - e.Len()
}
