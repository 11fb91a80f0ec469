package perp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// Who writes a node's files may have accounts trade coins without end, at prices without end: more than a
// hundred rows an hour that the store does not take would stop the domain.
func TestTheRowsOfAnAccountOfEndlessCoinsAreStored(t *testing.T) {
	t.Parallel()
	const amount = "12345678901234567890123456789012345678.123456789"
	address := fmt.Sprintf("0x%040x", 1)
	d, s := newDisk(), newSet()
	p := &process{d, s, rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()}
	states := of[*accountStates](s)
	n := 0
	batch := func(fills int) *Batch {
		b := new(Batch)
		for range fills {
			n++
			b.Fills = append(b.Fills, market.Fill{
				Address: address, Coin: fmt.Sprintf("%s%05d", strings.Repeat("x", market.MaxName-5), n), Px: amount, Sz: amount, Side: market.Buy, Time: base + int64(n), StartPosition: "0.0",
				ClosedPnl: "-" + amount[1:], Fee: amount, FeeToken: market.USDC, Dir: "Open Long", Oid: int64(n), Tid: int64(n), Crossed: true, Seq: int64(n),
			})
			must.Do(t, b.Fills[len(b.Fills)-1].Check())
		}
		return b
	}
	for range 10 {
		p.now = p.now.Add(time.Minute)
		must.Do(t, p.apply(batch(200)))
		must.Do(t, p.flush(n, true))
	}
	for at, row := range d.rows {
		if size := len(row.Body) + len(row.Extra); size > 300<<10 {
			t.Errorf("the row %v has %d bytes", at, size)
		}
	}
	stored := must.Get(accounts.Decode(address, d.rows[accounts.At(address)]))(t)
	if newest := stored.Time; newest < base+int64(n)-400 {
		t.Errorf("it is stored as of %d, %d fills ago", newest, base+int64(n)-newest)
	}
	// Each new coin moves all behind it, however many come at once.
	states.enqueue(batch(2*mostHeld), p.now)
	states.run(p.now)
	if held := cap(states.cache[address].state.Holdings); held > 3*mostHeld/2 {
		t.Errorf("there is room for %d coins", held)
	}
}

// The figures of an account are as long as the venue tells them: those of each day, and of each coin.
func TestTheStatisticsOfAnAccountOfEndlessFiguresAreNotStored(t *testing.T) {
	t.Parallel()
	w := newCurveWorld(t)
	before := w.disk.rows[accountstats.At(faultyAccount)]
	long := must.Get(market.ParseDecimal(strings.Repeat("9", 48)))(t)
	c, n := w.p.cache[faultyAccount], int64(0)
	for hour := fullHour(-91 * 24); hour < fullHour(0); hour += hourMs {
		c.stats.Flow(hour, long, long)
		for range 2 {
			n++
			c.stats.Complete(&market.CompletedTrade{Coin: fmt.Sprintf("%s%05d", strings.Repeat("x", market.MaxName-5), n%1300), Start: hour, End: hour + 1, Tid: n, Pnl: long, Fee: long})
		}
	}
	w.run(&Batch{Events: market.Events{Ledgers: []market.Ledger{{
		Address: faultyAccount, Time: fullHour(1), Hash: "0x1", Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "1", Delta: []byte(`{"type":"deposit","usdc":"1"}`),
	}}}})
	if row := w.disk.rows[accountstats.At(faultyAccount)]; len(row.Extra) != len(before.Extra) {
		t.Errorf("a row of %d bytes is stored", len(row.Extra))
	}
	if all := c.stats.All(); len(all.Days) != 0 {
		t.Errorf("%d days go on", len(all.Days))
	}
}
