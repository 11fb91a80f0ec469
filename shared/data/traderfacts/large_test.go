package traderfacts_test

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// The venue tells who trades what, how much and by whom: no row of it may be such as the store does not take,
// and what else an account did is known also where there is no room for what its builders routed, of whom
// it is known that they did.
func TestEveryRowFits(t *testing.T) {
	t.Parallel()
	const day, hour = 86_400_000, 3_600_000
	long := strings.Repeat("9", 48)
	longCoin := func(n int) string { return fmt.Sprintf("%s%05d", strings.Repeat("x", market.MaxName-5), n) }
	for name, c := range map[string]struct {
		figure string
		coins  int
		routed bool // what builders routed is kept
	}{
		"a busy trader":     {"12.345678", 200, true},
		"the longest names": {"12.345678", market.MostCoins, true},
		"figures of none":   {long, market.MostCoins, false},
	} {
		k, coin := new(traderfacts.Kept), 0
		var first, rows []store.SeriesRow
		for _, days := range []int64{20_000, 20_001, 20_002} {
			for at := days * day; at < (days+1)*day; at += hour {
				for n := range int64(2 * market.MostBuilders) {
					f := market.Fill{
						Address: fmt.Sprintf("0x%040x", 1), Coin: longCoin(coin % c.coins), Px: c.figure, Sz: c.figure, Side: market.Buy, Time: at + n, StartPosition: "0.0", ClosedPnl: c.figure,
						Fee: c.figure, FeeToken: "HYPE", Oid: at + n, Tid: at + n, Builder: fmt.Sprintf("0x%040x", 1000+n), BuilderFee: c.figure,
					}
					if coin++; n%3 == 0 {
						f.Liquidation = &market.Liquidation{LiquidatedUser: f.Address, MarkPx: "1.0", Method: "market"}
					}
					must.Do(t, f.Check())
					k.Fill(&f)
					k.Complete(&market.CompletedTrade{Coin: f.Coin, End: f.Time, Leverage: 1, Pnl: f.Notional(), MaxValue: f.Notional(), Funding: f.Notional()})
				}
			}
			closed, open := k.Rows("0x1")
			first, rows = append(first, closed...), append(append(rows, closed...), *open)
		}
		for _, row := range rows {
			if len(row.Extra) > traderfacts.MostBytes {
				t.Errorf("%s: a row of %d bytes", name, len(row.Extra))
			}
		}
		did := must.Get(traderfacts.Decode(first[0].Point))(t)[20_000*day]
		unknown := int64(0)
		for i := range did.Builders {
			unknown += did.Builders[i].Unknown
		}
		want, leftOut := int64(0), k.TakeLeftOut()
		if !c.routed {
			want = market.MostBuilders
		}
		if fills := did.Fills(); fills.All().Count != 2*market.MostBuilders || len(did.Builders) != market.MostBuilders || unknown != want || leftOut > 0 == c.routed {
			t.Errorf("%s: %d fills of an hour are known, and %d builders, of %d not what they routed; %d rows had no room", name, fills.All().Count, len(did.Builders), unknown, leftOut)
		}
	}
}
