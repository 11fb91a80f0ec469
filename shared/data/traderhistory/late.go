package traderhistory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

// Late is who did something in hours of long ago of which more is known by now than the files have. The hours
// of some accounts at a time are looked at, from the newest to the oldest, while the others wait. It is an object
// beside the files, for who publishes the next version.
type Late struct {
	Turn    LateAccounts // whose hours are looked at
	Waiting LateAccounts
}

// Accounts are from when on more is known of what each did, ms.
type Accounts map[table.Address]int64

// Add adds an account.
func (a Accounts) Add(of table.Address, since int64) {
	if before, known := a[of]; !known || since < before {
		a[of] = since
	}
}

// LateAccounts are accounts, and what is noted of each.
type LateAccounts map[table.Address]LateAccount

// LateAccount is from when on more is known of what an account did, and when that was noted first and last, ms.
type LateAccount struct{ Since, First, Last int64 }

// Wait has an account wait, of which more is known since a time, as was noted at another, ms. It reports whether
// that is new.
func (l *Late) Wait(a table.Address, since, noted int64) bool {
	if of, ok := l.Turn[a]; ok && of.Since <= since && of.Last >= noted {
		return false
	}
	before, waits := l.Waiting[a]
	of := LateAccount{since, noted, noted}
	if waits {
		of = LateAccount{min(since, before.Since), min(noted, before.First), max(noted, before.Last)}
	}
	if waits && of == before {
		return false
	}
	if l.Waiting == nil {
		l.Waiting = LateAccounts{}
	}
	l.Waiting[a] = of
	return true
}

// Begin makes it the turn of those who wait longest: of so many at most, that were noted before a time, ms. Who was
// noted again since then waits too, for another turn. It reports whether there are any.
func (l *Late) Begin(most int, before int64) bool {
	var ready []table.Address
	for a, of := range l.Waiting {
		if of.First < before {
			ready = append(ready, a)
		}
	}
	slices.SortFunc(ready, func(a, b table.Address) int {
		return cmp.Or(cmp.Compare(l.Waiting[a].First, l.Waiting[b].First), market.CompareAccounts(a, b))
	})
	l.Turn = LateAccounts{}
	for _, a := range ready[:min(len(ready), most)] {
		of := l.Waiting[a]
		if l.Turn[a] = of; of.Last < before {
			delete(l.Waiting, a)
		} else {
			l.Waiting[a] = LateAccount{of.Since, of.Last, of.Last}
		}
	}
	return len(l.Turn) > 0
}

// NamedLate is the object of a version.
func NamedLate(version int64, body []byte) tablefile.Named {
	return tablefile.Named{Key: fmt.Sprintf("%s%d-late", Prefix, version), Bytes: int64(len(body))}
}

// lateVersion opens the object.
const lateVersion = 1

// Encode is the object: of each list the accounts in their order.
func (l *Late) Encode() []byte {
	w := packed.Writer{B: make([]byte, 0, 32*(len(l.Turn)+len(l.Waiting))+16)}
	w.Byte(lateVersion)
	for _, list := range [...]LateAccounts{l.Turn, l.Waiting} {
		w.Length(len(list))
		for _, a := range slices.SortedFunc(maps.Keys(list), market.CompareAccounts) {
			w.B = append(w.B, a[:]...)
			w.Int(list[a].Since/hourMs, list[a].First, list[a].Last-list[a].First)
		}
	}
	return w.B
}

var errLate = errors.New("it is no object of who did something long ago")

// DecodeLate reads the object.
func DecodeLate(b []byte) (l Late, err error) {
	r := packed.Reader{B: b}
	r.Check(r.Byte() == lateVersion)
	for _, list := range [...]*LateAccounts{&l.Turn, &l.Waiting} {
		*list = LateAccounts{}
		var last table.Address
		for i := range r.Length(len(last) + 3) {
			a := table.Address(r.Bytes(len(last)))
			r.Check(i == 0 || market.CompareAccounts(a, last) > 0)
			of := LateAccount{Since: r.Int() * hourMs, First: r.Int()}
			of.Last = of.First + r.Int()
			(*list)[a], last = of, a
		}
	}
	if !r.Done() {
		return Late{}, errLate
	}
	return l, nil
}
