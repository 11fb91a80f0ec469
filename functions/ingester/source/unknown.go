package source

import (
	"fmt"
	"strings"
	"sync"

	"quotary/shared/market"
)

// unknownMarkets are those that an exchange lists and an adapter leaves out, as it does not know
// what the exchange says of them. It may be used by goroutines.
type unknownMarkets struct {
	mu     sync.Mutex
	said   map[string]bool // what was logged, at most mostSaid
	listed int64           // in the last whole list
	now    int64           // in the list that is being read
}

const mostSaid = 100

// Unknown notes a market that is left out of a list because of what the exchange says of it: a
// kind of contract, a status, a name. Each such value is logged once.
func (i MarketInfo) Unknown(symbol, what, value string) {
	u := i.unknown
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now++
	said := fmt.Sprintf("%s %.50q", what, value)
	if u.said[said] || len(u.said) >= mostSaid {
		return
	}
	u.said[said] = true
	i.Log.Warn("markets are left out, as something that the exchange says of them is not known", "what", what, "value", fmt.Sprintf("%.50q", value), "market", fmt.Sprintf("%.50q", symbol))
}

// Listing begins a list, which listed ends.
func (i MarketInfo) Listing() (listed func()) {
	i.unknown.mu.Lock()
	defer i.unknown.mu.Unlock()
	i.unknown.now = 0
	return func() {
		i.unknown.mu.Lock()
		defer i.unknown.mu.Unlock()
		i.unknown.listed = i.unknown.now
	}
}

// UnknownMarkets is how many markets of the last list were left out as something of them was not
// known.
func (i MarketInfo) UnknownMarkets() int64 {
	i.unknown.mu.Lock()
	defer i.unknown.mu.Unlock()
	return i.unknown.listed
}

// Named reports whether a pair's key can be made of its coins, each name of at most
// [market.MaxName] bytes; it notes a market of which it cannot.
func (i MarketInfo) Named(symbol, base, quote string) bool {
	if market.ValidName(symbol) && market.ValidName(base) && market.ValidName(quote) && !strings.Contains(base+quote, ":") {
		return true
	}
	i.Unknown(symbol, "name", base+"/"+quote)
	return false
}
