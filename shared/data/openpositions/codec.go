package openpositions

import (
	"errors"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
)

const version = 1 // the first byte of a stored table

// The least bytes of what a table counts.
const (
	leastAccount = 20
	leastCoin    = 2
	leastPool    = 3
	leastRow     = 10
)

// The most that a table has: places of sizes, and coins.
const (
	mostPlaces = 8
	mostCoins  = 1 << 16
)

// figures are the columns of rows that are whole numbers of any size.
var figures = [...]func(*market.OpenRow) *int64{
	func(r *market.OpenRow) *int64 { return &r.Size },
	func(r *market.OpenRow) *int64 { return (*int64)(&r.Cost) },
	func(r *market.OpenRow) *int64 { return (*int64)(&r.Margin) },
	func(r *market.OpenRow) *int64 { return (*int64)(&r.Funding) },
	func(r *market.OpenRow) *int64 { return &r.Opened },
	func(r *market.OpenRow) *int64 { return &r.Changed },
}

// encode writes accounts, coins, pools and rows, each with their count before them. Pools and rows
// are columns, one behind the other; which account and which pool are differences to the one before.
func encode(t *market.OpenTable) []byte {
	w := packed.Writer{B: make([]byte, 0, 64+20*len(t.Accounts)+9*len(t.Pools)+40*len(t.Rows))}
	w.Byte(version)
	w.Int(t.Time, int64(t.LeftOut))
	w.Length(len(t.Accounts))
	for i := range t.Accounts {
		w.B = append(w.B, t.Accounts[i][:]...)
	}
	w.Length(len(t.Coins))
	for _, c := range t.Coins {
		w.Text(c.Coin)
		w.Byte(c.Places)
	}
	w.Length(len(t.Pools))
	before := uint32(0)
	for _, p := range t.Pools {
		w.Uint(uint64(p.Account - before))
		before = p.Account
	}
	for _, p := range t.Pools {
		w.Bool(p.Known)
		w.Int(int64(p.Base))
	}
	w.Length(len(t.Rows))
	before = 0
	for i := range t.Rows {
		w.Uint(uint64(t.Rows[i].Pool - before))
		before = t.Rows[i].Pool
	}
	for i := range t.Rows {
		w.Uint(uint64(t.Rows[i].Coin))
	}
	for i := range t.Rows {
		w.Byte(byte(t.Rows[i].Flags))
	}
	for i := range t.Rows {
		w.Byte(t.Rows[i].Leverage)
	}
	for _, figure := range figures {
		for i := range t.Rows {
			w.Int(*figure(&t.Rows[i]))
		}
	}
	return w.B
}

var errTable = errors.New("the table of open positions cannot be read")

func decode(body []byte) (*market.OpenTable, error) {
	r := packed.Reader{B: body}
	r.Check(r.Byte() == version)
	t := &market.OpenTable{Time: r.Int(), LeftOut: int(r.Int())}
	t.Accounts = make([][20]byte, r.Length(leastAccount))
	for i := range t.Accounts {
		t.Accounts[i] = [20]byte(r.Bytes(20))
	}
	t.Coins = make([]market.OpenCoin, r.Length(leastCoin))
	r.Check(len(t.Coins) <= mostCoins)
	for i := range t.Coins {
		t.Coins[i] = market.OpenCoin{Coin: r.Text(), Places: r.Byte()}
		r.Check(t.Coins[i].Places <= mostPlaces)
	}
	t.Pools = make([]market.OpenPool, r.Length(leastPool))
	which := within(&r, len(t.Accounts))
	for i := range t.Pools {
		t.Pools[i].Account = which()
	}
	for i := range t.Pools {
		t.Pools[i].Known, t.Pools[i].Base = r.Bool(), market.Micros(r.Int())
	}
	readRows(&r, t)
	if !r.Done() {
		return nil, errTable
	}
	return t, nil
}

func readRows(r *packed.Reader, t *market.OpenTable) {
	t.Rows = make([]market.OpenRow, r.Length(leastRow))
	which := within(r, len(t.Pools))
	for i := range t.Rows {
		t.Rows[i].Pool = which()
	}
	for i := range t.Rows {
		coin := r.Uint()
		r.Check(coin < uint64(len(t.Coins)))
		t.Rows[i].Coin = uint16(coin) //nolint:gosec // of what is Broken nothing is taken
	}
	for i := range t.Rows {
		t.Rows[i].Flags = market.OpenFlags(r.Byte())
	}
	for i := range t.Rows {
		t.Rows[i].Leverage = r.Byte()
	}
	for _, figure := range figures {
		for i := range t.Rows {
			*figure(&t.Rows[i]) = r.Int()
		}
	}
	r.Check(!slices.ContainsFunc(t.Rows, func(row market.OpenRow) bool { return row.Size == 0 }))
}

// within reads indexes below n that are written as differences.
func within(r *packed.Reader, n int) func() uint32 {
	last := uint64(0)
	return func() uint32 {
		last += r.Uint()
		r.Check(last < uint64(n)) //nolint:gosec // it is a length
		return uint32(last)       //nolint:gosec // of what is Broken nothing is taken
	}
}
