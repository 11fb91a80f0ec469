package market

import "encoding/json"

// Events is a run of what one source emitted, each kind in the order it came. A
// source that has fills leaves the trades behind them to [AppendTrades];
// Trades holds those of sources that know no accounts' fills.
type Events struct {
	Fills  []Fill
	Trades []Trade
	// TradesWhole says since when all trades of a coin have come, of coins of which some may be missing
	// before: it is said when a source begins with one, and when it has lost some.
	TradesWhole []TradesWhole
	// Provisional are the fills of both sides of Trades where nobody tells those of accounts as
	// they happen: see [Fill.Provisional].
	Provisional []Fill

	Mids  []Mids
	Meta  *Meta
	Books []Book // replace those before, coin by coin

	Contexts []Contexts
	Funding  []Funding // as paid; one that comes again is the same
	Orders   []OrderStatus
	Payments []FundingPayment
	Ledgers  []Ledger
	Twaps    []TwapStatus
	Vaults   []Vaults

	// What follows is for the live feeds and is not stored.
	BBOs []BBO // replace those before, coin by coin

	// Anchors correct what is folded of accounts, and are not stored themselves.
	Anchors []Anchor
	// AnchorRequests are addresses of accounts about which the venue is about to be asked:
	// whoever folds keeps, from here on, what is needed to compare with the answer at the
	// answer's own time. They are not stored either.
	AnchorRequests []string
}

// TradesWhole says since when all trades of a coin have come.
type TradesWhole struct {
	Coin  string
	Since int64 // ms
}

// Len is the number of events.
func (e *Events) Len() int {
	n := len(e.Fills) + len(e.Trades) + len(e.TradesWhole) + len(e.Provisional) + len(e.Mids) + len(e.Books) + len(e.Contexts) + len(e.Funding) + len(e.BBOs) + len(e.Orders) + len(e.Payments) + len(e.Ledgers) + len(e.Twaps) + len(e.Vaults) + len(e.Anchors) + len(e.AnchorRequests)
	if e.Meta != nil {
		n++
	}
	return n
}

// Merge appends later, a run that came after e. It may keep what later holds; nil
// changes nothing.
func (e *Events) Merge(later *Events) {
	if later == nil {
		return
	}
	e.Fills = join(e.Fills, later.Fills)
	e.Trades = join(e.Trades, later.Trades)
	e.Provisional = join(e.Provisional, later.Provisional)
	e.TradesWhole = join(e.TradesWhole, later.TradesWhole)
	e.Mids = join(e.Mids, later.Mids)
	if later.Meta != nil {
		e.Meta = later.Meta
	}
	e.Books = join(e.Books, later.Books)
	e.Contexts = join(e.Contexts, later.Contexts)
	e.Funding = join(e.Funding, later.Funding)
	e.Orders = join(e.Orders, later.Orders)
	e.Payments = join(e.Payments, later.Payments)
	e.Ledgers = join(e.Ledgers, later.Ledgers)
	e.Twaps = join(e.Twaps, later.Twaps)
	e.Vaults = join(e.Vaults, later.Vaults)
	e.BBOs = join(e.BBOs, later.BBOs)
	e.Anchors, e.AnchorRequests = join(e.Anchors, later.Anchors), join(e.AnchorRequests, later.AnchorRequests)
}

func join[T any](have, more []T) []T {
	if have == nil {
		return more
	}
	return append(have, more...)
}

// Mids are the mid prices of all coins of one dex, a part of the venue that one
// party runs. They replace those before.
type Mids struct {
	Dex  string            // "" is the main dex and spot
	Time int64             // when the source gave it, ms
	Px   map[string]string // by coin, quote units
}

// Meta is the venue's own description of its markets, as it wrote it.
type Meta struct {
	Time  int64                      // when the source gave it, ms
	Perps map[string]json.RawMessage // by dex, "" is the main one: {"universe":[{"name","szDecimals","maxLeverage",..}], ..}
	Spot  json.RawMessage            // {"tokens":[..],"universe":[..]}
}
