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
	version = 3
	hourMs  = 3_600_000
	// MostBytes bounds what is kept of all traders: of a million that have a builder each.
	MostBytes = 256 << 20
	// mostIncomplete is of how many builders it is kept that their sums leave something out. Of more, it holds
	// for all.
	mostIncomplete = 100_000
)

// Routes is what builders routed of traders in some times each, such as periods.
type Routes struct {
	times   int
	traders map[table.Address][]byte // packed, see [appendBuilders]
	bytes   int                      // of these
	most    int                      // of bytes
	sums    map[table.Address]*sum   // by builders
	changed map[table.Address]bool   // builders

	leftOut    map[table.Address]bool // traders for whom there was no room
	incomplete map[table.Address]bool // the builders that these named: it is not known what they routed
}

// sum is what a builder routed.
type sum struct {
	traders int // that name it
	times   []market.RoutedFacts
}

// New knows of no trader, and has room for so many bytes.
func New(times, most int) *Routes {
	return &Routes{
		times: times, most: most, traders: map[table.Address][]byte{}, sums: map[table.Address]*sum{}, changed: map[table.Address]bool{},
		leftOut: map[table.Address]bool{}, incomplete: map[table.Address]bool{},
	}
}

// Set sets what builders routed of a trader in each time, in place of what was known of that. While there is
// no room for it, it is not known what these builders routed, see [Routes.Of].
func (r *Routes) Set(trader table.Address, times ...[]market.BuilderFacts) {
	var next []byte
	if slices.ContainsFunc(times, func(list []market.BuilderFacts) bool { return len(list) > 0 }) {
		next = appendBuilders(nil, times)
	}
	last := r.traders[trader]
	if r.bytes+len(next)-len(last) > r.most && len(next) > len(last) {
		r.leaveOut(trader, times)
		next = nil
	} else {
		r.takeIn(trader)
	}
	if bytes.Equal(last, next) {
		return
	}
	if last != nil {
		before, _ := decodeBuilders(last, r.times) // it was checked
		r.add(before, -1)
		delete(r.traders, trader)
	}
	if next != nil {
		r.add(times, 1)
		r.traders[trader] = next
	}
	r.bytes += len(next) - len(last)
}

// leaveOut notes that there is no room for what builders routed of a trader.
func (r *Routes) leaveOut(trader table.Address, times [][]market.BuilderFacts) {
	r.leftOut[trader] = true
	for _, list := range times {
		for k := range list {
			b := list[k].Builder
			if r.incomplete[b] || len(r.incomplete) >= mostIncomplete {
				continue
			}
			r.incomplete[b], r.changed[b] = true, true
			if len(r.incomplete) == mostIncomplete {
				r.changeAll()
			}
		}
	}
}

// takeIn notes that there is room for a trader: with the last for whom there was none, all sums are known again.
func (r *Routes) takeIn(trader table.Address) {
	if delete(r.leftOut, trader); len(r.leftOut) == 0 && len(r.incomplete) > 0 {
		r.changeAll()
		clear(r.incomplete)
	}
}

func (r *Routes) changeAll() {
	for _, b := range r.Builders() {
		r.changed[b] = true
	}
}

// add adds what builders routed of one trader to their sums, or takes it away.
func (r *Routes) add(times [][]market.BuilderFacts, sign int) {
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

// Of is what a builder routed in one of the times. It is unknown while that leaves something out, as there was
// no room for it.
func (r *Routes) Of(builder table.Address, time int) (f market.RoutedFacts) {
	if r.incomplete[builder] || len(r.incomplete) >= mostIncomplete {
		f.Unknown = 1
	} else if of := r.sums[builder]; of != nil {
		f.Merge(&of.times[time])
	}
	return f
}

// Builders are all that routed something, in no order.
func (r *Routes) Builders() []table.Address {
	all := maps.Clone(r.incomplete)
	for b := range r.sums {
		all[b] = true
	}
	return slices.Collect(maps.Keys(all))
}

// Traders are all of whom something was routed, in no order.
func (r *Routes) Traders() []table.Address {
	return slices.AppendSeq(slices.Collect(maps.Keys(r.leftOut)), maps.Keys(r.traders))
}

// Changed are the builders whose sums may differ from what they were when it was asked last, in no order.
func (r *Routes) Changed() []table.Address {
	list := slices.Collect(maps.Keys(r.changed))
	clear(r.changed)
	return list
}

// LeftOut is for how many traders there was no room.
func (r *Routes) LeftOut() int { return len(r.leftOut) }

// Encode is the object: the traders, in their order, those for whom there was no room, and the builders that
// these named.
func (r *Routes) Encode() []byte {
	w := packed.Writer{B: make([]byte, 0, r.bytes+24*(len(r.traders)+len(r.leftOut)+len(r.incomplete))+32)}
	w.Byte(version)
	w.Length(len(r.traders))
	for _, trader := range slices.SortedFunc(maps.Keys(r.traders), market.CompareAccounts) {
		w.B = append(w.B, trader[:]...)
		w.Length(len(r.traders[trader]))
		w.B = append(w.B, r.traders[trader]...)
	}
	for _, set := range [...]map[table.Address]bool{r.leftOut, r.incomplete} {
		w.Length(len(set))
		for _, a := range slices.SortedFunc(maps.Keys(set), market.CompareAccounts) {
			w.B = append(w.B, a[:]...)
		}
	}
	return w.B
}

var errObject = errors.New("it is no object of what builders routed")

// Decode reads the object, of so many times, into one with room for so many bytes.
func Decode(b []byte, times, most int) (*Routes, error) {
	routes, r := New(times, most), packed.Reader{B: b}
	r.Check(r.Byte() == version)
	var last table.Address
	for i := range r.Length(len(table.Address{}) + 1) {
		trader := table.Address(r.Bytes(len(table.Address{})))
		r.Check(i == 0 || market.CompareAccounts(trader, last) > 0)
		body := r.Bytes(r.Length(1))
		list, ok := decodeBuilders(body, times)
		if r.Check(ok); r.Broken {
			break
		}
		routes.add(list, 1)
		routes.traders[trader], last = bytes.Clone(body), trader
		routes.bytes += len(body)
	}
	for _, set := range [...]map[table.Address]bool{routes.leftOut, routes.incomplete} {
		var last table.Address
		for i := range r.Length(len(last)) {
			a := table.Address(r.Bytes(len(last)))
			r.Check(i == 0 || market.CompareAccounts(a, last) > 0)
			set[a], last = true, a
		}
	}
	if !r.Done() {
		return nil, errObject
	}
	clear(routes.changed)
	return routes, nil
}

// appendBuilders appends a list for each time: of each builder its address, what counts once, and amounts.
func appendBuilders(b []byte, times [][]market.BuilderFacts) []byte {
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
			w.Int(v.Unknown)
		}
	}
	return w.B
}

func decodeBuilders(b []byte, times int) (lists [][]market.BuilderFacts, ok bool) {
	r := packed.Reader{B: b}
	for range times {
		var list []market.BuilderFacts
		for i := range r.Length(len(table.Address{}) + 8) {
			v := market.BuilderFacts{Builder: table.Address(r.Bytes(len(table.Address{})))}
			r.Check(i == 0 || market.CompareAccounts(v.Builder, list[i-1].Builder) > 0)
			v.Traders, v.Orders = distinct(&r), distinct(&r)
			v.Value, v.Fee, v.BuilderFee = r.Decimal(), r.Decimal(), r.Decimal()
			v.Unknown = r.Int()
			r.Check(v.Unknown >= 0)
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
