package perp

import (
	"bytes"
	gocmp "cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accounts"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/funding"
	"quotary/shared/data/klines"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openorders"
	"quotary/shared/data/tickers"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// generator is what the properties need to know of a projection.
type generator struct {
	// draw makes batches that end in one state in whatever order they come, and
	// however often.
	draw func(*rapid.T) []*Batch

	// variant is a batch as another source may emit it too; nil for the same.
	variant func(*Batch) *Batch

	// rows are all rows of the projection's series, made at once of all batches
	// without its machinery; nil leaves that to the comparison of runs.
	rows func([]*Batch) map[store.SeriesAt]store.Point

	// sampled is set where rows are taken by the clock: what they hold depends on
	// when.
	sampled bool
}

// generators has one entry for each projection, by name.
var generators = map[string]generator{
	klines.Name:       {draw: drawFills, variant: asPublicTrades, rows: klinesOf},
	topfills.Name:     {draw: drawFills, rows: topFillsOf},
	tickers.Name:      {draw: drawFills, variant: asPublicTrades},
	openinterest.Name: {draw: drawFills, sampled: true},
	accounts.Name:     {draw: drawAccounts, rows: accountsOf},
	mids.Name:         {draw: drawMids},
	meta.Name:         {draw: drawMeta},
	contexts.Name:     {draw: drawContexts},
	funding.Name:      {draw: drawFunding},
	books.Name:        {draw: drawBooks},
	bookdepth.Name:    {draw: drawBooks, sampled: true},

	openorders.TopName: {draw: drawOrders},
}

func TestEveryProjectionHasAGenerator(t *testing.T) {
	t.Parallel()
	all, _ := Projections()
	names := map[string]bool{}
	for _, one := range all {
		if names[one.Name()] {
			t.Errorf("two projections are called %s", one.Name())
		}
		names[one.Name()] = true
		if generators[one.Name()].draw == nil {
			t.Errorf("%s has no generator: crashes and order are not tested", one.Name())
		}
	}
	for name := range generators {
		if !names[name] {
			t.Errorf("%s is listed no more", name)
		}
	}
}

// only is a projection and those whose views it restores from.
func only(name string) *set {
	all, _ := Projections()
	var restores []string
	for _, one := range all {
		if one.Name() == name {
			for _, view := range one.Restores() {
				restores = append(restores, view.Name)
			}
		}
	}
	return &set{all: slices.DeleteFunc(all, func(one Projection) bool {
		return one.Name() != name && !slices.Contains(restores, one.Name())
	})}
}

// TestRowsAndViewsEndTheSameWhateverHappens lets a life of each projection crash
// after any write, again and again, over batches that are late, doubled and of two
// sources, and wants the rows and views of one clean run.
func TestRowsAndViewsEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	for name, g := range generators {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := g.draw(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				clean := newDisk()
				if err := lives(clean, name, drawn, r); err != nil {
					t.Fatal(err)
				}
				torn := newDisk()
				torn.joins = true
				crash(t, torn, name, g.muddle(t, drawn, r), r)
				clean.compare(t, "after crashes", torn, g.sampled)
				if g.rows != nil {
					want := newDisk()
					want.rows = g.rows(drawn)
					want.compareRows(t, "from scratch", clean, func(series string) bool { return series == name || name == accounts.Name })
				}
			})
		})
	}
}

// TestAProjectionThatIsAddedLaterEndsTheSame gives each projection that is folded
// from the logs the later batches live and all stored rows beside them, as a scan
// reads them, in lives that crash after any write.
func TestAProjectionThatIsAddedLaterEndsTheSame(t *testing.T) {
	t.Parallel()
	all, _ := Projections()
	for _, one := range all {
		if len(one.Folds()) == 0 {
			continue
		}
		g := generators[one.Name()]
		t.Run(one.Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := g.draw(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				clean, late := newDisk(), newDisk()
				if err := lives(clean, one.Name(), drawn, r); err != nil {
					t.Fatal(err)
				}
				for _, b := range drawn {
					late.put(b)
				}
				live := drawn[rapid.IntRange(0, len(drawn)).Draw(t, "stored before"):]
				crash(t, late, one.Name(), interleave(r, live, scanned(t, one, drawn)), r)
				clean.compare(t, "caught up", late, g.sampled)
			})
		})
	}
}

// scanned is what the logs hold of batches, as catching up reads it: subject after
// subject, each in order of time, a few rows a batch.
func scanned(t *rapid.T, p Projection, batches []*Batch) (pages []*Batch) {
	for _, fold := range p.Folds() {
		var rows []store.Row
		for _, log := range Logs {
			if log.Dataset != fold.Dataset {
				continue
			}
			for _, b := range batches {
				rows = log.Append(rows, b)
			}
		}
		slices.SortStableFunc(rows, func(a, b store.Row) int {
			return gocmp.Or(gocmp.Compare(a.Subject, b.Subject), a.Time.Compare(b.Time), gocmp.Compare(a.ID, b.ID))
		})
		for page := range slices.Chunk(rows, 5) {
			b := NewBatch()
			for _, row := range page {
				if err := fold.Append(b, row); err != nil {
					t.Fatal(err)
				}
			}
			pages = append(pages, b)
		}
	}
	return pages
}

// interleave mixes two runs of batches, each in its order.
func interleave(r *rand.Rand, a, b []*Batch) (all []*Batch) {
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && r.IntN(2) == 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return all
}

// muddle doubles some batches and mixes their order.
func (g generator) muddle(t *rapid.T, drawn []*Batch, r *rand.Rand) []*Batch {
	all := slices.Clone(drawn)
	for _, b := range drawn {
		switch r.IntN(4) {
		case 0:
			all = append(all, b)
		case 1:
			if g.variant != nil {
				all = append(all, g.variant(b))
			}
		}
	}
	if rapid.Bool().Draw(t, "shuffle") {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, b := range all {
			past := *b
			past.Past = true
			all[i] = &past
		}
	}
	return all
}

// crash runs the batches in lives that crash, until one comes to their end.
func crash(t *rapid.T, d *disk, name string, batches []*Batch, r *rand.Rand) {
	for {
		d.writes = rapid.IntRange(0, 120).Draw(t, "writes before the crash")
		err := lives(d, name, batches, r)
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(t, "heal") == 0 {
			d.writes = 1 << 30
			if err := lives(d, name, batches, r); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}

// disk is what survives a crash. The process dies when it has made so many more
// writes.
type disk struct {
	log      map[string]store.Row   // of the projections, by dataset and key
	sources  map[string][]store.Row // of the sources, by dataset and subject
	rows     map[store.SeriesAt]store.Point
	views    map[string][]byte
	position int // batches that are checkpointed
	writes   int

	joins bool  // the projections may have joined before the batches come
	since int64 // ms of before which the rows of the sources have expired; 0 is none
}

func newDisk() *disk {
	return &disk{log: map[string]store.Row{}, sources: map[string][]store.Row{}, rows: map[store.SeriesAt]store.Point{}, views: map[string][]byte{}, writes: 1 << 30}
}

var errCrash = errors.New("crash")

func (d *disk) write(do func()) error {
	if d.writes--; d.writes < 0 {
		return errCrash
	}
	do()
	return nil
}

func (d *disk) load(latestOf []store.SeriesKey, rowsAt []store.SeriesAt) (map[store.SeriesKey]time.Time, map[store.SeriesAt]store.Point) {
	latest, rows := map[store.SeriesKey]time.Time{}, map[store.SeriesAt]store.Point{}
	for at := range d.rows {
		if slices.Contains(latestOf, at.SeriesKey) && latest[at.SeriesKey].Before(at.Time) {
			latest[at.SeriesKey] = at.Time
		}
	}
	for _, at := range rowsAt {
		if p, ok := d.rows[at]; ok {
			rows[at] = p
		}
	}
	return latest, rows
}

// put writes the log rows of a batch.
func (d *disk) put(b *Batch) {
	for _, log := range Logs {
		for _, r := range log.Append(nil, b) {
			key := log.Dataset + " " + r.Subject
			at, found := slices.BinarySearchFunc(d.sources[key], r, func(a, b store.Row) int {
				return gocmp.Or(a.Time.Compare(b.Time), gocmp.Compare(a.ID, b.ID))
			})
			if !found {
				d.sources[key] = slices.Insert(d.sources[key], at, r)
			}
		}
	}
}

// part is what stands at a place in a log: the rows of three milliseconds.
func (d *disk) part(at engine.LogAt) (part engine.LogPart) {
	times := 0
	last := int64(-1)
	rows := d.sources[at.Dataset+" "+at.Subject]
	if rows == nil {
		for key, r := range d.log {
			if strings.HasPrefix(key, at.Dataset+" ") && r.Subject == at.Subject {
				rows = append(rows, r)
			}
		}
		slices.SortFunc(rows, func(a, b store.Row) int { return gocmp.Or(a.Time.Compare(b.Time), gocmp.Compare(a.ID, b.ID)) })
	} else {
		part.Since = d.since
	}
	for _, r := range rows {
		ms := r.Time.UnixMilli()
		if ms < max(at.From, part.Since) {
			continue
		}
		if ms != last {
			if times++; times > 3 {
				part.Next = ms
				return part
			}
			last = ms
		}
		part.Rows = append(part.Rows, r)
	}
	return part
}

// compare wants the same rows and views in got. The time at which a view was made
// is no part of it.
func (d *disk) compare(t rapid.TB, when string, got *disk, sampled bool) {
	if !sampled {
		d.compareRows(t, when, got, func(string) bool { return true })
	}
	if diff := cmp.Diff(d.log, got.log); diff != "" {
		t.Fatalf("%s: log rows (-want +got):\n%s", when, diff)
	}
	if diff := cmp.Diff(timeless(t, d.views), timeless(t, got.views)); diff != "" {
		t.Fatalf("%s: views (-want +got):\n%s", when, diff)
	}
}

func timeless(t rapid.TB, views map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, body := range views {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("view %s: %v", name, err)
		}
		delete(members, "time")
		all[name] = string(mustJSON(members))
	}
	return all
}

// compareRows wants the same rows of some series in got.
func (d *disk) compareRows(t rapid.TB, when string, got *disk, of func(series string) bool) {
	for at, want := range d.rows {
		if !of(at.Name) {
			continue
		}
		have, ok := got.rows[at]
		if !ok {
			t.Fatalf("%s: %v is missing, want %s", when, at, want.Body)
		}
		if !bytes.Equal(want.Body, have.Body) || want.Extra != nil && !bytes.Equal(want.Extra, have.Extra) {
			t.Fatalf("%s: %v is\n%s, want\n%s", when, at, have.Body, want.Body)
		}
	}
	for at := range got.rows {
		if _, ok := d.rows[at]; !ok && of(at.Name) {
			t.Fatalf("%s: %v is there and should not be", when, at)
		}
	}
}

// process is a life of the ingester: it goes on from the checkpoint and ends with
// the batches or with a crash.
type process struct {
	disk *disk
	set  *set
	rand *rand.Rand
	now  time.Time
}

func begin(d *disk, s *set, r *rand.Rand, now time.Time) (*process, error) {
	p := &process{d, s, r, now}
	s.logs = d.part
	if err := s.restore(d.views); err != nil {
		return nil, err
	}
	for {
		rounds, err := s.apply(NewBatch(), now, d.load)
		if err != nil {
			return p, err
		}
		if rounds == 0 {
			break
		}
	}
	if d.joins && r.IntN(2) == 0 { // else at the end: then the past is read until then
		s.join()
	}
	return p, nil
}

func (p *process) apply(b *Batch) error {
	p.disk.put(b)
	rounds, err := p.set.apply(b, p.now, p.disk.load)
	if rounds > 3 {
		return errors.New("three rounds of reading were not enough")
	}
	return err
}

func (p *process) flush(position int, settle bool) error {
	c := p.set.changes(p.now, settle)
	for _, log := range c.Log {
		for _, r := range log.Rows {
			key := fmt.Sprintf("%s %q %d %q", log.Dataset, r.Subject, r.Time.UnixMilli(), r.ID)
			if err := p.disk.write(func() { p.disk.log[key] = r }); err != nil {
				return err
			}
		}
	}
	for _, rows := range [][]store.SeriesRow{c.Coarse, c.Fine} {
		p.rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, r := range rows {
			at := store.SeriesAt{SeriesKey: r.SeriesKey, Time: r.Time}
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

// lives runs a projection over the batches from the checkpoint on, flushing now and
// then.
func lives(d *disk, name string, batches []*Batch, r *rand.Rand) error {
	p, err := begin(d, only(name), r, time.UnixMilli(base).UTC())
	if err != nil {
		return err
	}
	for i := d.position; i < len(batches); i++ {
		p.now = p.now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
		if err := p.apply(batches[i]); err != nil {
			return err
		}
		if r.IntN(3) == 0 {
			if err := p.flush(i+1, r.IntN(2) == 0); err != nil {
				return err
			}
		}
	}
	p.set.join()
	// What is made again from the logs comes to its end without events.
	for quiet := 0; quiet < 5; quiet++ {
		p.now = p.now.Add(10 * time.Second)
		rounds, err := p.set.apply(NewBatch(), p.now, p.disk.load)
		if err != nil {
			return err
		}
		if rounds > 0 {
			quiet = 0
		}
		if err := p.flush(len(batches), true); err != nil {
			return err
		}
	}
	p.now = p.now.Add(30 * 24 * time.Hour)
	return p.flush(len(batches), true)
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
			Side: market.Buy, Time: at, StartPosition: strconv.Itoa(i) + ".0", ClosedPnl: "0.0", Fee: "0.1", FeeToken: "USDC", Dir: "Buy", Hash: "0x0", Oid: 7, Tid: int64(1000 + i), Crossed: rapid.Bool().Draw(t, "buyer takes"),
			Seq: int64(i)*1_000_000 + 2,
		}
		g := f
		g.Address, g.Side, g.Crossed, g.Oid, g.Seq = "0x"+fmt.Sprintf("%040d", 9), market.Sell, !f.Crossed, 8, f.Seq+1
		fills = append(fills, f, g)
	}
	return fills
}

// drawFills has one trade a batch.
func drawFills(t *rapid.T) []*Batch {
	fills := someFills(t)
	var all []*Batch
	for i := 0; i < len(fills); i += 2 {
		all = append(all, &Batch{Events: market.Events{Fills: fills[i : i+2]}})
	}
	return all
}

// asPublicTrades is a batch as a source without blocks and accounts emits it.
func asPublicTrades(b *Batch) *Batch {
	trades := market.AppendTrades(nil, b.Fills)
	for i := range trades {
		trades[i].Seq = 0
	}
	return &Batch{Events: market.Events{Trades: trades}}
}

func fillsOf(batches []*Batch) (fills []market.Fill) {
	for _, b := range batches {
		fills = append(fills, b.Fills...)
	}
	return fills
}

func klinesOf(batches []*Batch) map[store.SeriesAt]store.Point {
	candles := map[store.SeriesAt]*market.Candle{}
	for _, tr := range market.AppendTrades(nil, fillsOf(batches)) {
		for _, i := range market.KlineTiers {
			key := klines.At(tr.Coin, i, i.StartMs(tr.Time))
			if candles[key] == nil {
				candles[key] = &market.Candle{OpenTime: i.StartMs(tr.Time)}
			}
			candles[key].Add(&tr)
		}
	}
	rows := map[store.SeriesAt]store.Point{}
	for key, c := range candles {
		rows[key] = store.Point{Time: key.Time, Body: klines.Append(nil, c)}
	}
	return rows
}

func topFillsOf(batches []*Batch) map[store.SeriesAt]store.Point {
	tops := map[store.SeriesAt]*market.Top{}
	for _, f := range fillsOf(batches) {
		for _, i := range market.TopTiers {
			key := topfills.At(f.Coin, i, i.StartMs(f.Time))
			if tops[key] == nil {
				tops[key] = &market.Top{}
			}
			tops[key].Add(f.Rank(), topfills.Limit(i))
		}
	}
	rows := map[store.SeriesAt]store.Point{}
	for key, top := range tops {
		rows[key] = store.Point{Time: key.Time, Body: topfills.Append(nil, *top)}
	}
	return rows
}

// moments are times at which a source may say something, each once.
func moments(t *rapid.T) []int64 {
	return rapid.SliceOfNDistinct(rapid.Int64Range(0, 200), 1, 12, rapid.ID).Draw(t, "seconds")
}

func drawMids(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		b := NewBatch()
		for _, dex := range []string{"", "xyz"} {
			b.Mids = append(b.Mids, market.Mids{Dex: dex, Time: base + 1000*s, Px: map[string]string{"BTC": fmt.Sprint(s/2) + ".5"}})
		}
		all = append(all, b)
	}
	return all
}

func drawMeta(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		text := json.RawMessage(fmt.Sprintf(`{"universe":[{"name":"BTC","maxLeverage":%d}]}`, s))
		all = append(all, &Batch{Events: market.Events{Meta: &market.Meta{Time: base + 1000*s, Perps: map[string]json.RawMessage{"": text}, Spot: text}}})
	}
	return all
}

func drawContexts(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		at := time.UnixMilli(base + 1000*s)
		all = append(all, &Batch{Events: market.Events{Contexts: []market.Contexts{
			contextsOf(at, "", "BTC", fmt.Sprint(s)+".5", "0.00001"), contextsOf(at, "xyz", "xyz:GOLD", fmt.Sprint(2*s)+".5", "0.0")}}})
	}
	return all
}

// drawFunding has what the venue paid in every hour, and of some of them what a
// node said before.
func drawFunding(t *rapid.T) (all []*Batch) {
	for hour := range rapid.Int64Range(1, 6).Draw(t, "hours") {
		for _, coin := range []string{"BTC", "xyz:GOLD"} {
			f := market.Funding{Coin: coin, Rate: "0.0000" + fmt.Sprint(hour), Premium: "0.0003", Time: 1773532800_000 + hour*3_600_000 + 17}
			if rapid.Bool().Draw(t, "of a node too") {
				node := f
				node.Premium = ""
				all = append(all, &Batch{Events: market.Events{Funding: []market.Funding{node}}})
			}
			all = append(all, &Batch{Events: market.Events{Funding: []market.Funding{f}}})
		}
	}
	return all
}

// drawOrders draws the lives of some orders within an hour: placed, perhaps as a trigger
// that fires, filled in part, and ended, or not. Of some the beginning is not known.
func drawOrders(t *rapid.T) (all []*Batch) {
	add := func(s market.OrderStatus) {
		all = append(all, &Batch{Events: market.Events{Orders: []market.OrderStatus{s}}})
	}
	tid := int64(0)
	for n := range rapid.Int64Range(8, 24).Draw(t, "orders") { // enough to be flushed often
		at := base + rapid.Int64Range(0, 1_000_000).Draw(t, "placed")
		s := market.OrderStatus{Address: fmt.Sprintf("0x%040x", rapid.IntRange(1, 3).Draw(t, "account")), Time: at, Status: "open",
			Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", "@107"}).Draw(t, "coin"), Side: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "side"),
			LimitPx: fmt.Sprintf("%d.25", rapid.IntRange(1, 9).Draw(t, "px")), OrigSz: fmt.Sprintf("%d.0", rapid.IntRange(2, 9).Draw(t, "size")),
			Oid: 450_000_000_000 + 300*n, Timestamp: at, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"}
		s.Sz = s.OrigSz
		if rapid.IntRange(0, 3).Draw(t, "trigger") == 0 {
			s.IsTrigger, s.TriggerCondition, s.Tif = true, "Price above 3", ""
			add(s)
			at += 1000
			s.Time, s.Status, s.TriggerCondition = at, "triggered", "Triggered"
		}
		if rapid.IntRange(0, 9).Draw(t, "known") > 0 {
			add(s)
		}
		for range rapid.IntRange(0, 4).Draw(t, "fills") {
			at += rapid.Int64Range(0, 2000).Draw(t, "until the fill")
			tid++
			all = append(all, &Batch{Events: market.Events{Fills: []market.Fill{{Address: s.Address, Coin: s.Coin, Px: s.LimitPx, Sz: "0.5", Side: market.Side(s.Side[0]),
				Time: at, StartPosition: "0.0", Oid: s.Oid, Tid: tid}}}})
		}
		if rapid.Bool().Draw(t, "ends") {
			s.Status, s.Time = rapid.SampledFrom([]string{"filled", "canceled", "marginCanceled"}).Draw(t, "end"), at
			add(s)
		}
	}
	return all
}

func drawBooks(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		at := time.UnixMilli(base + 1000*s)
		all = append(all, &Batch{Events: market.Events{Books: []market.Book{book("BTC", at, fmt.Sprint(s)+".5", "1.0"), book("xyz:GOLD", at, "1.0", fmt.Sprint(s)+".5")}}})
	}
	return all
}

func TestASecondRunOverTheSameFillsWritesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{klines.Name, topfills.Name, tickers.Name, openinterest.Name} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				batches := drawFills(t)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				d := newDisk()
				if err := lives(d, name, batches, r); err != nil {
					t.Fatal(err)
				}
				now := time.UnixMilli(base).UTC().Add(40 * 24 * time.Hour)
				p, err := begin(d, only(name), r, now)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range batches {
					if err := p.apply(b); err != nil {
						t.Fatal(err)
					}
				}
				if c := p.set.changes(now, true); len(c.Log)+len(c.Coarse)+len(c.Fine)+len(c.Views) > 0 {
					t.Fatalf("written again: %+v", c)
				}
			})
		})
	}
}

// TestABucketThatClosedDuringADowntimeIsWritten: the coin never trades again.
func TestABucketThatClosedDuringADowntimeIsWritten(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	d := newDisk()
	now := time.UnixMilli(base).UTC()
	p, err := begin(d, newSet(), r, now)
	if err != nil {
		t.Fatal(err)
	}
	f := market.Fill{Address: "0x1", Coin: "BTC", Px: "2.5", Sz: "1.0", Side: market.Buy, Time: base + 5, StartPosition: "0.0", ClosedPnl: "0.0", Fee: "0.0", Oid: 1, Tid: 9, Crossed: true}
	if err := p.apply(&Batch{Events: market.Events{Fills: []market.Fill{f}}}); err != nil {
		t.Fatal(err)
	}
	if err := p.flush(1, false); err != nil {
		t.Fatal(err)
	}
	minute := topfills.At("BTC", market.Minute1, base)
	if _, ok := d.rows[minute]; ok {
		t.Fatal("the minute was written while open")
	}
	if p, err = begin(d, newSet(), r, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := p.flush(1, false); err != nil {
		t.Fatal(err)
	}
	if got := string(d.rows[minute].Body); got != string(topfills.Append(nil, market.Top{f.Rank()})) {
		t.Fatalf("the minute is %s", got)
	}
}
