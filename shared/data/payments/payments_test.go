package payments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

func TestStoredPayments(t *testing.T) {
	var last store.Row // its key is not in the body
	datasettest.Codec[[]market.FundingPayment]{
		Values: rapid.Custom(func(t *rapid.T) []market.FundingPayment {
			address, at := markettest.Address().Draw(t, "address"), markettest.Time().Draw(t, "time")
			coins := rapid.SliceOfNDistinct(markettest.Coin(), 1, 5, rapid.ID).Draw(t, "coins")
			slices.Sort(coins)
			list := make([]market.FundingPayment, len(coins))
			for i, coin := range coins {
				list[i] = market.FundingPayment{
					Address: address, Coin: coin, Time: at, USDC: markettest.Signed(9, 6).Draw(t, "usdc"),
					Szi: markettest.Signed(9, 5).Draw(t, "szi"), Rate: markettest.Signed(1, 10).Draw(t, "rate"),
				}
			}
			return list
		}),
		Encode: func(list []market.FundingPayment) []byte {
			last = row(&list)
			return last.Body
		},
		Decode: func(body []byte) ([]market.FundingPayment, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
	}.Test(t)
}

// One row that cannot be read costs an account all its payments.
func TestWhatACheckOfAPaymentAcceptsIsStoredAndReadAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := market.FundingPayment{
			Address: markettest.Address().Draw(t, "address"), Coin: rapid.OneOf(markettest.Coin(), markettest.Foreign()).Draw(t, "coin"), Time: markettest.Time().Draw(t, "time"),
			USDC: rapid.OneOf(markettest.Signed(9, 6), markettest.Foreign()).Draw(t, "usdc"), Szi: "1", Rate: "0.0",
		}
		if p.Check() != nil {
			return
		}
		list := []market.FundingPayment{p}
		again, err := Decode(row(&list))
		if err != nil {
			t.Fatalf("%v: %s", err, row(&list).Body)
		}
		check.Equal(t, list, again)
	})
}

func payment(address byte, coin string, at, seq int64) market.FundingPayment {
	return market.FundingPayment{Address: "0x000000000000000000000000000000000000000" + string(address), Coin: coin, Time: at, USDC: "-1.5", Szi: "2.0", Rate: "0.0000125", Seq: seq}
}

// events are those of two hours, the second of which was paid in two events of one
// millisecond.
func events() []market.FundingPayment {
	const hour = 3_600_000
	return []market.FundingPayment{
		payment('1', "BTC", markettest.Base, 1), payment('2', "BTC", markettest.Base, 1), payment('1', "ETH", markettest.Base, 1),
		payment('1', "BTC", markettest.Base+hour, 2), payment('2', "ETH", markettest.Base+hour, 2),
		payment('1', "xyz:GOLD", markettest.Base+hour, 3), payment('1', "abc:OIL", markettest.Base+hour, 3),
	}
}

func TestTheRowsAreTheSameWhateverElseIsInTheList(t *testing.T) {
	t.Parallel()
	want := AppendRows(nil, events())
	if len(want) != 5 {
		t.Fatalf("%d rows", len(want))
	}
	byKey := func(rows []store.Row) map[string]string {
		all := map[string]string{}
		for _, r := range rows {
			all[r.Subject+r.Time.String()+r.ID] = string(r.Body)
		}
		return all
	}
	var apart []store.Row
	for seq := range int64(3) {
		apart = AppendRows(apart, slices.DeleteFunc(events(), func(p market.FundingPayment) bool { return p.Seq != seq+1 }))
	}
	if diff := cmp.Diff(byKey(want), byKey(apart)); diff != "" {
		t.Errorf("event by event (-together +apart):\n%s", diff)
	}
	twice := append(events(), events()...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
	check.Equalf(t, want, AppendRows(nil, twice), "twice and in another order")
}

// A line of a node's file has room for a hundred accounts of so many coins: as many rows that no store
// takes would stop all that is written beside them.
func TestNoRowIsLargerThanTheStoreTakes(t *testing.T) {
	t.Parallel()
	const amount = "-1234567890123456789012345678.123456789012345678"
	var list []market.FundingPayment
	for i := range 5000 {
		list = append(list, market.FundingPayment{
			Address: events()[0].Address, Coin: fmt.Sprintf("%s%04d", strings.Repeat("<", market.MaxName-4), i), Time: markettest.Base, USDC: amount, Szi: amount, Rate: amount, Seq: 1,
		})
	}
	log := storetest.Open(t).Log
	storetest.PutLog(t, log, Name, AppendRows, list...)
	var got []market.FundingPayment
	for some := range must.All(t, Window(t.Context(), log, list[0].Address, time.Time{}, time.Time{})) {
		got = append(got, some...)
	}
	for i := range list {
		list[i].Seq = 0 // which is not stored
		if err := list[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	check.Equal(t, list, got)
}

func TestPaymentsAreFoundByAccountAndTime(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	for range 2 {
		storetest.PutLog(t, log, Name, AppendRows, events()...)
	}
	for name, c := range map[string]struct {
		from, to int64
		want     []string // the first coins of the rows
	}{
		"all":       {want: []string{"BTC", "BTC", "abc:OIL"}},
		"an hour":   {from: markettest.Base, to: markettest.Base, want: []string{"BTC"}},
		"from then": {from: markettest.Base + 1, want: []string{"BTC", "abc:OIL"}},
	} {
		var from, to time.Time
		if c.from > 0 {
			from = time.UnixMilli(c.from)
		}
		if c.to > 0 {
			to = time.UnixMilli(c.to)
		}
		var got []string
		for list := range must.All(t, Window(t.Context(), log, events()[0].Address, from, to)) {
			got = append(got, list[0].Coin)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
