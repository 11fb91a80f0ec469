package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/contexts"
	"quotary/shared/data/hourmarks"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

const curvePath = "/upgrade/v2/hl/"

// curved is a book of alice, who is known for 40 days: at its first hour with 1,000 in
// perpetuals and 500 in spot, since then with another 10 each day, and 100 deposited 20 days
// ago; of the last day there is but the mark of one hour. Before, the venue says that she had 600, of which 50 were earned, and 800.
func curved(t testing.TB) *book {
	t.Helper()
	account, hour := holder(t), market.Hour1.StartMs(now)
	account.Time = hour - dayMs + 1
	b := openHoldings(t, account)
	s := b.of(alice)
	s.Began = now - 40*dayMs
	for day := int64(40); day > 0; day-- {
		if day == 20 {
			s.Moved(decimal(t, "100"), market.Decimal{})
		}
		s.Volume = s.Volume.Add(decimal(t, "1000"))
		perp := decimal(t, fmt.Sprint(1000+10*(40-day))).Add(s.NetIn)
		s.AddPoint(hour-day*dayMs, &market.Worth{Perp: perp, PerpKnown: true, Spot: decimal(t, "500"), SpotKnown: true})
	}
	s.Volume = s.Volume.Add(decimal(t, "500"))
	s.Sampled = hour - dayMs
	all := s.Curve
	s.Curve = all[39:]
	micros := func(n int64) market.Micros { return market.Micros(n * 1_000_000) }
	venue := market.VenueCurve{Until: now - 40*dayMs, Volume: micros(9000), PerpVolume: micros(7000)}
	for i, v := range []int64{550, 600} {
		one := market.AccountValue{Time: now - int64(80-30*i)*dayMs, Value: micros(v), NetIn: micros(-50)}
		venue.Perp = append(venue.Perp, one)
		one.Value, one.NetIn = one.Value+micros(200), one.NetIn+micros(100)
		venue.All = append(venue.All, one)
	}
	b.write(t)
	storetest.PutSeries(t, b.series, accountstats.PastRow(alice, &accountstats.Past{Curve: all[:40], Venue: venue}))
	var kept hourmarks.View
	kept.Add(hour-hourMs, market.Marks{"BTC": decimal(t, "111")})
	storetest.Publish(t, b.views, hourmarks.Published, kept)
	return b
}

func (b *book) curveOf(t testing.TB, path string) apitest.Answer {
	t.Helper()
	return b.Get(t, b.SubKey, curvePath+path)
}

func TestThePortfolioOfAnAccount(t *testing.T) {
	t.Parallel()
	b := curved(t)
	b.curveOf(t, "portfolio/"+alice+"/week").Golden(t, "portfolio")
	for window, want := range map[string]struct {
		points, since int64
		vlm           string
		venue         bool
	}{"day": {3, 0, "500.0", false}, "week": {9, 0, "6500.0", false}, "month": {31, 0, "29500.0", false}, "allTime": {43, now - 40*dayMs, "47500.0", true}} {
		a := b.curveOf(t, "portfolio/"+alice+"/"+window)
		blocks := apitest.Data[[]catalog.PortfolioScope](t, a)
		if len(blocks) != 2 || blocks[0].Scope != "all" || blocks[1].Scope != "perp" || blocks[0].Window != window {
			t.Fatalf("%s: %+v", window, blocks)
		}
		perp := blocks[1].Metrics
		values, pnls := *perp.AccountValueHistory, *perp.PnlHistory
		if n := int64(len(values)); n != want.points || len(pnls) != len(values) || pnls[0].V != "0.0" || *perp.Vlm != want.vlm {
			t.Errorf("%s: %d values and %d pnls from %s, vlm %s; want %d, %s", window, len(values), len(pnls), pnls[0].V, *perp.Vlm, want.points, want.vlm)
		}
		if !slices.IsSortedFunc(values, func(a, b catalog.PnlPoint) int { return cmp.Compare(a.Ts, b.Ts) }) || values[len(values)-1].Ts != now {
			t.Errorf("%s: not in order up to now: %v", window, values)
		}
		source, began := "", ""
		if want.venue {
			source, began = "venue until "+time.UnixMilli(now-40*dayMs).UTC().Format(time.RFC3339), time.UnixMilli(want.since).UTC().Format(time.RFC3339)
		}
		if got := a.Header[catalog.HeaderDataSource]; got != source || a.Header[catalog.HeaderDataSince] != began {
			t.Errorf("%s: source %q since %q, want %q and %q", window, got, a.Header[catalog.HeaderDataSince], source, began)
		}
	}
	b.curveOf(t, "portfolio/"+alice+"/year").Refused(t, http.StatusBadRequest, "window", "day, week, month, allTime")
	b.curveOf(t, "portfolio/0xnope/day").Refused(t, http.StatusBadRequest, "address")
	b.curveOf(t, fmt.Sprintf("portfolio/0x%040x/day", 9)).Refused(t, http.StatusServiceUnavailable, "asked for at the exchange")
}

func TestProfitsOverTime(t *testing.T) {
	t.Parallel()
	b := curved(t)
	b.curveOf(t, "pnls/"+alice+"?period=7").Golden(t, "pnls")
	for query, first := range map[string]int64{"": now - 80*dayMs, "?period=0": now - 80*dayMs, "?period=1": 0, "?period=30d": 0, "?period=90": now - 80*dayMs} {
		list := apitest.Data[[]catalog.PnlPoint](t, b.curveOf(t, "pnls/"+alice+query))
		if list[0].V != "0.0" || first > 0 && list[0].Ts != first || list[len(list)-1].Ts != now {
			t.Errorf("%q: from %+v to %+v, want from %d", query, list[0], list[len(list)-1], first)
		}
	}
	b.curveOf(t, "pnls/"+alice+"?period=366").Refused(t, http.StatusBadRequest, "period", "0 to 365")

	unknown := fmt.Sprintf("0x%040x", 9)
	post := func(in body) apitest.Answer {
		return b.Call(t, b.SubKey, http.MethodPost, curvePath+"batch-pnls", in)
	}
	post(body{"addresses": []string{carol, alice, unknown, alice}, "period": 7}).Golden(t, "batch-pnls")
	one := apitest.Data[[]catalog.PnlPoint](t, b.curveOf(t, "pnls/"+alice+"?period=30"))
	rows := apitest.Data[[]catalog.PnlsRow](t, post(body{"addresses": []string{alice}, "period": "30"}))
	if diff := gocmp.Diff(one, *rows[0].Pnls); diff != "" || rows[0].Since != nil {
		t.Errorf("one alone and among many differ (-one +many):\n%s", diff)
	}
	if perp := apitest.Data[[]catalog.PnlsRow](t, post(body{"addresses": []string{alice}, "scope": "perp"})); *perp[0].Since != time.UnixMilli(now-40*dayMs).UTC().Format(time.RFC3339) {
		t.Errorf("since %v", perp[0].Since)
	}
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprintf("0x%040x", i)
	}
	if rows := apitest.Data[[]catalog.PnlsRow](t, post(body{"addresses": many})); len(rows) != 200 || rows[0].Pnls != nil {
		t.Errorf("%d rows for 201 addresses", len(rows))
	}
	post(body{"addresses": []string{alice}, "period": 90}).Refused(t, http.StatusBadRequest, "period")
	post(body{"addresses": []string{alice}, "scope": "spot"}).Refused(t, http.StatusBadRequest, "scope")
	post(body{}).Refused(t, http.StatusBadRequest, "addresses")
}

func TestTheLargestDrawdown(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	s := b.of(alice)
	s.Began = now - 100*dayMs
	hour := market.Hour1.StartMs(now)
	for i, v := range []int64{1000, 1200, 900, 700, 1100} { // 100 withdrawn between the last two lows
		if i == 3 {
			s.Moved(decimal(t, "-100"), market.Decimal{})
		}
		s.AddPoint(hour-int64(50-10*i)*dayMs, &market.Worth{Perp: decimal(t, fmt.Sprint(v)), PerpKnown: true})
	}
	b.write(t)
	b.curveOf(t, "max-drawdown/"+alice+"?days=60").Golden(t, "max-drawdown")
	batch := func(in body) apitest.Answer {
		return b.Call(t, b.SubKey, http.MethodPost, curvePath+"batch-max-drawdown", in)
	}
	unknown := fmt.Sprintf("0x%040x", 9)
	batch(body{"addresses": []string{unknown, alice, carol}, "days": 60}).Golden(t, "batch-max-drawdown")
	for days, want := range map[string]string{"7": "", "30d": "0.111111", "60": "0.333333", "90": "0.333333", "0": "0.333333"} {
		row := apitest.Data[[]catalog.DrawdownRow](t, batch(body{"addresses": []string{alice}, "days": days}))[0]
		got := ""
		if row.MaxDrawdown != nil {
			got = *row.MaxDrawdown
		}
		if got != want || row.PascalMaxDrawdown != row.MaxDrawdown && *row.PascalMaxDrawdown != got {
			t.Errorf("%s days: %q, want %q", days, got, want)
		}
		if days != "0" {
			one := apitest.Data[catalog.Drawdown](t, b.curveOf(t, "max-drawdown/"+alice+"?days="+days))
			if diff := gocmp.Diff(one, row.Drawdown); diff != "" {
				t.Errorf("%s days: one alone and among many differ (-one +many):\n%s", days, diff)
			}
		}
	}
	for _, days := range []string{"0", "2", "x"} {
		b.curveOf(t, "max-drawdown/"+alice+"?days="+days).Refused(t, http.StatusBadRequest, "days")
	}
	b.curveOf(t, "max-drawdown/"+alice+"?scope=all").Refused(t, http.StatusBadRequest, "scope", "perp")
	batch(body{"addresses": []string{alice}, "days": 2}).Refused(t, http.StatusBadRequest, "days")
	batch(body{"addresses": []string{"nope"}}).Refused(t, http.StatusBadRequest, "addresses")
}

// The largest drawdown of one account is looked for in the points of its portfolio, which goes on
// behind what is stored of it: to the hours that have marks, and to now.
func TestADrawdownGoesOnToNow(t *testing.T) {
	t.Parallel()
	b := curved(t)
	of := func(day int) catalog.Drawdown {
		return apitest.Data[catalog.Drawdown](t, b.curveOf(t, fmt.Sprintf("max-drawdown/%s?days=%d", alice, day)))
	}
	values := *apitest.Data[[]catalog.PortfolioScope](t, b.curveOf(t, "portfolio/"+alice+"/day"))[1].Metrics.AccountValueHistory
	high, low := values[0], values[1] // the stored point of a day ago, and that of the hour with marks
	at := func(p catalog.PnlPoint) *catalog.ValueAt {
		return &catalog.ValueAt{Time: catalog.Timestamp(time.UnixMilli(p.Ts)), Value: p.V}
	}
	want := catalog.Drawdown{High: at(high), Low: at(low), MaxDrawdown: new("0.179866"), NetIn: new("0.0")}
	if diff := gocmp.Diff(want, of(1)); diff != "" {
		t.Errorf("until the last hour with marks (-want +got):\n%s", diff)
	}
	storetest.Publish(t, b.views, contexts.Published, contexts.View{Time: now, Marks: map[string]string{"BTC": "80.0"}})
	b.Move(time.Minute) // functions read views again
	if fell := of(1); fell.Low.Time != catalog.Timestamp(b.Now()) || decimal(t, fell.Low.Value).Cmp(decimal(t, low.V)) >= 0 {
		t.Errorf("at lower marks it has fallen from %+v to %+v", fell.High, fell.Low)
	}
}
