package market_test

import (
	"testing"

	"quotary/shared/market"
)

func TestTheNameOfACoinSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for coin, want := range map[string]struct {
		kind market.CoinKind
		spot bool
		dex  string
	}{
		"BTC":       {kind: market.MainPerpetual},
		"kPEPE":     {kind: market.MainPerpetual},
		"xyz:GOLD":  {kind: market.DexPerpetual, dex: "xyz"},
		"xyz:BRK/B": {kind: market.DexPerpetual, dex: "xyz"},
		"@107":      {kind: market.SpotPair, spot: true},
		"PURR/USDC": {kind: market.SpotPair, spot: true},
		"#441":      {kind: market.OutcomeToken, spot: true},
		"#1000000":  {kind: market.OutcomeToken, spot: true},
	} {
		if kind, spot, dex := market.KindOf(coin), market.IsSpot(coin), market.DexOf(coin); kind != want.kind || spot != want.spot || dex != want.dex {
			t.Errorf("%s: kind %d, spot %t, dex %q; want %+v", coin, kind, spot, dex, want)
		}
	}
}

func TestOnlyWhatTwoAccountsExecuteIsATrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		coin, dir string
		tid       int64
		want      bool
	}{
		"perpetual":              {"BTC", "Open Long", 1, true},
		"spot":                   {"@107", "Buy", 1, true},
		"dust":                   {"@107", market.DustConversion, 0, false},
		"bought outcome":         {"#441", "Buy", 1, true},
		"sold outcome":           {"#441", "Sell", 1, true},
		"split":                  {"#441", "Split", 1, false},
		"merge":                  {"#441", "Merge", 1, false},
		"settled outcome":        {"#441", market.Settlement, 1, false},
		"settled perpetual":      {"xyz:OLD", market.Settlement, 1, false},
		"unknown act on outcome": {"#441", "Negate", 1, false},
	} {
		f := market.Fill{Coin: c.coin, Dir: c.dir, Tid: c.tid, Px: "0.5", Sz: "1.0", Crossed: true}
		if _, trade := f.Trade(); f.IsTrade() != c.want || trade != c.want {
			t.Errorf("%s: it is a trade: %t, and has one: %t", name, f.IsTrade(), trade)
		}
	}
}
