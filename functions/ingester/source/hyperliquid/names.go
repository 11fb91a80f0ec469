package hyperliquid

import (
	"strings"
	"sync"
)

// How many dexs and coins are taken from the venue: many times as many as it has.
const (
	mostDexs  = 100
	mostCoins = 50_000
)

// names are what the venue calls its dexs or its coins, those that came first: one that
// names others again and again makes nothing grow that is kept of each. They are known for
// as long as the process runs, and may be used by goroutines.
type names struct {
	most int

	mu    sync.Mutex
	taken map[string]bool
}

func newNames(most int) *names { return &names{most: most, taken: map[string]bool{}} }

// take reports whether a name is one of those, or has become one.
func (n *names) take(name string) bool {
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
