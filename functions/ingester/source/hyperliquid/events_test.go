package hyperliquid

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const blockHead = `{"local_time":"2026-06-02T10:00:00.854461191","block_time":"2026-06-02T09:59:59.398971110","block_number":1,"events":[`

const filledOrder = `{"time":"2026-06-02T09:59:59.398971110","user":"0x31CA8395cf837de08b24da3f660e77761dfb974b","hash":null,` +
	`"builder":{"b":"0x0000000000000000000000000000000000000001","f":25},"status":"filled","order":{"coin":"JTO","side":"A","limitPx":"0.65","sz":"0.0",` +
	`"oid":7,"timestamp":1780394399398,"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],"isPositionTpsl":false,` +
	`"reduceOnly":true,"orderType":"Limit","origSz":"1096.0","tif":"Gtc","cloid":null}}`

func TestAStatusIsReadFromABlockAndAlone(t *testing.T) {
	t.Parallel()
	want := market.OrderStatus{
		Address: "0x31ca8395cf837de08b24da3f660e77761dfb974b", Time: 1780394399398, Status: "filled",
		Builder: "0x0000000000000000000000000000000000000001", BuilderFee: 25,
		Coin: "JTO", Side: "A", LimitPx: "0.65", Sz: "0.0", OrigSz: "1096.0", Oid: 7, Timestamp: 1780394399398,
		TriggerCondition: "N/A", TriggerPx: "0.0", Children: []byte("[]"), ReduceOnly: true, OrderType: "Limit", Tif: "Gtc",
	}
	for name, of := range map[string]struct {
		line string
		seq  int64
	}{
		"a block":                 {blockHead + filledOrder + `]}`, 1_000_000},
		"one event":               {filledOrder, 77},
		"events without a number": {`{"events":[` + filledOrder + `]}`, 77},
	} {
		var e market.Events
		if skipped, err := ReadOrders(&e, of.line, 77); err != nil || skipped != 0 {
			t.Fatalf("%s: %d skipped, %v", name, skipped, err)
		}
		want.Seq = of.seq
		check.Equalf(t, []market.OrderStatus{want}, e.Orders, "%s", name)
	}
}

func TestWhatIsNoOrderStatusIsCountedAndTheRestKept(t *testing.T) {
	t.Parallel()
	var e market.Events
	skipped, err := ReadOrders(&e, blockHead+`{"status":"filled","user":5},{"status":"filled","time":"x"},7,`+filledOrder+`]}`, 0)
	if skipped != 3 || err == nil || len(e.Orders) != 1 {
		t.Errorf("%d skipped, %d kept, error %v", skipped, len(e.Orders), err)
	}
	for _, line := range []string{`{"events":["filled"`, blockHead + filledOrder + `]} {}`, `{"events":[],"events":[]}`, "{\"events\":[\"\xff\"]}", `[]`, ``} {
		var e market.Events
		if skipped, err := ReadOrders(&e, line, 0); skipped != 1 || err == nil || len(e.Orders) > 0 {
			t.Errorf("%q: %d skipped, error %v, %d kept", line, skipped, err, len(e.Orders))
		}
	}
}

// The sample is genuine but for its hash.
const openOrder = `{"time":"2026-06-02T09:59:59.398971110","user":"0x31ca8395cf837de08b24da3f660e77761dfb974b","hash":null,"builder":null,"status":"open",` +
	`"order":{"coin":"JTO","side":"A","limitPx":"0.65313","sz":"1096.0","oid":452916385917,"timestamp":1780394399398,"triggerCondition":"N/A",` +
	`"isTrigger":false,"triggerPx":"0.0","children":[],"isPositionTpsl":false,"reduceOnly":false,"orderType":"Limit","origSz":"1096.0","tif":"Gtc","cloid":null}}`

func TestAllOrderStatusesAreKeptInTheOrderOfTheBlock(t *testing.T) {
	t.Parallel()
	var e market.Events
	skipped, err := ReadOrders(&e, blockHead+openOrder+`,{"status":"open"},`+filledOrder+`]}`, 5)
	if skipped != 1 || err == nil || len(e.Orders) != 2 {
		t.Fatalf("%d skipped, %d kept, error %v", skipped, len(e.Orders), err)
	}
	if e.Orders[0].Status != "open" || e.Orders[0].Seq != 1_000_000 || e.Orders[1].Status != "filled" || e.Orders[1].Seq != 1_000_002 {
		t.Errorf("kept %+v", e.Orders)
	}
	if skipped, err := ReadOrders(&e, `{"block_number":-1,"events":[]}`, 0); skipped != 1 || err == nil {
		t.Errorf("an impossible block: %d skipped, error %v", skipped, err)
	}
}

// One is a status of a block of a hundred.
func BenchmarkReadOrders(b *testing.B) {
	line := blockHead + openOrder + strings.Repeat(","+openOrder, 99) + `]}`
	var e market.Events
	b.ReportAllocs()
	for n := 0; n < b.N; n += 100 {
		e.Orders = e.Orders[:0]
		if skipped, err := ReadOrders(&e, line, 0); skipped > 0 || err != nil {
			b.Fatalf("%d skipped: %v", skipped, err)
		}
	}
}

// A venue that pushes what nobody asked for makes nothing grow.
func TestWhatWasNotAskedForIsLeftOut(t *testing.T) {
	t.Parallel()
	f := Feed{Stats: new(Stats), Log: slog.New(slog.DiscardHandler), known: map[subscription]bool{{Type: "trades", Coin: "BTC"}: true}}
	trade := func(coin string) string {
		return `{"coin":"` + coin + `","side":"B","px":"1.0","sz":"1.0","time":1764835613064,"tid":1}`
	}
	for frame, trades := range map[string]int{
		`{"channel":"trades","data":[` + trade("BTC") + `,` + trade("MADEUP") + `]}`:                      1,
		`{"channel":"l2Book","data":{"coin":"BTC","time":5,"levels":[[],[]]}}`:                            0,
		`{"channel":"bbo","data":{"coin":"BTC","time":6,"bbo":[{"px":"34.967","sz":"2.85","n":1},null]}}`: 0,
		`{"channel":"allMids","data":{"dex":"madeup","mids":{"BTC":"1.0"}}}`:                              0,
	} {
		got, err := f.frame([]byte(frame), layers{})
		if err != nil || len(got.Trades) != trades || got.Len() != trades {
			t.Errorf("%s: %d events, %d of them trades, error %v", frame, got.Len(), len(got.Trades), err)
		}
	}
	if n := f.Stats.Malformed.Load(); n != 4 {
		t.Errorf("%d counted, want 4", n)
	}
}

func TestBooksAndBestPricesAreReadFromTheirChannels(t *testing.T) {
	t.Parallel()
	f := Feed{Stats: new(Stats), Log: slog.New(slog.DiscardHandler), known: map[subscription]bool{
		{Type: "l2Book", Coin: "HYPE"}: true, {Type: "bbo", Coin: "HYPE"}: true, {Type: "allMids"}: true,
	}}
	level := market.Level{Px: "34.967", Sz: "2.85", N: 1}
	for frame, want := range map[string]market.Events{
		`{"channel":"l2Book","data":{"coin":"HYPE","time":5,"levels":[[{"px":"34.967","sz":"2.85","n":1}],[]]}}`:             {Books: []market.Book{{Coin: "HYPE", Time: 5, Bids: []market.Level{level}, Asks: []market.Level{}}}},
		`{"channel":"bbo","data":{"coin":"HYPE","time":6,"bbo":[{"px":"34.967","sz":"2.85","n":1},null]}}`:                   {BBOs: []market.BBO{{Coin: "HYPE", Time: 6, Bid: &level}}},
		`{"channel":"bbo","data":{"coin":"HYPE","time":6,"bbo":[{"px":"34.967","sz":"2.85","n":1,"new":7},null],"more":{}}}`: {BBOs: []market.BBO{{Coin: "HYPE", Time: 6, Bid: &level}}},
	} {
		got, err := f.frame([]byte(frame), layers{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", frame, err, diff)
		}
	}
	for _, mids := range []string{`{"BTC":"78124.0","NEW":null,"#441":0.5}`, `{"BTC":"78124.0","@1":[],"":"1"}`} {
		got, err := f.frame([]byte(`{"channel":"allMids","data":{"mids":`+mids+`}}`), layers{})
		if err != nil || len(got.Mids) != 1 || len(got.Mids[0].Px) != 1 || got.Mids[0].Px["BTC"] != "78124.0" || got.Mids[0].Dex != "" {
			t.Errorf("%s: %+v, %v", mids, got, err)
		}
	}
	for _, frame := range []string{
		`{"channel":"bbo","data":{"coin":"","time":6,"bbo":[null,null]}}`,
		`{"channel":"bbo","data":{"coin":"HYPE","time":6,"bbo":[{"px":"x","sz":"1","n":1},null]}}`,
		`{"channel":"bbo","data":{"coin":"HYPE","bbo":[null,null]}}`,
		`{"channel":"l2Book","data":{"coin":"HYPE","time":5,"levels":[[]]}}`,
	} {
		if e, err := f.frame([]byte(frame), layers{}); err == nil {
			t.Errorf("%s was read as %+v", frame, e)
		}
	}
}

func TestTheEndOfAStreamIsBehindItsNewestFile(t *testing.T) {
	t.Parallel()
	f := Files{Dir: t.TempDir()}
	if at, err := f.End(); err != nil || at != (Position{}) {
		t.Errorf("without files: %+v, %v", at, err)
	}
	for name, text := range map[string]string{"20260315/9": "older\n", "20260315/10": "newest\n"} {
		path := filepath.Join(f.Dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if at, err := f.End(); err != nil || at != (Position{File: "20260315/10", Offset: 7}) {
		t.Errorf("%+v, %v", at, err)
	}
}
