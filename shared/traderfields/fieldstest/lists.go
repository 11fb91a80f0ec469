package fieldstest

import (
	"math/big"
	"slices"

	"quotary/shared/market"
)

// Texts are those that a field of texts has of a trader.
func Texts(name string, e *Events) []string { return texts[name](e) }

// texts are the formulas of the fields of texts.
var texts = map[string]func(*Events) []string{
	"vtName":   ofVault(func(v *market.Vault) string { return v.Name }),
	"vtLeader": ofVault(func(v *market.Vault) string { return v.Leader }),
	"dexNames": func(e *Events) []string {
		if e.Other == nil {
			return nil
		}
		var once []string
		for _, name := range *e.Other {
			if !slices.Contains(once, name) {
				once = append(once, name)
			}
		}
		slices.Sort(once)
		return once
	},
}

// vault is the one that the trader is; nil where it is none.
func (e *Events) vault() *market.Vault {
	for i := range e.Vaults {
		if v := &e.Vaults[i]; v.Address == e.Address {
			return v
		}
	}
	return nil
}

func ofVault(text func(*market.Vault) string) func(*Events) []string {
	return func(e *Events) []string {
		if v := e.vault(); v != nil && text(v) != "" {
			return []string{text(v)}
		}
		return nil
	}
}

// listFormulas are of what lists say.
var listFormulas = map[string]formula{
	"vtCreateTime": func(e *Events) (*big.Rat, bool) {
		v := e.vault()
		if v == nil || v.Created == 0 {
			return nil, false
		}
		return new(big.Rat).SetInt64(v.Created), true
	},
	"vlVaultCount": func(e *Events) (*big.Rat, bool) {
		led, closed := 0, 0
		for _, v := range e.Vaults {
			if v.Leader == e.Address {
				led++
				if v.Closed {
					closed++
				}
			}
		}
		return whole(led - closed), led > 0
	},
	"dexCount": func(e *Events) (*big.Rat, bool) {
		if e.Other == nil {
			return nil, false
		}
		different := map[string]bool{}
		for _, name := range *e.Other {
			different[name] = true
		}
		return whole(len(different)), true
	},
}
