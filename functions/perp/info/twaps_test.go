package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
)

// someTwaps has TWAPs of alice: one that runs, one that was refused, and one of somebody else. What
// is known of TWAPs begins so long ago.
func (w *world) someTwaps(t *testing.T, since time.Duration) {
	t.Helper()
	runs := market.TwapStatus{Address: alice, TwapID: new(int64(7)), Time: start + 1234, Status: market.TwapActivated, Seq: 1, Twap: market.Twap{
		Coin: "@107", Side: market.Sell, Sz: "108.36", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 30, Randomize: true, Timestamp: start + 1234}}
	refused := runs
	refused.TwapID, refused.Time, refused.Status, refused.Error, refused.Seq = nil, start+5678, market.TwapError, "Insufficient margin to place order.", 2
	other := runs
	other.Address, other.TwapID = "0xb0b0000000000000000000000000000000000002", new(int64(8))
	storetest.PutLog(t, w.log, twaps.StatusesName, twaps.AppendRows, runs, refused, other)
	runs.ExecutedSz, runs.ExecutedNtl = "50.0", "1000.5"
	storetest.Publish(t, w.views, twaps.PublishedRunning, twaps.Running{Time: start, Since: w.Now().Add(-since).UnixMilli(), Twaps: []market.TwapStatus{runs, other}})
}

// states is the member twapStates of webData2.
func (w *world) states(t *testing.T) string {
	t.Helper()
	answer := w.ask(t, `{"type":"webData2","user":"`+alice+`"}`)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return string(apitest.Data[map[string]json.RawMessage](t, answer)["twapStates"])
}

func TestTheTwapsOfAnAccountHaveTheVenuesShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t) // which asks nobody
	w.someTwaps(t, 25*time.Hour)
	w.golden(t, "twapHistory", `{"type":"twapHistory","user":"`+alice+`"}`)
	w.someAccount(t)
	w.someContexts(t)
	w.someOpenOrders(t)
	check.Equal(t, `[[7,{"coin":"@107","user":"`+alice+`","side":"A","sz":"108.36","executedSz":"50.0","executedNtl":"1000.5","minutes":30,"reduceOnly":false,"randomize":true,"timestamp":1790000001234}]]`, w.states(t))
	if list := apitest.Data[[]catalog.InfoTwap](t, w.ask(t, `{"type":"twapHistory","user":"0x`+"9999999999999999999999999999999999999999"+`"}`)); len(list) != 0 {
		t.Errorf("of an account without any there are %+v", list)
	}
}

// Without a node nothing is known of TWAPs, and for a day nobody knows which of them began before.
func TestTheVenueIsAskedForTwapsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	w := newWorldWith(t, v.URL, 1_000_000)
	w.someAccount(t)
	w.someContexts(t)
	w.someOpenOrders(t)
	question := `{"type":"twapHistory","user":"` + alice + `"}`
	check.Equal(t, `{"code":"0","msg":"success","data":{"asked":`+question+`}}`, string(w.ask(t, question).Body))
	v.answers(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`{"twapStates":[[9,{"coin":"BTC"}]],"isVault":false}`))
	})
	check.Equal(t, `[[9,{"coin":"BTC"}]]`, w.states(t))
	w.Move(6 * time.Second) // so that the view is asked for again
	w.someTwaps(t, 23*time.Hour)
	check.Equal(t, `[[9,{"coin":"BTC"}]]`, w.states(t))

	alone := newWorld(t)
	alone.ask(t, question).Refused(t, http.StatusServiceUnavailable, "turned that off")
	alone.someAccount(t)
	alone.someContexts(t)
	alone.someOpenOrders(t)
	check.Equal(t, "null", alone.states(t))
}
