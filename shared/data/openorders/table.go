package openorders

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// TableName is that of the view of the table itself. Nobody but the ingester reads it.
const TableName = "openordertable"

// storedTable is the table as it is stored: columns of numbers one behind the other, in
// the order of the order ids. Differences are to the row before.
type storedTable struct {
	Newest   int64    `json:"newest"` // ms
	Coins    []string `json:"coins"`
	Tifs     []string `json:"tifs"`
	Accounts []byte   `json:"accounts"` // of 20 bytes each

	Count   int    `json:"count"`
	Oid     []byte `json:"oid"`     // differences
	Placed  []byte `json:"placed"`  // differences, signed
	Account []byte `json:"account"` // which of Accounts, and so on
	Coin    []byte `json:"coin"`
	Tif     []byte `json:"tif"`
	Flags   []byte `json:"flags"` // a byte
	Px      []byte `json:"px"`    // coefficient, places in a byte
	Size    []byte `json:"size"`  // origSz, likewise; what rests follows from the executions

	Executions []byte `json:"executions"`
	Ends       []byte `json:"ends"`
}

const (
	flagSell = 1 << iota
	flagReduceOnly
	flagSeen
)

// PublishedTable is how the table is stored.
var PublishedTable = store.ViewType[*market.OpenOrders]{Name: TableName, Write: encodeTable, Read: decodeTable}

func encodeTable(t *market.OpenOrders) []byte {
	n := t.Len()
	w := storedTable{Newest: t.Newest(), Count: n,
		Oid: make([]byte, 0, 3*n), Placed: make([]byte, 0, 3*n), Account: make([]byte, 0, 3*n), Coin: make([]byte, 0, 2*n), Tif: make([]byte, 0, n),
		Flags: make([]byte, 0, n), Px: make([]byte, 0, 5*n), Size: make([]byte, 0, 5*n)}
	coins, tifs, accounts := numbered[string]{}, numbered[string]{}, numbered[[20]byte]{}
	var oid, placed int64
	for o := range t.All() {
		w.Oid, oid = binary.AppendUvarint(w.Oid, uint64(o.Oid-oid)), o.Oid
		w.Placed, placed = binary.AppendVarint(w.Placed, o.Placed-placed), o.Placed
		w.Account = binary.AppendUvarint(w.Account, accounts.of(o.Account))
		w.Coin = binary.AppendUvarint(w.Coin, coins.of(o.Coin))
		w.Tif = binary.AppendUvarint(w.Tif, tifs.of(o.Tif))
		w.Flags = append(w.Flags, flags(&o))
		w.Px, w.Size = appendAmount(w.Px, o.Px), appendAmount(w.Size, o.OrigSz)
	}
	w.Coins, w.Tifs = coins.list, tifs.list
	w.Accounts = make([]byte, 0, 20*len(accounts.list))
	for _, account := range accounts.list {
		w.Accounts = append(w.Accounts, account[:]...)
	}
	w.Executions, w.Ends = executions(t), ends(t)
	return dataset.JSON(w)
}

// numbered numbers values in the order in which they come.
type numbered[T comparable] struct {
	list []T
	ids  map[T]uint64
}

func (n *numbered[T]) of(value T) uint64 {
	id, ok := n.ids[value]
	if !ok {
		if n.ids == nil {
			n.ids = map[T]uint64{}
		}
		id = uint64(len(n.list))
		n.list, n.ids[value] = append(n.list, value), id
	}
	return id
}

func flags(o *market.OpenOrder) (b byte) {
	if o.Side == market.Sell {
		b |= flagSell
	}
	if o.ReduceOnly {
		b |= flagReduceOnly
	}
	if o.Seen {
		b |= flagSeen
	}
	return b
}

func appendAmount(b []byte, a market.Amount) []byte {
	return append(binary.AppendUvarint(b, a.Coef), a.Places)
}

func executions(t *market.OpenOrders) (b []byte) {
	var before int64
	for oid, e := range t.Executions() {
		b, before = binary.AppendUvarint(b, uint64(oid-before)), oid
		b = appendAmount(binary.AppendVarint(b, e.At), e.Remaining)
		b = binary.AppendUvarint(b, uint64(len(e.Fills)))
		var last market.OrderFill
		for _, f := range e.Fills {
			b = binary.AppendVarint(binary.AppendVarint(b, f.Tid-last.Tid), f.Time-last.Time)
			b, last = appendAmount(b, f.Sz), f
		}
	}
	return b
}

func ends(t *market.OpenOrders) (b []byte) {
	var last market.EndedOrders
	for e := range t.Ends() {
		b = binary.AppendVarint(binary.AppendVarint(b, e.Hour-last.Hour), e.First-last.First)
		for _, bits := range e.Ended {
			b = binary.LittleEndian.AppendUint64(b, bits)
		}
		last = e
	}
	return b
}

var errTable = errors.New("is no table of open orders")

func decodeTable(body []byte) (*market.OpenOrders, error) {
	w, err := dataset.FromJSON[storedTable](body)
	if err != nil {
		return nil, fmt.Errorf("read the table of open orders: %w", err)
	}
	t := new(market.OpenOrders)
	t.RestoreNewest(w.Newest)
	if !restoreExecutions(t, w.Executions) || !restoreEnds(t, w.Ends) || !w.restore(t) {
		return nil, fmt.Errorf("read the table of open orders: it %w", errTable)
	}
	return t, nil
}

// restore adds the orders.
func (w *storedTable) restore(t *market.OpenOrders) bool {
	oids, placed, accounts := &packed.Reader{B: w.Oid}, &packed.Reader{B: w.Placed}, &packed.Reader{B: w.Account}
	coins, tifs, flags := &packed.Reader{B: w.Coin}, &packed.Reader{B: w.Tif}, &packed.Reader{B: w.Flags}
	prices, sizes := &packed.Reader{B: w.Px}, &packed.Reader{B: w.Size}
	if w.Count < 0 || w.Count > len(w.Flags) {
		return false
	}
	var o market.OpenOrder
	for range w.Count {
		o.Oid += int64(oids.Uint())
		o.Placed += placed.Int()
		account, coin, tif := accounts.Uint(), coins.Uint(), tifs.Uint()
		if account >= uint64(len(w.Accounts)/len(o.Account)) || coin >= uint64(len(w.Coins)) || tif >= uint64(len(w.Tifs)) {
			return false
		}
		o.Account = [20]byte(w.Accounts[account*uint64(len(o.Account)):])
		o.Coin, o.Tif = w.Coins[coin], w.Tifs[tif]
		flag := flags.Byte()
		o.ReduceOnly, o.Seen, o.Side = flag&flagReduceOnly != 0, flag&flagSeen != 0, market.Buy
		if flag&flagSell != 0 {
			o.Side = market.Sell
		}
		var ok1, ok2 bool
		o.Px, ok1 = amount(prices)
		o.OrigSz, ok2 = amount(sizes)
		if !ok1 || !ok2 || !t.Restore(&o) {
			return false
		}
	}
	return !slices.ContainsFunc([]*packed.Reader{oids, placed, accounts, coins, tifs, flags, prices, sizes}, func(r *packed.Reader) bool { return !r.Done() })
}

// maxPlaces is the most that an amount has.
const maxPlaces = 19

func amount(r *packed.Reader) (a market.Amount, ok bool) {
	a = market.Amount{Coef: r.Uint(), Places: r.Byte()}
	return a, a.Places <= maxPlaces
}

func restoreExecutions(t *market.OpenOrders, b []byte) bool {
	c := &packed.Reader{B: b}
	var oid int64
	for len(c.B) > 0 {
		oid += int64(c.Uint())
		e := market.Execution{At: c.Int()}
		var ok bool
		if e.Remaining, ok = amount(c); !ok {
			return false
		}
		fills := c.Uint()
		if fills > uint64(len(c.B)) {
			return false
		}
		var f market.OrderFill
		for range fills {
			f.Tid, f.Time = f.Tid+c.Int(), f.Time+c.Int()
			if f.Sz, ok = amount(c); !ok {
				return false
			}
			e.Fills = append(e.Fills, f)
		}
		t.RestoreExecution(oid, e)
	}
	return c.Done()
}

func restoreEnds(t *market.OpenOrders, b []byte) bool {
	c := &packed.Reader{B: b}
	var e market.EndedOrders
	for len(c.B) > 0 {
		e.Hour, e.First = e.Hour+c.Int(), e.First+c.Int()
		words := c.Bytes(8 * len(e.Ended))
		for i := range e.Ended {
			e.Ended[i] = binary.LittleEndian.Uint64(words[8*i:])
		}
		t.RestoreEnds(e)
	}
	return c.Done()
}
