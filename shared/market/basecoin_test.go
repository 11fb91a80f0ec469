package market_test

import (
	"testing"

	"quotary/shared/market"
)

// The names are those of Binance, OKX, Bybit and Hyperliquid.
func TestCoinsOfBases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, coin string }{
		// Traded by the thousand and by more.
		{"1000SHIB", "shib"}, {"1000XEC", "xec"}, {"1000LUNC", "lunc"}, {"1000PEPE", "pepe"}, {"1000FLOKI", "floki"}, {"1000BONK", "bonk"},
		{"1000SATS", "sats"}, {"1000RATS", "rats"}, {"1000CAT", "cat"}, {"1000X", "x"}, {"1000CHEEMS", "cheems"}, {"1000WHY", "why"},
		{"1000BTT", "btt"}, {"1000TURBO", "turbo"}, {"1000NEIROCTO", "neirocto"}, {"1000TOSHI", "toshi"}, {"1000MUMU", "mumu"}, {"1000TROLL", "troll"},
		{"10000SATS", "sats"}, {"10000LADYS", "ladys"}, {"10000WEN", "wen"}, {"10000COQ", "coq"}, {"10000ELON", "elon"}, {"10000QUBIC", "qubic"},
		{"1000000MOG", "mog"}, {"1000000BOB", "bob"}, {"1000000BABYDOGE", "babydoge"}, {"1000000PEIPEI", "peipei"}, {"1000000CHEEMS", "cheems"},
		{"1MBABYDOGE", "babydoge"}, {"1MCHEEMS", "cheems"}, {"SHIB1000", "shib"},
		{"kPEPE", "pepe"}, {"kSHIB", "shib"}, {"kBONK", "bonk"}, {"kFLOKI", "floki"}, {"kLUNC", "lunc"}, {"kDOGS", "dogs"}, {"kNEIRO", "neiro"},
		// Names of coins.
		{"BTC", "btc"}, {"1INCH", "1inch"}, {"1INCHUP", "1inchup"}, {"0G", "0g"}, {"2Z", "2z"}, {"4", "4"}, {"42", "42"}, {"1000", "1000"}, {"1000000", "1000000"}, {"100X", "100x"},
		{"1MT", "1mt"}, {"1MIL", "1mil"}, {"C98", "c98"}, {"SPX6900", "spx6900"}, {"US500", "us500"}, {"XYZ100", "xyz100"}, {"RUSSELL2000", "russell2000"},
		{"KAS", "kas"}, {"KAVA", "kava"}, {"KNC", "knc"}, {"kas", "kas"}, {"k", "k"}, {"K", "k"}, {"TUSD", "tusd"}, {"USDT", "usdt"}, {"币安人生", "币安人生"}, {"1000币", "币"}, {"", ""},
	} {
		if got := market.CoinOfBase(c.base); got != c.coin {
			t.Errorf("%s is %q, want %q", c.base, got, c.coin)
		}
	}
}

func TestCoinsOfWhatClientsWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, coin string }{
		{"BTC", "btc"}, {"BTCUSDT", "btc"}, {"btcswapusdt", "btc"}, {"btcswapusdt:binance", "btc"}, {"btcusdt:okex", "btc"}, {"BTCUSD", "btc"},
		{"TUSD", "tusd"}, {"TUSDUSDT", "tusd"}, {"TUSDT", "t"}, {"fdusd", "fdusd"}, {"FDUSDUSDT", "fdusd"}, {"USDT", "usdt"}, {"USDCUSDT", "usdc"},
		{"1000PEPE", "pepe"}, {"1000pepeswapusdt:binance", "pepe"}, {"1000000mogswapusdt", "mog"}, {"shib1000swapusdt:bybit", "shib"}, {"1000SATSUSDT", "sats"},
		{"kPEPE", "pepe"}, {"kas", "kas"}, {"SWAP", "swap"}, {"", ""}, {":binance", ""}, {"İUSDT", "i"},
	} {
		if got := market.CoinOf(c.text); got != c.coin {
			t.Errorf("%s is %q, want %q", c.text, got, c.coin)
		}
	}
}
