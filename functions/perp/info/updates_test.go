package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

const hourMs = int64(3_600_000)

func (w *world) updates(t *testing.T, kind, members string) []catalog.InfoUpdate {
	t.Helper()
	return apitest.Data[[]catalog.InfoUpdate](t, w.ask(t, fmt.Sprintf(`{"type":%q,"user":%q,%s}`, kind, alice, members)))
}

func TestUserFundingIsWhatAnAccountPaidByTheHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.FundingPayment
	for hour := range int64(3) {
		for n, coin := range []string{"BTC", "ETH"} {
			list = append(list, market.FundingPayment{Address: alice, Coin: coin, Time: start + hour*hourMs, USDC: fmt.Sprintf("-%d.25", hour), Szi: fmt.Sprintf("-0.%d", n+1), Rate: "0.0000125", Seq: hour + 1})
		}
	}
	storetest.PutLog(t, w.log, payments.Name, payments.AppendRows, list...)
	w.golden(t, "userFunding", fmt.Sprintf(`{"type":"userFunding","user":%q,"startTime":%d,"endTime":%d}`, alice, start+hourMs, start+2*hourMs))
	for members, want := range map[string]int{
		fmt.Sprintf(`"startTime":%d`, start):                                                    6,
		fmt.Sprintf(`"startTime":"%d"`, start+1):                                                4,
		fmt.Sprintf(`"startTime":%d,"endTime":%d`, start, start+hourMs-1):                       2,
		fmt.Sprintf(`"startTime":%d,"endTime":%d,"dex":"xyz"`, start+9*hourMs, start+10*hourMs): 0,
	} {
		if got := w.updates(t, "userFunding", members); len(got) != want {
			t.Errorf("%s: %d payments, want %d", members, len(got), want)
		}
	}
}

// An answer ends with a whole hour, so that nothing is missed behind its last time.
func TestUserFundingEndsWithAWholeHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.FundingPayment
	for hour := range int64(4) {
		for n := range 150 {
			list = append(list, market.FundingPayment{Address: alice, Coin: fmt.Sprintf("COIN%03d", n), Time: start + hour*hourMs, USDC: "1.5", Szi: "2.0", Rate: "0.0001", Seq: hour + 1})
		}
	}
	storetest.PutLog(t, w.log, payments.Name, payments.AppendRows, list...)
	first := w.updates(t, "userFunding", fmt.Sprintf(`"startTime":%d`, start))
	if n := len(first); n != 450 || first[n-1].Time != start+2*hourMs {
		t.Fatalf("%d payments until %d", n, first[n-1].Time)
	}
	if rest := w.updates(t, "userFunding", fmt.Sprintf(`"startTime":%d`, first[449].Time+1)); len(rest) != 150 {
		t.Errorf("behind the last time are %d payments", len(rest))
	}
}

func TestLedgerUpdatesAreAsTheVenueWroteThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Ledger
	for n, delta := range []string{
		`{"type":"deposit","usdc":"100.5"}`, `{"type":"accountClassTransfer","usdc":"12.0","toPerp":false}`,
		`{"type":"send","user":"0x2000000000000000000000000000000000000000","destination":"` + alice + `","token":"USDC","amount":"5.0","nonce":7}`,
	} {
		var of struct{ Type string }
		if err := json.Unmarshal([]byte(delta), &of); err != nil {
			t.Fatal(err)
		}
		list = append(list, market.Ledger{Address: alice, Time: start + int64(n), Hash: "0x" + strings.Repeat(fmt.Sprint(n), 64), Type: of.Type, Delta: json.RawMessage(delta)})
	}
	storetest.PutLog(t, w.log, ledgers.Name, ledgers.AppendRows, list...)
	w.golden(t, "userNonFundingLedgerUpdates", fmt.Sprintf(`{"type":"userNonFundingLedgerUpdates","user":%q,"startTime":%d}`, alice, start))
	for members, want := range map[string]string{
		fmt.Sprintf(`"startTime":%d,"endTime":%d`, start+1, start+2): "1 2",
		fmt.Sprintf(`"startTime":%d,"endTime":%d`, start, start):     "0",
		fmt.Sprintf(`"startTime":%d`, start+3):                       "",
	} {
		var got []string
		for _, u := range w.updates(t, "userNonFundingLedgerUpdates", members) {
			got = append(got, fmt.Sprint(u.Time-start))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: those of %v ms, want %s", members, got, want)
		}
	}
}

func TestLedgerUpdatesEndAt500(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Ledger
	for n := range int64(600) {
		list = append(list, market.Ledger{Address: alice, Time: start + n, Hash: fmt.Sprintf("0x%064x", n), Type: "deposit", Delta: json.RawMessage(`{"type":"deposit","usdc":"1.0"}`)})
	}
	storetest.PutLog(t, w.log, ledgers.Name, ledgers.AppendRows, list...)
	if got := w.updates(t, "userNonFundingLedgerUpdates", fmt.Sprintf(`"startTime":%d`, start)); len(got) != maxUpdates || got[0].Time != start {
		t.Errorf("%d updates from %d on", len(got), got[0].Time)
	}
}
