package okx

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestInstrumentsBecomePairsWithTheSizeOfTheirContracts(t *testing.T) {
	t.Parallel()
	markets := Open("", slog.New(slog.DiscardHandler))
	long := strings.Repeat("9", 25) // a decimal, and its square is none
	for _, c := range []struct {
		name, text string
		swap       bool
		want       market.Pair
	}{
		{"spot", `{"instId":"BTC-USDT","state":"live","baseCcy":"BTC","quoteCcy":"USDT","ctVal":"","ctMult":"","ctType":""}`, false,
			market.Pair{Key: "btcusdt:okex", Platform: "okex", Base: "BTC", Quote: "USDT", Symbol: "BTC-USDT"}},
		{"suspended", `{"instId":"BTC-USDT","state":"suspend","baseCcy":"BTC","quoteCcy":"USDT"}`, false, market.Pair{}},
		{"a swap in USDT", `{"instId":"BTC-USDT-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDT","ctType":"linear"}`, true,
			market.Pair{Key: "btcswapusdt:okcoinfutures", Platform: "okcoinfutures", Base: "BTC", Quote: "USDT", Symbol: "BTC-USDT-SWAP", Swap: true, Contract: sourcetest.Decimal(t, "0.01")}},
		{"a swap of many coins", `{"instId":"PEPE-USDT-SWAP","state":"live","ctVal":"1000","ctMult":"10","ctValCcy":"PEPE","settleCcy":"USDT","ctType":"linear"}`, true,
			market.Pair{Key: "pepeswapusdt:okcoinfutures", Platform: "okcoinfutures", Base: "PEPE", Quote: "USDT", Symbol: "PEPE-USDT-SWAP", Swap: true, Contract: sourcetest.Decimal(t, "10000")}},
		{"an inverse swap", `{"instId":"BTC-USD-SWAP","state":"live","ctVal":"100","ctMult":"1","ctValCcy":"USD","settleCcy":"BTC","ctType":"inverse"}`, true, market.Pair{}},
		{"one priced in another coin than it is settled in", `{"instId":"BTC-USD_UM-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDC","ctType":"linear"}`, true, market.Pair{}},
		{"one of no size", `{"instId":"BTC-USDT-SWAP","state":"live","ctVal":"0","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDT","ctType":"linear"}`, true, market.Pair{}},
		{"one of more digits than any has", `{"instId":"BTC-USDT-SWAP","state":"live","ctVal":"` + long + `","ctMult":"` + long + `","ctValCcy":"BTC","settleCcy":"USDT","ctType":"linear"}`, true, market.Pair{}},
	} {
		m := markets[0]
		if c.swap {
			m = markets[1]
		}
		var i instrument
		must.Do(t, json.Unmarshal([]byte(c.text), &i))
		got, ok := m.pair(&i)
		if diff := cmp.Diff(c.want, got); ok != (c.want.Key != "") || ok && diff != "" {
			t.Errorf("%s: %t (-want +got):\n%s", c.name, ok, diff)
		}
	}
}

func TestARowOfKlinesIsInCoins(t *testing.T) {
	t.Parallel()
	fields := strings.Split("1790000040000,10,12,9,11,300,3,32.5,1", ",")
	swapped, err := klineRow(fields, &market.Pair{Contract: sourcetest.Decimal(t, "0.01")})
	if err != nil || !swapped.Size.Equal(sourcetest.Decimal(t, "3")) || !swapped.Amount.Equal(sourcetest.Decimal(t, "32.5")) || !swapped.Ended {
		t.Errorf("of a swap: %+v, %v", swapped, err)
	}
	fields[8] = "0"
	if row, err := klineRow(fields, new(market.Pair)); err != nil || !row.Size.Equal(sourcetest.Decimal(t, "300")) || row.Ended {
		t.Errorf("of spot, open: %+v, %v", row, err)
	}
	for name, text := range map[string]string{
		"a field is missing": "1790000040000,10,12,9,11,300,3,32.5", "neither open nor ended": "1790000040000,10,12,9,11,300,3,32.5,2",
		"a close above the high": "1790000040000,10,12,9,13,300,3,32.5,1", "no number": "1790000040000,10,12,9,11,x,3,32.5,1",
		"negative": "1790000040000,10,12,9,11,-1,3,32.5,1", "no time": "now,10,12,9,11,1,3,32.5,1",
	} {
		if row, err := klineRow(strings.Split(text, ","), new(market.Pair)); err == nil {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

func TestARefusalForTooManyRequestsIsRecognised(t *testing.T) {
	t.Parallel()
	for body, limits := range map[string]bool{
		`{"msg":"Too Many Requests","code":"50011"}`:                        true,
		`{"code":"50061","msg":"","data":[]}`:                               true,
		`{"code":"51001","msg":"Instrument ID does not exist","data":[]}`:   false,
		`{"code":"0","data":["50011"]}`:                                     false,
		`<html>`:                                                            false,
		`{"code":"50011","msg":"` + strings.Repeat("x", mostRefusal) + `"}`: false,
	} {
		if got := limited(200, []byte(body)) > 0; got != limits {
			t.Errorf("%.60s: %t", body, got)
		}
	}
}
