package accounts

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/quagmt/udecimal"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestTheStoredAccount(t *testing.T) {
	datasettest.Codec[market.Account]{
		Values: rapid.Map(markettest.Account(), func(a market.Account) market.Account {
			a.Address = "" // which is the key
			return a
		}),
		Encode: func(a market.Account) []byte { return Append(nil, &a) },
		Decode: func(b []byte) (market.Account, error) {
			a, err := decode(b)
			if err != nil {
				return market.Account{}, err
			}
			return *a, nil
		},
		Use: func(a market.Account) {
			a.State("", nil, nil, 1)
			f := market.Fill{Coin: "BTC", Px: "1.0", Sz: "1.0", Side: market.Buy, Time: 1, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0"}
			a.Fill(&f, nil, nil)
			a.Forget("BTC")
			a.Fill(&f, nil, nil)
		},
	}.Test(t)
}

// TestTheCodecForgetsNoField fills every field, whatever fields there are.
func TestTheCodecForgetsNoField(t *testing.T) {
	t.Parallel()
	want := new(market.Account)
	fill(t, reflect.ValueOf(want).Elem())
	want.Address = "" // which is the key
	got, err := decode(Append(nil, want))
	if diff := cmp.Diff(want, got, cmp.Comparer(market.Decimal.Equal)); err != nil || diff != "" {
		t.Errorf("%v (-stored +read):\n%s", err, diff)
	}
}

func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if d, ok := v.Addr().Interface().(*market.Decimal); ok {
		*d = udecimal.MustFromInt64(-7, 2)
		return
	}
	switch v.Kind() {
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("this test does not know how to fill a %s", v.Type())
	}
}

func TestEqualDecimalsAreTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"0", "0.0", "0.000"}, {"-1.5", "-1.50", "-1.5000000000"}, {"100", "100.00"}, {"123456789012345678901234.5", "123456789012345678901234.50000"}} {
		want := ""
		for i, text := range texts {
			d := must.Get(market.ParseDecimal(text))(t)
			body := string(Append(nil, &market.Account{NetPerp: d}))
			if i == 0 {
				want = body
			} else if body != want {
				t.Errorf("%s is %x, %s is %x", texts[0], want, text, body)
			}
		}
	}
}

func TestAProductOfHugeDecimalsIsReadAgain(t *testing.T) {
	t.Parallel()
	d := udecimal.MustParse("-123456789012345678901234567890123456.123456789")
	for range 2 {
		d = d.Mul(d)
	}
	a, err := decode(Append(nil, &market.Account{NetPerp: d}))
	if err != nil || !a.NetPerp.Equal(d) {
		t.Errorf("%s is read as %v: %v", d, a, err)
	}
}

func TestRowsOfAnotherVersionAreRefused(t *testing.T) {
	t.Parallel()
	row := Append(nil, &market.Account{Time: 5})
	for _, other := range []byte{0, version - 1, version + 1} {
		row[0] = other
		if _, err := decode(row); err == nil {
			t.Errorf("a row of version %d is read", other)
		}
	}
}

func FuzzDecode(f *testing.F) {
	a := &market.Account{Time: 5, Dexes: []market.DexFunds{{Anchored: 4}}}
	a.Fill(&market.Fill{Coin: "BTC", Px: "30135.5", Sz: "0.25", Side: market.Sell, Time: 7, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.1", Oid: 9, Tid: 3}, nil, nil)
	f.Add(Append(nil, a))
	f.Add([]byte{version})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(Append(nil, a))
		if err != nil {
			t.Fatalf("%x is read, and what is written of it is not: %v", b, err)
		}
		if diff := cmp.Diff(a, again, cmpopts.EquateEmpty(), cmp.Comparer(market.Decimal.Equal)); diff != "" {
			t.Fatal(diff)
		}
		a.State("", nil, nil, 1)
	})
}

func TestAccountsAreLoadedByTheirAddresses(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	var rows []store.SeriesRow
	want := map[string]*market.Account{}
	for _, address := range []string{"0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"} {
		a := &market.Account{Address: address, Since: 5, Time: 7, Dexes: []market.DexFunds{{Cash: market.Decimal{}, Anchored: 6}}}
		want[address] = a
		rows = append(rows, Row(a))
	}
	must.Do(t, series.Put(t.Context(), rows))
	got, err := Load(t.Context(), series, "0xa11ce00000000000000000000000000000000001", "0xdead000000000000000000000000000000000003", "0xb0b0000000000000000000000000000000000002")
	if diff := cmp.Diff(want, got, cmp.Comparer(market.Decimal.Equal)); err != nil || diff != "" {
		t.Fatalf("%v (-stored +read):\n%s", err, diff)
	}
}

// BenchmarkCodec writes and reads an account with ten coins, in five of which it has a
// position.
func BenchmarkCodec(b *testing.B) {
	a := &market.Account{Address: "0xa11ce00000000000000000000000000000000001"}
	for i := range int64(10) {
		f := market.Fill{Address: a.Address, Coin: fmt.Sprint("COIN", i), Px: "105056.0", Sz: "0.00219", Side: market.Buy, Time: markettest.Base + i, Seq: 900_000_000_000_000 + i,
			Tid: 123_456_789_012_345 + i, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.1035", Oid: 313_175_245_535 + i}
		a.Fill(&f, nil, nil)
		if i >= 5 {
			f.Side, f.StartPosition = market.Sell, "0.00219"
			f.Time, f.Seq, f.Tid = f.Time+1, f.Seq+1, f.Tid+1
			a.Fill(&f, nil, nil)
		}
	}
	row := Row(a)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			Append(nil, a)
		}
		b.ReportMetric(float64(len(row.Body)+len(row.Extra)), "B/row")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			must.Get(Decode(a.Address, row.Point))(b)
		}
	})
}
