package perp

import (
	"bytes"
	gocmp "cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/klines"
	"quotary/shared/data/openpositions"
	"quotary/shared/market"
	"quotary/shared/store"
)

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
		if name == openpositions.Name {
			table, err := openpositions.Published.Decode(body)
			if err != nil {
				t.Fatal(err)
			}
			table.Time = 0
			all[name] = string(mustJSON(table))
			continue
		}
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
		if !bytes.Equal(want.Body, have.Body) || want.Extra != nil && !bytes.Equal(certain(t, at, want.Extra), certain(t, at, have.Extra)) {
			t.Fatalf("%s: %v is\n%s, want\n%s", when, at, have.Body, want.Body)
		}
	}
	for at := range got.rows {
		if _, ok := d.rows[at]; !ok && of(at.Name) {
			t.Fatalf("%s: %v is there and should not be", when, at)
		}
	}
}

// certain is what lies beside a row but for what a source may not know of a trade: who was on the
// other side is known where both fills come together.
func certain(t rapid.TB, at store.SeriesAt, extra []byte) []byte {
	if at.Name != klines.Name {
		return extra
	}
	set, err := klines.DecodeTrades(extra, at.Time.UnixMilli())
	if err != nil {
		t.Fatalf("trades of %v: %v", at, err)
	}
	trades := slices.Clone(set.Sorted())
	for i := range trades {
		trades[i].TradeDetails = market.TradeDetails{}
	}
	set = market.NewTradeSet(trades)
	candle := market.Candle{OpenTime: at.Time.UnixMilli()}
	return klines.Row(at.Key, market.Second1, &candle, &set).Extra
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
		if log.Dataset == accountchanges.Name { // of when rows are written, not of what happened
			continue
		}
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
