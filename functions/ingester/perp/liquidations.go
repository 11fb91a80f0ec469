package perp

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// liquidationEvents keeps what was liquidated, account by account (see the package liquidations):
// the events of each second, from whose rows follow the sums of minutes and hours and the largest
// of hours and days, of each coin and of all. Nothing follows from what is not written: sources
// are held until everything is.
type liquidationEvents struct {
	engine.Defaults[*Batch]
	minutes map[int64]*liquidatedMinute // by start, ms
	sums    *packedrows.Rows[market.LiquidationStats]
	tops    map[store.SeriesAt]*topLiquidations
	written time.Time
	counts  *liquidationCounts
}

// liquidationCounts are what is in no statistic.
type liquidationCounts struct {
	leftOut atomic.Int64 // fills for which a row has no room
	unknown atomic.Int64 // executions that liquidated nobody can tell whom
}

// liquidatedMinute are the events of a minute by second.
type liquidatedMinute struct {
	seconds map[int64]*liquidatedSecond // those with events, by start, ms
	derived map[string]bool             // coins whose sums were made of it in this life
	idle    int                         // writes since it was touched
}

type liquidatedSecond struct {
	events []market.LiquidationEvent
	bytes  int // that they take in the row, at most
	dirty  bool
}

type topLiquidations struct {
	top   market.TopLiquidations
	dirty bool
	idle  int
}

const (
	liquidationsEvery = 5 * time.Second // between two writes
	// idleLiquidations is after how many writes what nobody touches is forgotten.
	idleLiquidations = 3
)

func newLiquidationEvents(counts *liquidationCounts) *liquidationEvents {
	return &liquidationEvents{
		minutes: map[int64]*liquidatedMinute{}, tops: map[store.SeriesAt]*topLiquidations{}, counts: counts,
		sums: packedrows.New(liquidations.Stats, liquidationsEvery),
	}
}

// Name is that of the series.
func (*liquidationEvents) Name() string { return liquidations.Name }

// Folds has the fills.
func (*liquidationEvents) Folds() []engine.Fold[*Batch] { return storedFills }

// Prefetch asks for the seconds of the minutes that the fills touch, and for what follows from
// these.
func (p *liquidationEvents) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Fills {
		e, ok := market.LiquidationOf(&b.Fills[i])
		if !ok {
			continue
		}
		if start := market.Minute1.StartMs(e.Time); p.minutes[start] == nil {
			for second := start; second < market.Minute1.NextMs(start); second = market.Second1.NextMs(second) {
				r.Prefetch(liquidations.EventsAt(second), checkEvents)
			}
		}
		for _, key := range [...]string{e.Coin, liquidations.All} {
			hour := market.Hour1.StartMs(e.Time)
			for quarter := hour; quarter < market.Hour1.NextMs(hour); quarter = market.Minute15.NextMs(quarter) {
				p.sums.Want(r, key, pairseries.Tiers[0], quarter)
			}
			p.sums.Want(r, key, pairseries.Tiers[1], hour)
		}
		for _, tier := range liquidations.TopTiers {
			if at := liquidations.TopAt(e.Coin, tier, e.Time); p.tops[at] == nil {
				r.Prefetch(at, checkEvents)
			}
		}
	}
}

// checkEvents reports why a stored row cannot be read.
func checkEvents(_ store.SeriesAt, row *store.Point) error {
	_, err := liquidations.DecodeEvents(row.Body)
	return err
}

// touched is a coin in a minute of which events are new.
type touched struct {
	minute int64
	coin   string
}

// Apply takes the events, and makes the sums of their minutes again: once for all of a minute.
func (p *liquidationEvents) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	changed := map[touched]bool{}
	for i := range b.Fills {
		f := &b.Fills[i]
		if f.LiquidatesUnknown() && !market.IsSpot(f.Coin) {
			p.counts.unknown.Add(1)
		}
		e, ok := market.LiquidationOf(f)
		if !ok {
			continue
		}
		start := market.Minute1.StartMs(e.Time)
		minute, err := p.minute(r, start)
		if err != nil {
			return err
		}
		// What was loaded may be from before a crash, and what follows from it not.
		if p.add(minute, &e) || !minute.derived[e.Coin] {
			changed[touched{start, e.Coin}], changed[touched{start, liquidations.All}] = true, true
		}
	}
	for one := range changed {
		if err := p.derive(r, one); err != nil {
			return err
		}
	}
	return nil
}

// minute are the events of a minute, which were asked for where they are not known.
func (p *liquidationEvents) minute(r *engine.Reads, start int64) (*liquidatedMinute, error) {
	if minute := p.minutes[start]; minute != nil {
		minute.idle = 0
		return minute, nil
	}
	minute := &liquidatedMinute{seconds: map[int64]*liquidatedSecond{}, derived: map[string]bool{}}
	for second := start; second < market.Minute1.NextMs(start); second = market.Second1.NextMs(second) {
		at := liquidations.EventsAt(second)
		row := r.Row(at)
		if row == nil {
			continue
		}
		list, err := liquidations.DecodeEvents(row.Body)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		s := &liquidatedSecond{events: list}
		for i := range list {
			s.bytes += liquidations.Size(&list[i]) + liquidations.PartSize*len(list[i].Parts)
		}
		minute.seconds[second] = s
	}
	p.minutes[start] = minute
	return minute, nil
}

// add adds a part of an event to its second, and reports whether it is new and there is room for
// it.
func (p *liquidationEvents) add(minute *liquidatedMinute, part *market.LiquidationEvent) bool {
	second := market.Second1.StartMs(part.Time)
	s := minute.seconds[second]
	if s == nil {
		s = &liquidatedSecond{}
		minute.seconds[second] = s
	}
	var whole *market.LiquidationEvent
	bytes := liquidations.PartSize + liquidations.Size(part) // an event grows by no more with it
	for i := range s.events {
		if s.events[i].Same(part) {
			whole = &s.events[i]
			break
		}
	}
	if whole != nil && whole.Has(part) {
		return false
	}
	if s.bytes+bytes > liquidations.MostBytes {
		p.counts.leftOut.Add(1)
		return false
	}
	s.dirty = true
	if whole != nil {
		before := liquidations.Size(whole)
		added := whole.Add(part)
		s.bytes += liquidations.PartSize + liquidations.Size(whole) - before
		return added
	}
	s.bytes += bytes
	part.Coin, part.Address = strings.Clone(part.Coin), strings.Clone(part.Address) // they are parts of a line
	part.MarkPx, part.Method = strings.Clone(part.MarkPx), strings.Clone(part.Method)
	s.events = append(s.events, *part)
	return true
}

// derive makes what follows from a minute: the sum of it and of its hour, and of a coin its
// largest events.
func (p *liquidationEvents) derive(r *engine.Reads, of touched) error {
	minute := p.minutes[of.minute]
	minute.derived[of.coin] = true
	var sum, hour market.LiquidationSum
	for _, s := range minute.seconds {
		for i := range s.events {
			e := &s.events[i]
			switch of.coin {
			case liquidations.All:
				sum.Coin(e.Coin)
			case e.Coin:
				if err := p.rank(r, e); err != nil {
					return err
				}
			default:
				continue
			}
			sum.Add(e)
		}
	}
	row, err := p.sums.Row(r, of.coin, pairseries.Tiers[0], of.minute)
	if err != nil {
		return err
	}
	row.Set(of.minute, sum.Stats(of.minute))

	start := market.Hour1.StartMs(of.minute)
	for quarter := start; quarter < market.Hour1.NextMs(start); quarter = market.Minute15.NextMs(quarter) {
		row, err := p.sums.Row(r, of.coin, pairseries.Tiers[0], quarter)
		if err != nil {
			return err
		}
		row.Each(func(part *market.LiquidationStats) { hour.Merge(part) })
	}
	day, err := p.sums.Row(r, of.coin, pairseries.Tiers[1], start)
	if err != nil {
		return err
	}
	day.Set(start, hour.Stats(start))
	return nil
}

// rank ranks an event in its hour and its day.
func (p *liquidationEvents) rank(r *engine.Reads, e *market.LiquidationEvent) error {
	for _, tier := range liquidations.TopTiers {
		at := liquidations.TopAt(e.Coin, tier, e.Time)
		t := p.tops[at]
		if t == nil {
			t = &topLiquidations{}
			if row := r.Row(at); row != nil {
				var err error
				if t.top, err = liquidations.DecodeTop(row.Body); err != nil {
					return fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
				}
			}
			p.tops[at] = t
		}
		t.idle = 0
		t.dirty = t.top.Put(e, liquidations.MostTop) || t.dirty
	}
	return nil
}

// clean reports whether everything is written.
func (p *liquidationEvents) clean() bool {
	for _, minute := range p.minutes {
		for _, s := range minute.seconds {
			if s.dirty {
				return false
			}
		}
	}
	for _, t := range p.tops {
		if t.dirty {
			return false
		}
	}
	return p.sums.Clean()
}

// Changes returns the events before what follows from them.
func (p *liquidationEvents) Changes(now time.Time, settle bool) (c engine.Changes) {
	if settle || now.Sub(p.written) >= liquidationsEvery {
		p.written = now
		for _, start := range sorted(p.minutes) {
			minute := p.minutes[start]
			for _, second := range sorted(minute.seconds) {
				if s := minute.seconds[second]; s.dirty {
					c.Coarse = append(c.Coarse, liquidations.EventsRow(liquidations.EventsAt(second), s.events))
					s.dirty = false
				}
			}
			if minute.idle++; minute.idle > idleLiquidations {
				delete(p.minutes, start)
			}
		}
		for at, t := range p.tops {
			if t.dirty {
				c.Fine = append(c.Fine, liquidations.TopRow(at, t.top))
				t.dirty = false
			}
			if t.idle++; t.idle > idleLiquidations {
				delete(p.tops, at)
			}
		}
		c.Fine = append(c.Fine, p.sums.Changes(now, true)...)
	}
	c.Held = !p.clean()
	return c
}
