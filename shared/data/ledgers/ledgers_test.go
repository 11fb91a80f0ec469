package ledgers

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestStoredLedgerUpdates(t *testing.T) {
	var last store.Row // its key is not in the body
	datasettest.Codec[market.Ledger]{
		Values: rapid.Custom(func(t *rapid.T) market.Ledger {
			return market.Ledger{
				Address: markettest.Address().Draw(t, "address"), Time: markettest.Time().Draw(t, "time"), Seq: rapid.Int64Min(0).Draw(t, "seq"), Hash: rapid.StringMatching(`0x[0-9a-f]{8}`).Draw(t, "hash"),
				Type: rapid.StringMatching(`[a-zA-Z]{1,12}`).Draw(t, "type"), Funds: rapid.SampledFrom([]string{"", market.LedgerDeposit, market.LedgerWithdraw}).Draw(t, "funds"),
				USDC: markettest.Decimal(9, 6).Draw(t, "usdc"), Fee: markettest.Decimal(3, 6).Draw(t, "fee"), Value: markettest.Decimal(9, 6).Draw(t, "value"),
				Delta: json.RawMessage(`{"type":"deposit","usdc":"1.0"}`),
			}
		}),
		Encode: func(l market.Ledger) []byte {
			last = row(&l)
			return last.Body
		},
		Decode: func(body []byte) (market.Ledger, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
	}.Test(t)
}

// Rows of before all routes of money were known say it in their delta alone.
func TestTheRoutesOfOldRowsAreFoundInTheirDeltas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, funds, usdc, value string }{
		"a deposit by the bridge": {body: `{"hash":"0x1","type":"deposit","usdc":"5.5","delta":{"type":"deposit","usdc":"5.5"}}`, funds: "deposit", usdc: "5.5"},
		"a withdrawal to another chain": {
			body:  `{"hash":"0x1","type":"spotTransfer","delta":{"type":"spotTransfer","token":"USDC","amount":"7.5","usdcValue":"7.5","user":"0xA11ce00000000000000000000000000000000001","destination":"0x2000000000000000000000000000000000000000","fee":"0.0"}}`,
			funds: "withdraw", usdc: "7.5",
		},
		"a transfer": {body: `{"hash":"0x1","type":"internalTransfer","delta":{"type":"internalTransfer","usdc":"7.5"}}`},
	} {
		l, err := Decode(store.Row{Subject: "0xa11ce00000000000000000000000000000000001", Time: time.UnixMilli(markettest.Base).UTC(), Body: []byte(c.body)})
		if err != nil || l.Funds != c.funds || l.USDC != c.usdc || l.Value != c.value {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if found := row(&l).Index[0] != ""; found != (c.usdc != "") {
			t.Errorf("%s: found among deposits and withdrawals: %t", name, found)
		}
	}
}

func TestALedgerUpdateIsFoundByAccountAndTime(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	update := func(n int64, kind string) market.Ledger {
		l := market.Ledger{Address: "0xa11ce00000000000000000000000000000000001", Time: markettest.Base + n, Hash: "0x0", Type: kind, Delta: json.RawMessage(`{"type":"` + kind + `"}`)}
		if kind == "deposit" {
			l.Funds, l.USDC, l.Delta = kind, "1.5", json.RawMessage(`{"type":"deposit","usdc":"1.5"}`)
		}
		return l
	}
	first, transfer, second := update(0, "deposit"), update(1, "internalTransfer"), update(2, "deposit")
	sameTime := transfer // of one transaction and one millisecond
	sameTime.Delta = json.RawMessage(`{"type":"internalTransfer","fee":"1"}`)
	other := update(1, "deposit")
	other.Address = "0xb0b0000000000000000000000000000000000002"
	all := []market.Ledger{first, transfer, sameTime, second, other}
	for range 2 {
		storetest.PutLog(t, log, Name, AppendRows, all...)
	}
	at := func(l market.Ledger) time.Time { return time.UnixMilli(l.Time) }
	none := time.Time{}
	for name, c := range map[string]struct {
		read   iter.Seq2[market.Ledger, error]
		want   int
		newest market.Ledger
	}{
		"an account":                 {Newest(t.Context(), log, first.Address, none, 10), 4, second},
		"its newest":                 {Newest(t.Context(), log, first.Address, none, 1), 1, second},
		"those from a time on":       {Newest(t.Context(), log, first.Address, at(second), 10), 1, second},
		"deposits and withdrawals":   {NewestFunds(t.Context(), log, first.Address, none, none, 1), 2, second},
		"those up to a time":         {NewestFunds(t.Context(), log, first.Address, none, at(transfer), 1), 1, first},
		"funds from a time on":       {NewestFunds(t.Context(), log, first.Address, at(second), none, 1), 1, second},
		"none between two":           {NewestFunds(t.Context(), log, first.Address, at(transfer), at(transfer), 1), 0, market.Ledger{}},
		"both edges of a window":     {NewestFunds(t.Context(), log, first.Address, at(first), at(second), 1), 2, second},
		"the only one of an account": {NewestFunds(t.Context(), log, other.Address, none, none, 1), 1, other},
	} {
		var got []market.Ledger
		got = slices.AppendSeq(got, must.All(t, c.read))
		if len(got) != c.want || c.newest.Hash != "" && !cmp.Equal(c.newest, got[0]) {
			t.Errorf("%s: %d updates: %v", name, len(got), got)
		}
	}
}

// Whatever their hashes are.
func TestUpdatesOfOneMillisecondAreReadInTheOrderInWhichTheyCameAbout(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	var all []market.Ledger
	for seq, hash := range []string{"0xc", "0xa", "0xb"} {
		all = append(all, market.Ledger{Address: "0xa11ce00000000000000000000000000000000001", Time: markettest.Base, Hash: hash, Seq: int64(seq), Type: "send", Delta: json.RawMessage(`{"type":"send"}`)})
	}
	storetest.PutLog(t, log, Name, AppendRows, all[2], all[0], all[1])
	oldest := must.All(t, Window(t.Context(), log, all[0].Address, time.Time{}, time.Time{}, 10))
	check.Equal(t, all, slices.Collect(oldest))
	newest := must.All(t, Newest(t.Context(), log, all[0].Address, time.Time{}, 10))
	slices.Reverse(all)
	check.Equal(t, all, slices.Collect(newest))
}
