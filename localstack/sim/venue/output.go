package venue

import (
	"strconv"
	"time"
)

// stream is one of the node's output streams.
type stream int

const (
	streamFills stream = iota
	streamOrders
	streamDiffs
	streamMisc
	streamTwaps
	streamCount
)

var streamDirs = [streamCount]string{"node_fills_by_block", "node_order_statuses_by_block",
	"node_raw_book_diffs_by_block", "misc_events_by_block", "node_twap_statuses_by_block"}

// output is what a block leaves behind: the events of each stream as they go
// into the node's line, and the same as values for the WebSocket feed. It is
// valid until the next block begins.
type output struct {
	events  [streamCount][]byte
	lines   [streamCount][]byte // complete lines, empty for a stream without events that is not written for each block
	local   time.Time           // when the node wrote the block
	stamp   []byte              // the block's time
	deltas  []byte
	touched []bool // by market: book or trades changed

	trades   []tradeOf
	fills    []fill
	statuses []orderRec
	ledgers  []ledgerOf
	fundings []fundingOf
	twaps    []twapRec
	forced   []forcedClose
}

// forcedClose is the state of an account when its liquidation began.
type forcedClose struct {
	User          int
	Notional      int64
	Equity, Maint int64
}

type tradeOf struct {
	Coin int16
	Rec  tradeRec
}

type ledgerOf struct {
	User int
	Rec  ledgerRec
}

type fundingOf struct {
	User int
	Rec  fundingRec
}

const stampLayout = "2006-01-02T15:04:05.000000000"

func (w *output) begin(e *engine) {
	for s := range w.events {
		w.events[s], w.lines[s] = w.events[s][:0], w.lines[s][:0]
	}
	w.trades, w.fills, w.statuses = w.trades[:0], w.fills[:0], w.statuses[:0]
	w.ledgers, w.fundings, w.twaps, w.deltas = w.ledgers[:0], w.fundings[:0], w.twaps[:0], w.deltas[:0]
	w.forced = w.forced[:0]
	if w.touched == nil {
		w.touched = make([]bool, len(e.mk))
	}
	clear(w.touched)
	at := time.Unix(0, e.Time).UTC()
	w.stamp = at.AppendFormat(w.stamp[:0], stampLayout)
	lag := 120_000_000 + int64(mix64(e.Seed^uint64(e.Block))%150_000_000)
	w.local = at.Add(time.Duration(lag))
}

// end puts the events of each stream that has any into its line. Of fills a node writes a line for each
// block.
func (w *output) end(e *engine) {
	if len(w.deltas) > 0 {
		b := w.open(streamMisc)
		b = append(append(b, `{"time":"`...), w.stamp...)
		b = append(b, `","hash":"`...)
		b = append(e.appendHash(b, 0), `","inner":{"Funding":{"deltas":[`...)
		w.events[streamMisc] = append(append(b, w.deltas...), `]}}}`...)
	}
	for s, ev := range w.events {
		if len(ev) == 0 && stream(s) != streamFills {
			continue
		}
		b := w.lines[s][:0]
		b = append(b, `{"local_time":"`...)
		b = w.local.AppendFormat(b, stampLayout)
		b = append(append(b, `","block_time":"`...), w.stamp...)
		b = append(b, `","block_number":`...)
		b = strconv.AppendInt(b, e.Block, 10)
		b = append(b, `,"events":[`...)
		w.lines[s] = append(append(b, ev...), "]}\n"...)
	}
}

// open returns a stream's event buffer, ready for the next event.
func (w *output) open(s stream) []byte {
	b := w.events[s]
	if len(b) > 0 {
		b = append(b, ',')
	}
	return b
}

func (w *output) touch(c int16) { w.touched[c] = true }

func (w *output) trade(c int16, t tradeRec) { w.trades = append(w.trades, tradeOf{c, t}) }

func (w *output) fill(e *engine, f *fill) {
	w.fills = append(w.fills, *f)
	b := append(w.open(streamFills), `["`...)
	b = append(append(b, e.prof[f.User].Addr...), `",`...)
	w.events[streamFills] = append(e.appendFill(b, f, true), ']')
}

func (w *output) status(e *engine, o *order, status string) {
	w.statuses = append(w.statuses, orderRec{Order: *o, Status: status, Time: e.ms()})
	b := append(w.open(streamOrders), `{"time":"`...)
	b = append(append(b, w.stamp...), `","user":"`...)
	b = append(append(b, e.prof[o.User].Addr...), `","hash":`...)
	if e.tx == 0 {
		b = append(b, `null`...)
	} else {
		b = append(e.appendHash(append(b, '"'), e.tx), '"')
	}
	b = append(b, `,"builder":`...)
	if p := &e.prof[o.User]; p.Builder >= 0 && !e.mk[o.Coin].Spot && o.Liq == nil {
		b = append(append(b, `{"b":"`...), e.bld[p.Builder]...)
		b = strconv.AppendInt(append(b, `","f":`...), p.BldBps, 10)
		b = append(b, '}')
	} else {
		b = append(b, `null`...)
	}
	b = append(append(b, `,"status":"`...), status...)
	b = append(b, `","order":`...)
	w.events[streamOrders] = append(e.appendOrder(b, o), '}')
}

func (w *output) diff(e *engine, o *order) []byte {
	b := append(w.open(streamDiffs), `{"user":"`...)
	b = append(append(b, e.prof[o.User].Addr...), `","oid":`...)
	b = strconv.AppendInt(b, o.Oid, 10)
	b = append(append(b, `,"coin":"`...), e.mk[o.Coin].Name...)
	b = append(append(b, `","side":"`...), sideOf(o.Buy)...)
	b = appendDec(append(b, `","px":"`...), o.Px, e.mk[o.Coin].PxDec)
	return append(b, `","raw_book_diff":`...)
}

func (w *output) diffNew(e *engine, o *order) {
	b := appendDec(append(w.diff(e, o), `{"new":{"sz":"`...), o.Sz, e.mk[o.Coin].SzDec)
	w.events[streamDiffs] = append(b, `"}}}`...)
}

func (w *output) diffUpdate(e *engine, o *order, before int64) {
	b := appendDec(append(w.diff(e, o), `{"update":{"origSz":"`...), before, e.mk[o.Coin].SzDec)
	b = appendDec(append(b, `","newSz":"`...), o.Sz, e.mk[o.Coin].SzDec)
	w.events[streamDiffs] = append(b, `"}}}`...)
	w.touch(o.Coin)
}

func (w *output) diffRemove(e *engine, o *order) {
	w.events[streamDiffs] = append(w.diff(e, o), `"remove"}`...)
}

func (w *output) ledger(e *engine, addrs []string, users []int, delta []byte) {
	for _, u := range users {
		rec := ledgerRec{Time: e.ms(), Tx: e.tx, Delta: string(delta)}
		w.ledgers = append(w.ledgers, ledgerOf{u, rec})
	}
	b := append(w.open(streamMisc), `{"time":"`...)
	b = append(append(b, w.stamp...), `","hash":"`...)
	b = append(e.appendHash(b, e.tx), `","inner":{"LedgerUpdate":{"users":[`...)
	for i, addr := range addrs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), addr...), '"')
	}
	b = append(append(b, `],"delta":`...), delta...)
	w.events[streamMisc] = append(b, `}}}`...)
}

// funding collects one payment; all of an hour go into one event.
func (w *output) funding(e *engine, u int, r fundingRec) {
	w.fundings = append(w.fundings, fundingOf{u, r})
	if len(w.deltas) > 0 {
		w.deltas = append(w.deltas, ',')
	}
	w.deltas = append(w.deltas, object(nil).text("user", e.prof[u].Addr).text("coin", e.mk[r.Coin].Name).
		num("funding_amount", r.Usdc, 6).num("szi", r.Szi, e.mk[r.Coin].SzDec).num("funding_rate", r.Rate, 10).end()...)
}

func (w *output) twap(e *engine, t *twap, status string) {
	w.twaps = append(w.twaps, twapRec{Time: e.ms(), Twap: *t, Status: status})
	b := append(w.open(streamTwaps), `{"time":"`...)
	b = append(append(b, w.stamp...), `","twap_id":`...)
	b = strconv.AppendInt(b, t.ID, 10)
	b = e.appendTwap(append(b, `,"state":`...), t)
	w.events[streamTwaps] = append(appendTwapStatus(append(b, `,"status":`...), status), '}')
}

func sideOf(buy bool) string {
	if buy {
		return "B"
	}
	return "A"
}
