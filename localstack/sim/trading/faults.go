package trading

import (
	"sync"

	"quotary/localstack/sim/sockets"
)

// Faults are what goes wrong at an exchange when a test asks for it, and the connections that
// it goes wrong on. The zero value has none. It is safe for concurrent use.
type Faults struct {
	Sockets sockets.Set

	mu                      sync.Mutex
	refuse, trades, updates int
}

// Refuse answers the next requests, so many, as too many.
func (f *Faults) Refuse(requests int) { f.set(&f.refuse, requests) }

// Lose does not push the next trades, so many of all markets and connections.
func (f *Faults) Lose(trades int) { f.set(&f.trades, trades) }

// LoseBooks does not push the next updates of order books, so many of all markets and
// connections.
func (f *Faults) LoseBooks(updates int) { f.set(&f.updates, updates) }

// Disconnect ends every connection at once.
func (f *Faults) Disconnect() { f.Sockets.Disconnect() }

// Refused reports whether this request is to be refused.
func (f *Faults) Refused() bool { return f.spend(&f.refuse) }

// TradeLost reports whether the next trade is not to be pushed.
func (f *Faults) TradeLost() bool { return f.spend(&f.trades) }

// UpdateLost reports whether the next update of an order book is not to be pushed.
func (f *Faults) UpdateLost() bool { return f.spend(&f.updates) }

func (f *Faults) set(to *int, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*to = n
}

func (f *Faults) spend(left *int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *left == 0 {
		return false
	}
	*left--
	return true
}
