package venue

import "strings"

// channelKind is one subscription type: what it needs, its first frame, and
// the frame of a block (nil for none).
type channelKind struct {
	coin, user, interval bool
	snapshot             func(*engine, *topic) []byte
	push                 func(*engine, *topic) []byte
	each                 func(*engine, *topic, func([]byte)) // in the place of push: any number of frames
}

// How often the throttled channels push at most, ms of block time. A fast subscription to
// a book gets it more often and less of it.
const (
	bookEvery     = 5000
	fastBookEvery = 500
	midsEvery     = 1000
	ctxEvery      = 1000
	stateEvery    = 1000
	webEvery      = 5000
)

func lower(s string) string { return strings.ToLower(s) }

var channels = map[string]*channelKind{
	"allMids": {snapshot: frameMids, push: every(midsEvery, frameMids)},
	"l2Book": {coin: true, snapshot: frameBook, push: func(e *engine, t *topic) []byte {
		period := int64(bookEvery)
		if t.sub.Fast {
			period = fastBookEvery
		}
		t.dirty = t.dirty || e.out.touched[t.coin]
		if !t.dirty || e.ms()-t.pushed < period {
			return nil
		}
		t.dirty, t.pushed = false, e.ms()
		return frameBook(e, t)
	}},
	"bbo":            {coin: true, snapshot: frameBbo, push: changedBbo},
	"trades":         {coin: true, snapshot: snapshotTrades, push: frameTrades},
	"candle":         {coin: true, interval: true, snapshot: frameCandle, push: onTrade(frameCandle)},
	"activeAssetCtx": {coin: true, snapshot: frameCtx, push: every(ctxEvery, frameCtx)},

	"userFills":                   {user: true, snapshot: snapshotFills, push: frameFills},
	"orderUpdates":                {user: true, push: frameOrderUpdates},
	"userEvents":                  {user: true, each: eachUserEvent},
	"userFundings":                {user: true, snapshot: snapshotFundings, push: frameFundings},
	"userNonFundingLedgerUpdates": {user: true, snapshot: snapshotLedger, push: frameLedger},
	"userTwapSliceFills":          {user: true, snapshot: snapshotSlices, push: frameSlices},
	"userTwapHistory":             {user: true, snapshot: snapshotTwaps, push: frameTwaps},
	"openOrders":                  {user: true, snapshot: frameOpenOrders, push: onOrder(frameOpenOrders)},
	"clearinghouseState":          {user: true, snapshot: frameState, push: every(stateEvery, frameState)},
	"webData2":                    {user: true, snapshot: frameWebData, push: every(webEvery, frameWebData)},
	"activeAssetData":             {user: true, coin: true, snapshot: frameAsset, push: every(stateEvery, frameAsset)},
}

// frame wraps data in its channel.
func frame(channel string, data []byte) []byte {
	return object(nil).text("channel", channel).raw("data", data).end()
}

// every limits a frame to one per period of block time.
func every(period int64, fn func(*engine, *topic) []byte) func(*engine, *topic) []byte {
	return func(e *engine, t *topic) []byte {
		if e.ms()-t.pushed < period {
			return nil
		}
		t.pushed = e.ms()
		return fn(e, t)
	}
}

// onTrade makes the frame when the block traded the topic's coin.
func onTrade(fn func(*engine, *topic) []byte) func(*engine, *topic) []byte {
	return func(e *engine, t *topic) []byte {
		for i := range e.out.trades {
			if int(e.out.trades[i].Coin) == t.coin {
				return fn(e, t)
			}
		}
		return nil
	}
}

// onOrder makes the frame when the block changed one of the user's orders.
func onOrder(fn func(*engine, *topic) []byte) func(*engine, *topic) []byte {
	return func(e *engine, t *topic) []byte {
		for i := range e.out.statuses {
			if int(e.out.statuses[i].Order.User) == t.user {
				return fn(e, t)
			}
		}
		return nil
	}
}

func frameMids(e *engine, t *topic) []byte {
	return frame("allMids", object(nil).raw("mids", e.appendMids(nil, t.dex)).end())
}

func frameBook(e *engine, t *topic) []byte {
	prices := bookDepth
	if t.sub.Fast {
		prices = fastBookDepth
	}
	return frame("l2Book", e.appendBook(nil, t.coin, t.group, prices))
}

func frameBbo(e *engine, t *topic) []byte {
	t.last = e.bbo(t.coin)
	return frame("bbo", object(nil).text("coin", e.mk[t.coin].Name).int("time", e.ms()).raw("bbo", []byte(t.last)).end())
}

// changedBbo is the frame when either side has changed since the last one.
func changedBbo(e *engine, t *topic) []byte {
	if !e.out.touched[t.coin] || e.bbo(t.coin) == t.last {
		return nil
	}
	return frameBbo(e, t)
}

// bbo is the pair of best levels, null for an empty side.
func (e *engine) bbo(c int) string {
	side := func(b []byte, bids bool) []byte {
		n := len(b)
		e.books[c].depth(bids, func(px, sz int64, orders int) bool {
			b = e.appendLevel(b, c, px, sz, orders)
			return false
		})
		if len(b) == n {
			return append(b, "null"...)
		}
		return b
	}
	b := append(side([]byte{'['}, true), ',')
	return string(append(side(b, false), ']'))
}

func snapshotTrades(e *engine, t *topic) []byte {
	return frame("trades", list(nil, last(e.Mk[t.coin].Tape, 10), func(b []byte, r *tradeRec) []byte {
		return e.appendTrade(b, t.coin, r)
	}))
}

func frameTrades(e *engine, t *topic) []byte {
	var in []tradeRec
	for _, tr := range e.out.trades {
		if int(tr.Coin) == t.coin {
			in = append(in, tr.Rec)
		}
	}
	if in == nil {
		return nil
	}
	return frame("trades", list(nil, in, func(b []byte, r *tradeRec) []byte { return e.appendTrade(b, t.coin, r) }))
}

// frameCandle is the candle under way, nil before its first trade.
func frameCandle(e *engine, t *topic) []byte {
	open, _ := bucketOf(t.sub.Interval, e.ms())
	candles := e.Mk[t.coin].candles(t.sub.Interval, open, e.ms())
	if len(candles) == 0 {
		return nil
	}
	return frame("candle", e.appendCandle(nil, t.coin, t.sub.Interval, &candles[len(candles)-1]))
}

func frameCtx(e *engine, t *topic) []byte {
	o := object(nil).text("coin", e.mk[t.coin].Name)
	if e.mk[t.coin].Spot {
		return frame("activeSpotAssetCtx", o.raw("ctx", e.appendSpotCtx(nil, t.coin)).end())
	}
	return frame("activeAssetCtx", o.raw("ctx", e.appendPerpCtx(nil, t.coin)).end())
}

// userFrame is the common form of the per-user channels.
func userFrame(channel, key string, snapshot bool, t *topic, items []byte) []byte {
	o := object(nil)
	if snapshot {
		o = o.bool("isSnapshot", true)
	}
	return frame(channel, o.text("user", t.sub.User).raw(key, items).end())
}

func snapshotFills(e *engine, t *topic) []byte {
	fills := aggregate(last(e.account(t.user).Fills, depthFills), t.sub.AggregateByTime)
	return userFrame("userFills", "fills", true, t, e.fillList(newestFirst(fills)))
}

// fillsOf selects the block's fills of the topic's user.
func fillsOf(e *engine, t *topic) []fill {
	var in []fill
	for i := range e.out.fills {
		if int(e.out.fills[i].User) == t.user {
			in = append(in, e.out.fills[i])
		}
	}
	return in
}

func frameFills(e *engine, t *topic) []byte {
	in := fillsOf(e, t)
	if in == nil {
		return nil
	}
	return userFrame("userFills", "fills", false, t, e.fillList(aggregate(in, t.sub.AggregateByTime)))
}

func frameOrderUpdates(e *engine, t *topic) []byte {
	var in []orderRec
	for i := range e.out.statuses {
		if int(e.out.statuses[i].Order.User) == t.user {
			in = append(in, e.out.statuses[i])
		}
	}
	if in == nil {
		return nil
	}
	return frame("orderUpdates", list(nil, in, func(b []byte, r *orderRec) []byte {
		return append(b, object(nil).raw("order", e.appendBasicOrder(nil, &r.Order)).text("status", r.Status).
			int("statusTimestamp", r.Time).end()...)
	}))
}

// eachUserEvent makes one frame for the block's fills, and one for each forced
// close and each funding payment.
func eachUserEvent(e *engine, t *topic, send func([]byte)) {
	event := func(key string, data []byte) { send(frame("user", object(nil).raw(key, data).end())) }
	if in := fillsOf(e, t); in != nil {
		event("fills", e.fillList(in))
	}
	for i := range e.out.forced {
		if f := &e.out.forced[i]; f.User == t.user {
			event("liquidation", object(nil).int("lid", e.Block).text("liquidator", e.prof[vault].Addr).
				text("liquidated_user", t.sub.User).num("liquidated_ntl_pos", f.Notional, 6).
				num("liquidated_account_value", f.Equity, 6).end())
		}
	}
	for _, f := range fundingsOf(e, t) {
		event("funding", e.appendFundingPoint(nil, &f))
	}
}

// appendFundingPoint is the flat form of the userFundings channel.
func (e *engine) appendFundingPoint(b []byte, f *fundingRec) []byte {
	return append(b, object(nil).int("time", f.Time).text("coin", e.mk[f.Coin].Name).num("usdc", f.Usdc, 6).
		num("szi", f.Szi, e.mk[f.Coin].SzDec).num("fundingRate", f.Rate, 10).end()...)
}

func fundingsOf(e *engine, t *topic) []fundingRec {
	var in []fundingRec
	for _, f := range e.out.fundings {
		if f.User == t.user {
			in = append(in, f.Rec)
		}
	}
	return in
}

func snapshotFundings(e *engine, t *topic) []byte {
	in := last(e.account(t.user).Fundings, depthFundings)
	return userFrame("userFundings", "fundings", true, t, list(nil, in, e.appendFundingPoint))
}

func frameFundings(e *engine, t *topic) []byte {
	in := fundingsOf(e, t)
	if in == nil {
		return nil
	}
	return userFrame("userFundings", "fundings", false, t, list(nil, in, e.appendFundingPoint))
}

func snapshotLedger(e *engine, t *topic) []byte {
	in := last(e.account(t.user).Ledger, depthLedger)
	return userFrame("userNonFundingLedgerUpdates", "nonFundingLedgerUpdates", true, t, list(nil, in, e.appendLedger))
}

func frameLedger(e *engine, t *topic) []byte {
	var in []ledgerRec
	for _, l := range e.out.ledgers {
		if l.User == t.user {
			in = append(in, l.Rec)
		}
	}
	if in == nil {
		return nil
	}
	return userFrame("userNonFundingLedgerUpdates", "nonFundingLedgerUpdates", false, t, list(nil, in, e.appendLedger))
}

func snapshotSlices(e *engine, t *topic) []byte {
	in := newestFirst(last(e.account(t.user).Fills, depthFills))
	return userFrame("userTwapSliceFills", "twapSliceFills", true, t, e.sliceList(in))
}

func frameSlices(e *engine, t *topic) []byte {
	items := e.sliceList(fillsOf(e, t))
	if len(items) == 2 {
		return nil
	}
	return userFrame("userTwapSliceFills", "twapSliceFills", false, t, items)
}

func snapshotTwaps(e *engine, t *topic) []byte {
	in := newestFirst(last(e.account(t.user).Twapped, depthTwaps))
	return userFrame("userTwapHistory", "history", true, t, list(nil, in, e.appendTwapRec))
}

func frameTwaps(e *engine, t *topic) []byte {
	var in []twapRec
	for _, r := range e.out.twaps {
		if int(r.Twap.User) == t.user {
			in = append(in, r)
		}
	}
	if in == nil {
		return nil
	}
	return userFrame("userTwapHistory", "history", false, t, list(nil, in, e.appendTwapRec))
}

func frameOpenOrders(e *engine, t *topic) []byte {
	orders := list(nil, e.visible(t.user, t.dex), e.appendOrder)
	return frame("openOrders", object(nil).text("dex", t.sub.Dex).text("user", t.sub.User).raw("orders", orders).end())
}

func frameState(e *engine, t *topic) []byte {
	state := e.appendClearinghouse(nil, t.user, t.dex)
	return frame("clearinghouseState", object(nil).text("dex", t.sub.Dex).text("user", t.sub.User).
		raw("clearinghouseState", state).end())
}

func frameWebData(e *engine, t *topic) []byte {
	return frame("webData2", e.appendWebData2(nil, t.sub.User, t.user))
}

func frameAsset(e *engine, t *topic) []byte {
	if e.mk[t.coin].Spot {
		return nil
	}
	return frame("activeAssetData", e.appendActiveAsset(nil, t.sub.User, t.user, t.coin))
}
