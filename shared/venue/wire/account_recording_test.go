package wire_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// TestARecordedStateIsValuedAsTheVenueDid takes a genuine state over as an anchor and
// values it at its own marks. What the venue computed by other formulas in its first
// months (returns, liquidation prices, the rounding of margins) is left out.
func TestARecordedStateIsValuedAsTheVenueDid(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", "hl_python_sdk_info_cassettes.jsonl")))(t)
	defer file.Close()
	positions := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var c struct {
			Request  struct{ Type string }
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &c))
		if c.Request.Type != "clearinghouseState" {
			continue
		}
		var fields map[string]json.RawMessage
		must.Do(t, json.Unmarshal(c.Response, &fields))
		fields["time"] = json.RawMessage("1") // which the venue did not tell yet
		timed := must.Get(json.Marshal(fields))(t)
		said := must.Get(wire.ParseAccount(timed, ""))(t)
		positions += len(said.Positions)
		checkValued(t, &said)
	}
	if positions < 10 {
		t.Errorf("%d positions were recorded", positions)
	}
}

func checkValued(t *testing.T, said *market.AccountState) {
	t.Helper()
	markets := &market.Markets{Perps: map[string]market.PerpMarket{}}
	marks := market.Marks{}
	for i, p := range said.Positions {
		marks[p.Coin] = p.PositionValue.MustDiv(p.Szi.Abs())
		markets.Perps[p.Coin] = market.PerpMarket{Index: i}
	}
	var a market.Account
	a.Anchor(&market.Anchor{Dexes: []market.AccountState{*said}}, nil, nil)
	got := a.State("", markets, marks, said.Time)
	for name, pair := range map[string][2]market.Decimal{
		"accountValue": {got.Margin.AccountValue, said.Margin.AccountValue}, "totalNtlPos": {got.Margin.TotalNtlPos, said.Margin.TotalNtlPos},
		"totalRawUsd": {got.Margin.TotalRawUsd, said.Margin.TotalRawUsd}, "cross accountValue": {got.CrossMargin.AccountValue, said.CrossMargin.AccountValue},
	} {
		if !pair[0].Equal(pair[1]) {
			t.Errorf("%s is %s, want %s", name, pair[0], pair[1])
		}
	}
	for i, p := range got.Positions {
		want := said.Positions[i]
		if p.Coin != want.Coin || !p.EntryPx.Equal(want.EntryPx) || !p.UnrealizedPnl.Equal(want.UnrealizedPnl) || !p.PositionValue.Equal(want.PositionValue) {
			t.Errorf("got %+v\nwant %+v", p, want)
		}
	}
	again := *said
	again.Time++
	if differences, _ := a.Anchor(&market.Anchor{Dexes: []market.AccountState{again}}, nil, nil); differences != nil {
		t.Errorf("the same state contradicts itself: %v", differences)
	}
}
