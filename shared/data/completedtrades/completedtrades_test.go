package completedtrades

import (
	"testing"
	"time"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestStoredCompletedTrades(t *testing.T) {
	var last store.Row // its key is not in the body
	datasettest.Codec[market.CompletedTrade]{
		Values: markettest.CompletedTrade(),
		Encode: func(trade market.CompletedTrade) []byte {
			last = row(&trade)
			return last.Body
		},
		Decode: func(body []byte) (market.CompletedTrade, error) {
			r := last
			r.Body = body
			return Decode(r)
		},
	}.Test(t)
}

func TestCompletedTradesAreFoundByAccountCoinAndEnd(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	one := func(text string) market.Decimal { d, _ := market.ParseDecimal(text); return d }
	trade := func(coin string, end, tid int64) market.CompletedTrade {
		return market.CompletedTrade{Address: "0xa11ce00000000000000000000000000000000001", Coin: coin, Start: markettest.Base, End: markettest.Base + end, Seq: tid, Tid: tid, Size: one("1"), EntryPx: one("2"), ClosePx: one("3")}
	}
	other := trade("BTC", 3, 1)
	other.Address = "0xb0b0000000000000000000000000000000000002"
	all := []market.CompletedTrade{trade("BTC", 1, 1), trade("ETH", 2, 2), trade("BTC", 3, 3), trade("BTC", 3, 4), other}
	for range 2 {
		storetest.PutLog(t, log, Name, AppendRows, all...)
	}
	at := func(end int64) time.Time { return time.UnixMilli(markettest.Base + end) }
	for name, c := range map[string]struct {
		coin     string
		from, to time.Time
		want     []int64 // trade ids, oldest first
	}{
		"an account, in the order of closing":   {want: []int64{1, 2, 3, 4}},
		"an account and coin":                   {coin: "BTC", want: []int64{1, 3, 4}},
		"both edges of a window are inside":     {from: at(2), to: at(3), want: []int64{2, 3, 4}},
		"one ms beyond the edges is outside":    {from: at(2), to: at(2), want: []int64{2}},
		"a coin in a window":                    {coin: "BTC", from: at(2), want: []int64{3, 4}},
		"a coin that the account never traded":  {coin: "SOL"},
		"a window in which nothing was closed":  {from: at(4)},
		"two that were closed in a millisecond": {coin: "BTC", from: at(3), to: at(3), want: []int64{3, 4}},
	} {
		of := Selection{Address: all[0].Address, Coin: c.coin, From: c.from, To: c.to}
		n := 0
		for trade := range must.All(t, Oldest(t.Context(), log, of)) {
			if n >= len(c.want) || trade.Tid != c.want[n] {
				t.Errorf("%s: the %d. is %d, want %v", name, n+1, trade.Tid, c.want)
				break
			}
			n++
		}
		if n != len(c.want) {
			t.Errorf("%s: %d trades, want %v", name, n, c.want)
		}
		for trade := range must.All(t, Newest(t.Context(), log, of, 2)) {
			if n--; n < 0 || trade.Tid != c.want[n] {
				t.Errorf("%s: newest first there is %d, want %v from the end", name, trade.Tid, c.want)
			}
		}
		if left := max(0, len(c.want)-2); n != left {
			t.Errorf("%s: newest first left %d of them, want %d", name, n, left)
		}
	}
}
