package perp

import (
	"fmt"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
)

// drawAccounts has an event or two a batch of accounts that open, turn and close
// positions, pay for them and move funds.
func drawAccounts(t *rapid.T) (all []*Batch) {
	positions := map[string]int{} // by account and coin, tenths
	ms := int64(base)
	for i := range rapid.IntRange(1, 40).Draw(t, "events") {
		ms += rapid.SampledFrom([]int64{1, 700, 60_000, 3_600_000, 90_000_000}).Draw(t, "step")
		address := fmt.Sprintf("0x%040d", rapid.IntRange(1, 2).Draw(t, "account"))
		coin := rapid.SampledFrom([]string{"BTC", "xyz:GOLD"}).Draw(t, "coin")
		held := positions[address+coin]
		b := NewBatch()
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			if held != 0 {
				b.Payments = []market.FundingPayment{{Address: address, Coin: coin, Time: ms, USDC: "-0.25", Szi: tenths(held), Rate: "0.0001", Seq: int64(i)}}
			}
		case 1:
			b.Ledgers = []market.Ledger{{Address: address, Time: ms, Hash: fmt.Sprint("0x", i), Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "5.5", Delta: []byte(`{"type":"deposit","usdc":"5.5"}`)}}
		case 2:
			f := market.Fill{
				Address: address, Coin: "@107", Px: "2.5", Sz: "4.0", Side: market.Buy, Time: ms, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.25", FeeToken: "HYPE",
				Dir: "Buy", Hash: "0x0", Oid: int64(1000 + i/4), Tid: int64(10*i + 1), Seq: int64(i) * 1_000_000, Crossed: i%2 == 0,
			}
			b.Fills, b.Orders = []market.Fill{f}, []market.OrderStatus{filledBy(&f)}
		default:
			size := rapid.IntRange(1, 30).Draw(t, "size")
			if held != 0 && rapid.Bool().Draw(t, "close") {
				size = max(held, -held)
			}
			for part := range rapid.IntRange(1, 2).Draw(t, "fills of the block") {
				f := market.Fill{
					Address: address, Coin: coin, Px: fmt.Sprintf("%d.5", 10+i), Sz: tenths(size), Side: market.Buy, Time: ms, StartPosition: tenths(held),
					ClosedPnl: "0.0", Fee: "0.01", FeeToken: "USDC", Dir: "Open Long", Hash: "0x0", Oid: int64(i), Tid: int64(10*i + part + 1), Seq: int64(i)*1_000_000 + int64(part),
				}
				if held > 0 {
					f.Side, f.ClosedPnl = market.Sell, "1.25"
					held -= size
				} else {
					if held < 0 {
						f.ClosedPnl = "-0.75"
					}
					held += size
				}
				b.Fills = append(b.Fills, f)
			}
			positions[address+coin] = held
			if rapid.Bool().Draw(t, "the order is filled") {
				b.Orders = append(b.Orders, filledBy(&b.Fills[len(b.Fills)-1]))
			}
		}
		all = append(all, b)
	}
	return all
}

// filledBy is that an order was filled to its end by a fill.
func filledBy(f *market.Fill) market.OrderStatus {
	return market.OrderStatus{
		Address: f.Address, Coin: f.Coin, Side: string(f.Side), LimitPx: f.Px, Sz: "0.0", OrigSz: f.Sz, Oid: f.Oid, OrderType: "Limit",
		Status: market.StatusFilled, Time: f.Time, Timestamp: f.Time, Seq: f.Seq,
	}
}

func tenths(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return sign + strconv.Itoa(n/10) + "." + strconv.Itoa(n%10)
}

// accountsOf folds every account in the order of its events.
func accountsOf(batches []*Batch) map[store.SeriesAt]store.Point {
	rows, _ := foldedAccounts(batches)
	return rows
}

// foldedAccounts also returns the completed trades.
func foldedAccounts(batches []*Batch) (map[store.SeriesAt]store.Point, []market.CompletedTrade) {
	p := newAccountStates(nil, nil)
	for _, b := range batches {
		p.enqueue(b, noon)
	}
	rows := map[store.SeriesAt]store.Point{}
	for address, c := range p.cache {
		c.state, c.stats, c.facts = &market.Account{Address: address}, new(accountstats.Kept), new(traderfacts.Kept)
		slices.SortStableFunc(c.queue, func(a, b accountEvent) int { return a.compare(&b) })
		for i := range c.queue {
			p.apply(c, &c.queue[i], noon)
		}
		own := accounts.Row(c.state)
		days, open := c.facts.Rows(address)
		if open != nil {
			days = append(days, *open)
		}
		for _, row := range append(days, own, c.stats.Row(c.state, accountstats.VersionOf(own.Extra, c.facts.Stored()))) {
			rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
		}
	}
	return rows, p.trades
}
