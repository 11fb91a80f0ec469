package twaps

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

func TestStoredTwapStatuses(t *testing.T) {
	datasettest.Codec[market.TwapStatus]{
		Values: markettest.Twap(),
		Encode: func(s market.TwapStatus) []byte { return row(&s).Body },
		Decode: func(body []byte) (market.TwapStatus, error) { return Decode(store.Row{Body: body}) },
		Use:    func(s market.TwapStatus) { _ = s.Remaining() },
	}.Test(t)
}

func TestTheStoredViewOfTwapsThatRun(t *testing.T) {
	datasettest.Codec[Running]{
		Values: rapid.Custom(func(t *rapid.T) Running {
			v := Running{Time: markettest.Time().Draw(t, "time"), Since: markettest.Time().Draw(t, "since"), Twaps: rapid.SliceOfN(markettest.Twap(), 0, 4).Draw(t, "twaps")}
			for i := range v.Twaps {
				v.Twaps[i].TwapID = new(int64(i))
			}
			return v
		}),
		Encode: PublishedRunning.Encode, Decode: PublishedRunning.Decode,
	}.Test(t)
}

func TestTheStoredTableOfTwaps(t *testing.T) {
	datasettest.Codec[tableBody]{
		Values: rapid.Custom(func(t *rapid.T) tableBody {
			table := new(market.Twaps)
			for id := range rapid.Int64Range(0, 5).Draw(t, "twaps") {
				s := markettest.Twap().Draw(t, "status")
				s.TwapID = &id
				table.Add(&s)
				for n := range rapid.IntRange(0, 5).Draw(t, "fills") {
					f := markettest.Fill().Draw(t, "fill")
					f.TwapID, f.Tid = &id, int64(7*n)
					table.AddFill(&f)
				}
			}
			table.Prune(true)
			return tableBody(encodeTable(table))
		}),
		Encode: func(b tableBody) []byte { return []byte(b) },
		Decode: func(body []byte) (tableBody, error) {
			table, err := decodeTable(body)
			if err != nil {
				return "", err
			}
			_ = table.Running()
			return tableBody(encodeTable(table)), nil
		},
	}.Test(t)
}

// tableBody is a table as it is stored, by which two are compared.
type tableBody string

// One row that cannot be read costs an account all its TWAPs.
func TestWhatACheckOfAStatusAcceptsIsStoredAndReadAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := markettest.Twap().Draw(t, "status")
		for _, text := range []*string{&s.Status, &s.Error, &s.Coin, &s.Sz, &s.ExecutedNtl} {
			if rapid.Bool().Draw(t, "foreign") {
				*text = markettest.Foreign().Draw(t, "text")
			}
		}
		if s.Check() != nil {
			return
		}
		again, err := Decode(row(&s))
		if err != nil {
			t.Fatalf("%v: %s", err, row(&s).Body)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("(-stored +read):\n%s", diff)
		}
	})
}

func TestStatusesAreFoundByAccountAndCoinNewestFirst(t *testing.T) {
	t.Parallel()
	const alice, bob = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"
	log := storetest.Open(t).Log
	status := func(address, coin string, id, ms int64, status string) market.TwapStatus {
		return market.TwapStatus{Address: address, TwapID: &id, Time: markettest.Base + ms, Status: status, Seq: ms, Twap: market.Twap{
			Coin: coin, Side: market.Buy, Sz: "1.0", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 5, Timestamp: markettest.Base}}
	}
	all := []market.TwapStatus{
		status(alice, "BTC", 1, 0, "activated"), status(alice, "@107", 2, 0, "activated"), status(alice, "BTC", 1, 9, "finished"),
		status(bob, "BTC", 3, 1, "activated"), status(alice, "BTC", 0, 10, "error"), status(alice, "BTC", 0, 10, "error"),
	}
	all[4].TwapID, all[5].TwapID, all[5].Sz = nil, nil, "2.0" // two that were refused at one time
	for range 2 {
		storetest.PutLog(t, log, StatusesName, AppendRows, all...)
	}
	read := func(address, coin string, limit int) (got []string) {
		for s := range must.All(t, Newest(t.Context(), log, address, coin, limit)) {
			id := "none"
			if s.TwapID != nil {
				id = fmt.Sprint(*s.TwapID)
			}
			got = append(got, id+" "+s.Status+" "+s.Coin)
		}
		return got
	}
	if got := read(alice, "BTC", 10); len(got) != 4 || !slices.Equal(got[2:], []string{"1 finished BTC", "1 activated BTC"}) || got[0] != "none error BTC" {
		t.Errorf("of one coin there are %q", got)
	}
	check.Equal(t, []string{"2 activated @107"}, read(alice, "@107", 10))
	check.Equal(t, []string{"none error BTC", "none error BTC"}, read(alice, "", 2))
	check.Equal(t, 5, len(read(alice, "", 100)))
	check.Equal(t, []string{"3 activated BTC"}, read(bob, "", 100))
}

// A fill may have as many digits as any figure: what a TWAP's fills add up to has more, which is no
// amount of any market, and costs no reader the other TWAPs.
func TestTheViewOfTwapsIsReadWhateverTheirFillsAddUpTo(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("9", 48)
	table := new(market.Twaps)
	for id := range int64(2) {
		s := market.TwapStatus{Address: "0x" + strings.Repeat("1", 40), TwapID: &id, Time: 1_790_000_000_000, Status: market.TwapActivated, Twap: market.Twap{
			Coin: "BTC", Side: market.Buy, Sz: "5.0", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 60, Timestamp: 1_790_000_000_000,
		}}
		f := market.Fill{Address: s.Address, Coin: "BTC", Px: "2.0", Sz: "1.0", Side: market.Buy, Time: s.Time, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", TwapID: &id, Tid: 1}
		if id == 0 {
			f.Px, f.Sz = most, most
		}
		must.Do(t, s.Check())
		must.Do(t, f.Check())
		table.Add(&s)
		table.AddFill(&f)
	}
	running := must.Get(PublishedRunning.Decode(PublishedRunning.Encode(Running{Twaps: table.Running()})))(t).Twaps
	if len(running) != 2 || running[0].ExecutedSz != "0.0" || running[1].ExecutedSz != "1.0" || running[1].ExecutedNtl != "2.0" {
		t.Errorf("%+v", running)
	}
	table.Prune(true)
	must.Get(PublishedTable.Decode(PublishedTable.Encode(table)))(t)
}
