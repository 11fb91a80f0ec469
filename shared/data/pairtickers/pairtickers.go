// Package pairtickers is the view of the last 24 hours of every pair that trades on a
// centralised exchange, as the exchanges tell it.
package pairtickers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "pairtickers"

// View is the state of all pairs.
type View struct {
	Time    int64    `json:"time"`    // of the newest ticker, ms
	Tickers []Ticker `json:"tickers"` // by pair
}

// Ticker is the last 24 hours of a pair; see [market.PairTicker].
type Ticker struct {
	Pair   string         `json:"pair"`
	Time   int64          `json:"time"` // ms
	Last   market.Decimal `json:"last"`
	Open   market.Decimal `json:"open"`
	High   market.Decimal `json:"high"`
	Low    market.Decimal `json:"low"`
	Size   market.Decimal `json:"size"`
	Amount market.Decimal `json:"amount"`
}

// Lookup returns the ticker of a pair; false for one without.
func (v View) Lookup(pair string) (Ticker, bool) {
	return dataset.Find(v.Tickers, pair, func(t *Ticker) string { return t.Pair })
}

// Degree is the change of the price in the 24 hours, in percent to two places; false where it is
// not known.
func (t *Ticker) Degree() (market.Decimal, bool) {
	if !t.Open.IsPos() || !t.Last.IsPos() {
		return market.Decimal{}, false
	}
	degree, err := t.Last.Sub(t.Open).Mul(hundred).Div(t.Open)
	return degree.RoundHAZ(2), err == nil
}

var hundred = market.DecimalFromInt(100)

// stable are the coins that count as one US dollar.
var stable = map[string]bool{"usd": true, "usdt": true, "usdc": true, "fdusd": true, "tusd": true, "busd": true, "dai": true, "usde": true}

// Dollars is how many US dollars a coin is, in any case: one of a stable coin, else the
// last price of its pair with USDT on an exchange, or on another one; false where none is
// known.
func (v View) Dollars(coin, platform string) (market.Decimal, bool) {
	coin = strings.ToLower(coin)
	if stable[coin] {
		return one, true
	}
	for _, on := range [...]string{platform, "binance", "okex", "bybit"} {
		if t, ok := v.Lookup(market.PairKey(coin, "usdt", on, false)); ok && t.Last.IsPos() {
			return t.Last, true
		}
	}
	return market.Decimal{}, false
}

var one = market.DecimalFromInt(1)

// Published is how the view is stored. The exchanges are asked every ten seconds.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Tickers, func(a, b Ticker) int { return cmp.Compare(a.Pair, b.Pair) })
}}
