package marketflash

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/pairtickers"
	"quotary/shared/market"
)

// large is how many coins are large.
const large = 10

// coin is a coin with the ticker of its pair or its perpetual.
type coin struct {
	name   string // in capitals
	en, cn string // the same as flashes call it
	unit   string // of its price
	pairtickers.Ticker
}

// coins are those that have a spot pair in USDT or a perpetual, of the highest turnover first.
func (w *writer) coins() (list []coin) {
	seen, listed := map[string]bool{}, map[string]bool{}
	for _, platform := range []string{"binance", "okex", "bybit"} {
		for i := range w.Snapshot.Pairs.Pairs {
			p := &w.Snapshot.Pairs.Pairs[i]
			if p.Platform != platform || p.Swap || p.Quote != "USDT" {
				continue
			}
			if listed[p.Coin()] = true; seen[p.Coin()] {
				continue
			}
			if t, ok := w.Tickers.Lookup(p.Key); ok && t.Last.IsPos() && t.Open.IsPos() {
				name := strings.ToUpper(p.Base)
				seen[p.Coin()] = true
				list = append(list, coin{name, name, name, p.Quote, t})
			}
		}
	}
	list = append(list, w.perpetuals(listed)...)
	slices.SortFunc(list, func(a, b coin) int { return cmp.Or(b.Amount.Cmp(a.Amount), cmp.Compare(a.name, b.name)) })
	return list
}

// freshFor is how old the figures of perpetuals may be.
const freshFor = 10 * time.Minute

// PerpKey is the key of a perpetual's daily K-lines, unlike that of any pair.
func PerpKey(coin string) string { return "perp " + coin }

// perpetuals are the coins of Hyperliquid that are not listed on another exchange, also under
// another name (kPEPE).
func (w *writer) perpetuals(listed map[string]bool) (list []coin) {
	if w.AwaitSpot || w.Now.UnixMilli()-w.Perps.Time > freshFor.Milliseconds() {
		return nil
	}
	for i := range w.Perps.Coins {
		c := &w.Perps.Coins[i]
		name := strings.ToUpper(c.Coin)
		if listed[market.CoinOfBase(c.Coin)] || !c.Mark.IsPos() || !c.Day.Open.IsPos() {
			continue
		}
		listed[market.CoinOfBase(c.Coin)] = true
		list = append(list, coin{name, c.Coin + " perpetual (Hyperliquid)", c.Coin + " 永续合约（Hyperliquid）", "USD", perpTicker(c)})
	}
	return list
}

// perpTicker is the figures of a perpetual in the shape of a pair's.
func perpTicker(c *market.Context) pairtickers.Ticker {
	return pairtickers.Ticker{Pair: PerpKey(c.Coin), Last: c.Mark, Open: c.Day.Open, Size: c.Day.Size, Amount: c.Day.Amount}
}
