package venue

import "strconv"

// The JSON of the wire, appended to buffers: every block and every /info answer
// goes through these.

// appendFill writes a fill. The node's files name the builder, the public API
// does not.
func (e *engine) appendFill(b []byte, f *fill, node bool) []byte {
	m := &e.mk[f.Coin]
	sizeDec, startDec, moneyDec := m.SzDec, m.SzDec, 6
	if m.Spot {
		startDec, moneyDec = 8, 8
	}
	if f.Dir == dustConversion {
		sizeDec = 8
	}
	b = append(append(b, `{"coin":"`...), m.Name...)
	b = appendDec(append(b, `","px":"`...), f.Px, m.PxDec)
	b = appendDec(append(b, `","sz":"`...), f.Sz, sizeDec)
	b = append(append(b, `","side":"`...), sideOf(f.Buy)...)
	b = strconv.AppendInt(append(b, `","time":`...), f.Time, 10)
	b = appendDec(append(b, `,"startPosition":"`...), f.Start, startDec)
	b = append(append(b, `","dir":"`...), dirNames[f.Dir]...)
	b = appendDec(append(b, `","closedPnl":"`...), f.Closed, moneyDec)
	b = e.appendHash(append(b, `","hash":"`...), f.Tx)
	b = strconv.AppendInt(append(b, `","oid":`...), f.Oid, 10)
	b = strconv.AppendBool(append(b, `,"crossed":`...), f.Crossed)
	b = appendDec(append(b, `,"fee":"`...), f.Fee, moneyDec)
	b = strconv.AppendInt(append(b, `","tid":`...), f.Tid, 10)
	if f.Cloid != 0 {
		b = append(appendCloid(append(b, `,"cloid":"`...), f.Cloid), '"')
	}
	if f.Liq != nil {
		b = e.appendLiquidation(append(b, `,"liquidation":`...), f.Liq, m)
	}
	b = append(append(b, `,"feeToken":"`...), e.tokens[f.FeeTok].name...)
	b = append(b, '"')
	if f.Builder >= 0 {
		if f.BuilderFee != 0 {
			b = append(appendDec(append(b, `,"builderFee":"`...), f.BuilderFee, moneyDec), '"')
		}
		if node {
			b = append(append(append(b, `,"builder":"`...), e.bld[f.Builder]...), '"')
		}
	}
	b = append(b, `,"twapId":`...)
	if f.Twap == 0 {
		return append(b, `null}`...)
	}
	return append(strconv.AppendInt(b, f.Twap, 10), '}')
}

func (e *engine) appendLiquidation(b []byte, l *liquidation, m *market) []byte {
	b = append(append(b, `{"liquidatedUser":"`...), e.prof[l.User].Addr...)
	b = appendDec(append(b, `","markPx":"`...), l.Mark, m.PxDec)
	if l.Backstop {
		return append(b, `","method":"backstop"}`...)
	}
	return append(b, `","method":"market"}`...)
}

// appendCloid writes a client order id: 16 bytes, of which 8 are drawn.
func appendCloid(b []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	b = append(b, "0x0000000000000000"...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&15])
	}
	return b
}

// orderType is the venue's text for an order.
func orderType(o *order) string {
	switch {
	case o.Trigger == takeProfit:
		return "Take Profit Market"
	case o.Trigger == stopLoss:
		return "Stop Market"
	case o.Tif == frontendMarket || o.Tif == liquidationMarket:
		return "Market"
	}
	return "Limit"
}

// appendOrder writes an order as the node, historicalOrders and
// frontendOpenOrders have it.
func (e *engine) appendOrder(b []byte, o *order) []byte {
	m := &e.mk[o.Coin]
	b = append(append(b, `{"coin":"`...), m.Name...)
	b = append(append(b, `","side":"`...), sideOf(o.Buy)...)
	b = appendDec(append(b, `","limitPx":"`...), o.Px, m.PxDec)
	b = appendDec(append(b, `","sz":"`...), o.Sz, m.SzDec)
	b = strconv.AppendInt(append(b, `","oid":`...), o.Oid, 10)
	b = strconv.AppendInt(append(b, `,"timestamp":`...), o.Time, 10)
	b = append(b, `,"triggerCondition":"`...)
	b = e.appendCondition(b, o)
	b = strconv.AppendBool(append(b, `","isTrigger":`...), o.Trigger != noTrigger)
	b = appendDec(append(b, `,"triggerPx":"`...), o.TriggerPx, m.PxDec)
	b = append(b, `","children":[],"isPositionTpsl":`...)
	b = strconv.AppendBool(b, o.PosTpsl)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), o.Reduce)
	b = append(append(b, `,"orderType":"`...), orderType(o)...)
	b = appendDec(append(b, `","origSz":"`...), o.Orig, m.SzDec)
	b = append(b, `","tif":`...)
	if o.Trigger != noTrigger {
		b = append(b, `null`...)
	} else {
		b = append(append(append(b, '"'), tifNames[o.Tif]...), '"')
	}
	b = append(b, `,"cloid":`...)
	if o.Cloid == 0 {
		return append(b, `null}`...)
	}
	return append(appendCloid(append(b, '"'), o.Cloid), `"}`...)
}

func (e *engine) appendCondition(b []byte, o *order) []byte {
	switch {
	case o.Trigger == noTrigger:
		return append(b, "N/A"...)
	case o.Triggered:
		return append(b, "Triggered"...)
	case above(o):
		b = append(b, "Price above "...)
	default:
		b = append(b, "Price below "...)
	}
	return appendPlain(b, o.TriggerPx, e.mk[o.Coin].PxDec)
}

// appendPlain is appendDec without the ".0" of whole numbers.
func appendPlain(b []byte, v int64, decimals int) []byte {
	b = appendDec(b, v, decimals)
	if n := len(b); n > 2 && b[n-1] == '0' && b[n-2] == '.' {
		return b[:n-2]
	}
	return b
}

// appendBasicOrder writes the short form of openOrders and orderUpdates.
func (e *engine) appendBasicOrder(b []byte, o *order) []byte {
	m := &e.mk[o.Coin]
	b = append(append(b, `{"coin":"`...), m.Name...)
	b = append(append(b, `","side":"`...), sideOf(o.Buy)...)
	b = appendDec(append(b, `","limitPx":"`...), o.Px, m.PxDec)
	b = appendDec(append(b, `","sz":"`...), o.Sz, m.SzDec)
	b = strconv.AppendInt(append(b, `","oid":`...), o.Oid, 10)
	b = strconv.AppendInt(append(b, `,"timestamp":`...), o.Time, 10)
	b = append(appendDec(append(b, `,"origSz":"`...), o.Orig, m.SzDec), '"')
	if o.Reduce {
		b = append(b, `,"reduceOnly":true`...)
	}
	if o.Cloid != 0 {
		b = append(appendCloid(append(b, `,"cloid":"`...), o.Cloid), '"')
	}
	return append(b, '}')
}

// appendStatus writes {order, status, statusTimestamp}.
func (e *engine) appendStatus(b []byte, r *orderRec) []byte {
	b = e.appendOrder(append(b, `{"order":`...), &r.Order)
	b = append(append(b, `,"status":"`...), r.Status...)
	b = strconv.AppendInt(append(b, `","statusTimestamp":`...), r.Time, 10)
	return append(b, '}')
}

func (e *engine) appendTwap(b []byte, t *twap) []byte {
	m := &e.mk[t.Coin]
	b = append(append(b, `{"coin":"`...), m.Name...)
	b = append(append(b, `","user":"`...), e.prof[t.User].Addr...)
	b = append(append(b, `","side":"`...), sideOf(t.Buy)...)
	b = appendDec(append(b, `","sz":"`...), t.Sz, m.SzDec)
	b = appendDec(append(b, `","executedSz":"`...), t.Done, m.SzDec)
	b = appendDec(append(b, `","executedNtl":"`...), t.DoneNtl, m.quoteDec())
	b = strconv.AppendInt(append(b, `","minutes":`...), t.Minutes, 10)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), t.Reduce)
	b = strconv.AppendBool(append(b, `,"randomize":`...), t.Random)
	b = strconv.AppendInt(append(b, `,"timestamp":`...), t.Start, 10)
	return append(b, '}')
}

// appendTrade writes a trade of the trades channel; users are buyer and seller.
func (e *engine) appendTrade(b []byte, c int, t *tradeRec) []byte {
	m := &e.mk[c]
	b = append(append(b, `{"coin":"`...), m.Name...)
	b = append(append(b, `","side":"`...), sideOf(t.Buy)...)
	b = appendDec(append(b, `","px":"`...), t.Px, m.PxDec)
	b = appendDec(append(b, `","sz":"`...), t.Sz, m.SzDec)
	b = strconv.AppendInt(append(b, `","time":`...), t.Time, 10)
	b = e.appendHash(append(b, `,"hash":"`...), t.Tx)
	b = strconv.AppendInt(append(b, `","tid":`...), t.Tid, 10)
	b = append(append(b, `,"users":["`...), e.prof[t.Buyer].Addr...)
	b = append(append(b, `","`...), e.prof[t.Seller].Addr...)
	return append(b, `"]}`...)
}

func (e *engine) appendCandle(b []byte, c int, interval string, k *candle) []byte {
	m := &e.mk[c]
	open, end := bucketOf(interval, k.T)
	b = strconv.AppendInt(append(b, `{"t":`...), open, 10)
	b = strconv.AppendInt(append(b, `,"T":`...), end, 10)
	b = append(append(b, `,"s":"`...), m.Name...)
	b = append(append(b, `","i":"`...), interval...)
	b = appendDec(append(b, `","o":"`...), k.O, m.PxDec)
	b = appendDec(append(b, `","c":"`...), k.C, m.PxDec)
	b = appendDec(append(b, `","h":"`...), k.H, m.PxDec)
	b = appendDec(append(b, `","l":"`...), k.L, m.PxDec)
	b = appendDec(append(b, `","v":"`...), k.V, m.SzDec)
	b = strconv.AppendInt(append(b, `","n":`...), k.N, 10)
	return append(b, '}')
}
