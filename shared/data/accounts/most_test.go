package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/data/accounts"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// An account in as many coins as an anchor may name fits into a row, whatever is said of them.
func TestAnAccountInAsManyCoinsAsItTakesFitsIntoARow(t *testing.T) {
	t.Parallel()
	long := must.Get(market.ParseDecimal(strings.Repeat("9", 28) + "." + strings.Repeat("7", 19)))(t)
	state := market.AccountState{Time: 1_790_000_000_000}
	for n := range market.MostNamed - 1 {
		coin := fmt.Sprintf("%04d%s", n, strings.Repeat("x", market.MaxName-4))
		state.Positions = append(state.Positions, market.PositionState{Coin: coin, Szi: long, EntryPx: long, UnrealizedPnl: long, FundingAllTime: long, Leverage: market.Leverage{Value: 50}})
	}
	a := market.Account{Address: "0x1111111111111111111111111111111111111111"}
	anchor := market.Anchor{Address: a.Address, Dexes: []market.AccountState{state}}
	if !a.Takes(&anchor) {
		t.Error("it is not taken")
	}
	a.Anchor(&anchor, &market.Markets{}, market.Marks{})
	if row := accounts.Row(&a); len(row.Extra)+len(row.Body) > 390<<10 || len(a.Holdings) != market.MostNamed-1 {
		t.Errorf("%d coins take %d bytes", len(a.Holdings), len(row.Extra)+len(row.Body))
	}
	state.Positions = append(state.Positions, market.PositionState{Coin: "one more", Szi: long})
	more := market.Anchor{Address: a.Address, Dexes: []market.AccountState{state}, Leverages: map[string]market.Leverage{"another": {}}}
	if a.Takes(&more) {
		t.Error("more are taken")
	}
}
