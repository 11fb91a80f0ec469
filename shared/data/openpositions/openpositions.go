// Package openpositions is the view of the open perpetual positions of all accounts that are
// known, with what stands behind them: [market.OpenTable] in columns, which functions value at
// the current marks. Of 300,000 positions it has some 12 MB, 5 MB packed.
package openpositions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "openpositions"

// Published is how the view is stored.
var Published = store.ViewType[*market.OpenTable]{Name: Name, Period: 5 * time.Second, Write: encode, Read: decode}

// storedTable is the table as it is stored: columns of numbers, one behind the other. Those of
// pools and accounts are differences to the row before.
type storedTable struct {
	Time     int64        `json:"time"` // ms
	LeftOut  int          `json:"leftOut"`
	Coins    []storedCoin `json:"coins"`
	Accounts []byte       `json:"accounts"` // of 20 bytes each

	Pools   int    `json:"pools"`
	Account []byte `json:"account"` // differences
	Base    []byte `json:"base"`    // a byte whether it is known before each

	Rows     int    `json:"rows"`
	Pool     []byte `json:"pool"` // differences
	Coin     []byte `json:"coin"`
	Flags    []byte `json:"flags"` // a byte
	Leverage []byte `json:"leverage"`
	Size     []byte `json:"size"`
	Cost     []byte `json:"cost"`
	Margin   []byte `json:"margin"`
	Funding  []byte `json:"funding"`
	Opened   []byte `json:"opened"`
	Changed  []byte `json:"changed"`
}

type storedCoin struct {
	Coin   string `json:"coin"`
	Places uint8  `json:"places"` // of sizes
}

func encode(t *market.OpenTable) []byte {
	w := storedTable{Time: t.Time, LeftOut: t.LeftOut, Coins: make([]storedCoin, len(t.Coins)), Accounts: make([]byte, 0, 20*len(t.Accounts)), Pools: len(t.Pools), Rows: len(t.Rows)}
	for i, c := range t.Coins {
		w.Coins[i] = storedCoin(c)
	}
	for i := range t.Accounts {
		w.Accounts = append(w.Accounts, t.Accounts[i][:]...)
	}
	before := uint32(0)
	for _, p := range t.Pools {
		w.Account, before = binary.AppendUvarint(w.Account, uint64(p.Account-before)), p.Account
		known := byte(0)
		if p.Known {
			known = 1
		}
		w.Base = binary.AppendVarint(append(w.Base, known), int64(p.Base))
	}
	n := len(t.Rows)
	w.Flags, w.Leverage, w.Pool, w.Coin = make([]byte, 0, n), make([]byte, 0, n), make([]byte, 0, n), make([]byte, 0, 2*n)
	w.Size, w.Cost, w.Opened, w.Changed = make([]byte, 0, 4*n), make([]byte, 0, 5*n), make([]byte, 0, 6*n), make([]byte, 0, 6*n)
	before = 0
	for i := range t.Rows {
		r := &t.Rows[i]
		w.Pool, before = binary.AppendUvarint(w.Pool, uint64(r.Pool-before)), r.Pool
		w.Coin, w.Flags, w.Leverage = binary.AppendUvarint(w.Coin, uint64(r.Coin)), append(w.Flags, byte(r.Flags)), append(w.Leverage, r.Leverage)
		w.Size, w.Cost = binary.AppendVarint(w.Size, r.Size), binary.AppendVarint(w.Cost, int64(r.Cost))
		w.Margin, w.Funding = binary.AppendVarint(w.Margin, int64(r.Margin)), binary.AppendVarint(w.Funding, int64(r.Funding))
		w.Opened, w.Changed = binary.AppendVarint(w.Opened, r.Opened), binary.AppendVarint(w.Changed, r.Changed)
	}
	return dataset.JSON(w)
}

var errTable = errors.New("is no table of open positions")

func decode(body []byte) (*market.OpenTable, error) {
	w, err := dataset.FromJSON[storedTable](body)
	if err != nil {
		return nil, fmt.Errorf("read the table of open positions: %w", err)
	}
	t := &market.OpenTable{Time: w.Time, LeftOut: w.LeftOut, Coins: make([]market.OpenCoin, len(w.Coins))}
	for i, c := range w.Coins {
		t.Coins[i] = market.OpenCoin(c)
	}
	for account := range slices.Chunk(w.Accounts, 20) {
		if len(account) == 20 {
			t.Accounts = append(t.Accounts, [20]byte(account))
		}
	}
	if !w.pools(t) || !w.rows(t) {
		return nil, fmt.Errorf("read the table of open positions: it %w", errTable)
	}
	return t, nil
}

func (w *storedTable) pools(t *market.OpenTable) bool {
	accounts, bases := packed.Reader{B: w.Account}, packed.Reader{B: w.Base}
	if w.Pools < 0 || w.Pools > len(w.Account) {
		return false
	}
	t.Pools = make([]market.OpenPool, w.Pools)
	last := uint64(0)
	for i := range t.Pools {
		if last += accounts.Uint(); last >= uint64(len(t.Accounts)) {
			return false
		}
		t.Pools[i] = market.OpenPool{Account: uint32(last), Known: bases.Bool(), Base: market.Micros(bases.Int())}
	}
	return accounts.Done() && bases.Done()
}

// The most that a table has: places of sizes, and coins.
const (
	mostPlaces = 8
	mostCoins  = 1 << 16
)

func (w *storedTable) rows(t *market.OpenTable) bool {
	if len(t.Coins) > mostCoins || w.Rows != len(w.Flags) || w.Rows != len(w.Leverage) || slices.ContainsFunc(t.Coins, func(c market.OpenCoin) bool { return c.Places > mostPlaces }) {
		return false
	}
	pools, coins := packed.Reader{B: w.Pool}, packed.Reader{B: w.Coin}
	sizes, costs, margins, fundings := packed.Reader{B: w.Size}, packed.Reader{B: w.Cost}, packed.Reader{B: w.Margin}, packed.Reader{B: w.Funding}
	opened, changed := packed.Reader{B: w.Opened}, packed.Reader{B: w.Changed}
	t.Rows = make([]market.OpenRow, w.Rows)
	last := uint64(0)
	for i := range t.Rows {
		coin := coins.Uint()
		if last += pools.Uint(); last >= uint64(len(t.Pools)) || coin >= uint64(len(t.Coins)) {
			return false
		}
		t.Rows[i] = market.OpenRow{
			Pool: uint32(last), Coin: uint16(coin), Flags: market.OpenFlags(w.Flags[i]), Leverage: w.Leverage[i], Size: sizes.Int(),
			Cost: market.Micros(costs.Int()), Margin: market.Micros(margins.Int()), Funding: market.Micros(fundings.Int()), Opened: opened.Int(), Changed: changed.Int(),
		}
		if t.Rows[i].Size == 0 {
			return false
		}
	}
	return !slices.ContainsFunc([]*packed.Reader{&pools, &coins, &sizes, &costs, &margins, &fundings, &opened, &changed}, func(r *packed.Reader) bool { return !r.Done() })
}
