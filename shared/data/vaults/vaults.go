// Package vaults is the view of the venue's vaults: accounts that one account leads with the money of
// others. It has those that the venue lists, and those that ledger updates name, with what the venue
// tells of each.
package vaults

import (
	"slices"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/traderfields"
)

// Name of the view.
const Name = "vaults"

// Most is how many vaults the view holds: many times as many as the venue has.
const Most = 50_000

// View is what is known of vaults: never that there are no others.
type View struct {
	Vaults []Vault `json:"vaults"` // by address
}

// Vault is what is known of one; of one that ledger updates alone name that may be no more than its address.
type Vault struct {
	Address string `json:"address"`
	Leader  string `json:"leader,omitempty"`
	Name    string `json:"name,omitempty"`
	Created int64  `json:"created,omitempty"` // ms; 0 where that is not known
	Closed  bool   `json:"closed,omitempty"`
	Told    int64  `json:"told,omitempty"`  // when the venue told of it last, ms
	Asked   int64  `json:"asked,omitempty"` // when the venue was asked for it last, whatever it answered, ms
}

// Tell takes in what the venue told of the vault at a time, ms, or that it knows none of its address: what
// was told last holds.
func (v *Vault) Tell(of market.Vault, ms int64) {
	v.Asked = max(v.Asked, ms)
	v.Create(of.Created)
	if of.Leader != "" && ms >= v.Told {
		v.Leader, v.Name, v.Closed, v.Told = of.Leader, of.Name, of.Closed, ms
	}
}

// Create takes in when the vault was made, ms: the first time that is known holds, and 0 says nothing.
func (v *Vault) Create(ms int64) {
	if ms > 0 && (v.Created == 0 || ms < v.Created) {
		v.Created = ms
	}
}

// Published is how the view is stored. The venue lists its vaults once an hour.
var Published = store.ViewType[View]{Name: Name, Period: 30 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Vaults, func(a, b Vault) int { return strings.Compare(a.Address, b.Address) })
}}

// Roles are what vaults have to do with addresses, of those of which that is known.
type Roles map[table.Address]traderfields.VaultRole

// Of is what vaults have to do with an address; nil where that is not known.
func (r Roles) Of(a table.Address) *traderfields.VaultRole {
	role, known := r[a]
	if !known {
		return nil
	}
	return &role
}

// OpenRoles is the view as a reader keeps it in memory.
func OpenRoles(views *store.Views, clock func() time.Time) *store.View[Roles] {
	return store.NewView(views, Name, Published.Period, clock, func(body []byte) (Roles, error) {
		v, err := Published.Decode(body)
		return v.Roles(), err
	})
}

// Roles are what the vaults of the view have to do with addresses.
func (v *View) Roles() Roles {
	roles := Roles{}
	for i := range v.Vaults {
		of := &v.Vaults[i]
		if of.Leader == "" {
			continue
		}
		if a, ok := market.ParseAccount(of.Address); ok {
			role := roles[a]
			role.Created, role.Name, role.Leader = of.Created, of.Name, of.Leader
			roles[a] = role
		}
		if a, ok := market.ParseAccount(of.Leader); ok {
			role := roles[a]
			role.Led++
			if !of.Closed {
				role.Leads++
			}
			roles[a] = role
		}
	}
	return roles
}
