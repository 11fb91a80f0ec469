package vaults

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/traderfields"
)

func address(n int) string { return fmt.Sprintf("0x%040x", n) }

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Vaults: []Vault{}}
			for n := range rapid.IntRange(0, 4).Draw(t, "vaults") {
				v.Vaults = append(v.Vaults, Vault{
					Address: address(n), Leader: rapid.SampledFrom([]string{"", address(7)}).Draw(t, "leader"), Name: rapid.StringN(0, 5, 20).Draw(t, "name"),
					Created: rapid.Int64Range(0, 9).Draw(t, "created"), Closed: rapid.Bool().Draw(t, "closed"), Told: 3, Asked: rapid.Int64Range(0, 9).Draw(t, "asked"),
				})
			}
			return v
		}),
		Encode: Published.Encode, Decode: Published.Decode,
		Use: func(v View) { v.Roles().Of(table.Address{1}) },
	}.Test(t)
}

func TestRolesAreThoseOfVaultsAndOfWhoLeadsThem(t *testing.T) {
	t.Parallel()
	v := View{Vaults: []Vault{
		{Address: address(1), Leader: address(9), Name: "A", Created: 5},
		{Address: address(2), Leader: address(9), Name: "B"},
		{Address: address(3), Leader: address(9), Name: "C", Closed: true},
		{Address: address(4)}, // of which no more is known
		{Address: address(5), Leader: address(1), Name: "D"},
		{Address: "no address", Leader: address(6), Name: "E"},
		{Address: address(7), Leader: address(8), Name: "F", Closed: true},
	}}
	roles := v.Roles()
	for n, want := range map[byte]*traderfields.VaultRole{
		1: {Created: 5, Name: "A", Leader: address(9), Led: 1, Leads: 1}, 2: {Name: "B", Leader: address(9)}, 3: {Name: "C", Leader: address(9)}, 4: nil,
		6: {Led: 1, Leads: 1}, 8: {Led: 1}, 9: {Led: 3, Leads: 2}, 10: nil,
	} {
		if got := roles.Of(table.Address{19: n}); (got == nil) != (want == nil) || want != nil && *got != *want {
			t.Errorf("address %d has the role %+v, want %+v", n, got, want)
		}
	}
}

func TestWhatIsToldLastHoldsInWhateverOrderItComes(t *testing.T) {
	t.Parallel()
	told := func(v *Vault, ms int64, name string, created int64) {
		v.Tell(market.Vault{Leader: address(1), Name: name, Created: created}, ms)
	}
	one, other := Vault{}, Vault{}
	told(&one, 5, "A", 0)
	told(&one, 9, "B", 3)
	one.Tell(market.Vault{}, 11)
	other.Tell(market.Vault{}, 11)
	told(&other, 9, "B", 3)
	told(&other, 5, "A", 0)
	if want := (Vault{Leader: address(1), Name: "B", Created: 3, Told: 9, Asked: 11}); one != want || other != want {
		t.Errorf("it is %+v and %+v, want %+v", one, other, want)
	}
}
