package market

import (
	"cmp"
	"slices"
)

// Distinct counts things that happen in more than one hour, such as orders that are filled in
// parts, so that any number of hours on end counts each thing once: in the first of these hours in
// which it happens. Each hour knows how many things happened in it for the first time of all, and
// of the others when they had happened before: those of which that was before the first hour of a
// window are counted there, and the others were counted already.
//
// It adds up: that of a day is the sum of its hours, and answers for every window that begins no
// later than the day does. The zero value counts nothing.
type Distinct struct {
	First     int64       // happened for the first time of all
	Continued []Continued // had happened before, by when; oldest first, each hour once, none of 0
}

// Continued is how many things happened again that had happened last in an hour.
type Continued struct {
	Hour int64 // its beginning, ms
	N    int64
}

// From is how many things there are in a window that begins at a full hour, ms, and no later than
// what was counted.
func (d *Distinct) From(ms int64) int64 {
	n := d.First
	for _, c := range d.Continued {
		if c.Hour >= ms {
			break
		}
		n += c.N
	}
	return n
}

// Merge adds what others count. It shares nothing with o.
func (d *Distinct) Merge(o *Distinct) {
	d.First += o.First
	if len(o.Continued) == 0 {
		return
	}
	all := make([]Continued, 0, len(d.Continued)+len(o.Continued))
	a, b := d.Continued, o.Continued
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Hour < b[0].Hour:
			all, a = append(all, a[0]), a[1:]
		case len(a) == 0 || b[0].Hour < a[0].Hour:
			all, b = append(all, b[0]), b[1:]
		default:
			if n := a[0].N + b[0].N; n != 0 {
				all = append(all, Continued{a[0].Hour, n})
			}
			a, b = a[1:], b[1:]
		}
	}
	d.Continued = all
}

// Take is Merge where d is shared with nobody: it takes room for hours alone that d has not, which counts
// where one after the other is added to many.
func (d *Distinct) Take(o *Distinct) {
	d.First += o.First
	for _, c := range o.Continued {
		at, known := slices.BinarySearchFunc(d.Continued, c.Hour, func(have Continued, hour int64) int { return cmp.Compare(have.Hour, hour) })
		if !known {
			d.Continued = slices.Insert(d.Continued, at, c)
			continue
		}
		if d.Continued[at].N += c.N; d.Continued[at].N == 0 {
			d.Continued = slices.Delete(d.Continued, at, at+1)
		}
	}
}

// counted is d where a window begins at a full hour: what is counted there, and by nothing else.
func (d *Distinct) counted(ms int64) Distinct { return Distinct{First: d.From(ms)} }

// HoursSeen are the hours in which one thing happened, their beginnings in ms, oldest first: what
// [FactsByHour] has to know of a thing to count it once. Of things whose events come in the order of
// time the newest hour is enough.
type HoursSeen []int64

// add notes an hour, and counts the thing in that hour and in the one after it: at is what an hour
// counts.
func (s *HoursSeen) add(hour int64, at func(hour int64) *Distinct) {
	i, known := slices.BinarySearchFunc(*s, hour, cmp.Compare[int64])
	if known {
		return
	}
	one := Distinct{First: 1}
	if i > 0 {
		one = Distinct{Continued: []Continued{{(*s)[i-1], 1}}}
	}
	at(hour).Merge(&one)
	if i < len(*s) { // the next hour has it after this one now, and no longer after the one before
		next := at((*s)[i])
		next.Merge(&Distinct{Continued: []Continued{{hour, 1}}})
		next.Merge(one.negated())
	}
	*s = slices.Insert(*s, i, hour)
}

func (d *Distinct) negated() *Distinct {
	n := Distinct{First: -d.First, Continued: slices.Clone(d.Continued)}
	for i := range n.Continued {
		n.Continued[i].N *= -1
	}
	return &n
}
