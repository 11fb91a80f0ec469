package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const (
	alice = "0x00000000000000000000000000000000000a11ce"
	bob   = "0x0000000000000000000000000000000000000b0b"

	buyJSON = `{"coin":"SOL","px":"72.153","sz":"0.58","side":"B","time":1782636233257,"startPosition":"-162.6","dir":"Close Short",` +
		`"closedPnl":"1.5","hash":"0xdc25","oid":481702553904,"crossed":true,"fee":"0.001255","tid":340554939716632,` +
		`"cloid":"0x00000000000000000000019f08a8bdd8","liquidation":{"liquidatedUser":"0x5ef843ccf26810073ee689a954f6d05f5b48fccb",` +
		`"markPx":"72.149","method":"market"},"feeToken":"USDC","builder":"0x1924b8561eef20e70ede628a296175d358be80e5","builderFee":"0.0001","twapId":1671203}`
	sellJSON = `{"coin":"SOL","px":"72.153","sz":"0.58","side":"A","time":1782636233257,"startPosition":"-162.6","dir":"Open Short",` +
		`"closedPnl":"0.0","hash":"0xdc25","oid":481702553903,"crossed":false,"fee":"-0.001255","tid":340554939716632,"feeToken":"USDC","twapId":null}`
)

func blockLine(number int64, events ...string) string {
	return `{"local_time":"2026-06-28T08:43:53.687645997","block_time":"2026-06-28T08:43:53.257028820","block_number":` +
		strconv.FormatInt(number, 10) + `,"events":[` + strings.Join(events, ",") + `]}`
}

func event(address, fill string) string { return `["` + address + `",` + fill + `]` }

func TestABlockLineGivesItsFillsInOrder(t *testing.T) {
	t.Parallel()
	line := blockLine(1052527672, event(alice, buyJSON), event("0x"+strings.ToUpper(bob[2:]), sellJSON))
	fills, skipped, err := ParseFills(nil, line, 7)
	if err != nil || skipped != 0 || len(fills) != 2 {
		t.Fatalf("%d fills, %d skipped, %v", len(fills), skipped, err)
	}
	for i, want := range []string{buyJSON, sellJSON} {
		check.Equalf(t, want, string(fills[i].AppendJSON(nil)), "fill %d", i)
		if want := int64(1052527672)*1_000_000 + int64(i); fills[i].Seq != want {
			t.Errorf("fill %d: Seq %d, want %d", i, fills[i].Seq, want)
		}
	}
}

func TestAnArrayLineGivesOneFill(t *testing.T) {
	t.Parallel()
	fills, skipped, err := ParseFills(nil, " "+event(alice, buyJSON)+" ", 7)
	if err != nil || skipped != 0 || len(fills) != 1 || fills[0].Seq != 7 {
		t.Fatalf("%+v, %d skipped, %v", fills, skipped, err)
	}
}

func TestBlockNumberAfterTheEventsCounts(t *testing.T) {
	t.Parallel()
	fills, _, err := ParseFills(nil, `{"events":[`+event(alice, buyJSON)+`,`+event(bob, sellJSON)+`],"block_number":3,"other":{"a":[1,null,true]}}`, 0)
	if err != nil || len(fills) != 2 || fills[1].Seq != 3_000_001 {
		t.Fatalf("%+v, %v", fills, err)
	}
}

func TestAFaultyFillIsSkippedAndItsNeighboursKept(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"missing field":          {`"dir":"Close Short",`, ``},
		"wrong type":             {`"px":"72.153"`, `"px":72.153`},
		"exponent":               {`"px":"72.153"`, `"px":"7e3"`},
		"negative price":         {`"px":"72.153"`, `"px":"-1.0"`},
		"negative size":          {`"sz":"0.58"`, `"sz":"-0.58"`},
		"too many places":        {`"px":"72.153"`, `"px":"0.123456789012345678"`},
		"side":                   {`"side":"B"`, `"side":"buy"`},
		"negative id":            {`"oid":481702553904`, `"oid":-4`},
		"fractional time":        {`"time":1782636233257`, `"time":1782636233257.5`},
		"time in seconds x 1e6":  {`"time":1782636233257`, `"time":1782636233257000`},
		"time zero":              {`"time":1782636233257`, `"time":0`},
		"coin empty":             {`"coin":"SOL"`, `"coin":""`},
		"coin with a line break": {`"coin":"SOL"`, `"coin":"S\nL"`},
		"text too long":          {`"hash":"0xdc25"`, `"hash":"` + strings.Repeat("f", 300) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(buyJSON, change[0], change[1], 1)
			if broken == buyJSON {
				t.Fatal("the case changes nothing")
			}
			fills, skipped, err := ParseFills(nil, blockLine(5, event(alice, broken), event(bob, sellJSON)), 0)
			if err == nil || skipped != 1 || len(fills) != 1 || fills[0].Address != bob || fills[0].Seq != 5_000_001 {
				t.Fatalf("%+v, %d skipped, %v", fills, skipped, err)
			}
		})
	}
}

// TestWhatAFillMayLackNeverCostsIt spoils what the venue may leave out: null, absent and
// impossible are all as good as left out.
func TestWhatAFillMayLackNeverCostsIt(t *testing.T) {
	t.Parallel()
	const user, liquidation = `"liquidatedUser":"0x5ef843ccf26810073ee689a954f6d05f5b48fccb",`, `"liquidation":{` + `"liquidatedUser":"0x5ef843ccf26810073ee689a954f6d05f5b48fccb","markPx":"72.149","method":"market"}`
	const cloid, builder, builderFee, twap = `"cloid":"0x00000000000000000000019f08a8bdd8",`, `"builder":"0x1924b8561eef20e70ede628a296175d358be80e5",`, `"builderFee":"0.0001",`, `"twapId":1671203`
	for name, c := range map[string]struct {
		part, spoiled, without string // without is as the fill is written again
		noticed                bool
	}{
		"no liquidated user":             {part: user, spoiled: ``, without: ``},
		"a liquidated user that is null": {part: user, spoiled: `"liquidatedUser":null,`, without: ``},
		"a liquidated user by name":      {part: user, spoiled: `"liquidatedUser":"someone",`, without: ``},
		"a mark price that is a number":  {part: `"markPx":"72.149"`, spoiled: `"markPx":72.149`, without: `"markPx":"72.149"`},
		"no mark price":                  {part: `"markPx":"72.149",`, spoiled: ``, without: ``},
		"a mark price that is none":      {part: `"markPx":"72.149",`, spoiled: `"markPx":"high",`, without: ``},
		"a method that is null":          {part: `,"method":"market"`, spoiled: `,"method":null`, without: ``},
		"an empty liquidation":           {part: liquidation, spoiled: `"liquidation":{}`, without: `"liquidation":{}`},
		"a liquidation that is null":     {part: liquidation + `,`, spoiled: `"liquidation":null,`, without: ``},
		"a liquidation that is a text":   {part: liquidation + `,`, spoiled: `"liquidation":"yes",`, without: ``, noticed: true},
		"a client order id that is null": {part: cloid, spoiled: `"cloid":null,`, without: ``},
		"a long client order id":         {part: cloid, spoiled: `"cloid":"` + strings.Repeat("f", 300) + `",`, without: ``},
		"a client order id of lists":     {part: cloid, spoiled: `"cloid":[1],`, without: ``, noticed: true},
		"a builder that is null":         {part: builder, spoiled: `"builder":null,`, without: ``},
		"a builder by name":              {part: builder, spoiled: `"builder":"me",`, without: ``},
		"a builder's fee that is none":   {part: builderFee, spoiled: `"builderFee":"1e3",`, without: ``},
		"no TWAP":                        {part: `,` + twap, spoiled: ``, without: `,"twapId":null`},
		"a TWAP by name":                 {part: twap, spoiled: `"twapId":"1671203"`, without: `"twapId":null`, noticed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(buyJSON, c.part) {
				t.Fatal("the case changes nothing")
			}
			want := strings.Replace(buyJSON, c.part, c.without, 1)
			fills, skipped, err := ParseFills(nil, blockLine(5, event(alice, strings.Replace(buyJSON, c.part, c.spoiled, 1)), event(bob, sellJSON)), 0)
			if skipped != 0 || len(fills) != 2 || (err != nil) != c.noticed {
				t.Fatalf("%d fills, %d skipped, %v", len(fills), skipped, err)
			}
			if got := string(fills[0].AppendJSON(nil)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestALineThatIsNoFillLineGivesNothing(t *testing.T) {
	t.Parallel()
	complete := blockLine(5, event(alice, buyJSON))
	for _, line := range []string{"", " ", "null", "3", `"x"`, "{}", "[]", `["` + alice + `"]`, `["` + alice + `",{}`, complete[:len(complete)-1], complete + "x",
		`{"block_number":5}`, `{"events":[]}`, `{"block_number":-1,"events":[]}`, `{"block_number":9223372036854775807,"events":[]}`,
		`{"block_number":5,"events":[` + event(alice, buyJSON) + `],"events":[]}`, "\xff" + complete, strings.Replace(complete, "SOL", "S\xffL", 1),
		strings.Replace(complete, `"time"`, "\"ti\nme\"", 1), strings.Repeat("[", 100_000)} {
		had := []market.Fill{{Coin: "kept"}}
		fills, skipped, err := ParseFills(had, line, 0)
		if err == nil || skipped != 1 || len(fills) != 1 || fills[0].Coin != "kept" {
			t.Errorf("%.80q: %d fills, %d skipped, %v", line, len(fills), skipped, err)
		}
	}
}

func TestADustConversionIsAFillButNoTrade(t *testing.T) {
	t.Parallel()
	dust := strings.Replace(strings.Replace(buyJSON, `"tid":340554939716632`, `"tid":0`, 1), "Close Short", market.DustConversion, 1)
	fills, _, err := ParseFills(nil, event(alice, dust), 0)
	if err != nil || len(fills) != 1 || fills[0].IsTrade() {
		t.Fatalf("%+v, %v", fills, err)
	}
	if trades := market.AppendTrades(nil, fills); len(trades) != 0 {
		t.Fatalf("trades %+v, want none", trades)
	}
}

func TestAPairOfFillsIsOneTradeWithBothUsers(t *testing.T) {
	t.Parallel()
	for _, events := range [][]string{{event(alice, buyJSON), event(bob, sellJSON)}, {event(bob, sellJSON), event(alice, buyJSON)}} {
		fills, _ := must.Get2(ParseFills(nil, blockLine(5, events...), 0))(t)
		trades := market.AppendTrades(nil, fills)
		if len(trades) != 1 || trades[0].Users != [2]string{alice, bob} || trades[0].Side != market.Buy || market.Text(market.Notional(trades[0].Px, trades[0].Sz)) != "41.84874" {
			t.Fatalf("%+v", trades)
		}
	}
}

// slow reads a line with encoding/json: the oracle of the fuzz test and the
// other side of the benchmark. It knows nothing of what makes a fill possible.
func slow(line string) (events [][2]json.RawMessage, number int64, ok bool) {
	if !utf8.ValidString(line) {
		return nil, 0, false
	}
	if strings.HasPrefix(strings.TrimLeft(line, " \t\r\n"), "[") {
		var e []json.RawMessage
		if json.Unmarshal([]byte(line), &e) != nil || len(e) != 2 {
			return nil, 0, false
		}
		return [][2]json.RawMessage{{e[0], e[1]}}, 0, true
	}
	var block map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &block) != nil {
		return nil, 0, false
	}
	var es [][]json.RawMessage
	if json.Unmarshal(block["events"], &es) != nil || json.Unmarshal(block["block_number"], &number) != nil || number < 0 {
		return nil, 0, false
	}
	for _, e := range es {
		if len(e) != 2 {
			return nil, 0, false
		}
		events = append(events, [2]json.RawMessage{e[0], e[1]})
	}
	return events, number, true
}

// FuzzParseFills holds the scanner against encoding/json: what one reads the
// other reads too, with the same values, and nothing panics.
func FuzzParseFills(f *testing.F) {
	f.Add(blockLine(5, event(alice, buyJSON), event(bob, sellJSON)))
	f.Add(event(alice, buyJSON))
	f.Add(event(alice, strings.Replace(sellJSON, "SOL", `x\u0041\ud83d\ude00\ud83d\\\"`, 1)))
	f.Add(`{"events":[],"block_number":0,"x":[1e5,-0.5,{"a":null}]}`)
	f.Fuzz(func(t *testing.T, line string) {
		fills, skipped, err := ParseFills(nil, line, 0)
		if skipped > 0 && err == nil {
			t.Fatalf("%d skipped, %v", skipped, err)
		}
		events, number, ok := slow(line)
		if len(fills) > 0 && (!ok || len(fills)+skipped != len(events)) {
			t.Fatalf("%d fills and %d skipped where encoding/json reads %d events (%t)", len(fills), skipped, len(events), ok)
		}
		for i := range fills {
			index := fills[i].Seq - number*SeqPerBlock
			compareFill(t, &fills[i], events[index])
			again, _, err := ParseFills(nil, event(fills[i].Address, string(fills[i].AppendJSON(nil))), fills[i].Seq)
			if err != nil || len(again) != 1 {
				t.Fatalf("what AppendFill wrote is not read again: %v", err)
			}
			if diff := cmp.Diff(fills[i], again[0]); diff != "" {
				t.Fatalf("read again it differs:\n%s", diff)
			}
		}
	})
}

func compareFill(t *testing.T, f *market.Fill, e [2]json.RawMessage) {
	t.Helper()
	var address string
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(e[1])))
	d.UseNumber()
	if json.Unmarshal(e[0], &address) != nil || d.Decode(&m) != nil {
		t.Fatalf("encoding/json refuses %s %s", e[0], e[1])
	}
	if !strings.EqualFold(address, f.Address) {
		t.Fatalf("address %q, want %q", f.Address, address)
	}
	for key, got := range map[string]string{"coin": f.Coin, "px": f.Px, "sz": f.Sz, "side": f.Side.String(), "startPosition": f.StartPosition,
		"dir": f.Dir, "closedPnl": f.ClosedPnl, "hash": f.Hash, "fee": f.Fee, "feeToken": f.FeeToken} {
		if m[key] != got {
			t.Fatalf("%s %q, want %v", key, got, m[key])
		}
	}
	for key, got := range map[string]int64{"time": f.Time, "oid": f.Oid, "tid": f.Tid} {
		if m[key] != json.Number(strconv.FormatInt(got, 10)) {
			t.Fatalf("%s %d, want %v", key, got, m[key])
		}
	}
	if m["crossed"] != f.Crossed || f.TwapID != nil && m["twapId"] == nil || f.Liquidation != nil && m["liquidation"] == nil {
		t.Fatalf("%+v, want %v", f, m)
	}
}

// recorded gives the lines of a genuine recording, or skips the test where none
// is at hand.
func recorded(t testing.TB) []string {
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA names no folder of recordings")
	}
	data := must.Get(os.ReadFile(filepath.Join(dir, "hyperliquid", "node_fills_sample.jsonl")))(t)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestARecordingIsReadToTheByte holds every recorded fill against its own text
// and the claim of [market.Fill.Trade] about dust conversions against the recording.
func TestARecordingIsReadToTheByte(t *testing.T) {
	t.Parallel()
	lines := recorded(t)
	var fills []market.Fill
	for _, line := range lines {
		from := len(fills)
		var skipped int
		var err error
		if fills, skipped, err = ParseFills(fills, line, 0); err != nil || skipped > 0 {
			t.Fatalf("%d skipped: %v", skipped, err)
		}
		events, _, _ := slow(line)
		for i, e := range events {
			f := &fills[from+i]
			if want, got := string(e[1]), string(f.AppendJSON(nil)); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}
	}
	shares, sellers := map[int64]market.Decimal{}, map[int64]*market.Fill{}
	for i := range fills {
		if f := &fills[i]; f.Tid == 0 {
			if f.Dir != market.DustConversion {
				t.Fatalf("a fill of dir %q has no trade id", f.Dir)
			}
			shares[f.Oid] = shares[f.Oid].Add(decimal(t, f.Sz))
		} else if f.Crossed {
			sellers[f.Oid] = f
		}
	}
	for oid, sum := range shares {
		if s := sellers[oid]; s == nil || !sum.Equal(decimal(t, s.StartPosition)) {
			t.Errorf("order %d: the shares sum to %s, its taker is %+v", oid, sum, s)
		}
	}
	if trades := market.AppendTrades(nil, fills); len(fills) != 1388 || len(trades) != 45 || len(shares) != 20 {
		t.Errorf("%d fills, %d trades, %d dust orders", len(fills), len(trades), len(shares))
	}
}

func BenchmarkParseFills(b *testing.B) {
	line := blockLine(5, event(alice, buyJSON), event(bob, sellJSON))
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	var fills []market.Fill
	for b.Loop() {
		fills, _, _ = ParseFills(fills[:0], line, 0)
	}
	b.ReportMetric(float64(len(fills)*b.N)/b.Elapsed().Seconds(), "fills/s")
}

// BenchmarkEncodingJSON does the same work with the standard library.
func BenchmarkEncodingJSON(b *testing.B) {
	type fill struct {
		Coin, Px, Sz, Side  string
		Time                int64
		StartPosition, Dir  string
		ClosedPnl, Hash     string
		Oid                 int64
		Crossed             bool
		Fee                 string
		Tid                 int64
		FeeToken, Cloid     string
		Builder, BuilderFee string
		Liquidation         *market.Liquidation
		TwapID              *int64 `json:"twapId"`
	}
	line := []byte(blockLine(5, event(alice, buyJSON), event(bob, sellJSON)))
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		var block struct {
			Number int64                `json:"block_number"`
			Events [][2]json.RawMessage `json:"events"`
		}
		must.Do(b, json.Unmarshal(line, &block))
		for _, e := range block.Events {
			var address string
			var f fill
			if json.Unmarshal(e[0], &address) != nil || json.Unmarshal(e[1], &f) != nil {
				b.Fatal("no fill")
			}
		}
	}
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "fills/s")
}

func decimal(t *testing.T, s string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(s))(t)
}
