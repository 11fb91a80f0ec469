package openinterest

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// coin draws the open interest of a coin.
func coin(name string) *rapid.Generator[Coin] {
	return rapid.Custom(func(t *rapid.T) Coin {
		open := market.OpenInterest{Longs: rapid.Int64Range(1, 1e6).Draw(t, "longs"), Shorts: rapid.Int64Range(0, 1e6).Draw(t, "shorts"),
			LongSize: markettest.Parsed(6, 5).Draw(t, "long"), ShortSize: markettest.Parsed(6, 5).Draw(t, "short")}
		c, _ := NewCoin(name, open, markettest.Parsed(6, 5).Draw(t, "px"), markettest.Time().Draw(t, "traded"))
		return c
	})
}

func TestStoredSamples(t *testing.T) {
	datasettest.Codec[Sample]{
		Values: rapid.Custom(func(t *rapid.T) Sample {
			c := coin("BTC").Draw(t, "coin")
			return c.Sample(markettest.Time().Draw(t, "ms"), rapid.Int64Range(0, 1e6).Draw(t, "longs"))
		}),
		Encode: func(s Sample) []byte { return Row(market.Minute1, markettest.Base, &s).Body },
		Decode: series.Decode,
	}.Test(t)
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Time: markettest.Time().Draw(t, "time")}
			for _, name := range rapid.SliceOfDistinct(markettest.Coin(), rapid.ID).Draw(t, "coins") {
				v.Coins = append(v.Coins, coin(name).Draw(t, "coin"))
			}
			sorted, err := Published.Decode(Published.Encode(v)) // a view that was read is sorted and summed up
			if err != nil {
				t.Fatal(err)
			}
			return sorted
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
	}.Test(t)
}

func TestTheViewIsSortedByValueAndSummedUp(t *testing.T) {
	t.Parallel()
	dec := func(text string) market.Decimal {
		return must.Get(market.ParseDecimal(text))(t)
	}
	small, ok := NewCoin("BTC", market.OpenInterest{Longs: 1, Shorts: 2, LongSize: dec("2"), ShortSize: dec("2")}, dec("100.5"), 7)
	if want := (Coin{"BTC", 3, "201.0", "201.0", "402.0", "134.0", 7}); !ok || small != want {
		t.Errorf("got %+v, want %+v", small, want)
	}
	large, _ := NewCoin("ETH", market.OpenInterest{Longs: 1, LongSize: dec("1000")}, dec("1"), 8)
	if c, ok := NewCoin("OLD", market.OpenInterest{}, dec("1"), 8); ok {
		t.Errorf("a coin without positions gives %+v", c)
	}
	v := must.Get(Published.Decode(Published.Encode(View{Time: 5, Coins: []Coin{small, large}})))(t)
	want := View{Time: 5, Coins: []Coin{large, small}, Total: Total{4, "1201.0", "201.0", "1402.0", "350.5"}}
	check.Equal(t, want, v)
	for _, body := range []string{`[]`, `{"coins":[{"longPv":"x","shortPv":"1.0"}]}`, `{"coins":[{"longPv":"1.0"}]}`, `{"coins":[{"positionCount":-1,"longPv":"1.0","shortPv":"1.0"}]}`} {
		if v, err := Published.Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %+v", body, v)
		}
	}
}
