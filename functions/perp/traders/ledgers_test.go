package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const (
	path  = "/upgrade/v2/hl/ledger-updates/deposits-withdrawals"
	alice = "0xa11ce00000000000000000000000000000000001"
	bob   = "0xb0b0000000000000000000000000000000000002"
	carol = "0xca40100000000000000000000000000000000003"
	start = int64(1_790_000_000_000) // ms
)

type body = map[string]any

func newWorld(t *testing.T) *apitest.World {
	t.Helper()
	var log *store.Log
	w := apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		log = open.Log()
		(&reader{log: log}).register(open.Family)
	})
	update := func(address string, ms int64, kind, usdc, fee string) market.Ledger {
		return market.Ledger{Address: address, Time: start + ms, Hash: "0x5a", Type: kind, Funds: kind, USDC: usdc, Fee: fee, Delta: json.RawMessage(`{"type":"` + kind + `"}`)}
	}
	storetest.PutLog(t, log, ledgers.Name, ledgers.AppendRows,
		update(alice, 0, "deposit", "100.5", ""), update(alice, 10, "withdraw", "7.000001", "1.0"), update(alice, 20, "internalTransfer", "", ""),
		update(alice, 30, "deposit", "3.0", ""), update(bob, 10, "deposit", "12345678901234567.25", ""), update(bob, 40, "withdraw", "0.0", ""),
	)
	return w
}

func TestDepositsAndWithdrawalsAreNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice, bob}}).Golden(t, "deposits-withdrawals")
}

// Money counts by whatever route it went; other tokens are not listed.
func TestDepositsAndWithdrawalsByOtherRoutes(t *testing.T) {
	t.Parallel()
	var log *store.Log
	w := apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		log = open.Log()
		(&reader{log: log}).register(open.Family)
	})
	const usdc, hype = "0x2000000000000000000000000000000000000000", "0x2222222222222222222222222222222222222222"
	var list []market.Ledger
	for i, c := range []struct{ kind, from, to, token, amount string }{
		{"spotTransfer", usdc, alice, "USDC", "100.5"}, {"send", alice, usdc, "USDC", "7.25"}, {"send", hype, alice, "HYPE", "3.0"}, {"send", bob, alice, "USDC", "5.0"},
		{"send", "0x6b9e773128f453f5c2c60935ee2de2cbc5390a24", alice, "USDC", "20.0"},
	} {
		l := market.Ledger{Address: alice, Time: start + int64(i), Hash: "0x5a", Type: c.kind, Delta: json.RawMessage(fmt.Sprintf(
			`{"type":%q,"user":%q,"destination":%q,"token":%q,"amount":%q,"usdcValue":"90.0","fee":"1.0"}`, c.kind, c.from, c.to, c.token, c.amount))}
		l.Route()
		list = append(list, l)
	}
	storetest.PutLog(t, log, ledgers.Name, ledgers.AppendRows, list...)
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice}}).Golden(t, "deposits-withdrawals-routes")
}

func TestDepositsAndWithdrawalsOfAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		body body
		want []int64 // ms after the start
	}{
		"both edges are inside":       {body{"addresses": []string{alice}, "startTime": start, "endTime": start + 30}, []int64{30, 10, 0}},
		"a start alone":               {body{"addresses": []string{alice}, "startTime": start + 1}, []int64{30, 10}},
		"an end alone":                {body{"addresses": []string{alice}, "endTime": start + 29}, []int64{10, 0}},
		"numbers as texts":            {body{"addresses": []string{alice}, "startTime": "1790000000001", "limit": "1"}, []int64{30}},
		"the newest of all accounts":  {body{"addresses": []string{alice, bob}, "limit": 2}, []int64{40, 30}},
		"an account twice":            {body{"addresses": []string{alice, alice}}, []int64{30, 10, 0}},
		"an account in capitals":      {body{"addresses": []string{"0xA11CE00000000000000000000000000000000001"}}, []int64{30, 10, 0}},
		"an account that is unknown":  {body{"addresses": []string{carol}}, []int64{}},
		"a window without a movement": {body{"addresses": []string{alice}, "startTime": start + 31}, []int64{}},
	} {
		got := []int64{}
		for _, m := range apitest.Data[[]catalog.FundsMovement](t, w.Call(t, w.SubKey, http.MethodPost, path, c.body)) {
			got = append(got, m.Time-start)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				break
			}
		}
	}
}

// Whatever accounts have, the newest of all are those that sorting all of them gives, and
// of each account few more are read than belong to them.
func TestTheNewestOfManyAccountsAreReadInSmallParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 60).Draw(rt, "limit")
		var all []market.Ledger
		var logs []iter.Seq2[market.Ledger, error]
		var read atomic.Int64 // accounts are read side by side
		for n := range rapid.IntRange(1, 12).Draw(rt, "accounts") {
			times := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 100).Draw(rt, "times")
			own := make([]market.Ledger, len(times))
			for i, ms := range times {
				own[i] = market.Ledger{Address: fmt.Sprintf("0x%02d", n), Time: ms, Hash: fmt.Sprintf("0x%04d", i)}
			}
			slices.SortFunc(own, newestFirst)
			all = append(all, own...)
			logs = append(logs, func(yield func(market.Ledger, error) bool) {
				for _, l := range own {
					read.Add(1)
					if !yield(l, nil) {
						return
					}
				}
			})
		}
		got := must.Get(newestOf(logs, limit))(rt)
		slices.SortFunc(all, newestFirst)
		if diff := cmp.Diff(all[:min(len(all), limit)], got, cmpopts.EquateEmpty()); diff != "" {
			rt.Errorf("(-want +got):\n%s", diff)
		}
		sameTime := 0 // as the last one: they may all be among the newest
		for i := range all {
			if len(got) > 0 && all[i].Time == got[len(got)-1].Time {
				sameTime++
			}
		}
		if most := 8*len(logs) + 2*(limit+sameTime); int(read.Load()) > most {
			rt.Errorf("read %d rows of %d for the newest %d, want at most %d", read.Load(), len(all), limit, most)
		}
	})
}

func TestAnAccountThatCannotBeReadFailsTheRequest(t *testing.T) {
	t.Parallel()
	broken := errors.New("no answer")
	_, err := newestOf([]iter.Seq2[market.Ledger, error]{
		func(func(market.Ledger, error) bool) {},
		func(yield func(market.Ledger, error) bool) { yield(market.Ledger{}, broken) },
	}, 5)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// An account without a row costs the least that DynamoDB charges for, once.
func TestManyAccountsWithoutAMovementCostHalfAUnitEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const asked = 2000
	addresses := make([]string, asked)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("0x%040x", i)
	}
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": addresses}) // learns since when rows are retained
	answer := w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": addresses})
	if got := apitest.Data[[]catalog.FundsMovement](t, answer); len(got) != 0 {
		t.Fatalf("%d movements of nobody", len(got))
	}
	if units := w.ReadUnits(t); units != asked/2 {
		t.Errorf("read %v units, want %d", units, asked/2)
	}
}
