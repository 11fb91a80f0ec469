package venue

// twap is a running or ended TWAP order.
type twap struct {
	ID       int64
	User     int32
	Coin     int16
	Buy      bool
	Reduce   bool
	Random   bool
	Sz       int64
	Done     int64 // executed size
	DoneNtl  int64 // executed quote units
	Minutes  int64
	Start    int64 // ms
	Next     int64 // ms of the next slice
	Failures int64
}

const maxTwaps = 24

// How a TWAP ends, and what it begins with; the last is an error, whose words the venue gives.
const (
	twapActivated  = "activated"
	twapFinished   = "finished"
	twapTerminated = "terminated"
	twapUnpaid     = "Insufficient margin to place order."
)

// startTwap begins a TWAP; a slice is due every 30 s. A few ask for much more than their
// account can pay: these are refused.
func (e *engine) startTwap(u, c int, buy bool, sz int64) {
	if len(e.Twaps) >= maxTwaps {
		return
	}
	for i := range e.Twaps {
		if int(e.Twaps[i].User) == u && int(e.Twaps[i].Coin) == c {
			return
		}
	}
	minutes := e.Rng.between(5, 60)
	if e.Coarse {
		minutes = e.Rng.between(30, 240)
	}
	slices := minutes * 2
	if sz = min(sz, mulDivDown(e.mk[c].Level*20, 1, e.Mk[c].Mark)); sz/slices < 1 {
		return
	}
	if e.Rng.percent(6) {
		sz *= 2000
	}
	e.LastTwp++
	t := twap{ID: e.LastTwp, User: int32(u), Coin: int16(c), Buy: buy, Sz: sz, Minutes: minutes, Start: e.ms(),
		Next: e.ms(), Random: e.Rng.percent(30)}
	if mark := e.Mk[c].Mark; !e.affords(u, c, signedSz(buy, sz/slices), mark+mark/100) {
		e.twapStatus(&t, twapUnpaid)
		return
	}
	e.Twaps = append(e.Twaps, t)
	e.twapStatus(&t, twapActivated)
}

// openTwaps begins a few TWAPs at the end of the history, in whose long blocks all come to their
// end, so that some run at once.
func (e *engine) openTwaps() {
	for u := range e.prof {
		p := &e.prof[u]
		if p.Kind != kindTwap {
			continue
		}
		if e.action(); !e.Acc[u].Joined {
			e.join(u)
		}
		for _, c := range p.Coins {
			if sz := e.size(u, c); sz > 0 && len(e.Twaps) < 4 {
				e.startTwap(u, c, e.direction(u, c), 2*sz)
			}
		}
	}
}

func (e *engine) twapStatus(t *twap, status string) {
	e.out.twap(e, t, status)
	a := &e.Acc[t.User]
	a.Twapped = push(a.Twapped, twapRec{Time: e.ms(), Twap: *t, Status: status}, depthTwaps)
}

// sliceTwaps sends the slices that are due and ends what is done.
func (e *engine) sliceTwaps() {
	kept := e.Twaps[:0]
	for i := range e.Twaps {
		t := e.Twaps[i]
		if e.ms() >= t.Next && t.Done < t.Sz {
			e.slice(&t)
		}
		switch end := t.Start + t.Minutes*60_000; {
		case t.Done == t.Sz, e.ms() >= end:
			e.twapStatus(&t, twapFinished)
		case t.Failures > 3:
			e.twapStatus(&t, twapUnpaid)
		case e.ms() > t.Start+60_000 && e.Rng.n(6*3_600_000) < min(e.dtMs, 60_000):
			e.twapStatus(&t, twapTerminated)
		default:
			kept = append(kept, t)
		}
	}
	e.Twaps = kept
}

// slice trades up to what should be executed by now, with a limit of 3% through
// the mark and at most three times an even slice unless blocks are long.
func (e *engine) slice(t *twap) {
	u, c := int(t.User), int(t.Coin)
	e.ensureQuotes(c)
	e.tx = 0
	slices := t.Minutes * 2
	even := max(1, t.Sz/slices)
	elapsed := min(slices, (e.ms()-t.Start)/30_000+1)
	want := mulDivDown(t.Sz, elapsed, slices) - t.Done
	if t.Random {
		want = want * e.Rng.between(80, 120) / 100
	}
	if !e.Coarse {
		want = min(want, 3*even)
	}
	want = min(want, t.Sz-t.Done)
	t.Next = e.ms() + 30_000
	if want < 1 {
		return
	}
	m, mark := &e.mk[c], e.Mk[c].Mark
	if !e.affords(u, c, signedSz(t.Buy, want), mark+mark/100) {
		t.Failures++
		return
	}
	px := ceilTick(mark+mark*3/100, m.PxDec)
	if !t.Buy {
		px = floorTick(mark-mark*3/100, m.PxDec)
	}
	before := e.Mk[c].Volume
	t.Done += e.submit(&order{User: t.User, Coin: t.Coin, Buy: t.Buy, Px: px, Sz: want, Tif: ioc, Reduce: t.Reduce,
		Twap: t.ID})
	t.DoneNtl += e.Mk[c].Volume - before
}

// appendTwapStatus writes a status as the node does: of an error an object with its words.
func appendTwapStatus(b []byte, status string) []byte {
	if status == twapUnpaid {
		return append(b, object(nil).text("error", status).end()...)
	}
	return append(append(append(b, '"'), status...), '"')
}

// twapStatusObject writes a status as /info does.
func twapStatusObject(status string) []byte {
	if status == twapUnpaid {
		return object(nil).text("status", "error").text("description", status).end()
	}
	return object(nil).text("status", status).end()
}

// TruthTwap is a TWAP that runs, as the venue keeps it. Decimals are exact.
type TruthTwap struct {
	ID          int64
	Address     string
	Coin        string
	Buy         bool
	Randomize   bool
	Sz          string
	ExecutedSz  string
	ExecutedNtl string
	Minutes     int64
	Start       int64 // ms
}

// TruthTwaps are the TWAPs that run, oldest first.
func (v *Venue) TruthTwaps() []TruthTwap {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.eng
	list := make([]TruthTwap, len(e.Twaps))
	for i := range e.Twaps {
		t := &e.Twaps[i]
		m := &e.mk[t.Coin]
		list[i] = TruthTwap{ID: t.ID, Address: e.prof[t.User].Addr, Coin: m.Name, Buy: t.Buy, Randomize: t.Random, Sz: dec(t.Sz, m.SzDec),
			ExecutedSz: dec(t.Done, m.SzDec), ExecutedNtl: dec(t.DoneNtl, m.quoteDec()), Minutes: t.Minutes, Start: t.Start}
	}
	return list
}
