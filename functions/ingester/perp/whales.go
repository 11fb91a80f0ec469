package perp

import (
	"slices"
	"time"

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
	newest  whales.Newest
	unshown bool // some are not in the view
	shown   time.Time
	history sampler
}

// whaleMove names what became of a position within a block.
type whaleMove struct {
	ms         int64
	user, coin string
	live       bool // only public trades tell of it yet
}

// whaleChange is the size of a position before and after.
type whaleChange struct {
	first, last   market.Order
	before, after market.Decimal
	was           market.OpenRow // of the account's state before; zero where that is not known
}

func newWhaleWatch() whaleWatch {
	return whaleWatch{changes: map[whaleMove]*whaleChange{}, history: newSampler(whales.Intervals...)}
}

// add takes in a fill, with what the state of its account says of the position before.
func (w *whaleWatch) add(f *market.Fill, was market.OpenRow) {
	if market.IsSpot(f.Coin) {
		return
	}
	move, order := whaleMove{f.Time, f.Address, f.Coin, f.Provisional}, market.Order{Time: f.Time, Seq: f.Seq, Tid: f.Tid}
	c := w.changes[move]
	if c == nil {
		c = &whaleChange{first: order, last: order, was: was}
		w.changes[move] = c
	}
	if order.Compare(c.first) <= 0 {
		c.first, c.before = order, f.StartSize()
	}
	if order.Compare(c.last) >= 0 {
		c.last, c.after = order, f.EndPosition()
	}
}

// settle makes events of the changes of whales, by time, of those of which only public trades tell or of the others, by the
// positions that have them. It calls take with each that is new.
func (w *whaleWatch) settle(live bool, p *market.Positions, m *market.Markets, marks market.Marks, take func(*whales.Event)) {
	accounts, events := map[string]*whaleAccount{}, []whales.Event{}
	for move, c := range w.changes {
		if move.live != live {
			continue
		}
		a := accounts[move.user]
		if a == nil {
			a = &whaleAccount{MarkedTable: p.TableOf(move.user, 0).Mark(m, marks)}
			accounts[move.user] = a
			if len(a.Totals) > 0 {
				a.after = a.Totals[0]
			}
			a.before = a.after
		}
		a.before += market.MicrosOf(worthOf(move.coin, c.before, m, marks)) - market.MicrosOf(worthOf(move.coin, c.after, m, marks))
	}
	for move, c := range w.changes {
		if move.live != live {
			continue
		}
		delete(w.changes, move)
		if e, ok := whaleEvent(move, c, accounts[move.user], m, marks); ok && !w.newest.Has(&e) {
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(x, y whales.Event) int { return x.Compare(&y) })
	for i := range events {
		take(&events[i])
		w.unshown = w.newest.Keep(events[i]) || w.unshown
	}
}

// whaleAccount is an account that did something, with what its positions were worth together before
// and after all that it did.
type whaleAccount struct {
	*market.MarkedTable
	before, after market.Micros
}

// worthOf is the value of a size at the mark, USD; 0 where that is not known.
func worthOf(coin string, size market.Decimal, m *market.Markets, marks market.Marks) market.Decimal {
	usd, _ := m.Usd(coin, size.Abs().Mul(marks[coin]), marks)
	return usd
}

// whaleEvent is what became of a position; ok is false where nothing did, and where its account is
// no whale.
func whaleEvent(move whaleMove, c *whaleChange, t *whaleAccount, m *market.Markets, marks market.Marks) (e whales.Event, ok bool) {
	action, moved := market.ActionOf(c.before, c.after)
	if _, marked := marks[move.coin]; !moved || !marked || max(t.before, t.after) <= market.WhaleValue {
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
	e.Value = worthOf(move.coin, e.Size, m, marks)
	for i := range t.Rows {
		if action != market.PositionClosed && t.Coins[t.Rows[i].Coin].Coin == move.coin {
			describe(&e, t.MarkedTable, i)
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

// samples are the rows of the intervals that have none of their bucket.
func (w *whaleWatch) samples(now time.Time, of func() market.WhaleSides) (rows []store.SeriesRow) {
	if !w.history.missing("", now) {
		return nil
	}
	sides := whales.NewSides(now.UnixMilli(), of())
	return w.history.add(rows, "", now, func(i market.Interval, start int64) store.SeriesRow { return whales.Row(i, start, &sides) })
}
