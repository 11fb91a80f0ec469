package openorders_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// amount draws one as it is stored, without trailing zeros.
func amount(t *rapid.T, name string) market.Amount {
	a, ok := market.ParseAmount(markettest.Decimal(9, 9).Draw(t, name))
	if !ok {
		t.Fatal("a decimal of 18 digits is no amount")
	}
	return a
}

func order(t *rapid.T) (o market.OpenOrder) {
	o = market.OpenOrder{Oid: rapid.Int64Range(0, 1<<53).Draw(t, "oid"), Placed: markettest.Time().Draw(t, "placed"), Coin: markettest.Coin().Draw(t, "coin"),
		Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side"), Px: amount(t, "px"), OrigSz: amount(t, "size"),
		ReduceOnly: rapid.Bool().Draw(t, "reduce only"), Tif: rapid.SampledFrom([]string{"", "Gtc", "Alo"}).Draw(t, "tif"), Seen: rapid.Bool().Draw(t, "seen")}
	copy(o.Account[:], markettest.Address().Draw(t, "account")[22:])
	o.Sz = o.OrigSz
	return o
}

func TestTopOrdersSurviveTheirEncoding(t *testing.T) {
	datasettest.Codec[openorders.Top]{
		Values: rapid.Custom(func(t *rapid.T) openorders.Top {
			v := openorders.Top{Time: markettest.Time().Draw(t, "time"), All: openorders.Rows("[]"), Coins: map[string]openorders.Rows{}}
			for range rapid.IntRange(0, 4).Draw(t, "coins") {
				list := make([]market.OpenOrder, rapid.IntRange(0, 4).Draw(t, "orders"))
				coin := markettest.Coin().Draw(t, "coin")
				for i := range list {
					list[i] = order(t)
					list[i].Coin = coin
				}
				v.All = openorders.NewRows(list)
				v.Coins[coin] = v.All
				read, err := v.Orders(coin)
				for i := range list {
					list[i].Seen = false // nobody reads it
				}
				if diff := cmp.Diff(list, read); err != nil || diff != "" {
					t.Fatalf("%v (-written +read):\n%s", err, diff)
				}
			}
			return v
		}),
		Encode: openorders.PublishedTop.Encode, Decode: openorders.PublishedTop.Decode,
		Use: func(v openorders.Top) {
			_, _ = v.Orders("")
			for coin := range v.Coins {
				_, _ = v.Orders(coin)
			}
		},
	}.Test(t)
}

func TestReservesSurviveTheirEncoding(t *testing.T) {
	const known, unknown = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"
	datasettest.Codec[openorders.Reserves]{
		Values: rapid.Custom(func(t *rapid.T) openorders.Reserves {
			r := openorders.Reserves{Time: markettest.Time().Draw(t, "time"), Coins: map[string]openorders.ReserveColumn{}}
			for _, coin := range []string{"@107", "PURR/USDC"}[rapid.IntRange(0, 2).Draw(t, "without"):] {
				orders := new(market.OpenOrders)
				want := map[string]market.SpotReserve{}
				for i := range rapid.IntRange(0, 9).Draw(t, "orders") {
					o := order(t)
					o.Oid, o.Coin = int64(i), coin
					if rapid.Bool().Draw(t, "of the known one") {
						copy(o.Account[:], "\xa1\x1c\xe0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")
					}
					orders.Restore(&o)
					if o.Address() == known && o.Sz.Coef != 0 {
						sum := want[coin]
						sum.Account = o.Account
						if o.Side == market.Buy {
							sum.Quote = sum.Quote.Add(o.Value())
						} else {
							sum.Base = sum.Base.Add(o.Sz.Decimal())
						}
						want[coin] = sum
					}
				}
				for _, c := range orders.Rank(true) {
					r.Coins[coin] = openorders.NewReserveColumn(c.Reserves)
				}
				one := openorders.Reserves{Coins: map[string]openorders.ReserveColumn{coin: r.Coins[coin]}}
				got, err := one.Reserved(known)
				if diff := cmp.Diff(want, got, cmp.Comparer(market.Decimal.Equal)); err != nil || diff != "" {
					t.Fatalf("%v (-want +got):\n%s", err, diff)
				}
			}
			return r
		}),
		Encode: openorders.PublishedReserves.Encode, Decode: openorders.PublishedReserves.Decode,
		Use: func(r openorders.Reserves) {
			_, _ = r.Reserved(known)
			_, _ = r.Reserved(unknown)
			_, _ = r.Reserved("nobody")
		},
	}.Test(t)
}

// table draws one with orders, executions and ends.
func table(t *rapid.T) *market.OpenOrders {
	table := new(market.OpenOrders)
	table.RestoreNewest(markettest.Time().Draw(t, "newest"))
	for range rapid.IntRange(0, 5).Draw(t, "executions") {
		e := market.Execution{At: markettest.Time().Draw(t, "at"), Remaining: amount(t, "rest")}
		for tid := range rapid.Int64Range(0, 3).Draw(t, "fills") {
			e.Fills = append(e.Fills, market.OrderFill{Tid: tid, Time: markettest.Time().Draw(t, "filled"), Sz: amount(t, "fill")})
		}
		table.RestoreExecution(rapid.Int64Range(0, 30).Draw(t, "executed"), e)
	}
	for range rapid.IntRange(0, 20).Draw(t, "orders") {
		o := order(t)
		o.Oid = rapid.Int64Range(0, 30).Draw(t, "small oid")
		table.Restore(&o)
	}
	for range rapid.IntRange(0, 5).Draw(t, "ends") {
		table.RestoreEnds(market.EndedOrders{Hour: rapid.Int64Range(0, 500_000).Draw(t, "hour"), First: rapid.Int64Range(0, 9).Draw(t, "first"), Ended: [8]uint64{rapid.Uint64().Draw(t, "ended"), 7: 1}})
	}
	return table
}

// contents is all that is in a table.
func contents(t *market.OpenOrders) (all []string) {
	all = append(all, fmt.Sprint(t.Newest()))
	for o := range t.All() {
		all = append(all, fmt.Sprint(o))
	}
	for oid, e := range t.Executions() {
		all = append(all, fmt.Sprint(oid, *e))
	}
	for e := range t.Ends() {
		all = append(all, fmt.Sprint(e))
	}
	return all
}

// listed is a table that is equal to one with the same contents.
type listed struct{ *market.OpenOrders }

func (a listed) Equal(b listed) bool {
	return cmp.Equal(contents(a.OpenOrders), contents(b.OpenOrders))
}

func TestTheTableSurvivesItsEncoding(t *testing.T) {
	datasettest.Codec[listed]{
		Values: rapid.Custom(func(t *rapid.T) listed { return listed{table(t)} }),
		Encode: func(c listed) []byte { return openorders.PublishedTable.Encode(c.OpenOrders) },
		Decode: func(body []byte) (listed, error) {
			t, err := openorders.PublishedTable.Decode(body)
			return listed{t}, err
		},
		Use: func(c listed) { contents(c.OpenOrders); c.Rank(true) },
	}.Test(t)
}

// TestValuesAreCountedAsTheTableHasThem writes the values of a table and reads them.
func TestValuesAreCountedAsTheTableHasThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ranked := table(t).Rank(true)
		columns := map[string]openorders.Column{}
		for i := range ranked {
			columns[ranked[i].Coin] = openorders.NewColumn(&ranked[i])
		}
		body := openorders.EncodeValues(7, columns)
		v, err := openorders.DecodeValues(body)
		if err != nil || v.Time != 7 || len(v.Coins) != len(ranked) {
			t.Fatalf("%+v, %v", v, err)
		}
		for _, c := range ranked {
			for side, values := range map[*market.OrderValues]openorders.SideValues{&c.Bids: v.Coins[c.Coin].Bids, &c.Asks: v.Coins[c.Coin].Asks} {
				_, sum := side.AtLeast(market.Decimal{})
				if diff := cmp.Diff(fmt.Sprint(*side), fmt.Sprint(values.OrderValues)); diff != "" || !sum.Equal(values.Sum) {
					t.Fatalf("%s: %s, want %s (-written +read):\n%s", c.Coin, values.Sum, sum, diff)
				}
			}
		}
	})
}

func TestWhatIsNoViewIsRefused(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`[]`, `{"coins":7}`} {
		_, err1 := openorders.PublishedTop.Decode([]byte(body))
		_, err2 := openorders.DecodeValues([]byte(body))
		_, err3 := openorders.PublishedTable.Decode([]byte(body))
		if err1 == nil || err2 == nil || err3 == nil {
			t.Errorf("%s is read: %v, %v, %v", body, err1, err2, err3)
		}
	}
	for _, side := range []string{`{"count":1}`, `{"count":-1}`, `{"places":9}`, `{"places":-1}`, `{"count":1,"deltas":"gA=="}`, `{"count":1,"deltas":"AAA="}`,
		`{"count":1,"places":0,"deltas":"////////////AQ=="}`, `{"odd":["x"]}`} {
		if v, err := openorders.DecodeValues([]byte(`{"coins":{"BTC":{"bids":` + side + `}}}`)); err == nil {
			t.Errorf("%s gives %+v", side, v)
		}
	}
	for _, body := range []string{`[]`, `{"coins":{"@1":{"accounts":"","quote":["1"],"base":["1"]}}}`, `{"coins":{"@1":{"quote":[],"base":["1"]}}}`} {
		if r, err := openorders.PublishedReserves.Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %+v", body, r)
		}
	}
	for _, row := range []string{`[7]`, `["x"]`, `["` + fmt.Sprintf("%040x", 1) + ` 1 1 C 1 1 1 0 - BTC"]`, `["` + fmt.Sprintf("%040x", 1) + ` 1 1 A x 1 1 0 - BTC"]`, `["` + fmt.Sprintf("%040x", 1) + ` 1 y A 1 1 1 0 - BTC"]`} {
		v := openorders.Top{All: openorders.Rows(row)}
		if list, err := v.Orders(""); err == nil {
			t.Errorf("%s gives %+v", row, list)
		}
	}
}
