package market

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"quotary/shared/text/jsontext"
)

// dirDeleveraged is the Dir of both fills of an auto-deleveraging.
const dirDeleveraged = "Auto-Deleveraging"

// Methods by which a position is closed by force, as [LiquidationEvent] has them.
const (
	LiquidationMarket   = "market"   // by an order into the book
	LiquidationBackstop = "backstop" // taken over by the liquidator's vault
	LiquidationADL      = "adl"      // against those of the other side that gained most
)

// Liquidates reports whether f liquidated its account, and not that of the other side. It is
// the one rule by which that is told:
//
//   - The venue names who was liquidated (liquidatedUser).
//   - Where it does not, Dir may name the position, on both fills: "Liquidated Cross Long" is of
//     whoever sells.
//   - Else it is the taker, where the fill reduced the taker's position. Of an
//     auto-deleveraging that says nothing, as both sides reduce theirs.
//
// Where that cannot be told, see [Fill.LiquidatesUnknown], it is false on both sides.
func (f *Fill) Liquidates() bool {
	switch long, named := f.liquidatedSide(); {
	case f.Liquidation == nil:
		return false
	case f.Liquidation.LiquidatedUser != "":
		return f.Liquidation.LiquidatedUser == f.Address
	case named:
		return long == (f.Side == Sell)
	}
	return f.Crossed && f.Dir != dirDeleveraged && f.reduces()
}

// LiquidatesUnknown reports whether f is the taker's fill of an execution that liquidated
// somebody of whom nobody can tell who it was.
func (f *Fill) LiquidatesUnknown() bool {
	if f.Liquidation == nil || f.Liquidation.LiquidatedUser != "" || !f.Crossed {
		return false
	}
	_, named := f.liquidatedSide()
	return !named && !f.Liquidates()
}

// liquidatedSide is the position that Dir says was liquidated, where it does.
func (f *Fill) liquidatedSide() (long, named bool) {
	if !strings.HasPrefix(f.Dir, "Liquidated ") {
		return false, false
	}
	long = strings.HasSuffix(f.Dir, " Long")
	return long, long || strings.HasSuffix(f.Dir, " Short")
}

// reduces reports whether f closed a position or a part of one, and opened none.
func (f *Fill) reduces() bool {
	start, end := mustDecimal(f.StartPosition).Sign(), f.EndPosition().Sign()
	return start != 0 && (start > 0) == (f.Side == Sell) && (end == 0 || end == start)
}

// liquidationMethod is how f closed a position. The venue writes auto-deleveraging as a backstop
// whose fills say otherwise.
func (f *Fill) liquidationMethod() string {
	switch {
	case f.Dir == dirDeleveraged:
		return LiquidationADL
	case f.Liquidation.Method == "" && strings.HasPrefix(f.Dir, "Liquidated "):
		return LiquidationBackstop
	}
	return f.Liquidation.Method
}

// LiquidationEvent is one order by which a position was closed by force, or a part of one,
// however many others it met: the fills of the liquidated account alone. Money is in US
// dollars, of which a unit of what a dex counts in is one.
//
// Fills of one order at times in two seconds are two events. The venue carries an order that
// liquidates out in one block, whose fills have one time; and what is stored by second, with the sums
// that follow from it, could not be joined across two rows whatever comes first and wherever a crash
// falls.
type LiquidationEvent struct {
	Time    int64  // of its first fill, ms
	Address string // whose position was closed
	Coin    string
	Oid     int64 // of the order
	Long    bool  // a long position was closed

	Value Decimal // px x sz of its fills
	Sz    Decimal // base units
	Pnl   Decimal // what they realized, without fees

	Start, End Decimal // the position before and after it, base units; negative is short

	MarkPx string // mark price that set it off, quote units; "" where the venue does not say
	Method string // market, backstop or adl, or whatever else the venue calls it; "" where it does not say

	Parts   Parts   // what its fills are known by
	Arrival Arrival // place of the last fill that arrived; 0 where it is not known
}

// LiquidationOf is the event that f is all or a part of; false where f liquidated nobody, or not
// its own account, or is of no perpetual.
func LiquidationOf(f *Fill) (e LiquidationEvent, ok bool) {
	if !f.Liquidates() || IsSpot(f.Coin) {
		return e, false
	}
	return LiquidationEvent{
		Time: f.Time, Address: f.Address, Coin: f.Coin, Oid: f.Oid, Long: f.Side == Sell,
		Value: f.Notional(), Sz: mustDecimal(f.Sz), Pnl: mustDecimal(f.ClosedPnl),
		Start: mustDecimal(f.StartPosition), End: f.EndPosition(),
		MarkPx: f.Liquidation.MarkPx, Method: f.liquidationMethod(),
		Parts: Parts{f.partID()}, Arrival: max(f.Arrived.At, f.Arrived.Whole),
	}, true
}

// partID is what a fill is known by within an event: its trade, or a digest where the venue does
// not number it.
func (f *Fill) partID() uint64 {
	if f.Tid != 0 {
		return uint64(f.Tid)
	}
	h := fnv.New64a()
	for _, text := range [...]string{f.StartPosition, f.Px, f.Sz} {
		_, _ = h.Write(append([]byte(text), 0)) // never fails
	}
	return h.Sum64()
}

// Same reports whether two are parts of one event.
func (e *LiquidationEvent) Same(d *LiquidationEvent) bool {
	return e.Oid == d.Oid && e.Address == d.Address && e.Coin == d.Coin
}

// Has reports whether some fills of a part are in the event.
func (e *LiquidationEvent) Has(part *LiquidationEvent) bool {
	return slices.ContainsFunc(part.Parts, e.Parts.Has)
}

// Add takes the fills of another part of the event, and reports whether they are new: parts come
// in any order, and more than once, and no two overlap in some of their fills alone. A copy of the
// event from before takes no more.
func (e *LiquidationEvent) Add(part *LiquidationEvent) bool {
	if e.Has(part) {
		return false
	}
	e.Time = min(e.Time, part.Time)
	e.Value, e.Sz, e.Pnl = e.Value.Add(part.Value), e.Sz.Add(part.Sz), e.Pnl.Add(part.Pnl)
	if e.Long == (part.Start.Cmp(e.Start) > 0) { // a long falls to nothing, a short rises to it
		e.Start = part.Start
	}
	if e.Long == (part.End.Cmp(e.End) < 0) {
		e.End = part.End
	}
	e.MarkPx, e.Method = oneOf(e.MarkPx, part.MarkPx), oneOf(e.Method, part.Method)
	e.Arrival = max(e.Arrival, part.Arrival)
	for _, id := range part.Parts {
		e.Parts.Add(id)
	}
	return true
}

// oneOf is the one of two texts that is known, the same in whatever order they come.
func oneOf(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return min(a, b)
}

// Px is the mean price of its fills, quote units: of more than one rounded to
// [LiquidationPlaces] places.
func (e *LiquidationEvent) Px() Decimal {
	if !e.Sz.IsPos() {
		return Decimal{}
	}
	return e.Value.MustDiv(e.Sz).RoundHAZ(LiquidationPlaces)
}

// Direction is that of the position that was closed: long or short.
func (e *LiquidationEvent) Direction() string {
	if e.Long {
		return "long"
	}
	return "short"
}

// AppendJSON appends the event as a row of liquidations/top-positions with sz, markPx and method
// beside it; of the last two what the venue does not say is null.
func (e *LiquidationEvent) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"time":`...), e.Time, 10)
	b = append(append(b, `,"address":"`...), e.Address...)
	b = appendKeyText(b, `","coin":`, e.Coin)
	b = append(append(b, `,"direction":"`...), e.Direction()...)
	b = strconv.AppendInt(append(b, `","oid":`...), e.Oid, 10)
	b = AppendText(append(b, `,"liqPrice":"`...), e.Px())
	b = AppendText(append(b, `","liquidatedVal":"`...), e.Value)
	b = AppendText(append(b, `","pnl":"`...), e.Pnl)
	b = AppendText(append(b, `","startPosition":"`...), e.Start)
	b = AppendText(append(b, `","endPosition":"`...), e.End)
	b = AppendText(append(b, `","sz":"`...), e.Sz)
	b = appendTextOrNull(append(b, `","markPx":`...), e.MarkPx)
	b = appendTextOrNull(append(b, `,"method":`...), e.Method)
	return append(b, '}')
}

func appendTextOrNull(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return jsontext.AppendString(b, text)
}

// Compare ranks events: the larger value first, then the earlier; what remains decides only to
// make the order total.
func (e *LiquidationEvent) Compare(d *LiquidationEvent) int {
	return cmp.Or(d.Value.Cmp(e.Value), cmp.Compare(e.Time, d.Time),
		strings.Compare(e.Coin, d.Coin), strings.Compare(e.Address, d.Address), cmp.Compare(e.Oid, d.Oid))
}

// TopLiquidations are the largest events, the largest first, without what their fills are known
// by.
type TopLiquidations []LiquidationEvent

// Put ranks an event among the first limit, in the place of a part of it that was ranked before,
// and reports whether that changed anything.
func (t *TopLiquidations) Put(e *LiquidationEvent, limit int) bool {
	old := slices.IndexFunc(*t, func(d LiquidationEvent) bool { return d.Same(e) && d.Time/1000 == e.Time/1000 })
	if old >= 0 {
		if (*t)[old].Sz.Cmp(e.Sz) >= 0 {
			return false
		}
		*t = slices.Delete(*t, old, old+1)
	}
	at, _ := slices.BinarySearchFunc(*t, e, func(have LiquidationEvent, want *LiquidationEvent) int { return have.Compare(want) })
	if at >= limit {
		return old >= 0
	}
	one := *e
	one.Parts = nil
	*t = slices.Insert(*t, at, one)
	*t = (*t)[:min(len(*t), limit)]
	return true
}

// LiquidationStats sums up the events of a bucket of time. Money is in US dollars.
type LiquidationStats struct {
	Time          int64 // ms; the bucket's start, set by who knows the bucket
	Longs, Shorts int64 // events

	LongValue, ShortValue Decimal
	LongPnl, ShortPnl     Decimal

	Addresses []AddressDigest // of who was liquidated, each once, in order
	Coins     []string        // in which, each once, in order; of the sum of several coins alone
}

// AddressDigest stands for an address where it is only counted: of a million addresses two have
// the same with a chance of one in five hundred.
type AddressDigest [6]byte

// DigestOf is the digest of an address.
func DigestOf(address string) (d AddressDigest) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(address)) // never fails
	sum := h.Sum(nil)
	copy(d[:], sum[2:])
	return d
}

// LiquidationSum sums up events and buckets. What is counted once is put in order when all is there,
// so that many buckets of many accounts take no longer than their digests do to be sorted. The zero
// value has none.
type LiquidationSum struct{ all LiquidationStats }

// Add takes an event.
func (s *LiquidationSum) Add(e *LiquidationEvent) {
	if e.Long {
		s.all.Longs, s.all.LongValue, s.all.LongPnl = s.all.Longs+1, s.all.LongValue.Add(e.Value), s.all.LongPnl.Add(e.Pnl)
	} else {
		s.all.Shorts, s.all.ShortValue, s.all.ShortPnl = s.all.Shorts+1, s.all.ShortValue.Add(e.Value), s.all.ShortPnl.Add(e.Pnl)
	}
	s.all.Addresses = append(s.all.Addresses, DigestOf(e.Address))
}

// Coin notes a coin of which there are events.
func (s *LiquidationSum) Coin(name string) { s.all.Coins = append(s.all.Coins, name) }

// Merge takes the events of a bucket.
func (s *LiquidationSum) Merge(d *LiquidationStats) {
	s.all.count(d)
	s.all.Addresses, s.all.Coins = append(s.all.Addresses, d.Addresses...), append(s.all.Coins, d.Coins...)
}

// Stats is the sum as that of a bucket of a time, ms. Nothing is added to it afterwards.
func (s *LiquidationSum) Stats(ms int64) LiquidationStats {
	slices.SortFunc(s.all.Addresses, func(a, b AddressDigest) int { return bytes.Compare(a[:], b[:]) })
	slices.Sort(s.all.Coins)
	s.all.Addresses, s.all.Coins = slices.Compact(s.all.Addresses), slices.Compact(s.all.Coins)
	s.all.Time = ms
	return s.all
}

// Merge takes the events of another bucket. Time stays.
func (s *LiquidationStats) Merge(d *LiquidationStats) {
	var sum LiquidationSum
	sum.Merge(s)
	sum.Merge(d)
	*s = sum.Stats(s.Time)
}

// count takes the events of another bucket but for what is counted once.
func (s *LiquidationStats) count(d *LiquidationStats) {
	s.Longs, s.Shorts = s.Longs+d.Longs, s.Shorts+d.Shorts
	s.LongValue, s.ShortValue = s.LongValue.Add(d.LongValue), s.ShortValue.Add(d.ShortValue)
	s.LongPnl, s.ShortPnl = s.LongPnl.Add(d.LongPnl), s.ShortPnl.Add(d.ShortPnl)
}

// Liquidations is how many events were summed up.
func (s *LiquidationStats) Liquidations() int64 { return s.Longs + s.Shorts }
