package market

import (
	"strconv"

	"quotary/shared/text/jsontext"
)

// What the product stores and serves of fills, orders, trades and books has the venue's names and
// order of members, so that clients of the venue read it. It is written by hand: a feed writes
// thousands a second.

// AppendJSON appends f as the venue writes it, keys in the venue's order and
// without the account's address, which the venue writes beside it. Keys that the
// venue leaves out (cloid, liquidation and what is in it, builder, builderFee) are left
// out; twapId is null without a TWAP. f has passed [Fill.Check].
func (f *Fill) AppendJSON(b []byte) []byte {
	b = appendKeyText(b, `{"coin":`, f.Coin)
	b = append(b, `,"px":"`...)
	b = append(b, f.Px...)
	b = append(b, `","sz":"`...)
	b = append(b, f.Sz...)
	b = append(b, `","side":"`...)
	b = append(b, byte(f.Side))
	b = append(b, `","time":`...)
	b = strconv.AppendInt(b, f.Time, 10)
	if f.Provisional {
		return f.appendProvisional(b)
	}
	b = append(b, `,"startPosition":"`...)
	b = append(b, f.StartPosition...)
	b = appendKeyText(b, `","dir":`, f.Dir)
	b = append(b, `,"closedPnl":"`...)
	b = append(b, f.ClosedPnl...)
	b = appendKeyText(b, `","hash":`, f.Hash)
	b = append(b, `,"oid":`...)
	b = strconv.AppendInt(b, f.Oid, 10)
	b = append(b, `,"crossed":`...)
	b = strconv.AppendBool(b, f.Crossed)
	b = append(b, `,"fee":"`...)
	b = append(b, f.Fee...)
	b = append(b, `","tid":`...)
	b = strconv.AppendInt(b, f.Tid, 10)
	if f.Cloid != "" {
		b = appendKeyText(b, `,"cloid":`, f.Cloid)
	}
	if l := f.Liquidation; l != nil {
		b = append(b, `,"liquidation":`...)
		open := byte('{')
		for _, member := range [...]struct{ key, text string }{{`"liquidatedUser":`, l.LiquidatedUser}, {`"markPx":`, l.MarkPx}, {`"method":`, l.Method}} {
			if member.text != "" {
				b = appendKeyText(append(b, open), member.key, member.text)
				open = ','
			}
		}
		if open == '{' { // it says nothing but that somebody was liquidated
			b = append(b, open)
		}
		b = append(b, '}')
	}
	b = appendKeyText(b, `,"feeToken":`, f.FeeToken)
	if f.Builder != "" {
		b = append(b, `,"builder":"`...)
		b = append(b, f.Builder...)
		b = append(b, '"')
	}
	if f.BuilderFee != "" {
		b = append(b, `,"builderFee":"`...)
		b = append(b, f.BuilderFee...)
		b = append(b, '"')
	}
	if f.TwapID == nil {
		return append(b, `,"twapId":null}`...)
	}
	b = append(b, `,"twapId":`...)
	b = strconv.AppendInt(b, *f.TwapID, 10)
	return append(b, '}')
}

func appendKeyText(b []byte, key, text string) []byte {
	return jsontext.AppendString(append(b, key...), text)
}

// AppendJSON appends {"order":{...},"status","statusTimestamp"} as the venue
// writes it, keys in the venue's order. s has passed [OrderStatus.Check].
func (s *OrderStatus) AppendJSON(b []byte) []byte {
	b = s.AppendOrder(append(b, `{"order":`...))
	b = appendKeyText(b, `,"status":`, s.Status)
	return append(strconv.AppendInt(append(b, `,"statusTimestamp":`...), s.Time, 10), '}')
}

// AppendOrder appends the order alone, as the venue lists those that are open.
func (s *OrderStatus) AppendOrder(b []byte) []byte {
	b = appendKeyText(s.appendPlaced(b), `,"triggerCondition":`, s.TriggerCondition)
	b = strconv.AppendBool(append(b, `,"isTrigger":`...), s.IsTrigger)
	b = appendKeyText(b, `,"triggerPx":`, s.TriggerPx)
	b = append(b, `,"children":`...)
	if len(s.Children) == 0 || string(s.Children) == "null" {
		b = append(b, `[]`...)
	} else {
		b = append(b, s.Children...)
	}
	b = strconv.AppendBool(append(b, `,"isPositionTpsl":`...), s.IsPositionTpsl)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), s.ReduceOnly)
	b = appendKeyText(b, `,"orderType":`, s.OrderType)
	b = append(append(b, `,"origSz":"`...), s.OrigSz...)
	b = appendKeyOrNull(b, `","tif":`, s.Tif)
	return append(appendKeyOrNull(b, `,"cloid":`, s.Cloid), '}')
}

// AppendShort appends the order in the venue's short form, without what is not set.
func (s *OrderStatus) AppendShort(b []byte) []byte {
	b = append(append(append(s.appendPlaced(b), `,"origSz":"`...), s.OrigSz...), '"')
	if s.ReduceOnly {
		b = append(b, `,"reduceOnly":true`...)
	}
	if s.Cloid != "" {
		b = appendKeyText(b, `,"cloid":`, s.Cloid)
	}
	return append(b, '}')
}

// appendPlaced appends the members that both forms begin with.
func (s *OrderStatus) appendPlaced(b []byte) []byte {
	b = appendKeyText(b, `{"coin":`, s.Coin)
	b = append(append(b, `,"side":"`...), s.Side...)
	b = append(append(b, `","limitPx":"`...), s.LimitPx...)
	b = append(append(b, `","sz":"`...), s.Sz...)
	b = strconv.AppendInt(append(b, `","oid":`...), s.Oid, 10)
	return strconv.AppendInt(append(b, `,"timestamp":`...), s.Timestamp, 10)
}

// appendKeyOrNull appends a text of which "" stands for the venue's null.
func appendKeyOrNull(b []byte, key, text string) []byte {
	if text == "" {
		return append(append(b, key...), `null`...)
	}
	return appendKeyText(b, key, text)
}

// AppendJSON appends t as the public API writes a trade.
func (t *Trade) AppendJSON(b []byte) []byte {
	b = appendKeyText(b, `{"coin":`, t.Coin)
	b = append(append(b, `,"side":"`...), byte(t.Side))
	b = AppendText(append(b, `","px":"`...), t.Px)
	b = AppendText(append(b, `","sz":"`...), t.Sz)
	b = appendKeyText(b, `","hash":`, t.Hash)
	b = strconv.AppendInt(append(b, `,"time":`...), t.Time, 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), t.Tid, 10)
	b = appendKeyText(b, `,"users":[`, t.Users[0])
	return append(appendKeyText(b, `,`, t.Users[1]), `]}`...)
}

// AppendJSON appends book as the venue writes it, with "stale":true at its end
// when the source has been silent since.
func (book *Book) AppendJSON(to []byte, stale bool) []byte {
	to = appendKeyText(to, `{"coin":`, book.Coin)
	to = append(to, `,"time":`...)
	to = strconv.AppendInt(to, book.Time, 10)
	to = append(to, `,"levels":[`...)
	to = appendLevels(to, book.Bids)
	to = append(to, ',')
	to = appendLevels(to, book.Asks)
	to = append(to, ']')
	if stale {
		to = append(to, `,"stale":true`...)
	}
	return append(to, '}')
}

func appendLevels(to []byte, levels []Level) []byte {
	to = append(to, '[')
	for i := range levels {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendLevel(to, &levels[i])
	}
	return append(to, ']')
}

// appendLevel appends {"px","sz","n"}.
func appendLevel(to []byte, l *Level) []byte {
	to = append(to, `{"px":"`...)
	to = append(to, l.Px...)
	to = append(to, `","sz":"`...)
	to = append(to, l.Sz...)
	to = append(to, `","n":`...)
	to = strconv.AppendInt(to, l.N, 10)
	return append(to, '}')
}

// AppendJSON appends {"coin","time":ms,"bbo":[bid level or null, ask level or null]}.
func (b *BBO) AppendJSON(to []byte) []byte {
	to = appendKeyText(to, `{"coin":`, b.Coin)
	to = append(to, `,"time":`...)
	to = strconv.AppendInt(to, b.Time, 10)
	to = append(to, `,"bbo":[`...)
	to = appendLevelOrNull(to, b.Bid)
	to = append(to, ',')
	to = appendLevelOrNull(to, b.Ask)
	return append(to, `]}`...)
}

func appendLevelOrNull(to []byte, l *Level) []byte {
	if l == nil {
		return append(to, `null`...)
	}
	return appendLevel(to, l)
}
