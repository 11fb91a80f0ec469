package openpositions_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/data/openpositions"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func TestTheStoredTable(t *testing.T) {
	m := &market.Markets{Perps: map[string]market.PerpMarket{"BTC": {SzDecimals: 5, MaxLeverage: 40, Tiers: market.NewMarginTiers(market.MarginTier{MaxLeverage: 40})}}}
	marks := market.Marks{"BTC": market.DecimalFromInt(9)}
	datasettest.Codec[*market.OpenTable]{
		Values: rapid.Custom(func(t *rapid.T) *market.OpenTable {
			var p market.Positions
			for _, a := range rapid.SliceOf(markettest.Account()).Draw(t, "accounts") {
				p.SetAccount(&a, m)
			}
			return p.Table(markettest.Time().Draw(t, "time"))
		}),
		Encode: openpositions.Published.Encode,
		Decode: openpositions.Published.Decode,
		Use: func(t *market.OpenTable) {
			v := t.Mark(m, marks)
			for i := range t.Rows {
				_, _ = v.EntryPx(i)
			}
		},
	}.Test(t)
}

// BenchmarkView is what a view of the whole venue costs: 300,000 positions of 100,000 accounts.
func BenchmarkView(b *testing.B) {
	var p market.Positions
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 100_000 {
		a := &market.Account{Address: fmt.Sprintf("0x%016x%024x", rng.Uint64(), rng.Uint64()), Mode: market.ModeStandard, Anchored: 5, Dexes: []market.DexFunds{{Anchored: 5, Cash: market.Micros(rng.Int64N(1e11)).Decimal()}}}
		for c := range 3 {
			size := market.Micros(rng.Int64N(1e9) - 5e8).Decimal()
			a.Holdings = append(a.Holdings, market.Holding{Coin: fmt.Sprintf("%c%02d", 'A'+c, int(rng.ExpFloat64()*10)%66), Last: market.Order{Time: 1.7e12 + int64(n)*1000}, Leverage: market.Leverage{Value: 10},
				Open: &market.OpenPosition{Size: size, Cost: market.Micros(rng.Int64N(1e11)).Decimal(), FundingSinceOpen: market.Micros(rng.Int64N(1e8)).Decimal(), Opened: 1.7e12 + rng.Int64N(1e10)}})
		}
		p.SetAccount(a, nil)
	}
	zip, unzip := must.Get(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))(b), must.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))(b)
	publish := func() []byte { return zip.EncodeAll(openpositions.Published.Encode(p.Table(1)), nil) }
	stored := publish()
	b.Run("publish", func(b *testing.B) {
		for b.Loop() {
			publish()
		}
		b.ReportMetric(float64(len(stored))/1e6, "MB")
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			must.Get(openpositions.Published.Decode(must.Get(unzip.DecodeAll(stored, nil))(b)))(b)
		}
	})
}

// A table that its readers refuse would be the last one.
func TestATableOfMoreCoinsThanItNumbersIsReadAgain(t *testing.T) {
	t.Parallel()
	const coins, most = 66_000, 65_535
	var p market.Positions
	for i := range coins {
		p.Add(&market.Fill{Address: "0x00000000000000000000000000000000000000aa", Coin: fmt.Sprint("C", i), Px: "1.0", Sz: "1.5", Side: market.Buy,
			Time: 1, StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x0", Oid: 1, Fee: "0.0", Tid: int64(i), FeeToken: "USDC"})
	}
	for name, table := range map[string]*market.OpenTable{"of all": p.Table(1), "of one account": p.TableOf("0x00000000000000000000000000000000000000aa", 1)} {
		got, err := openpositions.Published.Decode(openpositions.Published.Encode(table))
		if err != nil || len(got.Rows) != most || got.LeftOut != coins-most {
			t.Errorf("%s: %v, with %d rows of %d coins, and %d left out", name, err, len(table.Rows), len(table.Coins), table.LeftOut)
		}
	}
}
