package traderfields_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/traderfields"
)

// listed is what lists say of everybody, and the address of who is asked about.
type listed struct {
	address string
	vaults  []market.Vault
	lines   []venuesLine // of a file
}

// venuesLine says on which other venues an address trades.
type venuesLine struct {
	Address string   `json:"address"`
	Venues  []string `json:"venues"`
}

// other are the other venues of who is asked about, as the last line says that is about it.
func (l *listed) other() *[]string {
	for _, line := range slices.Backward(l.lines) {
		if strings.EqualFold(line.Address, l.address) {
			return &line.Venues
		}
	}
	return nil
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
	book := othervenues.NewBook()
	for i, line := range l.lines {
		text, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		d, err := othervenues.Parse(text, drop.Place{Time: 1, File: "a", Line: int64(i + 1)})
		if err != nil {
			panic(err)
		}
		book.Take(&d)
	}
	said := book.View()
	index := said.Index()
	t.Other = index.Of(address)
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
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			of := address.Draw(t, "address of a line")
			if rapid.Bool().Draw(t, "upper case") {
				of = "0x" + strings.ToUpper(of[2:])
			}
			l.lines = append(l.lines, venuesLine{of, rapid.SliceOfN(rapid.SampledFrom([]string{"Alpha", "Beta", "a b"}), 0, 4).Draw(t, "venues")})
		}
		return l
	})
}
