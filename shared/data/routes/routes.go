// Package routes is what builders routed of traders, for the sums of each builder: what is known of a
// trader anew replaces what was ([Routes.Set]). It is kept beside what is made of the sums, as an object
// that is read as a whole: the trader table has what was routed in each period beside it, and each hour of
// the history what was routed in that hour.
package routes

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/table"
)

const (
	version = 1
	hourMs  = 3_600_000
	// mostBytes bounds what is kept of all traders: of a million that have a builder each.
	mostBytes = 256 << 20
)

// Routes is what builders routed of traders in some times each, such as periods.
type Routes struct {
	times   int
	traders map[table.Address][]byte // packed, see [appendVia]
	bytes   int                      // of these
	sums    map[table.Address]*sum   // by builders
	changed map[table.Address]bool   // builders
	dropped int
}

// sum is what a builder routed.
type sum struct {
	traders int // that name it
	times   []market.RoutedFacts
}

// New knows of no trader.
func New(times int) *Routes {
	return &Routes{times: times, traders: map[table.Address][]byte{}, sums: map[table.Address]*sum{}, changed: map[table.Address]bool{}}
}

// Set sets what builders routed of a trader in each time, in place of what was known of that.
func (r *Routes) Set(trader table.Address, times ...[]market.Via) {
	var next []byte
	if slices.ContainsFunc(times, func(list []market.Via) bool { return len(list) > 0 }) {
		next = appendVia(nil, times)
	}
	last := r.traders[trader]
	if bytes.Equal(last, next) {
		return
	}
	if r.bytes+len(next)-len(last) > mostBytes {
		r.dropped++
		next = nil
	}
	if last != nil {
		before, _ := decodeVia(last, r.times) // it was checked
		r.add(before, -1)
		delete(r.traders, trader)
	}
	if next != nil {
		r.add(times, 1)
		r.traders[trader] = next
	}
	r.bytes += len(next) - len(last)
}

// add adds what builders routed of one trader to their sums, or takes it away.
func (r *Routes) add(times [][]market.Via, sign int) {
	named := map[table.Address]bool{}
	for i, list := range times {
		for k := range list {
			v := &list[k]
			of := r.sums[v.Builder]
			if of == nil {
				of = &sum{times: make([]market.RoutedFacts, r.times)}
				r.sums[v.Builder] = of
			}
			one := v.RoutedFacts
			if sign < 0 {
				one = one.Negated()
			}
			of.times[i].Take(&one)
			named[v.Builder] = true
		}
	}
	for b := range named {
		r.changed[b] = true
		if r.sums[b].traders += sign; r.sums[b].traders == 0 {
			delete(r.sums, b)
		}
	}
}

// Of is what a builder routed in one of the times.
func (r *Routes) Of(builder table.Address, time int) (f market.RoutedFacts) {
	if of := r.sums[builder]; of != nil {
		f.Merge(&of.times[time])
	}
	return f
}

// Builders are all that routed something, in no order.
func (r *Routes) Builders() []table.Address { return slices.Collect(maps.Keys(r.sums)) }

// Traders are all of whom something was routed, in no order.
func (r *Routes) Traders() []table.Address { return slices.Collect(maps.Keys(r.traders)) }

// Changed are the builders whose sums may differ from what they were when it was asked last, in no order.
func (r *Routes) Changed() []table.Address {
	list := slices.Collect(maps.Keys(r.changed))
	clear(r.changed)
	return list
}

// Dropped is of how many traders nothing was taken in, as there was no room.
func (r *Routes) Dropped() int { return r.dropped }

// Encode is the object: the traders, in their order.
func (r *Routes) Encode() []byte {
	w := packed.Writer{B: make([]byte, 0, r.bytes+24*len(r.traders)+16)}
	w.Byte(version)
	w.Length(len(r.traders))
	for _, trader := range slices.SortedFunc(maps.Keys(r.traders), market.CompareAccounts) {
		w.B = append(w.B, trader[:]...)
		w.Length(len(r.traders[trader]))
		w.B = append(w.B, r.traders[trader]...)
	}
	return w.B
}

var errObject = errors.New("it is no object of what builders routed")

// Decode reads the object, of so many times.
func Decode(b []byte, times int) (*Routes, error) {
	routes, r := New(times), packed.Reader{B: b}
	r.Check(r.Byte() == version)
	var last table.Address
	for i := range r.Length(len(table.Address{}) + 1) {
		trader := table.Address(r.Bytes(len(table.Address{})))
		r.Check(i == 0 || market.CompareAccounts(trader, last) > 0)
		body := r.Bytes(r.Length(1))
		list, ok := decodeVia(body, times)
		if r.Check(ok); r.Broken {
			break
		}
		routes.add(list, 1)
		routes.traders[trader], last = bytes.Clone(body), trader
		routes.bytes += len(body)
	}
	if !r.Done() {
		return nil, errObject
	}
	clear(routes.changed)
	return routes, nil
}

// appendVia appends a list for each time: of each builder its address, what counts once, and amounts.
func appendVia(b []byte, times [][]market.Via) []byte {
	w := packed.Writer{B: b}
	for _, list := range times {
		w.Length(len(list))
		for i := range list {
			v := &list[i]
			w.B = append(w.B, v.Builder[:]...)
			for _, d := range [...]*market.Distinct{&v.Traders, &v.Orders} {
				w.Int(d.First)
				w.Length(len(d.Continued))
				for _, c := range d.Continued {
					w.Int(c.Hour/hourMs, c.N)
				}
			}
			w.Decimal(v.Value, v.Fee, v.BuilderFee)
		}
	}
	return w.B
}

func decodeVia(b []byte, times int) (lists [][]market.Via, ok bool) {
	r := packed.Reader{B: b}
	for range times {
		var list []market.Via
		for i := range r.Length(len(table.Address{}) + 7) {
			v := market.Via{Builder: table.Address(r.Bytes(len(table.Address{})))}
			r.Check(i == 0 || market.CompareAccounts(v.Builder, list[i-1].Builder) > 0)
			v.Traders, v.Orders = distinct(&r), distinct(&r)
			v.Value, v.Fee, v.BuilderFee = r.Decimal(), r.Decimal(), r.Decimal()
			list = append(list, v)
		}
		lists = append(lists, list)
	}
	return lists, r.Done()
}

func distinct(r *packed.Reader) (d market.Distinct) {
	d.First = r.Int()
	for i := range r.Length(2) {
		c := market.Continued{Hour: r.Int() * hourMs, N: r.Int()}
		r.Check(i == 0 || c.Hour > d.Continued[i-1].Hour)
		d.Continued = append(d.Continued, c)
	}
	return d
}
