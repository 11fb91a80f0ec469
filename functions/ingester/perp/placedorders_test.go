package perp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// drawPlaced has an order of each of some accounts, with all that became of it.
func drawPlaced(t *rapid.T) (all []*Batch) {
	for n := range rapid.Int64Range(1, 30).Draw(t, "accounts") {
		o := placedOrder(n, n, n)
		b := &Batch{Events: market.Events{Orders: []market.OrderStatus{o}}}
		for range rapid.IntRange(0, 3).Draw(t, "more of it") {
			o.Status, o.Time = "canceled", o.Time+rapid.Int64Range(0, 1e6).Draw(t, "until then")
			b.Orders = append(b.Orders, o)
		}
		all = append(all, b)
	}
	return all
}

// placedOrder is the first status of an order that an account placed so many seconds after the base.
func placedOrder(account, oid, second int64) market.OrderStatus {
	at := base + 1000*second
	return market.OrderStatus{
		Address: fmt.Sprintf("0x%040x", account), Time: at, Timestamp: at, Status: market.StatusOpen, Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "1.0", OrigSz: "1.0",
		Oid: 450_000_000_000 + oid, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc",
	}
}

// TestPlacedOrdersCountOnceWhateverCrashes lets a replay of what a simulated venue's node wrote die
// between any two writes, again and again, and wants each order counted once that a plain loop finds.
func TestPlacedOrdersCountOnceWhateverCrashes(t *testing.T) {
	t.Parallel()
	sim := newSimVenue(t, 41, 60, true)
	enough, statuses := testenv.Amount(3_000, 60_000), 0
	var batches []*Batch
	want, known := map[string]market.OrderTimes{}, map[int64]bool{}
	steps(sim, func() bool { return statuses >= enough }, func(b *Batch) {
		statuses += len(b.Orders)
		batches = append(batches, b)
		for i := range b.Orders {
			if o := &b.Orders[i]; !known[o.Oid] && o.Time-o.Timestamp < 60_000 {
				known[o.Oid] = true
				times := want[o.Address]
				times.Merge(market.OrderTimes{Count: 1, First: o.Timestamp, Last: o.Timestamp})
				want[o.Address] = times
			}
		}
	})
	r := rand.New(rand.NewPCG(41, 1))
	d, crashes := newDisk(), 0
	for {
		d.writes = r.IntN(150)
		of := only(placedOrdersName)
		of.all[0].(*placedOrders).most = 5 // accounts that stay in memory
		err := placedLife(d, of, batches, r, sim.venue.Now())
		if err == nil {
			break
		}
		if crashes++; !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
	got := map[string]market.OrderTimes{}
	for at, point := range d.rows {
		got[at.Key] = must.Get(traderfacts.DecodePlaced(point.Extra))(t).OrderTimes
	}
	if diff := cmp.Diff(want, got); diff != "" || crashes == 0 {
		t.Errorf("after %d crashes and %d statuses (-want +got):\n%s", crashes, statuses, diff)
	}
	t.Logf("%d crashes, %d statuses of %d orders of %d accounts", crashes, statuses, len(known), len(got))
}

func placedLife(d *disk, s *set, batches []*Batch, r *rand.Rand, now time.Time) error {
	p, err := begin(d, s, r, now)
	if err != nil {
		return err
	}
	for i := d.position; i < len(batches); i++ {
		if err := p.apply(batches[i]); err != nil {
			return err
		}
		if r.IntN(3) == 0 {
			if err := p.flush(i+1, r.IntN(3) == 0); err != nil {
				return err
			}
		}
	}
	return p.flush(len(batches), true)
}

func TestWhichStatusesAreTheFirstOfAnOrder(t *testing.T) {
	t.Parallel()
	var p traderfacts.Placed
	place := func(oid, second, later int64, status string) bool {
		o := placedOrder(1, oid, second)
		o.Time, o.Status = o.Time+later, status
		return p.Place(&o)
	}
	for _, c := range []struct {
		oid, second, later int64
		status             string
		want               bool
	}{
		{3, 3, 0, "open", true},
		{3, 3, 0, "filled", false},
		{2, 3, 0, "open", true}, // of one block they come in any order
		{3, 3, 9, "canceled", false},
		{4, 4, 0, "iocCancelRejected", true},
		{1, 2, 9_000, "canceled", false},
		{9, 1, 60_000, "canceled", false}, // it was placed before statuses were read
		{5, 5, 59_999, "canceled", true},
	} {
		if got := place(c.oid, c.second, c.later, c.status); got != c.want {
			t.Errorf("order %d %s after %d ms counts: %t, want %t", c.oid, c.status, c.later, got, c.want)
		}
	}
	if want := (market.OrderTimes{Count: 4, First: base + 3000, Last: base + 5000}); p.OrderTimes != want {
		t.Errorf("placed are %+v, want %+v", p.OrderTimes, want)
	}
}
