package market_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

// history is what some accounts did to each other, kept in whole numbers: sizes of one
// unit, prices and money in millionths of a USDC.
type history struct {
	events map[string][]any // by account, in order: *market.Fill and *market.FundingPayment
	held   map[string]map[string]*book
	fees   map[string]int64
	pnl    map[string]int64
}

var traders = []string{alice, bob, "0xca40100000000000000000000000000000000003"}

// book is a position at its average cost.
type book struct{ size, cost int64 }

func millionths(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%06d", sign, n/1_000_000, n%1_000_000)
}

// someHistory draws trades between accounts and hours at which funding is paid.
func someHistory(t *rapid.T) history {
	h := history{events: map[string][]any{}, held: map[string]map[string]*book{}, fees: map[string]int64{}, pnl: map[string]int64{}}
	coins := []string{"BTC", "ETH", "xyz:GOLD"}
	for _, account := range traders {
		h.held[account] = map[string]*book{}
		for _, coin := range coins {
			h.held[account][coin] = new(book)
		}
	}
	ms := at(0)
	for i := range rapid.IntRange(1, 60).Draw(t, "events") {
		ms += rapid.Int64Range(0, 1).Draw(t, "ms")
		if rapid.IntRange(0, 9).Draw(t, "funding") == 0 {
			ms++ // payments come before the fills of their time
			h.pay(t, ms)
			continue
		}
		coin := rapid.SampledFrom(coins).Draw(t, "coin")
		buyer := rapid.IntRange(0, 2).Draw(t, "buyer")
		seller := (buyer + rapid.IntRange(1, 2).Draw(t, "seller")) % 3
		size, px := rapid.Int64Range(1, 7).Draw(t, "size"), rapid.Int64Range(1, 400_000_000).Draw(t, "px")
		for n, side := range []int64{1, -1} {
			account := traders[[]int{buyer, seller}[n]]
			h.trade(account, coin, side*size, px, rapid.Int64Range(-500, 50_000).Draw(t, "fee"),
				market.Fill{Address: account, Coin: coin, Time: ms, Seq: int64(2*i + n + 1), Tid: int64(i + 1), Oid: rapid.Int64Range(1, 9).Draw(t, "oid")})
		}
	}
	return h
}

// pay has every position pay a drawn amount.
func (h *history) pay(t *rapid.T, ms int64) {
	for _, account := range traders {
		coins := h.held[account]
		for _, coin := range []string{"BTC", "ETH", "xyz:GOLD"} {
			if b := coins[coin]; b.size != 0 {
				h.events[account] = append(h.events[account], &market.FundingPayment{Address: account, Coin: coin, Time: ms, Rate: "0.0",
					USDC: millionths(rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "paid")), Szi: fmt.Sprint(b.size)})
			}
		}
	}
}

// trade books a signed size at the average cost and tells it as a fill.
func (h *history) trade(account, coin string, size, px, fee int64, f market.Fill) {
	b := h.held[account][coin]
	f.StartPosition, f.Px, f.Sz, f.Fee, f.Side = fmt.Sprint(b.size), millionths(px), fmt.Sprint(max(size, -size)), millionths(fee), market.Buy
	if size < 0 {
		f.Side = market.Sell
	}
	closed := int64(0)
	if b.size != 0 && (b.size > 0) != (size > 0) {
		closing := min(max(size, -size), max(b.size, -b.size))
		if b.size > 0 {
			closing = -closing
		}
		cost := b.cost
		if closing != -b.size {
			cost = rounded(b.cost*-closing, b.size)
		}
		closed = -closing*px - cost
		b.size, b.cost, size = b.size+closing, b.cost-cost, size-closing
	}
	b.size, b.cost = b.size+size, b.cost+size*px
	f.ClosedPnl = millionths(closed)
	h.pnl[account] += closed
	h.fees[account] += fee
	h.events[account] = append(h.events[account], &f)
}

// rounded is a / b, half away from zero.
func rounded(a, b int64) int64 {
	if b < 0 {
		a, b = -a, -b
	}
	if a < 0 {
		return -((-2*a + b) / (2 * b))
	}
	return (2*a + b) / (2 * b)
}

// take folds an event and returns what it completed.
func take(a *market.Account, event any) (market.Outcome, *market.CompletedTrade) {
	if f, ok := event.(*market.Fill); ok {
		return a.Fill(f, nil, nil)
	}
	return a.Payment(event.(*market.FundingPayment), nil), nil
}

func TestIdentitiesOfAHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := someHistory(rt)
		sizes := map[string]market.Decimal{}
		var worth, fees market.Decimal
		for _, account := range traders {
			events, a := h.events[account], new(market.Account)
			if account == bob { // whose positions are isolated, which the others do not notice
				isolated := market.Leverage{Isolated: true, Value: 3}
				a = anchored("0", map[string]market.Leverage{"BTC": isolated, "ETH": isolated, "xyz:GOLD": isolated})
			}
			var completed []*market.CompletedTrade
			for _, event := range events {
				outcome, trade := take(a, event)
				if outcome != market.Applied {
					rt.Fatalf("%+v: %s", event, outcome)
				}
				if trade != nil {
					completed = append(completed, trade)
				}
				if f, ok := event.(*market.Fill); ok {
					size := market.Decimal{}
					if now, _ := a.Holding(f.Coin); now.Open != nil {
						size = now.Open.Size
					}
					if !size.Equal(f.EndPosition()) {
						rt.Fatalf("after %+v it holds %s", f, size)
					}
				}
			}
			var pnl, paid, received, funding market.Decimal
			for _, c := range completed {
				pnl, paid, funding = pnl.Add(c.Pnl), paid.Add(c.Fee), funding.Add(c.Funding)
				checkTrade(rt, c)
			}
			for i := range a.Holdings {
				one := &a.Holdings[i]
				received = received.Sub(one.FundingAllTime)
				if one.Open != nil {
					p := one.Open
					pnl, paid, funding = pnl.Add(p.Pnl), paid.Add(p.Fee), funding.Sub(p.FundingSinceOpen)
					sizes[one.Coin] = sizes[one.Coin].Add(p.Size)
					worth = worth.Add(p.Margin).Sub(p.Cost)
					if want := millionths(h.held[account][one.Coin].cost); !p.Cost.Equal(num(want)) {
						rt.Fatalf("%s of %s cost %s, want %s", one.Coin, account, p.Cost, want)
					}
				}
			}
			for _, d := range a.Dexes {
				worth = worth.Add(d.Cash)
			}
			worth = worth.Sub(received)
			fees = fees.Add(paid)
			if !pnl.Equal(num(millionths(h.pnl[account]))) || !paid.Equal(num(millionths(h.fees[account]))) || !funding.Equal(received) {
				rt.Fatalf("%s: pnl %s, want %d; fees %s, want %d; funding of the trades %s, of the coins %s", account, pnl, h.pnl[account], paid, h.fees[account], funding, received)
			}
		}
		for coin, size := range sizes {
			if !size.IsZero() {
				rt.Fatalf("longs and shorts of %s differ by %s", coin, size)
			}
		}
		if !worth.Add(fees).IsZero() {
			rt.Fatalf("all accounts together are worth %s and paid %s", worth, fees)
		}
	})
}

// checkTrade wants the averages to give the PnL but for their rounding, and no more of
// anything than there was.
func checkTrade(t *rapid.T, c *market.CompletedTrade) {
	pnl := c.ClosePx.Sub(c.EntryPx).Mul(c.Size)
	if !c.Long {
		pnl = pnl.Neg()
	}
	if off := pnl.Sub(c.Pnl).Abs(); off.Cmp(c.Size.Mul(num("0.00000001"))) > 0 {
		t.Fatalf("%+v: its averages make %s", c, pnl)
	}
	if c.Partial || c.MaxSize.Cmp(c.Size) > 0 || c.Fills < 2 || c.OpenOrders < 1 || c.CloseOrders < 1 || c.OpenOrders+c.CloseOrders > c.Fills || c.Start > c.End || !c.MaxSize.IsPos() {
		t.Fatalf("%+v", c)
	}
}

// TestAHistoryEndsTheSame with events that come again, others that are missing at first
// and copies that go on.
func TestAHistoryEndsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := someHistory(rt)
		for _, account := range traders {
			events := h.events[account]
			want := anchored("0", nil)
			trades := map[market.Order]*market.CompletedTrade{}
			for _, event := range events {
				if _, c := take(want, event); c != nil {
					trades[market.Order{Time: c.End, Seq: c.Seq, Tid: c.Tid}] = c
				}
			}
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
			got, missing := anchored("0", nil), -1
			if len(events) > 0 && r.IntN(2) == 0 {
				if missing = r.IntN(len(events)); !isFill(events[missing]) {
					missing = -1 // that a payment is missing shows in nothing
				}
			}
			done := 0
			for done < len(events) {
				from := max(0, done-r.IntN(6)) // some come again
				to := min(len(events), done+1+r.IntN(6))
				for i := from; i < to; i++ {
					if i == missing {
						continue
					}
					if _, c := take(got, events[i]); c != nil {
						if diff := cmp.Diff(trades[market.Order{Time: c.End, Seq: c.Seq, Tid: c.Tid}], c, equalDecimals); diff != "" {
							rt.Fatalf("a trade (-want +got):\n%s", diff)
						}
					}
				}
				if missing >= from && missing < to {
					to, missing = missing, -1 // it comes with the next ones
				}
				done = max(done, to)
				if r.IntN(3) == 0 {
					before := got
					got = got.Clone()
					scribble(before)
				}
			}
			if diff := cmp.Diff(want, got, equalDecimals, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

func isFill(event any) bool {
	_, ok := event.(*market.Fill)
	return ok
}

// scribble changes whatever of an account can be changed.
func scribble(a *market.Account) {
	for i := range a.Dexes {
		a.Dexes[i].Cash = num("666")
	}
	for i := range a.Holdings {
		if p := a.Holdings[i].Open; p != nil {
			p.Size = num("666")
			for _, orders := range [][]int64{p.Opening.Recent, p.Closing.Recent} {
				for j := range orders {
					orders[j] = -1
				}
			}
		}
		a.Holdings[i].Last = market.Order{}
	}
	clear(slices.Clip(a.Updates))
}

// TestHugeAmountsDoNoHarm folds and values what no venue trades.
func TestHugeAmountsDoNoHarm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := anchored("0", map[string]market.Leverage{"BTC": {Isolated: rapid.Bool().Draw(rt, "isolated"), Value: 3}})
		for i := range 12 {
			f := markettest.Fill().Draw(rt, "fill")
			f.Coin = rapid.SampledFrom([]string{"BTC", "@107"}).Draw(rt, "coin")
			f.Px, f.Sz = markettest.Decimal(36, 9).Draw(rt, "px"), markettest.Decimal(36, 9).Draw(rt, "sz")
			f.StartPosition, f.ClosedPnl = markettest.Signed(36, 9).Draw(rt, "start"), markettest.Signed(36, 9).Draw(rt, "pnl")
			f.Time, f.Seq = at(int64(i)), int64(i)
			must.Do(rt, f.Check())
			if got, _ := a.Fill(&f, someMarkets(), nil); got == market.Gap {
				a.Forget(f.Coin)
				a.Fill(&f, someMarkets(), nil)
			}
			a.State("", someMarkets(), market.Marks{"BTC": num(f.Px)}, at(99))
			a.SpotValue(someMarkets(), market.Marks{"@107": num(f.Px)})
		}
	})
}
