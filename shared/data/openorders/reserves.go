package openorders

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// ReservesName is that of the view of what orders on spot markets reserve. The balances
// of an account are in its own row; what its orders reserve is not, as the orders of a
// market maker change many times a second, and each write of a row costs more than a part
// of one view.
const ReservesName = "spotreserves"

// Reserves are what the orders that rest in the spot markets reserve. The zero value has
// none.
type Reserves struct {
	Time  int64                    `json:"time"` // when they were summed up, ms
	Coins map[string]ReserveColumn `json:"coins"`
}

// ReserveColumn is what the orders of one spot market reserve, by account, as the view has
// it: amounts are decimals, "0" for none.
type ReserveColumn struct {
	Accounts []byte   `json:"accounts"` // of 20 bytes each, sorted
	Quote    []string `json:"quote"`    // by bids, quote units
	Base     []string `json:"base"`     // by asks, base units
}

// NewReserveColumn encodes the reserves of a market.
func NewReserveColumn(list []market.SpotReserve) ReserveColumn {
	c := ReserveColumn{Accounts: make([]byte, 0, accountSize*len(list)), Quote: make([]string, len(list)), Base: make([]string, len(list))}
	for i := range list {
		c.Accounts = append(c.Accounts, list[i].Account[:]...)
		c.Quote[i], c.Base[i] = list[i].Quote.String(), list[i].Base.String()
	}
	return c
}

// Reserved is what an account has reserved, by coin. The address is 0x and 40 lower-case hex
// digits.
func (r *Reserves) Reserved(address string) (map[string]market.SpotReserve, error) {
	account, err := hex.DecodeString(strings.TrimPrefix(address, "0x"))
	if err != nil {
		return nil, fmt.Errorf("reserves of account %.42s: %w", address, err)
	}
	of := map[string]market.SpotReserve{}
	for coin, c := range r.Coins {
		i, ok := c.find(account)
		if !ok {
			continue
		}
		one := market.SpotReserve{Account: [20]byte(account)}
		var err1, err2 error
		one.Quote, err1 = market.ParseStored(c.Quote[i])
		one.Base, err2 = market.ParseStored(c.Base[i])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("reserves of account %.42s in %s: %w", address, coin, err)
		}
		of[coin] = one
	}
	return of, nil
}

// accountSize is the bytes of an account.
const accountSize = len(market.SpotReserve{}.Account)

func (c *ReserveColumn) find(account []byte) (int, bool) {
	if len(account) != accountSize {
		return 0, false
	}
	n := len(c.Quote)
	at := func(i int) []byte { return c.Accounts[i*accountSize : (i+1)*accountSize] }
	i := sort.Search(n, func(i int) bool { return bytes.Compare(at(i), account) >= 0 })
	return i, i < n && bytes.Equal(at(i), account)
}

// PublishedReserves is how the view is stored.
var PublishedReserves = store.ViewType[Reserves]{Name: ReservesName, Period: Period, Read: decodeReserves}

var errReserves = errors.New("its columns are not of one length")

func decodeReserves(body []byte) (Reserves, error) {
	r, err := dataset.FromJSON[Reserves](body)
	if err != nil {
		return Reserves{}, fmt.Errorf("read what orders reserve: %w", err)
	}
	for coin, c := range r.Coins {
		if len(c.Accounts) != accountSize*len(c.Quote) || len(c.Quote) != len(c.Base) {
			return Reserves{}, fmt.Errorf("read what orders reserve: %s: %w", coin, errReserves)
		}
	}
	return r, nil
}
