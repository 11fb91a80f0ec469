// Package traderhistory is what all traders did in the past, hour by hour, for questions about any
// window of it: traders/discover-history.
//
// It is kept as Parquet files (package tablefile), each of a time: a full hour, a day or a week in UTC,
// with a row for each account that did something in it. The columns are what [market.Facts] are made
// of, so that the sum of the files of any hours is what was done in these ([Sum]), and figures
// ([traderfields.Field]) are made of sums alone. A day is the sum of its hours and a week that of its
// days, so that a window of a month is read from some dozens of files ([Manifest.Cover]). The file of an
// hour is replaced when more is known of it, and with it its day and its week.
//
// What a row has not is 0; what is not known, as it has too many digits for a file, is [tablefile.Most] in it,
// and so are the sums that have it in them: figures that are made of that are not known.
//
// A view, the manifest, names the files of the newest version.
package traderhistory

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"quotary/shared/store"
	"quotary/shared/table/tablefile"
)

// Name of the view that names the files.
const Name = "traderhistory"

// Prefix is what the keys of the files begin with.
const Prefix = "tables/history/files/"

// Newest is how the manifest is stored. It changes every five minutes.
var Newest = store.ViewType[Manifest]{Name: Name, Period: time.Second}

// The times of files, in hours.
const (
	Moment = 0 // what accounts were worth at the beginning of a day
	Hour   = 1
	Day    = 24
	Week   = 7 * Day

	hourMs = int64(time.Hour / time.Millisecond)
)

// Manifest is a version of the history: the files that it is made of.
type Manifest struct {
	Version int64            `json:"version"`         // up to when is looked who had changed, ms
	Until   int64            `json:"until,omitempty"` // up to when all that happened is in it, ms, where that comes some time later; else 0
	Units   []Unit           `json:"units"`           // by their times; of the same beginning the shortest first
	Left    []tablefile.Left `json:"left,omitempty"`

	// Late is the object of who did something long ago that is in no file yet (see [Late]), and LateBefore the
	// time up to which hours are still to be looked at of those whose turn it is, ms.
	Late       tablefile.Named `json:"late,omitzero"`
	LateBefore int64           `json:"lateBefore,omitempty"`
}

// Unit is a file, and of which time it is.
type Unit struct {
	From    int64 `json:"from"`    // ms
	Hours   int64 `json:"hours"`   // how long it is: [Hour], [Day] or [Week]; [Moment] for what accounts were worth
	Version int64 `json:"version"` // of the manifest that named it first
	Bytes   int64 `json:"bytes"`
	Routes  int64 `json:"routes,omitempty"` // bytes of the object of what builders routed; 0 where there is none
}

// To is where the time of a file ends, ms.
func (u *Unit) To() int64 { return u.From + u.Hours*hourMs }

const (
	suffix       = ".parquet"
	routesSuffix = ".routes"
)

// Named is the file itself.
func (u *Unit) Named() tablefile.Named {
	return tablefile.Named{Key: fmt.Sprintf("%s%d-%dh-%d%s", Prefix, u.Version, u.Hours, u.From, suffix), Bytes: u.Bytes}
}

// NamedRoutes is the object of what builders routed in the hour (package routes, of one time), from which the
// rows of builders are made anew.
func (u *Unit) NamedRoutes() tablefile.Named {
	return tablefile.Named{Key: fmt.Sprintf("%s%d-%dh-%d%s", Prefix, u.Version, u.Hours, u.From, routesSuffix), Bytes: u.Routes}
}

// Files are the files of units, in their order.
func Files(units []Unit) []tablefile.Named {
	named := make([]tablefile.Named, len(units))
	for i := range units {
		named[i] = units[i].Named()
	}
	return named
}

// All are all objects of a version.
func (m *Manifest) All() []tablefile.Named {
	named := Files(m.Units)
	for i := range m.Units {
		if m.Units[i].Routes > 0 {
			named = append(named, m.Units[i].NamedRoutes())
		}
	}
	if m.Late != (tablefile.Named{}) {
		named = append(named, m.Late)
	}
	return named
}

// StartOf is where the file of a number of hours begins that has a time in it, ms.
func StartOf(ms, hours int64) int64 {
	width := hours * hourMs
	return ms - ms%width
}

func compareUnits(a, b Unit) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Hours, b.Hours))
}

// Find is the file of a time.
func (m *Manifest) Find(from, hours int64) (at int, ok bool) {
	return slices.BinarySearchFunc(m.Units, Unit{From: from, Hours: hours}, compareUnits)
}

// Put names a file in place of the one of its time.
func (m *Manifest) Put(u Unit) {
	at, ok := m.Find(u.From, u.Hours)
	if ok {
		m.Units[at] = u
		return
	}
	m.Units = slices.Insert(m.Units, at, u)
}

// Drop names no file of a time any more.
func (m *Manifest) Drop(from, hours int64) {
	if at, ok := m.Find(from, hours); ok {
		m.Units = slices.Delete(m.Units, at, at+1)
	}
}

// Cover are the fewest files that have the full hours of a window, from one time on and before another,
// ms, as far as there are any.
func (m *Manifest) Cover(from, to int64) (units []Unit) {
	at, _ := m.Find(from, Moment)
	for at < len(m.Units) && m.Units[at].From < to {
		longest := -1
		for next := at; next < len(m.Units) && m.Units[next].From == m.Units[at].From; next++ {
			if m.Units[next].Hours > Moment && m.Units[next].To() <= to {
				longest = next
			}
		}
		if longest < 0 { // a day of which no hour is kept, or all that is left is longer
			at++
			continue
		}
		units = append(units, m.Units[longest])
		at, _ = m.Find(m.Units[longest].To(), Moment)
	}
	return units
}

// WorthAt is the file of what accounts were worth at the beginning of the day that a time is in, ms; nil
// where there is none.
func (m *Manifest) WorthAt(ms int64) *Unit {
	at, ok := m.Find(StartOf(ms, Day), Moment)
	if !ok {
		return nil
	}
	return &m.Units[at]
}

// Since is from when on there is a history, ms; 0 before there is any.
func (m *Manifest) Since() int64 {
	for i := range m.Units {
		if m.Units[i].Hours > Moment {
			return m.Units[i].From
		}
	}
	return 0
}
