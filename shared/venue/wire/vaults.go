package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/text/visible"
)

var errVault = errors.New("a vault has no address or leader")

// vault is one of the answer to vaultSummaries, or the answer to vaultDetails.
type vault struct {
	Address string          `json:"vaultAddress"`
	Leader  string          `json:"leader"`
	Name    json.RawMessage `json:"name"`
	Closed  json.RawMessage `json:"isClosed"`
	Created json.RawMessage `json:"createTimeMillis"`
}

func (w *vault) parse() (v market.Vault, err error) {
	var okAddress, okLeader bool
	v.Address, okAddress = market.ParseAddress(w.Address)
	v.Leader, okLeader = market.ParseAddress(w.Leader)
	if !okAddress || !okLeader {
		return v, errVault
	}
	var name string
	if json.Unmarshal(w.Name, &name) == nil {
		v.Name = visible.Line(name)
	}
	if runes := []rune(v.Name); len(runes) > market.MostVaultName {
		v.Name = visible.Line(string(runes[:market.MostVaultName]))
	}
	if json.Unmarshal(w.Created, &v.Created) != nil || v.Created < 0 || v.Created > market.MaxTime {
		v.Created = 0
	}
	v.Closed = string(w.Closed) == "true"
	return v, nil
}

// ParseVaults reads the answer to vaultSummaries, a list of
// {"name","vaultAddress","leader","isClosed","createTimeMillis"}. Malformed is how many of them have no
// address or leader, and are left out. Names are without what is hidden, and cut to
// [market.MostVaultName] characters.
func ParseVaults(raw json.RawMessage) (list []market.Vault, malformed int, err error) {
	var elements []json.RawMessage
	if err := lenient.List(raw, &elements); err != nil {
		return nil, 0, fmt.Errorf("read the vaults: %w", err)
	}
	for _, e := range elements {
		var w vault
		err := lenient.Object(e, &w)
		v, fault := w.parse()
		if err != nil || fault != nil {
			malformed++
			continue
		}
		list = append(list, v)
	}
	return list, malformed, nil
}

// ParseVault reads the answer to vaultDetails of an address, as [ParseVaults] reads one of its vaults;
// where the venue answers null, it knows no such vault.
func ParseVault(raw json.RawMessage, address string) (market.Vault, error) {
	if string(raw) == "null" {
		return market.Vault{Address: address}, nil
	}
	var w vault
	if err := lenient.Object(raw, &w); err != nil {
		return market.Vault{}, fmt.Errorf("read a vault: %w", err)
	}
	v, err := w.parse()
	if err == nil && v.Address != address {
		err = errors.New("the vault that is told of is another one than was asked for")
	}
	return v, err
}
