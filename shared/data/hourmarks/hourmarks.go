// Package hourmarks is the view of the mark prices that all coins had at full hours: what
// curves of accounts are valued at. Each hour is kept once and stays as it is, so that what
// is valued late is worth what it would have been in time.
package hourmarks

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "hourmarks"

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs

	// Every hour is kept for as long as a curve has them, and midnights (UTC) for longer.
	keptDays = 400
	// mostCoins bounds the coins of an hour, by their names.
	mostCoins = 5_000
)

// View is the marks of the hours that are kept. The zero value has none.
type View struct {
	hours []hour // oldest first

	// read are the hours that were asked for last, as an hour is mostly asked for again.
	read map[int64]market.Marks
}

// hour is an hour as it is stored: some 10 KB, a seventh of what its marks take in memory.
type hour struct {
	ms     int64
	packed []byte
}

// mostRead bounds the hours that are kept as marks.
const mostRead = 48

// Published is how the view is stored: some 8 MB before they are compressed, of 700 coins.
var Published = store.ViewType[View]{Name: Name, Period: time.Minute, Write: encode, Read: decode}

// At are the marks of a full hour, ms, which are not to be changed; ok is false of one that is
// not kept. It is not to be called by more than one at a time.
func (v *View) At(ms int64) (marks market.Marks, ok bool) {
	if marks, ok = v.read[ms]; ok {
		return marks, true
	}
	i, ok := v.find(ms)
	if !ok {
		return nil, false
	}
	if marks, ok = unpack(v.hours[i].packed); !ok {
		return nil, false
	}
	if v.read == nil || len(v.read) >= mostRead {
		v.read = map[int64]market.Marks{}
	}
	v.read[ms] = marks
	return marks, true
}

// Clone is the same view, for somebody else to ask.
func (v *View) Clone() *View { return &View{hours: v.hours} }

// Newest is the newest hour that is kept, ms; 0 without any.
func (v *View) Newest() int64 {
	if len(v.hours) == 0 {
		return 0
	}
	return v.hours[len(v.hours)-1].ms
}

// Add keeps the marks of a full hour, ms, which must be behind the newest one, and drops what
// is too old to be kept.
func (v *View) Add(ms int64, marks market.Marks) {
	old := ms - market.CurveHours*hourMs
	kept := make([]hour, 0, len(v.hours)+1) // who has cloned the view goes on with its own
	for _, h := range v.hours {
		if h.ms >= old || h.ms%dayMs == 0 && h.ms > ms-keptDays*dayMs {
			kept = append(kept, h)
		}
	}
	v.hours = append(kept, hour{ms, pack(marks)})
}

func (v *View) find(ms int64) (int, bool) {
	return slices.BinarySearchFunc(v.hours, ms, func(h hour, ms int64) int { return cmp.Compare(h.ms, ms) })
}

func pack(marks market.Marks) []byte {
	var w packed.Writer
	coins := slices.Sorted(maps.Keys(marks))
	coins = coins[:min(len(coins), mostCoins)]
	w.Length(len(coins))
	for _, coin := range coins {
		w.Text(coin)
		w.Decimal(marks[coin])
	}
	return w.B
}

func unpack(b []byte) (market.Marks, bool) {
	r := packed.Reader{B: b}
	n := r.Length(3)
	marks := make(market.Marks, n)
	for range n {
		marks[r.Text()] = r.Decimal()
	}
	return marks, r.Done()
}

const version = 1

func encode(v View) []byte {
	w := packed.Writer{B: []byte{version}}
	w.Length(len(v.hours))
	last := int64(0)
	for _, h := range v.hours {
		w.Int(h.ms - last)
		w.Length(len(h.packed))
		w.B = append(w.B, h.packed...)
		last = h.ms
	}
	return w.B
}

var errView = errors.New("the marks of full hours cannot be read")

func decode(b []byte) (v View, err error) {
	r := packed.Reader{B: b}
	r.Check(r.Byte() == version)
	last := int64(0)
	for i := range r.Length(3) {
		h := hour{ms: last + r.Int()}
		r.Check(i == 0 || h.ms > last)
		last = h.ms
		h.packed = r.Bytes(r.Length(1))
		v.hours = append(v.hours, h)
	}
	if !r.Done() {
		return View{}, errView
	}
	return v, nil
}
