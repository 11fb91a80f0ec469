package feeds

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/data/payments"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

func TestMidPricesOfADexStartWithTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	mids := func(dex, px string) market.Mids {
		return market.Mids{Dex: dex, Time: 1, Px: map[string]string{dex + "B": px, dex + "A": "2.5"}}
	}
	f.publish(&market.Events{Mids: []market.Mids{mids("", "1.0"), mids("xyz", "9.0")}})
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.AllMids})
	w.subscribe("one", channel.Subscription{Type: channel.AllMids, Dex: "none"})
	w.sent("one", 3)
	f.publish(&market.Events{Mids: []market.Mids{mids("xyz", "8.0"), mids("", "1.5")}})
	wants(t, strings.Join(w.sent("one", 4), "\n"),
		`{"reply":{"of":"allMids","activeCount":1}}`,
		`{"channel":"allMids","data":{"mids":{"A":"2.5","B":"1.0"}}}`,
		`{"reply":{"of":"allMids","activeCount":2}}`,
		`{"channel":"allMids","data":{"mids":{"A":"2.5","B":"1.5"}}}`)
}

func TestFiguresOfACoinAreAsTheVenueWroteThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	perps := func(px string) market.Contexts {
		return must.Get(wire.ParseContexts("", 1, []byte(`[{"universe":[{"name":"BTC"},{"name":"ETH"},{"name":"OLD"}]},[{"markPx":"`+px+`","more":[1]},{"markPx":"4000.0"},{"funding":"0.0"}]]`)))(t)
	}
	spot := must.Get(wire.ParseSpotContexts(1, []byte(`[{"universe":[{"name":"PURR/USDC"}]},[{"coin":"PURR/USDC","markPx":"0.2"}]]`)))(t)
	f.publish(&market.Events{Contexts: []market.Contexts{perps("90000.0"), spot}})
	w.connect("one", channel.FeedChannels)
	for _, coin := range []string{"BTC", "PURR/USDC", "OLD"} {
		w.subscribe("one", channel.Subscription{Type: channel.ActiveAssetCtx, Coin: coin})
	}
	w.sent("one", 5)
	f.publish(&market.Events{Contexts: []market.Contexts{perps("90001.0")}})
	wants(t, strings.Join(w.sent("one", 6), "\n"),
		`{"reply":{"of":"activeAssetCtx","activeCount":1}}`,
		`{"channel":"activeAssetCtx","data":{"coin":"BTC","ctx":{"markPx":"90000.0","more":[1]}}}`,
		`{"reply":{"of":"activeAssetCtx","activeCount":2}}`,
		`{"channel":"activeSpotAssetCtx","data":{"coin":"PURR/USDC","ctx":{"coin":"PURR/USDC","markPx":"0.2"}}}`,
		`{"reply":{"of":"activeAssetCtx","activeCount":3}}`,
		`{"channel":"activeAssetCtx","data":{"coin":"BTC","ctx":{"markPx":"90001.0","more":[1]}}}`)
}

// Each kind of event is shown once, to who follows the account, in frames that a gateway takes.
func TestWhatHappensToAnAccountIsShownOnceInTheVenuesShapes(t *testing.T) {
	t.Parallel()
	const one, other = "0x1000000000000000000000000000000000000001", "0x2000000000000000000000000000000000000002"
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	now := w.clock().UnixMilli()
	status := func(address, status string, oid int64) market.OrderStatus {
		return market.OrderStatus{Address: address, Time: now, Status: status, Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "2.0", OrigSz: "3.0", Oid: oid, Timestamp: now - 1, ReduceOnly: true, Children: json.RawMessage("[]")}
	}
	events := market.Events{
		Orders:   []market.OrderStatus{status(one, "open", 7), status(other, "open", 8), status(one, "canceled", 7)},
		Payments: []market.FundingPayment{{Address: one, Coin: "BTC", Time: now, USDC: "-1.5", Szi: "2.0", Rate: "0.0001"}, {Address: other, Coin: "BTC", Time: now, USDC: "1.5", Szi: "-2.0", Rate: "0.0001"}, {Address: one, Coin: "ETH", Time: now, USDC: "0.5", Szi: "-1.0", Rate: "0.0002"}},
		Fills:    []market.Fill{{Address: one, Coin: "BTC", Px: "1.0", Sz: "2.0", Side: market.Buy, Time: now, StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x1", Oid: 7, Fee: "0.1", FeeToken: "USDC", Tid: 5}},
	}
	w.connect("one", channel.FeedChannels)
	for _, name := range []channel.Name{channel.OrderUpdates, channel.UserEvents, channel.UserFundings} {
		w.subscribe("one", channel.Subscription{Type: name, User: one})
	}
	w.sent("one", 4)
	for range 2 { // as two sources do
		f.publish(&events)
	}
	funding := func(coin, usdc, szi, rate string) string {
		return fmt.Sprintf(`{"time":%d,"coin":%q,"usdc":%q,"szi":%q,"fundingRate":%q}`, now, coin, usdc, szi, rate)
	}
	btc, eth := funding("BTC", "-1.5", "2.0", "0.0001"), funding("ETH", "0.5", "-1.0", "0.0002")
	order := fmt.Sprintf(`{"coin":"BTC","side":"B","limitPx":"1.0","sz":"2.0","oid":7,"timestamp":%d,"origSz":"3.0","reduceOnly":true}`, now-1)
	got := strings.Join(w.sent("one", 9), "\n")
	for _, want := range []string{
		fmt.Sprintf(`{"channel":"orderUpdates","data":[{"order":%s,"status":"open","statusTimestamp":%d},{"order":%s,"status":"canceled","statusTimestamp":%d}]}`, order, now, order, now),
		`{"channel":"user","data":{"funding":` + btc + `}}`,
		`{"channel":"user","data":{"funding":` + eth + `}}`,
		`{"channel":"user","data":{"fills":[` + string(events.Fills[0].AppendJSON(nil)) + `]}}`,
		`{"channel":"userFundings","data":{"isSnapshot":true,"user":"` + one + `","fundings":[]}}`,
		`{"channel":"userFundings","data":{"user":"` + one + `","fundings":[` + btc + `,` + eth + `]}}`,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%d times %s in\n%s", strings.Count(got, want), want, got)
		}
	}
	if strings.Contains(got, other) || strings.Contains(got, `"oid":8`) {
		t.Errorf("of another account: %s", got)
	}
}

// What is stored and what arrived lately is in the snapshot, of each hour and coin once; what comes again
// or is older than what it has is no news.
func TestFundingOfAnAccountStartsWithTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	const hour = 3_600_000
	now := w.clock().UnixMilli()
	payment := func(coin string, ms int64, seq int) market.FundingPayment {
		return market.FundingPayment{Address: alice, Coin: coin, Time: ms, USDC: fmt.Sprintf("-%d.5", seq), Szi: "2.0", Rate: "0.0001"}
	}
	body := func(p market.FundingPayment) string { return string(fundingBody(&p)) }
	var stored []market.FundingPayment
	for i := range fundingsKept + 1 {
		stored = append(stored, payment("BTC", now-int64(fundingsKept+1-i)*hour, i))
	}
	storetest.PutLog(t, f.Log, payments.Name, payments.AppendRows, stored...)
	last, next := payment("ETH", now-1, 7), payment("BTC", now, 8)
	f.publish(&market.Events{Payments: []market.FundingPayment{last}})
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.UserFundings, User: alice})
	w.sent("one", 2)
	f.publish(&market.Events{Payments: []market.FundingPayment{stored[0], stored[fundingsKept], last, next}})
	got := w.sent("one", 3)
	wants(t, got[1], `{"channel":"userFundings","data":{"isSnapshot":true,"user":"`+alice+`","fundings":[`+body(stored[2])+`,`, body(stored[fundingsKept])+`,`+body(last)+`]}}`)
	if want := `{"channel":"userFundings","data":{"user":"` + alice + `","fundings":[` + body(next) + `]}}`; got[2] != want || strings.Count(got[1], `"time"`) != fundingsKept {
		t.Errorf("%d payments, then %s", strings.Count(got[1], `"time"`), got[2])
	}
}

func TestManyEventsOfAnAccountTakeAsManyFramesAsTheyNeed(t *testing.T) {
	t.Parallel()
	body := []byte(strings.Repeat("x", 50_000))
	if a, b := fit([][]byte{body, body, body}), fit([][]byte{[]byte(strings.Repeat("x", 200_000)), body}); a != 2 || b != 1 {
		t.Errorf("%d and %d", a, b)
	}
}
