package projection

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/klines"
	"quotary/shared/data/mids"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/positions"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// disk is what survives a crash. The process dies when it has made `writes`
// more writes.
type disk struct {
	rows     map[store.SeriesAt]store.Point
	views    map[string][]byte
	position int // deliveries that are checkpointed
	writes   int
}

func newDisk() *disk {
	return &disk{rows: map[store.SeriesAt]store.Point{}, views: map[string][]byte{}, writes: 1 << 30}
}

var errCrash = errors.New("crash")

func (d *disk) write(do func()) error {
	if d.writes--; d.writes < 0 {
		return errCrash
	}
	do()
	return nil
}

func (d *disk) load(w Want) (map[store.SeriesKey]time.Time, map[store.SeriesAt]store.Point) {
	latest, rows := map[store.SeriesKey]time.Time{}, map[store.SeriesAt]store.Point{}
	for at := range d.rows {
		if slices.Contains(w.Latest, at.SeriesKey) && latest[at.SeriesKey].Before(at.Time) {
			latest[at.SeriesKey] = at.Time
		}
	}
	for _, at := range w.Rows {
		if p, ok := d.rows[at]; ok {
			rows[at] = p
		}
	}
	return latest, rows
}

// process is a life of the ingester: it goes on from the checkpoint and ends
// with the deliveries or with a crash.
type process struct {
	disk *disk
	set  *Set
	rand *rand.Rand
	now  time.Time
}

func start(d *disk, r *rand.Rand, now time.Time) (*process, error) {
	p := &process{d, New(), r, now}
	coins, err := p.set.Restore(d.views)
	if err != nil {
		return nil, err
	}
	p.set.Open(coins)
	return p, p.apply(&market.Events{})
}

func (p *process) apply(e *market.Events) error {
	for rounds := 0; ; rounds++ {
		want := p.set.Need(e)
		if want.Empty() {
			return p.set.Apply(e, p.now)
		}
		if rounds == 3 {
			return errors.New("three rounds of reading were not enough")
		}
		latest, rows := p.disk.load(want)
		p.set.Load(want, latest, rows)
	}
}

func (p *process) flush(position int, settle bool) error {
	c := p.set.Changes(p.now, settle)
	for _, rows := range [][]store.SeriesRow{c.Coarse, c.Fine} {
		p.rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, r := range rows {
			at := store.SeriesAt{SeriesKey: r.SeriesKey, Time: r.Time}
			if r.Name == openinterest.Name {
				continue // what a sample holds depends on when it was taken
			}
			if err := p.disk.write(func() { p.disk.rows[at] = r.Point }); err != nil {
				return err
			}
		}
	}
	for _, v := range c.Views {
		if err := p.disk.write(func() { p.disk.views[v.Name] = v.Body }); err != nil {
			return err
		}
	}
	if c.Held {
		return nil
	}
	return p.disk.write(func() { p.disk.position = position })
}

// live runs the deliveries from the checkpoint on, flushing now and then.
func live(d *disk, deliveries []market.Events, r *rand.Rand, now time.Time) error {
	p, err := start(d, r, now)
	if err != nil {
		return err
	}
	for i := d.position; i < len(deliveries); i++ {
		p.now = p.now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
		if err := p.apply(&deliveries[i]); err != nil {
			return err
		}
		if r.IntN(3) == 0 {
			if err := p.flush(i+1, r.IntN(2) == 0); err != nil {
				return err
			}
		}
	}
	p.now = p.now.Add(30 * 24 * time.Hour)
	return p.flush(len(deliveries), true)
}

const base = 1773532740_000 // a minute before midnight, 2026-03-14 UTC, a Saturday

// someFills draws the pairs of fills of some trades, several of one order and
// ms among them.
func someFills(t *rapid.T) []market.Fill {
	var fills []market.Fill
	for i := range rapid.IntRange(1, 40).Draw(t, "trades") {
		at := base + int64(i)*137
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0, 1, 2:
			at = base + int64(rapid.IntRange(0, 3).Draw(t, "same"))
		case 3:
			at += int64(rapid.IntRange(1, 9).Draw(t, "hours")) * 3_500_000
		case 4:
			at -= int64(rapid.IntRange(1, 90).Draw(t, "minutes")) * 59_000
		}
		f := market.Fill{
			Address: "0x" + fmt.Sprintf("%040d", i%3), Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", "@107"}).Draw(t, "coin"),
			Px: strconv.Itoa(rapid.IntRange(1, 4).Draw(t, "px")) + ".25", Sz: strconv.Itoa(rapid.IntRange(1, 5).Draw(t, "sz")) + ".5",
			Side: market.Buy, Time: at, StartPosition: strconv.Itoa(i) + ".0", Oid: 7, Tid: int64(1000 + i), Crossed: rapid.Bool().Draw(t, "buyer takes"),
			Seq: int64(i)*1_000_000 + 2,
		}
		g := f
		g.Address, g.Side, g.Crossed, g.Oid, g.Seq = "0x"+fmt.Sprintf("%040d", 9), market.Sell, !f.Crossed, 8, f.Seq+1
		fills = append(fills, f, g)
	}
	return fills
}

func inOrder(fills []market.Fill) []market.Events {
	var es []market.Events
	for i := 0; i < len(fills); i += 2 {
		es = append(es, market.Events{Fills: fills[i : i+2]})
	}
	return es
}

// untold is a trade as a source without blocks and accounts tells it.
func untold(fills []market.Fill) market.Events {
	trades := market.AppendTrades(nil, fills)
	for i := range trades {
		trades[i].Seq = 0
	}
	return market.Events{Trades: trades}
}

// TestRowsEndTheSameWhateverHappens lets a life of the ingester crash after any
// write, again and again, over deliveries that are late, doubled and told by
// two sources, and wants the rows of one clean run.
func TestRowsEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fills := someFills(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		now := time.UnixMilli(base).UTC()

		clean := newDisk()
		if err := live(clean, inOrder(fills), r, now); err != nil {
			t.Fatal(err)
		}

		deliveries := inOrder(fills)
		for _, e := range inOrder(fills) {
			switch r.IntN(4) {
			case 0:
				deliveries = append(deliveries, e)
			case 1:
				deliveries = append(deliveries, untold(e.Fills))
			}
		}
		if rapid.Bool().Draw(t, "shuffle") {
			r.Shuffle(len(deliveries), func(i, j int) { deliveries[i], deliveries[j] = deliveries[j], deliveries[i] })
		}
		torn := newDisk()
		for {
			torn.writes = rapid.IntRange(0, 120).Draw(t, "writes before the crash")
			if torn.position == 0 && len(torn.rows) > 2000 {
				t.Fatal("no progress")
			}
			err := live(torn, deliveries, r, now)
			if err == nil {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if torn.writes < 0 && rapid.IntRange(0, 3).Draw(t, "heal") == 0 {
				torn.writes = 1 << 30
				if err := live(torn, deliveries, r, now); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		compare(t, "after crashes", clean.rows, torn.rows)
		compare(t, "from scratch", derived(fills), clean.rows)
		if diff := cmp.Diff(pricesOf(clean), pricesOf(torn)); diff != "" {
			t.Fatalf("tickers:\n%s", diff)
		}
		if diff := cmp.Diff(string(clean.views[positions.Name]), string(torn.views[positions.Name])); diff != "" {
			t.Fatalf("positions:\n%s", diff)
		}
	})
}

func pricesOf(d *disk) string {
	_, prices, _ := bytes.Cut(d.views[tickers.Name], []byte(`"tickers"`))
	return string(prices)
}

func compare(t *rapid.T, when string, want, got map[store.SeriesAt]store.Point) {
	for at, w := range want {
		g, ok := got[at]
		if !ok {
			t.Fatalf("%s: %v is missing, want %s", when, at, w.Body)
		}
		if !bytes.Equal(w.Body, g.Body) || w.Extra != nil && !bytes.Equal(w.Extra, g.Extra) {
			t.Fatalf("%s: %v is\n%s, want\n%s", when, at, g.Body, w.Body)
		}
	}
	for at := range got {
		if _, ok := want[at]; !ok {
			t.Fatalf("%s: %v is there and should not be", when, at)
		}
	}
}

// derived computes all rows at once from all fills, without any of the machinery.
func derived(fills []market.Fill) map[store.SeriesAt]store.Point {
	candles, tops := map[store.SeriesAt]*market.Candle{}, map[store.SeriesAt]*market.Top{}
	for _, tr := range market.AppendTrades(nil, fills) {
		for _, i := range market.KlineTiers {
			key := klines.At(tr.Coin, i, i.StartMs(tr.Time))
			if candles[key] == nil {
				candles[key] = &market.Candle{OpenTime: i.StartMs(tr.Time)}
			}
			candles[key].Add(&tr)
		}
	}
	for _, f := range fills {
		for _, i := range market.TopTiers {
			key := topfills.At(f.Coin, i, i.StartMs(f.Time))
			if tops[key] == nil {
				tops[key] = &market.Top{}
			}
			tops[key].Add(f.Rank(), topfills.Limit(i))
		}
	}
	rows := map[store.SeriesAt]store.Point{}
	for key, c := range candles {
		rows[key] = store.Point{Time: key.Time, Body: klines.Append(nil, c)}
	}
	for key, top := range tops {
		rows[key] = store.Point{Time: key.Time, Body: topfills.Append(nil, *top)}
	}
	return rows
}

func TestASecondRunOverTheSameEventsWritesNoRow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fills := someFills(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d := newDisk()
		now := time.UnixMilli(base).UTC().Add(30 * 24 * time.Hour)
		if err := live(d, inOrder(fills), r, now); err != nil {
			t.Fatal(err)
		}
		p, err := start(d, r, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range inOrder(fills) {
			if err := p.apply(&e); err != nil {
				t.Fatal(err)
			}
		}
		if c := p.set.Changes(now, true); len(c.Coarse)+len(c.Fine)+len(c.Views) > 0 {
			t.Fatalf("written again: %+v", c)
		}
	})
}

// TestABucketThatClosedDuringADowntimeIsWritten: the coin never trades again.
func TestABucketThatClosedDuringADowntimeIsWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	d := newDisk()
	now := time.UnixMilli(base).UTC()
	p, err := start(d, r, now)
	if err != nil {
		t.Fatal(err)
	}
	f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Buy, Time: base + 5, StartPosition: "0.0", Oid: 1, Tid: 9, Crossed: true}
	if err := p.apply(&market.Events{Fills: []market.Fill{f}}); err != nil {
		t.Fatal(err)
	}
	if err := p.flush(1, false); err != nil {
		t.Fatal(err)
	}
	minute := topfills.At("BTC", market.Minute1, base)
	if _, ok := d.rows[minute]; ok {
		t.Fatal("the minute was written while open")
	}
	if p, err = start(d, r, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := p.flush(1, false); err != nil {
		t.Fatal(err)
	}
	if got := string(d.rows[minute].Body); got != string(topfills.Append(nil, market.Top{f.Rank()})) {
		t.Fatalf("the minute is %s", got)
	}
}

func TestALateTradeDoesNotTakeBackTheLastPrice(t *testing.T) {
	t.Parallel()
	p := lastPrices{last: map[string]tickers.Ticker{}}
	px := func(s string) market.Decimal { d, _ := market.ParseDecimal(s); return d }
	p.apply([]market.Trade{{Coin: "BTC", Px: px("2"), Time: 20, Seq: 1, Tid: 2}, {Coin: "BTC", Px: px("1"), Time: 10, Seq: 9, Tid: 1}, {Coin: "BTC", Px: px("3"), Time: 20, Seq: 0, Tid: 3}, {Coin: "A", Px: px("7.5"), Time: 1, Tid: 1}})
	want := `{"time":99,"tickers":[{"coin":"A","price":"7.5","time":1,"seq":0,"tid":1},{"coin":"BTC","price":"2.0","time":20,"seq":1,"tid":2}]}`
	if got := string(p.body(time.UnixMilli(99))); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	s := New()
	coins, err := s.Restore(map[string][]byte{tickers.Name: []byte(want), mids.Name: []byte(`{"time":5,"mids":{"":{"BTC":"1.5"}}}`)})
	if err != nil || !slices.Equal(coins, []string{"A", "BTC"}) || s.tickers.last["BTC"].Price != "2.0" || s.mids.byDex[""]["BTC"] != "1.5" {
		t.Fatalf("%v %v", coins, err)
	}
	s.tickers.apply([]market.Trade{{Coin: "BTC", Px: px("1"), Time: 20, Seq: 0, Tid: 3}})
	if s.tickers.changed {
		t.Fatal("an earlier trade of the same ms overwrote the restored price")
	}
}

func TestMemoryStaysBounded(t *testing.T) {
	t.Parallel()
	s := New()
	d := newDisk()
	p := &process{d, s, rand.New(rand.NewPCG(1, 1)), time.UnixMilli(base).UTC()}
	for i := range 3000 {
		f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Buy, Time: base + int64(i)*60_000, StartPosition: strconv.Itoa(i) + ".0", Oid: 1, Tid: int64(i + 1), Crossed: true}
		p.now = time.UnixMilli(f.Time)
		if err := p.apply(&market.Events{Fills: []market.Fill{f}}); err != nil {
			t.Fatal(err)
		}
		s.Changes(p.now, false)
	}
	var count func(n *klineNode) int
	count = func(n *klineNode) int {
		total := 1
		for _, c := range n.children {
			total += count(c)
		}
		return total
	}
	nodes := 0
	for week := range maps.Values(s.klines.coins["BTC"].weeks) {
		nodes += count(week)
	}
	buckets := 0
	for _, m := range s.tops.coins["BTC"].buckets {
		buckets += len(m)
	}
	if nodes > 400 || buckets > 60 {
		t.Fatalf("%d buckets of klines and %d of top fills in memory", nodes, buckets)
	}
}
