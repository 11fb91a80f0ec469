package perp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/accountstats"
	"quotary/shared/data/hourmarks"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// curveWorld is an account that trades BTC for some hours, of which each full hour has a mark.
type curveWorld struct {
	*accountWorld
}

func newCurveWorld(t *testing.T) *curveWorld {
	w := &curveWorld{newAccountWorld(t)}
	w.p.markets = &market.Markets{Collaterals: map[string]string{"": market.USDC}, SpotCoins: map[string]string{"HYPE": "@107"}}
	answer := said(1, "", "")
	answer.Mode = market.ModeStandard
	answer.Dexes[0].Margin.AccountValue, answer.Dexes[0].Margin.TotalRawUsd = mustParse("10000"), mustParse("10000")
	answer.Dexes[0].CrossMargin = answer.Dexes[0].Margin
	answer.Spot = []market.SpotBalance{{Coin: market.USDC, Total: mustParse("5000")}}
	w.run(marksAt(noon.UnixMilli(), 0))
	w.run(&Batch{Events: market.Events{AnchorRequests: []string{faultyAccount}}})
	w.run(&Batch{Events: market.Events{Anchors: []market.Anchor{answer}}})
	for range 5 {
		w.now = w.now.Add(time.Second)
		w.run(NewBatch())
	}
	return w
}

// run applies a batch, and stores what is to be written.
func (w *curveWorld) run(b *Batch) {
	w.t.Helper()
	w.disk.put(b)
	must.Get(w.set.apply(b, w.now, w.disk.load))(w.t)
	c := w.set.changes(w.now, true)
	for _, row := range slices.Concat(c.Coarse, c.Fine) {
		w.disk.rows[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Point
	}
}

// curve is all of the account's curve, as it is stored.
func (w *curveWorld) curve() market.Curve {
	w.t.Helper()
	var past accountstats.Past
	if row, ok := w.disk.rows[accountstats.PastAt(faultyAccount)]; ok {
		past = must.Get(accountstats.DecodePast(row.Extra))(w.t)
	}
	stats := must.Get(accountstats.Decode(w.disk.rows[accountstats.At(faultyAccount)].Extra))(w.t)
	return past.Curve.Merge(stats.Curve)
}

func marksAt(ms, hour int64) *Batch {
	px := market.Micros(100_000_000 + hour*hour%17*1_000_000).Decimal()
	return &Batch{Events: market.Events{Contexts: []market.Contexts{{Time: ms, Coins: []market.Context{{Coin: "BTC", Mark: px}}}, {Spot: true, Time: ms, Coins: []market.Context{{Coin: "@107", Mark: px}}}}}}
}

const (
	curveHours = 60
	hourMs     = 3_600_000
)

// fullHour is so many hours after the one in which the account is known, ms.
func fullHour(n int64) int64 { return noon.Truncate(time.Hour).UnixMilli() + n*hourMs }

// curveEvents are what happens in that many hours: the marks of each just before it, and by
// chance trades of BTC, a payment at each hour and money that comes and goes.
func curveEvents(r *rand.Rand) (list []*Batch, times []int64) {
	held, deposits := int64(0), 0
	add := func(ms int64, b *Batch) { list, times = append(list, b), append(times, ms) }
	for hour := int64(1); hour <= curveHours; hour++ {
		start := fullHour(hour)
		for n := range int64(4) {
			ms := start - hourMs + (n+1)*600_000
			switch r.IntN(4) {
			case 0: // a trade
				size, side := int64(1+r.IntN(3)), market.Buy
				if r.IntN(2) == 0 {
					side, size = market.Sell, -size
				}
				pnl := "0.0"
				f := step((ms-noon.UnixMilli())/1000, side, fmt.Sprint(max(size, -size)), fmt.Sprint(held), pnl)
				held += size
				add(ms, &Batch{Events: market.Events{Fills: []market.Fill{f}}})
			case 1: // money
				deposits++
				if deposits%2 == 0 { // a token of which nothing says what it is worth
					add(ms, &Batch{Events: market.Events{Ledgers: []market.Ledger{{
						Address: faultyAccount, Time: ms, Hash: fmt.Sprint("0x", deposits), Type: "spotGenesis",
						Delta: fmt.Appendf(nil, `{"type":"spotGenesis","token":"HYPE","amount":"%d"}`, deposits),
					}}}})
					continue
				}
				add(ms, &Batch{Events: market.Events{Ledgers: []market.Ledger{{
					Address: faultyAccount, Time: ms, Hash: fmt.Sprint("0x", deposits), Type: market.LedgerDeposit, Funds: market.LedgerDeposit,
					USDC: fmt.Sprint(deposits), Delta: fmt.Appendf(nil, `{"type":"deposit","usdc":"%d"}`, deposits),
				}}}})
			}
		}
		add(start-5_000, marksAt(start-5_000, hour))
		if held != 0 {
			add(start, &Batch{Events: market.Events{Payments: []market.FundingPayment{{Address: faultyAccount, Coin: "BTC", Time: start, USDC: "-0.5", Szi: fmt.Sprint(held), Rate: "0.00001"}}}})
		}
		add(start+1_000, &Batch{Events: market.Events{Fills: []market.Fill{{Address: "0xb0b0000000000000000000000000000000000002", Coin: "ETH", Px: "1", Sz: "1", Side: market.Buy, Time: start + 1_000, StartPosition: fmt.Sprint(hour - 1), ClosedPnl: "0.0", Fee: "0", FeeToken: "USDC", Dir: "-", Oid: hour, Tid: hour, Seq: 1 << 40}}}})
	}
	return list, times
}

// A curve ends the same whether events come in time, hours late, some of them late behind
// others, or again.
func TestACurveThatIsMadeLateIsTheOneMadeInTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list, times := curveEvents(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)))
		inTime, late := newCurveWorld(t), newCurveWorld(t)
		for i, b := range list {
			inTime.now = time.UnixMilli(times[i])
			inTime.run(b)
		}
		inTime.now = inTime.now.Add(time.Minute)
		inTime.run(NewBatch())

		delay := rapid.SampledFrom([]int64{0, 0, hourMs, 7 * hourMs}).Draw(rt, "delay")
		type arrival struct {
			at int64
			b  *Batch
		}
		var arrivals []arrival
		for i, b := range list {
			at := times[i]
			switch {
			case len(b.Contexts) > 0:
			case len(b.Ledgers) > 0:
				at += delay + rapid.SampledFrom([]int64{0, 0, 20_000, 700_000, 2 * hourMs}).Draw(rt, "behind")
			default:
				at += delay
			}
			arrivals = append(arrivals, arrival{at, b})
			if len(b.Contexts) == 0 && rapid.IntRange(0, 5).Draw(rt, "again") == 0 {
				arrivals = append(arrivals, arrival{at + hourMs/2, b})
			}
		}
		slices.SortStableFunc(arrivals, func(a, b arrival) int { return int(a.at - b.at) })
		for _, a := range arrivals {
			late.now = time.UnixMilli(a.at)
			late.run(a.b)
		}
		late.now = late.now.Add(time.Minute)
		late.run(NewBatch())
		want, got := inTime.curve(), late.curve()
		if len(want) < curveHours/2 {
			rt.Fatalf("the curve has %d points", len(want))
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("(-in time +late):\n%s", diff)
		}
	})
}

// The end of a curve is what was realised less fees, with funding and what is unrealized.
func TestTheEndOfACurveIsWhatWasEarned(t *testing.T) {
	t.Parallel()
	w := newCurveWorld(t)
	list, times := curveEvents(rand.New(rand.NewPCG(7, 1)))
	earned := market.Decimal{}
	for i, b := range list {
		w.now = time.UnixMilli(times[i])
		w.run(b)
		for k := range b.Fills {
			if b.Fills[k].Address == faultyAccount {
				earned = earned.Sub(mustParse(b.Fills[k].Fee))
			}
		}
		for range b.Payments {
			earned = earned.Sub(mustParse("0.5"))
		}
	}
	// One more event behind the last hour, so that it has its point.
	w.now = w.now.Add(time.Minute)
	w.run(marksAt(fullHour(curveHours+1), 1))
	w.run(&Batch{Events: market.Events{Ledgers: []market.Ledger{{Address: faultyAccount, Time: fullHour(curveHours + 1), Hash: "0xend", Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "1", Delta: []byte(`{"type":"deposit","usdc":"1"}`)}}}})
	w.run(NewBatch())
	curve := w.curve()
	end := curve[len(curve)-1]
	h, _ := w.p.cache[faultyAccount].state.Holding("BTC")
	marks, ok := w.p.hours.At(end.Time)
	if !ok || h.Open == nil {
		t.Fatalf("marks %t, position %v", ok, h.Open)
	}
	// Every trade was made at 100: nothing is realised.
	want := earned.Add(h.Open.Size.Mul(marks["BTC"])).Sub(h.Open.Cost)
	first, _ := market.ScopePerp.Of(&curve[0])
	last, _ := market.ScopePerp.Of(&end)
	if got := market.Earned([]market.AccountValue{{Value: 10_000_000_000}, last})[1].Value.Decimal(); !got.Equal(want) {
		t.Errorf("earned until %d since %v: %s, want %s", end.Time, first, got, want)
	}
}

// What is written of the marks of full hours is restored after a crash.
func TestTheMarksOfFullHoursAreRestored(t *testing.T) {
	t.Parallel()
	w := newCurveWorld(t)
	var body []byte
	for hour := int64(1); hour <= 3; hour++ {
		must.Get(w.set.apply(marksAt(fullHour(hour), hour), w.now, w.disk.load))(t)
		for _, v := range w.set.changes(w.now, true).Views {
			if v.Name == hourmarks.Name {
				body = v.Body
			}
		}
	}
	again := newAccountStates(nil, w.p.log)
	must.Do(t, again.Restore(map[string][]byte{hourmarks.Name: body}))
	for hour := int64(0); hour <= 3; hour++ {
		want, _ := w.p.hours.At(fullHour(hour))
		got, ok := again.hours.At(fullHour(hour))
		if !ok || !got["BTC"].Equal(want["BTC"]) {
			t.Errorf("hour %d: %v %t, want %v", hour, got, ok, want)
		}
	}
}

// What an account was worth before it was known is asked for once, and goes on in its own curve.
func TestTheVenueIsAskedForThePastOfAnAccount(t *testing.T) {
	t.Parallel()
	w := newCurveWorld(t)
	w.p.wanted.followed = map[string][]string{faultyAccount: {"somebody"}}
	c := w.p.cache[faultyAccount]
	asks := func() bool {
		w.p.wanted.followed = map[string][]string{faultyAccount: {"somebody"}}
		one := w.p.wanted.own[faultyAccount]
		return one != nil && one.past
	}
	c.asked = false
	answer := said(10, "", "")
	answer.Mode, answer.Spot = market.ModeStandard, []market.SpotBalance{{Coin: market.USDC, Total: mustParse("5000")}}
	w.told(answer)
	if !asks() {
		t.Fatal("the past is not asked for")
	}
	c.state.NetPerp, c.stats.NetIn = mustParse("7"), mustParse("7")
	c.stats.Volume, c.stats.SpotVolume = mustParse("100"), mustParse("10")
	answer.Past = &market.VenueCurve{Until: 5, PerpVolume: 250_000_000, Volume: 300_000_000, Perp: []market.AccountValue{{Time: 3, Value: 9}}, All: []market.AccountValue{{Time: 3, Value: 10}}}
	w.told(answer)
	for range 3 {
		w.run(NewBatch())
	}
	past := must.Get(accountstats.DecodePast(w.disk.rows[accountstats.PastAt(faultyAccount)].Extra))(t)
	if past.Venue.Until != 5 || past.Venue.Perp[0].NetIn != 7_000_000 || past.Venue.PerpVolume != 150_000_000 || past.Venue.Volume != 190_000_000 || asks() || c.stats.VenueUntil != 5 {
		t.Errorf("%+v, asked for again: %t, until %d", past.Venue, asks(), c.stats.VenueUntil)
	}
}

// The venue may say that an account moved more than there is: what is late for points at such sums, and what
// the account was worth before, is stored as it can be read again.
func TestWhatIsBeyondAllAmountsIsStored(t *testing.T) {
	t.Parallel()
	const beyond = "99999999999999999999"
	w, hashes := newCurveWorld(t), 0
	move := func(at int64, kind, usdc string) {
		hashes++
		w.now = time.UnixMilli(max(at, w.now.UnixMilli()))
		w.run(&Batch{Events: market.Events{Ledgers: []market.Ledger{{
			Address: faultyAccount, Time: at, Hash: fmt.Sprint("0x", hashes), Type: kind, Funds: kind, USDC: usdc, Delta: fmt.Appendf(nil, `{"type":%q,"usdc":%q}`, kind, usdc),
		}}}})
	}
	for i, one := range [][2]string{{market.LedgerDeposit, beyond}, {market.LedgerWithdraw, beyond}, {market.LedgerDeposit, "1"}} {
		hour := int64(i + 1)
		w.run(marksAt(fullHour(hour), hour))
		move(fullHour(hour)+1, one[0], one[1])
	}
	move(fullHour(1)+2, market.LedgerDeposit, beyond) // two hours late
	point, ok := w.curve().At(fullHour(2))
	if !ok || point.Perp.NetIn != market.MaxMicros {
		t.Errorf("the point is %+v, known %t", point, ok)
	}

	portfolio := fmt.Sprintf(`[["perpAllTime",{"accountValueHistory":[[1,%[1]q],[2,"-%[2]s"]],"pnlHistory":[[1,"-%[2]s"],[2,%[1]q]],"vlm":%[1]q}]]`, beyond, beyond)
	past := must.Get(wire.ParsePortfolio([]byte(portfolio)))(t)
	answer := said(10, "", "")
	answer.Mode, answer.Spot, answer.Past = market.ModeStandard, []market.SpotBalance{{Coin: market.USDC, Total: mustParse("5000")}}, &past
	w.told(answer)
	for range 3 {
		w.run(NewBatch())
	}
	stored := must.Get(accountstats.DecodePast(w.disk.rows[accountstats.PastAt(faultyAccount)].Extra))(t)
	if len(stored.Venue.Perp) != 2 {
		t.Errorf("%+v", stored.Venue)
	}
}
