package traderfields

import "slices"

// VaultRole is what those of the venue's vaults that are known have to do with an address.
type VaultRole struct {
	Created      int64  // when the vault that it is was made, ms; 0 where that is not known
	Name, Leader string // of the vault that it is; "" where it is none
	Led, Leads   int64  // how many vaults it has ever led, and how many of them are not closed
}

// OtherVenues are those on which an address trades beside this one.
type OtherVenues struct{ Names []string } // in order

// listed are fields that are known by lists.
func listed(fields ...[]Field) []Field {
	all := slices.Concat(fields...)
	for i := range all {
		all[i].ByList = true
	}
	return all
}

// textField is a field of texts.
func textField(group, name string, kind Kind, formula string, texts func(*Trader) []string) []Field {
	return []Field{{Name: name, Group: group, Kind: kind, Adds: Latest, Formula: formula, texts: texts}}
}

// vaultFields are about the venue's vaults.
var vaultFields = func() []Field {
	role := func(t *Trader, _ Period) *VaultRole { return t.Vault }
	text := func(of func(*VaultRole) string) func(*Trader) []string {
		return func(t *Trader) []string {
			if t.Vault == nil || of(t.Vault) == "" {
				return nil
			}
			return []string{of(t.Vault)}
		}
	}
	return listed(
		group("vault", nil, role, row[VaultRole]{"vtCreateTime", Date, Latest, "When the vault was made, where the address is one.", func(v *VaultRole) (decimal, bool) {
			made, _ := number(v.Created)
			return made, v.Created > 0
		}}),
		textField("vault", "vtName", Text, "Name of the vault, where the address is one.", text(func(v *VaultRole) string { return v.Name })),
		textField("vault", "vtLeader", Address, "Address of who leads the vault, where the address is one.", text(func(v *VaultRole) string { return v.Leader })),
		group("vault leader", nil, role, row[VaultRole]{"vlVaultCount", Count, Latest, "Number of vaults that the address leads, of the vaults that are known; not known where it has led none of these.", func(v *VaultRole) (decimal, bool) {
			leads, _ := number(v.Leads)
			return leads, v.Led > 0
		}}),
	)
}()

// otherFields are about the other venues on which somebody trades.
var otherFields = func() []Field {
	const count = "dexCount"
	names := textField("other venues", "dexNames", Names, "Names of other venues on which the address trades, in order; empty where it is known to trade on none.", func(t *Trader) []string {
		if t.Other == nil {
			return nil
		}
		return t.Other.Names
	})
	names[0].Counted = count
	return listed(names, group("other venues", nil, func(t *Trader, _ Period) *OtherVenues { return t.Other },
		row[OtherVenues]{count, Count, Latest, "Number of other venues on which the address trades.", func(v *OtherVenues) (decimal, bool) { return number(int64(len(v.Names))) }}))
}()
