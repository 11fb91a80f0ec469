package perp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/funding"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/positions"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

var noon = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)

func view(c engine.Changes, name string) string {
	for _, v := range c.Views {
		if v.Name == name {
			return string(v.Body)
		}
	}
	return ""
}

// series lists the rows of a series as "key interval hh:mm:ss body".
func series(c engine.Changes, name string) (rows []string) {
	for _, r := range append(c.Coarse, c.Fine...) {
		if r.Name == name {
			rows = append(rows, fmt.Sprintf("%s %s %s %s", r.Key, r.Interval, r.Time.Format(time.TimeOnly), r.Body))
		}
	}
	return rows
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	check.Equalf(t, want, got, "%s", what)
}

func book(coin string, at time.Time, bid, ask string) market.Book {
	return market.Book{Coin: coin, Time: at.UnixMilli(), Bids: []market.Level{{Px: "9.5", Sz: bid, N: 1}, {Px: "9.0", Sz: "1.0", N: 2}}, Asks: []market.Level{{Px: "10.5", Sz: ask, N: 3}}}
}

func TestTheBooksViewHoldsTheLastOfEachCoin(t *testing.T) {
	t.Parallel()
	s := newSet()
	const btc = `"BTC":{"coin":"BTC","time":1795262430000,"levels":[[{"px":"9.5","sz":"2.5","n":1},{"px":"9.0","sz":"1.0","n":2}],[{"px":"10.5","sz":"0.25","n":3}]]}`
	const gold = `"xyz:GOLD":{"coin":"xyz:GOLD","time":1795262429000,"levels":[[{"px":"9.5","sz":"1.0","n":1},{"px":"9.0","sz":"1.0","n":2}],[{"px":"10.5","sz":"1.0","n":3}]]}`
	c := applied(t, s, noon, false, market.Events{Books: []market.Book{
		book("xyz:GOLD", noon.Add(-time.Second), "1.0", "1.0"), book("BTC", noon, "2.5", "0.25"), book("BTC", noon.Add(-time.Second), "7.0", "7.0")}})
	equal(t, "view", view(c, books.Name), `{"time":1795262430000,"books":{`+btc+`,`+gold+`}}`)
	if again := s.changes(noon, false); view(again, books.Name) != "" {
		t.Error("the view is written again without a change")
	}

	// After a restart the view is restored: an event of one coin keeps the other.
	next := newSet()
	must.Do(t, next.restore(map[string][]byte{books.Name: []byte(view(c, books.Name))}))
	c = applied(t, next, noon, false, market.Events{Books: []market.Book{book("BTC", noon.Add(time.Second), "3.0", "3.0")}})
	if v := view(c, books.Name); !strings.Contains(v, gold) || !strings.Contains(v, `"BTC","time":1795262431000`) {
		t.Errorf("after a restart the view is %s", v)
	}
}

func TestWhatRestsInABookIsSampledOnceAMinute(t *testing.T) {
	t.Parallel()
	s := newSet()
	seriesAt := func(now time.Time, size string) []string {
		return series(applied(t, s, now, false, market.Events{Books: []market.Book{book("BTC", now, size, "0.25")}}), bookdepth.Name)
	}
	body := `{"time":1795262430,"coin":"BTC","bidVolume":"3.5","askVolume":"0.25"}`
	equal(t, "first", seriesAt(noon, "2.5"), []string{"BTC 1m 12:00:00 " + body, "BTC 5m 12:00:00 " + body, "BTC 15m 12:00:00 " + body, "BTC 1h 12:00:00 " + body, "BTC 4h 12:00:00 " + body})
	equal(t, "same minute", seriesAt(noon.Add(29*time.Second), "9.0"), []string(nil))
	body = `{"time":1795262460,"coin":"BTC","bidVolume":"5.0","askVolume":"0.25"}`
	equal(t, "next minute", seriesAt(noon.Add(30*time.Second), "4.0"), []string{"BTC 1m 12:01:00 " + body})
	body = `{"time":1795262700,"coin":"BTC","bidVolume":"5.0","askVolume":"0.25"}`
	equal(t, "after five", seriesAt(noon.Add(270*time.Second), "4.0"), []string{"BTC 1m 12:05:00 " + body, "BTC 5m 12:05:00 " + body})
	equal(t, "a book of the past", series(s.changes(noon.Add(10*time.Minute), false), bookdepth.Name), []string(nil))
}

func contextsOf(at time.Time, dex, coin, mark, funding string) market.Contexts {
	raw := fmt.Sprintf(`[{"universe":[{"name":%q}]},[{"markPx":%q,"funding":%q,"premium":"0.0003"}]]`, coin, mark, funding)
	c, err := wire.ParseContexts(dex, at.UnixMilli(), []byte(raw))
	if err != nil {
		panic(err)
	}
	return c
}

func TestTheContextsViewHoldsWhatTheVenueWrote(t *testing.T) {
	t.Parallel()
	s := newSet()
	spot := must.Get(wire.ParseSpotContexts(noon.UnixMilli(), []byte(`[{"tokens":[]},[{"coin":"@107","markPx":"31.5"}]]`)))(t)
	c := applied(t, s, noon, false, market.Events{Contexts: []market.Contexts{
		contextsOf(noon.Add(-time.Second), "", "BTC", "100.5", "0.0000125"), contextsOf(noon, "xyz", "xyz:GOLD", "4001.5", "0.0"), spot}})
	const want = `{"time":1795262430000,"times":{"":1795262429000,"xyz":1795262430000},"perps":{"":[{"universe":[{"name":"BTC"}]},[{"markPx":"100.5","funding":"0.0000125","premium":"0.0003"}]],` +
		`"xyz":[{"universe":[{"name":"xyz:GOLD"}]},[{"markPx":"4001.5","funding":"0.0","premium":"0.0003"}]]},"spot":[{"tokens":[]},[{"coin":"@107","markPx":"31.5"}]],"marks":{"@107":"31.5","BTC":"100.5","xyz:GOLD":"4001.5"}}`
	equal(t, "view", view(c, contexts.Name), want)
	next := newSet()
	must.Do(t, next.restore(map[string][]byte{contexts.Name: []byte(want)}))
	if px, ok := of[*openInterest](next).price("xyz:GOLD"); !ok || market.Text(px) != "4001.5" {
		t.Errorf("after a restart the mark price is %s", px)
	}
	if view(next.changes(noon, false), contexts.Name) != "" {
		t.Error("a restart writes the view again")
	}
}

func TestFundingIsProvisionalUntilTheVenueReportsIt(t *testing.T) {
	t.Parallel()
	s := newSet()
	at := time.Date(2026, 11, 21, 12, 59, 55, 0, time.UTC)
	show := func(now time.Time, rate string) []string {
		return series(applied(t, s, now, false, market.Events{Contexts: []market.Contexts{contextsOf(now, "", "BTC", "100.5", rate)}}), funding.Name)
	}
	equal(t, "within the hour", show(at.Add(-time.Minute), "0.00001"), []string(nil))
	equal(t, "before its end", show(at, "0.0000125"), []string(nil))
	equal(t, "after its end", show(at.Add(10*time.Second), "0.9"), []string{
		`BTC 1h 13:00:00 {"coin":"BTC","fundingRate":"0.0000125","premium":"0.0003","time":1795266000000,"provisional":true}`})
	paid := market.Funding{Coin: "BTC", Rate: "0.0000126", Premium: "0.00031", Time: 1795266000017}
	equal(t, "reported", series(applied(t, s, at.Add(time.Minute), false, market.Events{Funding: []market.Funding{paid}}), funding.Name), []string{
		`BTC 1h 13:00:00 {"coin":"BTC","fundingRate":"0.0000126","premium":"0.00031","time":1795266000017}`})
	equal(t, "later in the hour", show(at.Add(2*time.Minute), "0.9"), []string(nil))

	// Where the venue has reported it already, or the contexts are too old, there is no
	// provisional row.
	show(at.Add(time.Hour), "0.00001")
	paid.Time += 3_600_000
	applied(t, s, at, false, market.Events{Funding: []market.Funding{paid}})
	equal(t, "reported before", show(at.Add(time.Hour+10*time.Second), "0.9"), []string(nil))
	equal(t, "after a gap", show(at.Add(4*time.Hour), "0.9"), []string(nil))
}

func TestTheRateThatANodeTellsStandsUntilThePremiumIsKnown(t *testing.T) {
	t.Parallel()
	s := newSet()
	at := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	pay := func(f market.Funding) []string {
		return series(applied(t, s, at, false, market.Events{Funding: []market.Funding{f}}), funding.Name)
	}
	show := func(now time.Time) []string {
		return series(applied(t, s, now, false, market.Events{Contexts: []market.Contexts{contextsOf(now, "", "BTC", "100.5", "0.5")}}), funding.Name)
	}
	show(at.Add(-time.Second))
	equal(t, "of the node", pay(market.Funding{Coin: "BTC", Rate: "-0.0000125", Time: at.UnixMilli() + 40}), []string{
		`BTC 1h 13:00:00 {"coin":"BTC","fundingRate":"-0.0000125","premium":"0.0003","time":1795266000040,"provisional":true}`})
	equal(t, "of the contexts", show(at.Add(time.Second)), []string(nil))
	equal(t, "without contexts", pay(market.Funding{Coin: "ETH", Rate: "0.1", Time: at.UnixMilli() + 40}), []string{
		`ETH 1h 13:00:00 {"coin":"ETH","fundingRate":"0.1","premium":"0.0","time":1795266000040,"provisional":true}`})
	equal(t, "of the venue", pay(market.Funding{Coin: "BTC", Rate: "-0.0000125", Premium: "0.00031", Time: at.UnixMilli() + 40}), []string{
		`BTC 1h 13:00:00 {"coin":"BTC","fundingRate":"-0.0000125","premium":"0.00031","time":1795266000040}`})
	equal(t, "of the node again", pay(market.Funding{Coin: "BTC", Rate: "-0.0000125", Time: at.UnixMilli() + 40}), []string(nil))
}

// held is a fill that leaves an account with a position.
func held(account int, coin string, at time.Time, px, sz string, side market.Side) market.Fill {
	return market.Fill{Address: fmt.Sprintf("0x%040d", account), Coin: coin, Px: px, Sz: sz, Side: side, Time: at.UnixMilli(),
		StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Oid: int64(account), Tid: at.UnixMilli() + int64(account), Crossed: side == market.Buy, Seq: int64(account)}
}

func TestOpenInterestIsMarkedWithTheCoinsContextElseTheLastTrade(t *testing.T) {
	t.Parallel()
	s := newSet()
	c := applied(t, s, noon, false, market.Events{
		Contexts: []market.Contexts{contextsOf(noon, "", "BTC", "100.5", "0.0")},
		Fills: []market.Fill{
			held(1, "BTC", noon, "99.0", "2.0", market.Buy), held(2, "BTC", noon, "99.0", "1.5", market.Sell), held(3, "BTC", noon, "99.0", "0.5", market.Sell),
			held(1, "ETH", noon, "10.0", "0.1", market.Buy), held(2, "ETH", noon, "10.0", "0.1", market.Sell),
			held(1, "@107", noon, "10.0", "0.1", market.Buy),
		}})
	equal(t, "view", view(c, openinterest.Name), `{"time":1795262430000,"coins":[`+
		`{"coin":"BTC","positionCount":3,"longPv":"201.0","shortPv":"201.0","totalPv":"402.0","avgPv":"134.0","traded":1795262430000},`+
		`{"coin":"ETH","positionCount":2,"longPv":"1.0","shortPv":"1.0","totalPv":"2.0","avgPv":"1.0","traded":1795262430000}]}`)
	const btc = `{"time":1795262430000,"coin":"BTC","positionCount":3,"longCount":1,"longPv":"201.0","totalPv":"402.0","avgPv":"134.0"}`
	rows := series(c, openinterest.Name)
	if len(rows) != 2*len(market.SampleTiers) || rows[0] != "BTC 1m 12:00:00 "+btc || rows[4] != "BTC 4h 12:00:00 "+btc {
		t.Errorf("history is %q", rows)
	}
	if again := s.changes(noon.Add(publishEvery), false); view(again, openinterest.Name) != "" || len(series(again, openinterest.Name)) > 0 {
		t.Error("it is written again without a change")
	}
	c = applied(t, s, noon.Add(time.Minute), false, market.Events{Contexts: []market.Contexts{contextsOf(noon, "", "BTC", "110.0", "0.0")}})
	if v := view(c, openinterest.Name); !strings.Contains(v, `"coin":"BTC","positionCount":3,"longPv":"220.0"`) {
		t.Errorf("at the new mark price it is %s", v)
	}
	if rows := series(c, openinterest.Name); len(rows) != 2 || !strings.Contains(rows[0], `"longPv":"220.0"`) {
		t.Errorf("history of the next minute is %q", rows)
	}
}

// What is shown to operators is what answers say in their header: of each coin, and of all of which the venue says it.
func TestHowMuchOfTheOpenInterestIsKnown(t *testing.T) {
	t.Parallel()
	s := newSet()
	amount := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	applied(t, s, noon, false, market.Events{
		Contexts: []market.Contexts{{Time: noon.UnixMilli(), Coins: []market.Context{{Coin: "BTC", Mark: amount("100"), Interest: amount("4")}, {Coin: "ETH", Mark: amount("10"), Interest: amount("40")}, {Coin: "SOL", Mark: amount("1")}}}},
		Fills:    []market.Fill{held(1, "BTC", noon, "99.0", "2.0", market.Buy), held(2, "BTC", noon, "99.0", "1.0", market.Sell), held(1, "SOL", noon, "1.0", "1.0", market.Buy)},
	})
	check.Equal(t, map[string]string{"BTC": "0.375", "ETH": "0.0", "all": "0.1875"}, *of[*openInterest](s).covered.Load())
}

func TestNoHistoryIsMadeOfOpenInterestOfThePast(t *testing.T) {
	t.Parallel()
	c := applied(t, newSet(), noon, false, market.Events{Fills: []market.Fill{held(1, "BTC", noon.Add(-behindAfter-time.Second), "99.0", "2.0", market.Buy)}})
	if view(c, openinterest.Name) == "" {
		t.Error("the view is missing")
	}
	equal(t, "history", series(c, openinterest.Name), []string(nil))
}

// An hour that the venue publishes late is sampled by the times of its fills, at the prices before each sample.
func TestTheHistoryOfAnHourIsMadeByTheTimesOfItsFills(t *testing.T) {
	t.Parallel()
	s := newSet()
	now := noon.Add(90 * time.Minute) // the noon of the fills is half a minute into a minute
	must.Get(s.apply(&Batch{Events: market.Events{Contexts: []market.Contexts{contextsOf(now, "", "BTC", "500", "0.0")}}}, now, nil))(t)
	must.Get(s.apply(&Batch{Hourly: true, Events: market.Events{Fills: []market.Fill{
		held(1, "BTC", noon, "100.0", "200.0", market.Buy), held(2, "BTC", noon, "100.0", "200.0", market.Sell),
		held(3, "ETH", noon.Add(40*time.Second), "10.0", "1.0", market.Buy), // of the next minute: it is not in its sample
	}}}, now, nil))(t)
	c := s.changes(now, false)
	const first = `BTC 1m 12:01:00 {"time":1795262460000,"coin":"BTC","positionCount":2,"longCount":1,"longPv":"20000.0","totalPv":"40000.0","avgPv":"20000.0"}`
	if rows := series(c, openinterest.Name); len(rows) != len(market.SampleTiers) || rows[0] != first {
		t.Errorf("the first minute has %q", rows)
	}
	must.Get(s.apply(&Batch{Hourly: true, Events: market.Events{Fills: []market.Fill{
		held(4, "BTC", noon.Add(50*time.Second), "110.0", "1.0", market.Buy), held(5, "BTC", noon.Add(5*time.Minute), "900.0", "1.0", market.Buy),
	}}}, now, nil))(t)
	rows := series(s.changes(now, false), openinterest.Name)
	equal(t, "five minutes later", rows, []string{
		`BTC 1m 12:05:00 {"time":1795262700000,"coin":"BTC","positionCount":3,"longCount":2,"longPv":"22110.0","totalPv":"44110.0","avgPv":"14703.333333"}`,
		`BTC 5m 12:05:00 {"time":1795262700000,"coin":"BTC","positionCount":3,"longCount":2,"longPv":"22110.0","totalPv":"44110.0","avgPv":"14703.333333"}`,
		`ETH 1m 12:05:00 {"time":1795262700000,"coin":"ETH","positionCount":1,"longCount":1,"longPv":"10.0","totalPv":"10.0","avgPv":"10.0"}`,
		`ETH 5m 12:05:00 {"time":1795262700000,"coin":"ETH","positionCount":1,"longCount":1,"longPv":"10.0","totalPv":"10.0","avgPv":"10.0"}`,
		`ETH 15m 12:00:00 {"time":1795262700000,"coin":"ETH","positionCount":1,"longCount":1,"longPv":"10.0","totalPv":"10.0","avgPv":"10.0"}`,
		`ETH 1h 12:00:00 {"time":1795262700000,"coin":"ETH","positionCount":1,"longCount":1,"longPv":"10.0","totalPv":"10.0","avgPv":"10.0"}`,
		`ETH 4h 12:00:00 {"time":1795262700000,"coin":"ETH","positionCount":1,"longCount":1,"longPv":"10.0","totalPv":"10.0","avgPv":"10.0"}`,
	})
	must.Get(s.apply(&Batch{Stored: true, Past: true, Events: market.Events{Fills: []market.Fill{held(6, "BTC", noon.Add(20*time.Minute), "900.0", "1.0", market.Buy)}}}, now, nil))(t)
	if rows := series(s.changes(now, false), openinterest.Name); len(rows) > 0 {
		t.Errorf("of what comes late there is %q", rows)
	}
}

// TestOpenInterestOfSomeOfTheStoredFillsIsNotShown: only the snapshot, from which the
// projection goes on, is written before it has joined.
func TestOpenInterestOfSomeOfTheStoredFillsIsNotShown(t *testing.T) {
	t.Parallel()
	p := newOpenInterest()
	stored := &Batch{Stored: true, Events: market.Events{Fills: []market.Fill{held(1, "BTC", noon, "99.0", "2.0", market.Buy)}}}
	must.Do(t, p.Apply(stored, nil, noon))
	c := p.Changes(noon, true)
	if view(c, openinterest.Name) != "" || len(c.Fine) > 0 || view(c, positions.Name) == "" {
		t.Errorf("while it is caught up it writes %+v", c)
	}
	p.Joined()
	if c = p.Changes(noon, false); view(c, openinterest.Name) == "" || len(c.Fine) == 0 {
		t.Errorf("when it has joined it writes %+v", c)
	}
}

// What the view of the open positions has no room for is a metric, which follows the view.
func TestPositionsThatNoMarketHasAreCounted(t *testing.T) {
	t.Parallel()
	p := newOpenInterest()
	p.Joined()
	fill := func(n int, at time.Time, sz string, side market.Side) *Batch {
		return &Batch{Events: market.Events{Fills: []market.Fill{held(n, "BTC", at, "0.0", sz, side)}}}
	}
	must.Do(t, p.Apply(fill(1, noon, "2.0", market.Buy), nil, noon))
	must.Do(t, p.Apply(fill(2, noon, "0.00000000000001", market.Buy), nil, noon))
	c := p.Changes(noon, true)
	if table := must.Get(openpositions.Published.Decode([]byte(view(c, openpositions.Name))))(t); len(table.Rows) != 1 || p.leftOut.Load() != 1 {
		t.Errorf("%d rows, %d left out", len(table.Rows), p.leftOut.Load())
	}
	must.Do(t, p.Apply(&Batch{Events: market.Events{Fills: []market.Fill{held(2, "BTC", noon.Add(2*time.Second), "5.0", "4.0", market.Sell)}}}, nil, noon))
	if p.Changes(noon.Add(time.Minute), true); p.leftOut.Load() != 0 {
		t.Errorf("%d left out when there are none", p.leftOut.Load())
	}
}

func TestCheckpointsWaitForTheSnapshotOfPositions(t *testing.T) {
	t.Parallel()
	s := only(openinterest.Name)
	s.join()
	c := applied(t, s, noon, false, market.Events{Fills: []market.Fill{held(1, "BTC", noon, "99.0", "2.0", market.Buy)}})
	if c.Held || view(c, positions.Name) == "" {
		t.Error("the first snapshot is not written at once")
	}
	more := market.Events{Fills: []market.Fill{held(2, "BTC", noon, "99.0", "2.0", market.Sell)}}
	if c = applied(t, s, noon.Add(time.Second), false, more); !c.Held || view(c, positions.Name) != "" {
		t.Error("the next is not waited for")
	}
	if c = applied(t, s, noon.Add(2*time.Second), false, more); !c.Held {
		t.Error("fills that are known already free the checkpoints")
	}
	c = s.changes(noon.Add(saveEvery), false)
	if c.Held || !bytes.Contains([]byte(view(c, positions.Name)), []byte("0002 -2.0 ")) {
		t.Errorf("when it is due, the snapshot is %q", view(c, positions.Name))
	}
	if c = s.changes(noon.Add(2*saveEvery), false); c.Held || len(c.Views) > 0 {
		t.Error("it is written again without a change")
	}
	applied(t, s, noon.Add(2*saveEvery), false, market.Events{Fills: []market.Fill{held(3, "BTC", noon, "99.0", "2.0", market.Sell)}})
	if c = applied(t, s, noon.Add(2*saveEvery), true, market.Events{Fills: []market.Fill{held(4, "BTC", noon, "99.0", "2.0", market.Sell)}}); c.Held || view(c, positions.Name) == "" {
		t.Error("settling does not write it")
	}
	spot := market.Events{Fills: []market.Fill{held(1, "@107", noon, "99.0", "2.0", market.Buy)}}
	if c = applied(t, s, noon.Add(2*saveEvery), false, spot); c.Held {
		t.Error("a fill of a spot market holds the checkpoints")
	}
}
