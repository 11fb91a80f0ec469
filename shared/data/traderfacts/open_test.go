package traderfacts

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// days is over how many days the tests' accounts do something.
const days = 6

// event is what an account did, and when that is told, ms.
type event struct {
	ms int64
	to func(k *Kept)
}

// drawEvents draws what an account did, each thing told up to a day late: the orders that were
// filled in their order, and so the fills of an order. Nothing is routed by it.
func drawEvents(t *rapid.T) (list []event, want market.FactsByHour) {
	did := markettest.DidAtMost(15, rapid.Int64Range(first, first+days*dayMs-1)).Draw(t, "did")
	did.Routed, did.Placed = nil, nil
	late := rapid.Int64Range(0, dayMs-1)
	of := [...]int64{late.Draw(t, "orders are late"), late.Draw(t, "so are fills"), late.Draw(t, "of odd orders")}
	for i := range did.Fills {
		f := &did.Fills[i]
		list = append(list, event{f.Time + of[1+f.Oid%2], func(k *Kept) { k.Fill(f) }})
	}
	for i := range did.Trades {
		list = append(list, event{did.Trades[i].End + late.Draw(t, "late trade"), func(k *Kept) { k.Complete(&did.Trades[i]) }})
	}
	for i := range did.Orders {
		did.Orders[i].Seq = int64(i)
		list = append(list, event{did.Orders[i].Time + of[0], func(k *Kept) { k.Order(&did.Orders[i]) }})
	}
	for i := range did.Flows {
		f := &did.Flows[i]
		list = append(list, event{f.Time + late.Draw(t, "late flow"), func(k *Kept) { k.Flow(f.Time, f.Perp, f.Spot) }})
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.ms, b.ms) })
	return list, did.Facts()
}

func TestStoredOpenDays(t *testing.T) {
	datasettest.Codec[Open]{
		Values: rapid.Custom(func(t *rapid.T) Open {
			list, _ := drawEvents(t)
			k := KeepSince(rapid.Int64Range(0, first).Draw(t, "since"))
			for _, e := range list {
				e.to(k)
			}
			k.Rows("0xaa")
			return must.Get(DecodeOpen(k.Stored()))(t)
		}),
		Encode: func(o Open) []byte { return AppendOpen(nil, &o) },
		Decode: DecodeOpen,
		Use: func(o Open) {
			o.AllTime()
			k := must.Get(Keep(AppendOpen(nil, &o)))(t)
			k.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: first, Px: "1", Sz: "1", ClosedPnl: "0", Fee: "0", Tid: 1, Oid: 1})
			k.Rows("0xaa")
		},
	}.Test(t)
}

// TestRowsThatAreFoldedOnAreWhatWasDone: whenever they are written, whatever was read again between,
// and with events up to a day late, the rows are those of one writing at the end; and what is read
// of them is what was done.
func TestRowsThatAreFoldedOnAreWhatWasDone(t *testing.T) {
	t.Parallel()
	series, accounts := storetest.Open(t).Series, 0
	rapid.Check(t, func(t *rapid.T) {
		list, want := drawEvents(t)
		accounts++
		address, once := fmt.Sprintf("0x%d", accounts), new(Kept)
		stored, written := map[store.SeriesAt][]byte{}, map[store.SeriesAt][]byte{}
		put := func(k *Kept, to map[store.SeriesAt][]byte) {
			days, open := k.Rows(address)
			if open != nil {
				days = append(days, *open)
			}
			for _, row := range days {
				to[store.SeriesAt{SeriesKey: row.SeriesKey, Time: row.Time}] = row.Extra
			}
			storetest.PutSeries(t, series, days...)
		}
		for _, e := range list {
			e.to(once)
		}
		put(once, written)
		k := new(Kept)
		for i := range list {
			list[i].to(k)
			if rapid.IntRange(0, 3).Draw(t, "write") == 0 {
				put(k, stored)
			}
			if k.first > 0 && rapid.IntRange(0, 3).Draw(t, "read") == 0 {
				put(k, stored)
				k = must.Get(Keep(k.Stored()))(t)
			}
		}
		put(k, stored)
		if diff := gocmp.Diff(written, stored); diff != "" {
			t.Fatalf("(-written once +folded on):\n%s", diff)
		}
		if days, open := k.Rows(address); len(days) > 0 || open != nil {
			t.Fatal("what is stored is written again")
		}
		from := first + rapid.Int64Range(0, days*24-1).Draw(t, "from")*hourMs
		to := from + rapid.Int64Range(1, days*24).Draw(t, "hours")*hourMs
		n := 0
		for did, err := range Read(t.Context(), series, []string{address, "0xbb", address}, func(int) int64 { return from }, to) {
			must.Do(t, err)
			if n++; did.Stored != (n != 2 && len(written) > 0) {
				t.Fatalf("account %d is known: %t, of %d rows", n, did.Stored, len(written))
			}
			if !did.Stored {
				continue
			}
			if diff := gocmp.Diff(want.Within(from, to), did.Within(from, to), equal); diff != "" {
				t.Fatalf("from %d to %d (-done +read):\n%s", from, to, diff)
			}
			if diff := gocmp.Diff(want.Within(0, market.MaxTime).Did, did.AllTime(), equal); diff != "" {
				t.Fatalf("of all time (-done +read):\n%s", diff)
			}
		}
	})
}

// TestTheRowOfADayThatIsOpenCountsOnce: it is left by a crash between the writing of days and of
// open rows.
func TestTheRowOfADayThatIsOpenCountsOnce(t *testing.T) {
	t.Parallel()
	series, k := storetest.Open(t).Series, new(Kept)
	flow := func(day int64) { k.Flow(first+day*dayMs, market.DecimalFromInt(5), market.Decimal{}) }
	flow(0)
	_, open := k.Rows("0xaa")
	storetest.PutSeries(t, series, *open)
	flow(2)
	days, _ := k.Rows("0xaa")
	storetest.PutSeries(t, series, days...)
	for did, err := range Read(t.Context(), series, []string{"0xaa"}, func(int) int64 { return first }, first+3*dayMs) {
		must.Do(t, err)
		if w := did.Within(first, first+3*dayMs); len(days) != 1 || w.Did.Flows.Count != 1 || did.AllTime().Flows.Count != 1 {
			t.Errorf("%d flows, %d of all time, %d days written: want one of each", w.Did.Flows.Count, did.AllTime().Flows.Count, len(days))
		}
	}
}

func TestWhatIsFoldedBehindClosedDaysCountsInAllTimeAlone(t *testing.T) {
	t.Parallel()
	k := new(Kept)
	flow := func(day int64) { k.Flow(first+day*dayMs, market.DecimalFromInt(5), market.Decimal{}) }
	flow(0)
	flow(5)
	k.Rows("0xaa")
	if k.IsClosed(first+4*dayMs) || !k.IsClosed(first+4*dayMs-1) {
		t.Error("other days than the newest and the one before are open")
	}
	if at := k.Changed(); at != market.MaxTime {
		t.Errorf("something has changed in hour %d, where nothing was folded", at)
	}
	flow(3)
	if at := k.Changed(); at != first+6*dayMs-hourMs {
		t.Errorf("what all time comes to has changed in hour %d, want the last of the open days", at)
	}
	days, open := k.Rows("0xaa")
	o := must.Get(DecodeOpen(open.Extra))(t)
	if all := o.AllTime(); len(days) != 0 || all.Flows.Count != 3 || len(o.Hours) != 1 {
		t.Errorf("%d rows of days, %d flows of all time, %d open hours: want none, 3 and 1", len(days), all.Flows.Count, len(o.Hours))
	}
}

func TestStoredPlacedOrders(t *testing.T) {
	datasettest.Codec[Placed]{
		Values: rapid.Custom(func(t *rapid.T) (p Placed) {
			for oid := range rapid.Int64Range(0, 4).Draw(t, "orders") {
				at := rapid.SampledFrom([]int64{first, first + 1, market.MaxTime}).Draw(t, "at")
				p.Place(&market.OrderStatus{Time: at, Timestamp: at, Oid: oid * 7})
			}
			return p
		}),
		Encode: func(p Placed) []byte { return AppendPlaced(nil, &p) },
		Decode: DecodePlaced,
	}.Test(t)
}

func TestOrdersThatWerePlacedAreReadWithWhatWasDone(t *testing.T) {
	t.Parallel()
	series, k := storetest.Open(t).Series, new(Kept)
	k.Flow(first, market.DecimalFromInt(5), market.Decimal{})
	_, open := k.Rows("0xaa")
	placed := Placed{OrderTimes: market.OrderTimes{Count: 2, First: first, Last: first + 9}, Newest: []int64{7}}
	storetest.PutSeries(t, series, *open, PlacedRow("0xaa", &placed), PlacedRow("0xbb", &placed))
	var list []market.Facts
	for did, err := range Read(t.Context(), series, []string{"0xaa", "0xbb"}, func(int) int64 { return first }, first+dayMs) {
		must.Do(t, err)
		if did.Stored != (len(list) == 0) {
			t.Errorf("account %d has an open row: %t", len(list), did.Stored)
		}
		list = append(list, did.AllTime())
	}
	if len(list) != 2 || list[0].Placed != placed.OrderTimes || list[0].Flows.Count != 1 || list[1].Placed != placed.OrderTimes {
		t.Errorf("read are %+v: want two accounts with two orders, one of them with a flow", list)
	}
}

// One that would be the newest for good, as it says that it was placed in the future.
func TestAnOrderThatWasPlacedBehindItsStatusDoesNotCount(t *testing.T) {
	t.Parallel()
	var p Placed
	place := func(status, placed, oid int64) bool {
		return p.Place(&market.OrderStatus{Time: first + status, Timestamp: first + placed, Oid: oid})
	}
	if !place(0, 0, 1) || place(10, dayMs, 2) || place(10, market.MaxTime-first, 3) || !place(20, 21, 4) || !place(30, 30, 5) {
		t.Errorf("counted are %+v: want orders 1, 4 and 5", p)
	}
}

func TestOrdersCountInTheirOrder(t *testing.T) {
	t.Parallel()
	k := new(Kept)
	order := func(ms, oid int64, status string) bool {
		return k.Order(&market.OrderStatus{Time: first + ms, Oid: oid, Status: status})
	}
	if !order(1, 7, "filled") || order(1, 7, "filled") || order(0, 9, "filled") || order(2, 8, "canceled") || !order(1, 8, "filled") {
		t.Error("other orders were counted than those that were filled, each once and in order")
	}
	k.Rows("0xaa")
	row := bytes.Clone(k.Stored())
	if again := must.Get(Keep(row))(t); again.Order(&market.OrderStatus{Time: first + 1, Oid: 8, Status: "filled"}) {
		t.Error("it was counted again")
	}
}

// TestNoMoreBuildersCountThanARowHasRoomFor, whatever a made-up upstream says.
func TestNoMoreBuildersCountThanARowHasRoomFor(t *testing.T) {
	t.Parallel()
	k, counted := new(Kept), 0
	for n := range int64(48 * 200) {
		by := market.AddressOf([20]byte{18: byte(n % 200), 19: 1})
		if k.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: first + n/200*hourMs, Px: "61234.5", Sz: "1.25", ClosedPnl: "0", Fee: "12.345678", FeeToken: "USDC", Tid: 1, Oid: n, Builder: by, BuilderFee: "1.234567"}) {
			counted++
		}
	}
	_, row := k.Rows("0xaa")
	o := must.Get(DecodeOpen(row.Extra))(t)
	if all := o.AllTime(); len(all.Builders) != market.MostBuilders || counted != 48*market.MostBuilders || len(row.Extra) > 128<<10 {
		t.Errorf("%d builders of %d fills in %d bytes", len(all.Builders), counted, len(row.Extra))
	}
}

// TestHoursOfLongAgoAreReadWithoutThoseBehind, from rows of days and of the open row alike.
func TestHoursOfLongAgoAreReadWithoutThoseBehind(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	fill := func(hours market.FactsByHour, ms int64) {
		hours.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: ms, Px: "1", Sz: "1", ClosedPnl: "0", Fee: "0", Tid: 1, Oid: 1}, new(market.OrderSeen), nil)
	}
	old, rests := market.FactsByHour{}, market.FactsByHour{}
	fill(old, first+dayMs+hourMs)
	fill(rests, first+dayMs+2*hourMs)
	newest := Open{Hours: market.FactsByHour{}}
	fill(newest.Hours, first+9*dayMs)
	behind := Row("0xaa", first+2*dayMs, market.FactsByHour{})
	behind.Extra = []byte("is not to be read")
	storetest.PutSeries(t, series, Row("0xaa", first+dayMs, old), behind, OpenRow("0xaa", &newest), OpenRow("0xbb", &Open{Hours: rests}))
	var got []*Did
	for did := range must.All(t, ReadHours(t.Context(), series, []string{"0xaa", "0xbb", "0xcc"}, first+dayMs+hourMs, first+2*dayMs)) {
		got = append(got, did)
	}
	if len(got) != 3 || got[0].Days[first+dayMs+hourMs] == nil || got[1].Hours[first+dayMs+2*hourMs] == nil || got[2].Stored {
		t.Errorf("read are %+v", got)
	}
}
