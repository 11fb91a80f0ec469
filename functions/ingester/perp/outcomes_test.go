package perp

import (
	"testing"

	"quotary/shared/data/positions"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// TestOutcomesAreTokensOfTheSpotPart reads a block as a node writes it, in which an
// account buys the token of an outcome and sells some of it, and another one is settled.
func TestOutcomesAreTokensOfTheSpotPart(t *testing.T) {
	t.Parallel()
	outcome := func(n int64, side market.Side, size, px, start, pnl, dir string) market.Fill {
		f := step(n, side, size, start, pnl)
		f.Coin, f.Px, f.Dir = "#441", px, dir
		return f
	}
	bought, sold := outcome(1, market.Buy, "5000.0", "0.4", "0.0", "0.0", "Buy"), outcome(2, market.Sell, "2000.0", "0.5", "5000.0", "200.0", "Sell")
	settled := outcome(3, market.Sell, "3000.0", "1.0", "3000.0", "1800.0", market.Settlement)
	w := newAccountWorld(t)
	interest := newOpenInterest()
	for i, c := range []struct {
		fill        market.Fill
		token, usdc string
	}{{bought, "5000", "-2000.1"}, {sold, "3000", "-1000.2"}, {settled, "0", "1999.7"}} {
		b := lines(t, readFillLine, 0, blockLine(int64(i+1), c.fill))
		w.apply(b, soon)
		must.Do(t, interest.Apply(b, nil, w.now))
		a := w.p.cache[faultyAccount]
		spot := map[string]string{"+441": "0"}
		for _, s := range a.state.Spot {
			spot[s.Token] = s.Total.String()
		}
		if spot["+441"] != c.token || spot["USDC"] != c.usdc {
			t.Errorf("after fill %d the spot part is %v, want %s of +441 and %s of USDC", i+1, spot, c.token, c.usdc)
		}
		if s := a.state.State("", nil, nil, 1); len(s.Positions) > 0 || !s.Margin.AccountValue.IsZero() {
			t.Errorf("after fill %d the perpetuals are %+v", i+1, s)
		}
		if len(a.stats.Days) > 0 {
			t.Errorf("after fill %d it trades perpetuals: %+v", i+1, a.stats.TraderStats)
		}
	}
	if len(w.trade) > 0 {
		t.Errorf("completed trades: %v", w.trade)
	}
	if interest.positions.Len() > 0 {
		t.Errorf("the positions are %s", positions.Published.Encode(interest.positions))
	}
	// The public trades are what was bought and sold.
	trades := market.AppendTrades(nil, []market.Fill{bought, sold, settled})
	if len(trades) != 2 {
		t.Errorf("%d trades", len(trades))
	}
}
