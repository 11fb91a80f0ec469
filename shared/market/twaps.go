package market

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Twaps keeps the TWAP orders of all accounts that run. It is fed by the statuses that they
// come to and by the fills of all accounts. It is not safe for concurrent use. The zero
// value is empty.
//
// # What runs, and what was executed of it
//
// A TWAP runs from its status activated until any other status, and no longer than its
// minutes. What was executed of it is the sum of the fills that carry its id: of the two
// sides of a trade only that of its own account does. A status says what was executed too;
// whichever is more is right, as either may be late and both only grow.
//
// A TWAP that began before the first fill that is known is not listed: what was executed of
// it is not known.
//
// # Order and repetition
//
// Statuses and fills may come late, twice and in any order, and the result is the same: a
// TWAP that has ended never runs again, and its fills are a set. Its end is remembered until
// its time is over; what it comes to after that is left out.
type Twaps struct {
	Runs map[int64]*TwapRun // by TWAP id

	Newest    int64 // time of the newest status, ms
	FillsFrom int64 // time of the first fill that is known, of whatever order, ms; 0 before any

	LeftOut int64 // statuses and fills that found no room

	filled int64 // time of the newest fill, ms
	fills  int   // that are kept of all
}

// TwapRun is what is known of a TWAP: its status, its fills, or its end.
type TwapRun struct {
	Status TwapStatus // the newest that says that it runs; without an id while none has come
	Until  int64      // when its time is over, ms; 0 while that is not known
	Ended  bool

	Fills  []TwapFill // by trade id
	Sum    TwapSum    // of those up to Before, which are not among Fills any more
	Before int64      // ms
}

// TwapFill is a fill as it counts for its TWAP.
type TwapFill struct {
	Tid, Time int64 // Time in ms
	TwapSum
}

// TwapSum is what fills come to: base units, and quote units.
type TwapSum struct{ Sz, Ntl Decimal }

func (s *TwapSum) add(of TwapSum) { s.Sz, s.Ntl = s.Sz.Add(of.Sz), s.Ntl.Add(of.Ntl) }

// LongestTwap is how long a TWAP of the venue runs at most.
const LongestTwap = 24 * time.Hour

const (
	// twapGrace is for how long after its time the end of a TWAP is awaited, ms.
	twapGrace = 10 * minuteMs
	// twapFillsApart is for how long fills are kept one by one, so that one that comes again
	// is recognised, and for how long those of a TWAP whose status has not come, ms.
	twapFillsApart = 2 * hourMs

	// twapGone is how long after its beginning a TWAP runs no longer, ms: fills that are older belong
	// to none that runs, unless it is known.
	twapGone = int64(LongestTwap/time.Millisecond) + twapGrace

	mostTwaps     = 100_000   // some hundreds run at the venue at one time
	mostTwapFills = 2_000_000 // it makes some 50,000 in two hours
	mostRunFills  = 20_000    // of one, which has 240 slices in two hours
)

// Add takes in what a TWAP came to, and reports whether anything changed.
func (t *Twaps) Add(s *TwapStatus) (changed bool) {
	if changed = s.Time > t.Newest; changed {
		t.Newest = s.Time
	}
	if s.TwapID == nil || s.Until()+twapGrace < t.Newest {
		return changed
	}
	run := t.run(*s.TwapID)
	if run == nil {
		return changed
	}
	switch {
	case s.Status != TwapActivated:
		changed = changed || !run.Ended
		t.end(run, s)
	case run.Ended:
		run.Until = max(run.Until, s.Until())
	case run.Status.TwapID == nil || newerStatus(s, &run.Status):
		run.Status, run.Until, changed = *s, max(run.Until, s.Until()), true
	}
	return changed
}

// newerStatus reports whether a came behind b. Of two at one place the one that says more
// was executed counts.
func newerStatus(a, b *TwapStatus) bool {
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Seq, b.Seq), mustDecimal(a.ExecutedSz).Cmp(mustDecimal(b.ExecutedSz))) > 0
}

// end keeps of a TWAP that it has ended, and when it may be forgotten.
func (t *Twaps) end(run *TwapRun, s *TwapStatus) {
	t.fills -= len(run.Fills)
	*run = TwapRun{Until: max(run.Until, s.Until()), Ended: true}
}

// run returns what is known of a TWAP, to add to it; nil where there is no room.
func (t *Twaps) run(id int64) *TwapRun {
	run := t.Runs[id]
	if run == nil {
		if len(t.Runs) >= mostTwaps {
			t.LeftOut++
			return nil
		}
		if t.Runs == nil {
			t.Runs = map[int64]*TwapRun{}
		}
		run = new(TwapRun)
		t.Runs[id] = run
	}
	return run
}

// AddFill takes in a fill, and reports whether anything changed.
func (t *Twaps) AddFill(f *Fill) (changed bool) {
	t.filled = max(t.filled, f.Time)
	if t.FillsFrom == 0 || f.Time < t.FillsFrom {
		t.FillsFrom, changed = f.Time, true
	}
	if f.TwapID == nil {
		return changed
	}
	if t.Runs[*f.TwapID] == nil && f.Time < t.newest()-twapGone {
		return changed
	}
	run := t.run(*f.TwapID)
	if run == nil || run.Ended || f.Time <= run.Before {
		return changed
	}
	at, found := slices.BinarySearchFunc(run.Fills, f.Tid, func(have TwapFill, tid int64) int { return cmp.Compare(have.Tid, tid) })
	if found {
		return changed
	}
	if t.fills >= mostTwapFills || len(run.Fills) >= mostRunFills {
		t.LeftOut++
		return changed
	}
	t.fills++
	run.Fills = slices.Insert(run.Fills, at, TwapFill{f.Tid, f.Time, TwapSum{mustDecimal(f.Sz), f.Notional()}})
	return true
}

// newest is the time of the newest status or fill, ms.
func (t *Twaps) newest() int64 { return max(t.Newest, t.filled) }

// Prune forgets the TWAPs whose time is over, and old fills of none that is known. Where all of
// the past was read, two hours are old, and so old fills of others are summed up: those that
// come later are not taken any more.
func (t *Twaps) Prune(read bool) {
	apart := t.newest() - twapGone
	if read {
		apart = t.filled - twapFillsApart
	}
	for id, run := range t.Runs {
		switch {
		case run.Until == 0:
			if !slices.ContainsFunc(run.Fills, func(f TwapFill) bool { return f.Time > apart }) {
				t.forget(id, run)
			}
		case run.Until+twapGrace < t.Newest:
			t.forget(id, run)
		case read:
			run.Fills = slices.DeleteFunc(run.Fills, func(f TwapFill) bool {
				if f.Time > apart {
					return false
				}
				run.Sum.add(f.TwapSum)
				run.Before = max(run.Before, f.Time)
				t.fills--
				return true
			})
		}
	}
}

func (t *Twaps) forget(id int64, run *TwapRun) {
	t.fills -= len(run.Fills)
	delete(t.Runs, id)
}

// Restored is what must follow when Runs were set: it counts the fills of them.
func (t *Twaps) Restored() {
	for _, run := range t.Runs {
		t.fills += len(run.Fills)
		for _, f := range run.Fills {
			t.filled = max(t.filled, f.Time)
		}
	}
}

// Running are the TWAPs that run, each with what was executed of it so far, by id.
func (t *Twaps) Running() []TwapStatus {
	list := []TwapStatus{}
	for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
		run := t.Runs[id]
		if run.Ended || run.Status.TwapID == nil || run.Until+twapGrace < t.Newest || t.FillsFrom == 0 || run.Status.Timestamp < t.FillsFrom {
			continue
		}
		list = append(list, run.executed())
	}
	return list
}

// executed is the status with what was executed since.
func (r *TwapRun) executed() TwapStatus {
	s, sum := r.Status, r.Sum
	for i := range r.Fills {
		sum.add(r.Fills[i].TwapSum)
	}
	if sum.Sz.GreaterThan(mustDecimal(s.ExecutedSz)) && fits(sum.Sz) && fits(sum.Ntl) {
		s.ExecutedSz, s.ExecutedNtl = Text(sum.Sz), Text(sum.Ntl)
	}
	return s
}

// fits reports whether a sum has no more digits than a figure of a TWAP may have: no market has
// such amounts, and a list with one could not be read.
func fits(sum Decimal) bool {
	_, ok := decimalPlaces(Text(sum))
	return ok
}
