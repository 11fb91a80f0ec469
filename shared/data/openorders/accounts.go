package openorders

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Parts is how many views the open orders of followed accounts are in, by the first digit of
// the address, so that who reads those of one account does not read those of all.
const Parts = 16

// AccountsPeriod is how old such a view may be in a reader's memory.
const AccountsPeriod = time.Second

// Part is which of the views has an account: 0 to 15, -1 for what is no address.
func Part(address string) int {
	if len(address) < 3 {
		return -1
	}
	part, err := strconv.ParseUint(address[2:3], 16, 8)
	if err != nil {
		return -1
	}
	return int(part)
}

// Accounts are the open orders of followed accounts, by address. The zero value has none.
type Accounts struct {
	Newest int64                      `json:"newest"` // ms of the newest status of any order; 0 where none is read
	Lists  map[string]json.RawMessage `json:"lists"`
}

// accountOrders is a list: the orders have the venue's members, of which those that it has as
// null are "".
type accountOrders struct {
	Listed map[string]int64     `json:"listed"` // by dex, ms
	Orders []market.OrderStatus `json:"orders"`
}

// PublishedAccounts is how a part is stored.
func PublishedAccounts(part int) store.ViewType[Accounts] {
	return store.ViewType[Accounts]{Name: fmt.Sprintf("accountorders%x", part), Period: AccountsPeriod, Read: dataset.FromJSON[Accounts]}
}

// Set sets the open orders of an account.
func (a *Accounts) Set(of *market.AccountOrders) {
	if a.Lists == nil {
		a.Lists = map[string]json.RawMessage{}
	}
	a.Lists[of.Address] = dataset.JSON(accountOrders{of.Listed, of.Orders})
}

// Orders are the open orders of an account; ok is false where it is not followed.
func (a *Accounts) Orders(address string) (of market.AccountOrders, ok bool, err error) {
	raw, ok := a.Lists[address]
	if !ok {
		return of, false, nil
	}
	list, err := dataset.FromJSON[accountOrders](raw)
	if err != nil {
		return of, false, fmt.Errorf("read the open orders of account %.42s: %w", address, err)
	}
	for i := range list.Orders {
		list.Orders[i].Address, list.Orders[i].Status = address, market.StatusOpen
	}
	return market.AccountOrders{Address: address, Listed: list.Listed, Orders: list.Orders}, true, nil
}
