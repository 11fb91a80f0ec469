package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

const (
	alice = "0xa11ce00000000000000000000000000000000001"
	start = int64(1_790_000_000_000) // ms, of the made-up fills
)

// one is a fill of the user; number n differs in time, trade and order.
func one(n int64) market.Fill {
	return market.Fill{
		Address: alice, Coin: "BTC", Px: "30135.0", Sz: "0.5", Side: market.Buy, Time: start + n*1000,
		StartPosition: fmt.Sprintf("%d.25", n), Dir: "Short > Long", ClosedPnl: "-12.5", Hash: "0x" + strings.Repeat("ab", 32),
		Oid: 9_000 + n, Crossed: true, Fee: "6.78", Tid: 100 + n, FeeToken: "USDC", Seq: n + 1,
	}
}

func (w *world) put(t *testing.T, list ...market.Fill) {
	t.Helper()
	storetest.PutLog(t, w.log, fills.Name, fills.AppendRows, list...)
}

func (w *world) fills(t *testing.T, body string) []catalog.InfoFill {
	t.Helper()
	return apitest.Data[[]catalog.InfoFill](t, w.ask(t, body))
}

// The address and the builder of a stored fill are not in the venue's answer.
func TestUserFills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain, rich := one(0), one(1)
	rich.Cloid = "0x00000000000000000000000000000001"
	rich.Builder, rich.BuilderFee = "0xb111de4000000000000000000000000000000003", "0.75"
	rich.Liquidation = &market.Liquidation{LiquidatedUser: alice, MarkPx: "30130.0", Method: "market"}
	id := int64(77)
	rich.TwapID = &id
	w.put(t, plain, rich)
	w.golden(t, "userFills", `{"type":"userFills","user":"`+alice+`"}`)
	w.golden(t, "userFillsByTime", fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":%d}`, alice, start))
	for _, body := range []string{`{"type":"userFills","user":%q}`, `{"type":"userFillsByTime","user":%q,"startTime":0}`} {
		answer := w.ask(t, fmt.Sprintf(body, "0xb0b0000000000000000000000000000000000002"))
		if string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
			t.Errorf("an account without fills answers %s", answer.Body)
		}
	}
}

func TestUserFillsEndAt2000(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(2100) {
		list = append(list, one(n))
	}
	w.put(t, list...)
	for body, want := range map[string][2]int64{ // first and last order id, less 9000
		`{"type":"userFills","user":%q}`:                                                                           {2099, 100},
		`{"type":"userFillsByTime","user":%q,"startTime":0}`:                                                       {0, 1999},
		fmt.Sprintf(`{"type":"userFillsByTime","user":%%q,"startTime":%d}`, start+2000*1000):                       {2000, 2099},
		fmt.Sprintf(`{"type":"userFillsByTime","user":%%q,"startTime":"%d","endTime":%d}`, start+5000, start+9000): {5, 9}, // both inclusive
		fmt.Sprintf(`{"type":"userFillsByTime","user":%%q,"startTime":%d,"endTime":%d}`, start+5001, start+8999):   {6, 8},
	} {
		body = fmt.Sprintf(body, alice)
		got := w.fills(t, body)
		if n := len(got); n == 0 || *got[0].Oid != 9000+want[0] || *got[n-1].Oid != 9000+want[1] || int64(n) != max(want[0]-want[1], want[1]-want[0])+1 {
			t.Errorf("%s: %d fills, want %v", body, n, want)
		}
	}
}

// combined are three fills of one crossing order, and others that look alike.
func combined() []market.Fill {
	parts := []market.Fill{one(0), one(1), one(2)}
	for i, sz := range []string{"1", "2", "0.5"} {
		f := &parts[i]
		f.Oid, f.Time, f.Sz, f.Px = 9_000, start, sz, fmt.Sprintf("100.%d", i)
	}
	parts[1].Builder, parts[1].BuilderFee = "0xb111de4000000000000000000000000000000003", "0.75"
	later := one(3)
	later.Oid = 9_000 // the same order, a second later
	other := one(4)
	other.Time = later.Time // another order of that time
	resting := []market.Fill{one(5), one(6)}
	for i := range resting {
		resting[i].Oid, resting[i].Time, resting[i].Crossed = 9_005, start+5000, false
	}
	return append(append(parts, later, other), resting...)
}

func TestFillsOfACrossingOrderAreCombinedOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, combined()...)
	if got := w.fills(t, fmt.Sprintf(`{"type":"userFills","user":%q}`, alice)); len(got) != 7 {
		t.Errorf("%d fills when not asked to combine, want 7", len(got))
	}
	w.golden(t, "userFills-aggregated", fmt.Sprintf(`{"type":"userFills","user":%q,"aggregateByTime":true}`, alice))
	newest := w.fills(t, fmt.Sprintf(`{"type":"userFills","user":%q,"aggregateByTime":"true"}`, alice))
	oldest := w.fills(t, fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":0,"aggregateByTime":true}`, alice))
	for i := range len(oldest) / 2 {
		oldest[i], oldest[len(oldest)-1-i] = oldest[len(oldest)-1-i], oldest[i]
	}
	if diff := gocmp.Diff(newest, oldest); diff != "" {
		t.Errorf("the direction of reading changes the rows (-newest +oldest):\n%s", diff)
	}
	if len(newest) != 5 {
		t.Fatalf("%d rows, want 5", len(newest))
	}
	// (100.0 x 1 + 100.1 x 2 + 100.2 x 0.5) / 3.5 = 350.3 / 3.5
	c := newest[4] // of a market that is not described
	if c.Px != "100.08571429" || c.Sz != "3.5" || *c.Fee != "20.34" || *c.ClosedPnl != "-37.5" || *c.BuilderFee != "0.75" ||
		*c.StartPosition != "0.25" || c.Tid != 100 {
		t.Errorf("the combined fill is %+v", c)
	}
	w.someMeta(t) // BTC: 5 decimal places of sizes, so 1 of prices
	w.Move(time.Minute)
	if c := w.fills(t, fmt.Sprintf(`{"type":"userFills","user":%q,"aggregateByTime":true}`, alice))[4]; c.Px != "100.1" || c.Sz != "3.5" {
		t.Errorf("in the precision of its market the combined fill is %+v", c)
	}
}

func TestTheLastCombinedFillIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(2100) {
		f := one(n)
		f.Oid, f.Time = 9_000+n/3, start+n/3
		list = append(list, f)
	}
	w.put(t, list...)
	got := w.fills(t, fmt.Sprintf(`{"type":"userFillsByTime","user":%q,"startTime":0,"aggregateByTime":true}`, alice))
	if n := len(got); n != 667 || got[n-1].Sz != "1.5" { // 2,001 fills
		t.Errorf("%d rows, the last of size %s", n, got[n-1].Sz)
	}
}
