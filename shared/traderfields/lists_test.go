package traderfields_test

import (
	"fmt"

	"pgregory.net/rapid"

	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/traderfields"
)

// listed is what lists say of everybody, and the address of who is asked about.
type listed struct {
	address string
	vaults  []market.Vault
}

// set sets what the views say that are made of the lists.
func (l *listed) set(t *traderfields.Trader) {
	address, _ := market.ParseAccount(l.address)
	var v vaults.View
	for _, of := range l.vaults {
		one := vaults.Vault{Address: of.Address}
		one.Tell(of, now)
		v.Vaults = append(v.Vaults, one)
	}
	t.Vault = v.Roles().Of(address)
}

// lists are drawn about few addresses, each of which may be a vault.
func lists() *rapid.Generator[*listed] {
	return rapid.Custom(func(t *rapid.T) *listed {
		address := rapid.Map(rapid.IntRange(1, 4), func(n int) string { return fmt.Sprintf("0x%040x", n) })
		l := &listed{address: address.Draw(t, "address")}
		for n := range 4 {
			v := market.Vault{Address: fmt.Sprintf("0x%040x", n+1), Closed: rapid.Bool().Draw(t, "closed"), Created: rapid.SampledFrom([]int64{0, 1, now}).Draw(t, "created")}
			if rapid.Bool().Draw(t, "a vault") {
				v.Leader, v.Name = address.Draw(t, "leader"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name")
				l.vaults = append(l.vaults, v)
			}
		}
		return l
	})
}
