package packedrows

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

const minute = int64(1_790_000_000_000) / 60_000 * 60_000 // ms

// stored is what a fold has written of the orders of the minute.
func stored(t *testing.T, p *Liquidations) []byte {
	t.Helper()
	c := p.Changes(time.UnixMilli(minute), true, pairliquidations.Published, func(string) (market.Pair, bool) { return market.Pair{}, true })
	if len(c.Coarse) != 1 {
		t.Fatalf("%d rows of orders", len(c.Coarse))
	}
	return c.Coarse[0].Body
}

// add adds liquidations of one pair, where a row of the minute is stored or not.
func add(t *testing.T, p *Liquidations, row []byte, list ...market.PairLiquidation) {
	t.Helper()
	r := engine.NewReads()
	for i := range list {
		p.Want(r, &list[i])
	}
	rows := map[store.SeriesAt]store.Point{}
	if row != nil {
		rows[pairseries.OrdersAt(list[0].Pair, minute)] = store.Point{Time: time.UnixMilli(minute), Body: row}
	}
	r.Fill(nil, rows)
	must.Do(t, p.Add(r, list))
}

// One exchange that tells of too many liquidations would stop its domain: more than a few rows that
// no store takes do.
func TestTheOrdersOfAMinuteFitIntoARow(t *testing.T) {
	t.Parallel()
	long := must.Get(market.ParseDecimal("77777777777777777777777777777.7777777777777777777"[:48]))(t)
	orders := func(from, to int) (list []market.PairLiquidation) {
		for i := range to - from {
			l := market.PairLiquidation{Pair: "btcswapusdt:okx", Time: minute + int64(i), ID: int64(from + i + 1), Of: fmt.Sprint("0x", from+i), Px: long, Sz: long}
			l.Value = market.Notional(l.Px, l.Sz)
			list = append(list, l)
		}
		return list
	}
	const many = 5000
	var leftOut atomic.Int64
	p := NewLiquidations(&leftOut)
	add(t, p, nil, orders(0, many)...)
	row := stored(t, p)
	kept := len(must.Get(pairseries.DecodeOrders("btcswapusdt:okx", row))(t))
	if size := pairseries.OrderSize(&orders(many-1, many)[0]); len(row) > pairseries.MostOrders || len(row) < pairseries.MostOrders-2*size {
		t.Errorf("a row of %d bytes, of orders of %d", len(row), size)
	}
	if leftOut.Load() != int64(many-kept) {
		t.Errorf("%d are left out, and %d of %d kept", leftOut.Load(), kept, many)
	}
	// Another life knows how much room there is, and that those of before are no new ones.
	leftOut.Store(0)
	again := NewLiquidations(&leftOut)
	add(t, again, row, orders(0, kept)...)
	if leftOut.Load() != 0 {
		t.Errorf("%d that are there are left out", leftOut.Load())
	}
	add(t, again, nil, orders(many, many+10)...)
	if leftOut.Load() < 8 {
		t.Errorf("%d of ten more are left out", leftOut.Load())
	}
}

// Orders are summed up once a batch: thousands of one minute would take time with the square. What
// a sum costs shows in the memory of its parts.
func TestABatchOfOneMinuteIsSummedUpOnce(t *testing.T) { //nolint:paralleltest // others take memory, too
	one := market.DecimalFromInt(1)
	allocated := func(n int) uint64 {
		list := make([]market.PairLiquidation, n)
		for i := range list {
			list[i] = market.PairLiquidation{Pair: "btcswapusdt:okx", Time: minute + int64(i), Of: fmt.Sprint(i), Px: one, Sz: one, Value: one}
		}
		var leftOut atomic.Int64
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		add(t, NewLiquidations(&leftOut), nil, list...)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(200), allocated(2000); many > 20*few {
		t.Errorf("200 take %d bytes, and 2000 %d", few, many)
	}
}
