package hyperliquid

import (
	"testing"
	"time"

	"quotary/shared/market"
)

// TestTradesAreMissedWhereAConnectionBeginsWithoutTheLastOne of the one before.
func TestTradesAreMissedWhereAConnectionBeginsWithoutTheLastOne(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	trades := func(tids ...int64) (list []market.Trade) {
		for _, tid := range tids {
			list = append(list, market.Trade{Coin: "BTC", Tid: tid, Time: 1000 * tid})
		}
		return list
	}
	type connection struct {
		came  []market.Trade // before the last ones are asked for
		last  []market.Trade
		asked bool
		more  []market.Trade
		want  int64 // since when all have come, 0 where none is missing
	}
	for name, c := range map[string][]connection{
		"the first":                              {{last: trades(5, 3, 4), asked: true, want: 3001}},
		"the first that the venue tells nothing": {{asked: true, want: 1_010_000}},
		"they overlap":                           {{last: trades(3), asked: true, more: trades(4, 5), want: 3001}, {came: trades(8), last: trades(4, 5, 6, 7, 8), asked: true}},
		"they do not":                            {{last: trades(3), asked: true, more: trades(4, 5), want: 3001}, {came: trades(9), last: trades(7, 8, 9), asked: true, want: 7001}},
		"nothing came in between":                {{last: trades(3), asked: true, want: 3001}, {last: trades(2, 3), asked: true}},
		"one was lost before it found out":       {{last: trades(3), asked: true, want: 3001}, {came: trades(6)}, {last: trades(5, 6, 7), asked: true, want: 5001}},
		"the venue refuses to tell":              {{last: trades(3), asked: true, want: 3001}, {came: trades(4), asked: true, want: 1_010_000}, {last: trades(3, 4), asked: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w wholeTrades
			for n, one := range c {
				w.begin()
				w.came(one.came)
				if one.asked {
					if since, lost := w.lost("BTC", one.last, now); since != one.want || lost != (one.want > 0) {
						t.Errorf("connection %d: since %d, %t, want %d", n, since, lost, one.want)
					}
				}
				w.came(one.more)
			}
		})
	}
}
