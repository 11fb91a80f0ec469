package market_test

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// recording opens a file of the folder of genuine recordings that QUOTARY_TESTDATA names,
// or skips the test where there is none.
func recording(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA names no folder of recordings")
	}
	file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", name)))(t)
	t.Cleanup(func() { file.Close() })
	return file
}

// plain writes a number that a recorder wrote with an exponent without one.
func plain(t *testing.T, text string) string {
	t.Helper()
	if !strings.ContainsAny(text, "eE") {
		return text
	}
	f := must.Get(strconv.ParseFloat(text, 64))(t)
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// recordedFills are 14,149 fills of three accounts, in their order.
func recordedFills(t *testing.T) []market.Fill {
	t.Helper()
	unzipped := must.Get(gzip.NewReader(recording(t, "fills_three_accounts_2024-25.csv.gz")))(t)
	rows := must.Get(csv.NewReader(unzipped).ReadAll())(t)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	fills := make([]market.Fill, len(rows)-1)
	for i, row := range rows[1:] {
		of := func(name string) string { return row[column[name]] }
		ms := must.Get(strconv.ParseInt(of("time"), 10, 64))(t)
		oid := must.Get(strconv.ParseInt(of("oid"), 10, 64))(t)
		fills[i] = market.Fill{
			Address: of("address"), Coin: of("coin"), Side: market.Side(of("side")[0]), Time: ms, Seq: int64(i + 1), Oid: oid, Dir: of("dir"), Hash: of("hash"),
			Px: plain(t, of("px")), Sz: plain(t, of("sz")), StartPosition: plain(t, of("start_position")), ClosedPnl: plain(t, of("closed_pnl")), Fee: plain(t, of("fee")),
		}
		must.Do(t, fills[i].Check())
	}
	return fills
}

// TestGenuineFillsRealizeWhatTheVenueSays derives the closedPnl of every closing fill from
// the average cost of what was opened, with the entry price cut to the decimals of the
// market, as the venue does. Where the exact price has no more decimals, the venue, which
// counts in floating point, may have cut it to one unit less.
func TestGenuineFillsRealizeWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	fills := recordedFills(t)
	places := map[string]int{} // of sizes, by coin
	for i := range fills {
		_, decimals, _ := strings.Cut(fills[i].Sz, ".")
		places[fills[i].Coin] = max(places[fills[i].Coin], len(strings.TrimRight(decimals, "0")))
	}
	markets := &market.Markets{Spot: map[string]market.SpotMarket{"@107": {Base: "HYPE", Quote: market.USDC}}}
	accounts := map[string]*market.Account{}
	pnl, realized, fees := num("0"), num("0"), num("0")
	var compared, off, unit, trades, gaps, bought int
	for i := range fills {
		f := &fills[i]
		a := accounts[f.Address]
		if a == nil {
			a = new(market.Account)
			accounts[f.Address] = a
		}
		before, _ := a.Holding(f.Coin)
		var held market.OpenPosition
		if before.Open != nil {
			held = *before.Open
		}
		outcome, completed := a.Fill(f, markets, nil)
		if market.IsSpot(f.Coin) {
			bought++
			continue
		}
		if outcome == market.Gap { // the recorder missed some
			gaps++
			pnl, fees = pnl.Sub(held.Pnl), fees.Sub(held.Fee)
			a.Forget(f.Coin)
			outcome, completed = a.Fill(f, markets, nil)
			held = market.OpenPosition{NoCost: true}
		}
		if outcome != market.Applied {
			t.Fatalf("%+v: %s", f, outcome)
		}
		if after, _ := a.Holding(f.Coin); after.Open != nil && !after.Open.Size.Equal(f.EndPosition()) || after.Open == nil && !f.EndPosition().IsZero() {
			t.Fatalf("after %+v it holds %+v", f, after.Open)
		}
		pnl, fees = pnl.Add(num(f.ClosedPnl)), fees.Add(num(f.Fee))
		if completed != nil {
			trades++
			realized, fees = realized.Add(completed.Pnl), fees.Sub(completed.Fee)
		}
		if held.NoCost || held.Size.IsZero() || held.Size.IsNeg() != (f.Side == market.Buy) {
			continue
		}
		closing, smallest := num(f.Sz), num("1")
		if size := held.Size.Abs(); size.Cmp(closing) < 0 {
			closing = size
		}
		for range 6 - places[f.Coin] {
			smallest = smallest.Mul(num("0.1"))
		}
		entry := held.Cost.MustDiv(held.Size).Trunc(uint8(6 - places[f.Coin]))
		derived := num(f.Px).Sub(entry).Mul(closing)
		if held.Size.IsNeg() {
			derived = derived.Neg()
		}
		compared++
		switch difference := derived.Sub(num(f.ClosedPnl)).Abs(); {
		case difference.Cmp(num("0.00001")) <= 0: // the recorder kept ten digits
		case difference.Cmp(closing.Mul(smallest).Add(num("0.00001"))) <= 0:
			unit++
		default:
			off++
			t.Errorf("%+v: derived %s", f, derived)
		}
	}
	for _, a := range accounts {
		for i := range a.Holdings {
			if p := a.Holdings[i].Open; p != nil {
				realized, fees = realized.Add(p.Pnl), fees.Sub(p.Fee)
			}
		}
	}
	if !pnl.Equal(realized) || !fees.IsZero() {
		t.Errorf("the fills realized %s, completed and open positions %s; fees differ by %s", pnl, realized, fees)
	}
	if compared < 5000 || unit > compared/200 || trades < 80 || gaps > 10 || bought < 1000 {
		t.Errorf("%d compared, %d off, %d by a unit of the entry price; %d trades, %d gaps, %d of spot", compared, off, unit, trades, gaps, bought)
	}
	t.Logf("%d closing fills, %d of them differ by a unit of the entry price; %d trades, %d gaps, %d spot fills", compared, unit, trades, gaps, bought)
}

// TestGenuineFillsOfSpotRealizeWhatTheVenueSays derives the closedPnl of sales from what
// was paid for what is held, fees in the token included.
func TestGenuineFillsOfSpotRealizeWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	fills := recordedFills(t)
	markets := &market.Markets{Spot: map[string]market.SpotMarket{"@107": {Base: "HYPE", Quote: market.USDC}}}
	accounts := map[string]*market.Account{}
	compared, off := 0, 0
	for i := range fills {
		f := &fills[i]
		if f.Coin != "@107" {
			continue
		}
		a := accounts[f.Address]
		if a == nil {
			a = new(market.Account)
			accounts[f.Address] = a
		}
		var held market.SpotHolding
		for _, s := range a.Spot {
			if s.Token == "HYPE" {
				held = s
			}
		}
		if got, _ := a.Fill(f, markets, nil); got != market.Applied {
			t.Fatalf("%+v: %s", f, got)
		}
		// A balance that jumps was changed by a transfer, at a cost that fills do not tell.
		if jump := held.Total.Sub(num(f.StartPosition)).Abs(); f.Side == market.Buy || held.NoCost || held.Total.IsZero() || f.Dir == market.DustConversion || jump.Cmp(num("0.00001")) > 0 {
			continue
		}
		compared++
		derived := num(f.Px).Mul(num(f.Sz)).Sub(held.Cost.Mul(num(f.Sz)).MustDiv(held.Total))
		if difference := derived.Sub(num(f.ClosedPnl)).Abs(); difference.Cmp(num("0.00001").Add(num(f.Sz).Mul(num("0.0000002")))) > 0 {
			off++
			if off < 5 {
				t.Errorf("%+v of %+v: derived %s", f, held, derived)
			}
		}
	}
	if compared < 300 || off > 0 {
		t.Errorf("%d compared, %d off", compared, off)
	}
	t.Logf("%d sales", compared)
}

// TestGenuineLedgersAreOfKnownKinds folds every ledger update that was recorded.
func TestGenuineLedgersAreOfKnownKinds(t *testing.T) {
	t.Parallel()
	lines := bufio.NewScanner(recording(t, "hl_python_sdk_info_cassettes.jsonl"))
	lines.Buffer(nil, 64<<20)
	updates := 0
	for lines.Scan() {
		var c struct {
			Request  struct{ Type, User string }
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &c))
		if c.Request.Type != "userNonFundingLedgerUpdates" {
			continue
		}
		var list []struct {
			Time  int64
			Hash  string
			Delta json.RawMessage
		}
		must.Do(t, json.Unmarshal(c.Response, &list))
		var a market.Account
		for _, l := range list {
			var of struct{ Type string }
			must.Do(t, json.Unmarshal(l.Delta, &of))
			updates++
			if got := a.Ledger(&market.Ledger{Address: c.Request.User, Time: l.Time, Hash: l.Hash, Type: of.Type, Delta: l.Delta}, nil, nil); got != market.Applied {
				t.Errorf("%s is %s", l.Delta, got)
			}
		}
	}
	if updates == 0 {
		t.Error("none was recorded")
	}
	t.Logf("%d updates", updates)
}
