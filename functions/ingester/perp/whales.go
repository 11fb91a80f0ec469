package perp

import (
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/store"
)

// whaleWatch notes what whales do with their positions, and which side they are on.
//
// What all fills of an account and coin in one block did is one event, so that a client does not
// get one for each of the many orders that a large one meets. Who is a whale, and at which prices, is
// looked at as the fills come: of those that come late nobody keeps what their account was worth then. What
// the state of the account says (its entry price, its margin) is taken as the event is published, when the
// state has the fills too.
type whaleWatch struct {
	changes map[whaleMove]*whaleChange // not published yet
	newest  map[string][]whales.Event  // by coin, oldest first
	history sampler
	shown   time.Time
}

// whaleMove names what became of a position within a block.
type whaleMove struct {
	ms         int64
	user, coin string
}

// whaleChange is the size of a position before and after.
type whaleChange struct {
	first, last   market.Order
	before, after market.Decimal
	was           market.OpenRow // of the account's state before; zero where that is not known
}

func newWhaleWatch() whaleWatch {
	return whaleWatch{changes: map[whaleMove]*whaleChange{}, newest: map[string][]whales.Event{}, history: newSampler(whales.Intervals...)}
}

// restore takes the events from the view.
func (w *whaleWatch) restore(v whales.Events) {
	for _, e := range v.Newest {
		w.newest[e.Coin] = append(w.newest[e.Coin], e)
	}
}

// mostChanges is how many changes wait before they are looked at.
const mostChanges = 20_000

// add takes in a fill, before the positions have it.
func (w *whaleWatch) add(f *market.Fill, p *market.Positions) {
	if market.IsSpot(f.Coin) {
		return
	}
	move, order := whaleMove{f.Time, f.Address, f.Coin}, market.Order{Time: f.Time, Seq: f.Seq, Tid: f.Tid}
	c := w.changes[move]
	if c == nil {
		c = &whaleChange{first: order, last: order}
		c.was, _ = p.Held(f.Address, f.Coin)
		w.changes[move] = c
	}
	if order.Compare(c.first) <= 0 {
		c.first, c.before = order, f.StartSize()
	}
	if order.Compare(c.last) >= 0 {
		c.last, c.after = order, f.EndPosition()
	}
}

// settle makes events of the changes of whales.
func (w *whaleWatch) settle(p *market.Positions, m *market.Markets, marks market.Marks) (some bool) {
	accounts := map[string]*market.MarkedTable{}
	for move, c := range w.changes {
		t := accounts[move.user]
		if t == nil {
			t = p.TableOf(move.user, 0).Mark(m, marks)
			accounts[move.user] = t
		}
		if e, ok := whaleEvent(move, c, t, m, marks); ok {
			some = w.keep(e) || some
		}
	}
	clear(w.changes)
	return some
}

// whaleEvent is what became of a position; ok is false where nothing did, and where its account is
// no whale.
func whaleEvent(move whaleMove, c *whaleChange, t *market.MarkedTable, m *market.Markets, marks market.Marks) (e whales.Event, ok bool) {
	action, moved := market.ActionOf(c.before, c.after)
	mark, marked := marks[move.coin]
	if !moved || !marked {
		return e, false
	}
	worth := func(size market.Decimal) market.Decimal {
		usd, _ := m.Usd(move.coin, size.Abs().Mul(mark), marks)
		return usd
	}
	total := market.Micros(0)
	if len(t.Totals) > 0 {
		total = t.Totals[0]
	}
	before := total + market.MicrosOf(worth(c.before)) - market.MicrosOf(worth(c.after))
	if max(total, before) <= market.WhaleValue {
		return e, false
	}
	e = whales.Event{Time: move.ms, User: move.user, Coin: move.coin, Action: action, Size: c.after}
	if action == market.PositionClosed {
		e.Size = c.before
		if c.was.Leverage > 0 {
			e.Isolated = new(c.was.Flags&market.OpenIsolated != 0)
		}
		if perp := m.Perps[move.coin]; c.was.Flags&market.OpenCostKnown != 0 {
			e.EntryPx = new(perp.EntryPx(c.was.Cost.Decimal(), c.before))
		}
	}
	e.Value = worth(e.Size)
	for i := range t.Rows {
		if action != market.PositionClosed && t.Coins[t.Rows[i].Coin].Coin == move.coin {
			describe(&e, t, i)
		}
	}
	return e, true
}

// describe takes over what the state of an account says of a position.
func describe(e *whales.Event, t *market.MarkedTable, i int) {
	row, v := &t.Rows[i], &t.Values[i]
	if row.Leverage > 0 {
		e.Isolated = new(t.Isolated(i))
	}
	if px, known := t.EntryPx(i); known {
		e.EntryPx = &px
	}
	if v.Known && v.LiquidationPx > 0 {
		e.LiqPx = new(t.Coins[row.Coin].Price(v.LiquidationPx))
	}
}

// keep keeps an event among the newest of its coin, and reports whether it is one and new.
func (w *whaleWatch) keep(e whales.Event) bool {
	list := w.newest[e.Coin]
	at, known := slices.BinarySearchFunc(list, &e, func(x whales.Event, y *whales.Event) int { return x.Compare(y) })
	if known || at == 0 && len(list) == whales.MostEvents {
		return false
	}
	list = slices.Insert(list, at, e)
	w.newest[e.Coin] = list[max(0, len(list)-whales.MostEvents):]
	return true
}

// view is the view of the events.
func (w *whaleWatch) view(now time.Time) engine.View {
	v := whales.Events{Time: now.UnixMilli(), Newest: []whales.Event{}}
	for _, list := range w.newest {
		v.Newest = append(v.Newest, list...)
	}
	slices.SortFunc(v.Newest, func(x, y whales.Event) int { return x.Compare(&y) })
	return engine.ViewOf(whales.PublishedEvents, v)
}

// samples are the rows of the intervals that have none of their bucket.
func (w *whaleWatch) samples(now time.Time, of func() market.WhaleSides) (rows []store.SeriesRow) {
	if !w.history.missing("", now) {
		return nil
	}
	sides := whales.NewSides(now.UnixMilli(), of())
	return w.history.add(rows, "", now, func(i market.Interval, start int64) store.SeriesRow { return whales.Row(i, start, &sides) })
}
