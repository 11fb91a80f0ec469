package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/keys"
	"quotary/shared/market"
	"quotary/shared/store"
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
		return market.Ledger{Address: address, Time: start + ms, Hash: "0x5a", Type: kind, USDC: usdc, Fee: fee, Delta: json.RawMessage(`{"type":"` + kind + `"}`)}
	}
	if err := ledgers.Put(t.Context(), log,
		update(alice, 0, "deposit", "100.5", ""), update(alice, 10, "withdraw", "7.000001", "1.0"), update(alice, 20, "internalTransfer", "", ""),
		update(alice, 30, "deposit", "3.0", ""), update(bob, 10, "deposit", "12345678901234567.25", ""), update(bob, 40, "withdraw", "0.0", ""),
	); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestDepositsAndWithdrawalsAreNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice, bob}}).Golden(t, "deposits-withdrawals")
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

func TestAnEntryThatIsNoAddressIsNamedSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice, "nope"}}).Refused(t, http.StatusBadRequest, "invalid addresses", "a value in it must be an address")
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": alice + ", nope"}).Refused(t, http.StatusBadRequest, "invalid addresses", "a value in it must be an address")
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": body{}}).Refused(t, http.StatusBadRequest, "invalid addresses", "a list of 1 to 2000 entries")
}

// Without a start the answer reaches back to the beginning of what is stored, so the
// span counts from there.
func TestASpanWithoutAStartIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	level := keys.Allow(catalog.Actions()...)
	level.MaxTimeRange = 3600
	if err := w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level); err != nil {
		t.Fatal(err)
	}
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice}}).Refused(t, http.StatusBadRequest, "time range exceeded")
	inside := w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice}, "startTime": start, "endTime": start + 3_600_000})
	if got := apitest.Data[[]catalog.FundsMovement](t, inside); len(got) != 3 {
		t.Errorf("%d movements within the span, want 3", len(got))
	}
}

func TestTheNewestOfManyAccountsAreKeptInBoundedMemory(t *testing.T) {
	t.Parallel()
	const limit, reads = 10, 500
	n := newest{limit: limit}
	var all []int64
	for i := range reads {
		list := make([]market.Ledger, limit)
		for j := range list {
			list[j] = market.Ledger{Address: alice, Time: int64((i*7919 + j*31) % 5003)}
			all = append(all, -list[j].Time)
		}
		n.add(list)
		if len(n.list) > slack*limit {
			t.Fatalf("%d updates are held after %d reads", len(n.list), i+1)
		}
	}
	var got []int64
	for _, l := range n.cut() {
		got = append(got, -l.Time)
	}
	slices.Sort(all)
	if !slices.Equal(got, all[:limit]) {
		t.Errorf("kept %v, want %v", got, all[:limit])
	}
}
