package feeds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"quotary/shared/market"
)

// frameMost bounds a frame: API Gateway takes 128 KB.
const frameMost = 120_000

// inChannel opens a frame of /ws; what is appended to it is the data, and a
// closing brace ends it.
func inChannel(channel string) []byte {
	return append(append(append(make([]byte, 0, 1024), `{"channel":"`...), channel...), `","data":`...)
}

// markStale marks the frame of a book as old.
func markStale(frame []byte) []byte {
	const mark = `,"stale":true}}`
	body, ok := bytes.CutSuffix(frame, []byte("}}"))
	if !ok || bytes.HasSuffix(frame, []byte(mark)) {
		return frame
	}
	return append(append(make([]byte, 0, len(frame)+len(mark)), body...), mark...)
}

// appendText appends a text of the venue as JSON.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(fmt.Sprintf("live: encode a text: %v", err)) // there is no text that cannot be
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendTrade appends {"coin","side","px","sz","hash","time","tid","users":[buyer, seller]}.
func appendTrade(b []byte, t *market.Trade) []byte {
	b = appendText(append(b, `{"coin":`...), t.Coin)
	b = append(append(b, `,"side":"`...), byte(t.Side))
	b = market.AppendText(append(b, `","px":"`...), t.Px)
	b = market.AppendText(append(b, `","sz":"`...), t.Sz)
	b = appendText(append(b, `","hash":`...), t.Hash)
	b = strconv.AppendInt(append(b, `,"time":`...), t.Time, 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), t.Tid, 10)
	b = appendText(append(b, `,"users":[`...), t.Users[0])
	b = appendText(append(b, ','), t.Users[1])
	return append(b, `]}`...)
}

// appendCandle appends a candle of the venue with the taker's part: t and T open
// and close time in ms, s coin, i interval, o c h l prices, v base and a quote
// volume, n trades, and of v, a and n what takers bought: vb, ab, nb.
func appendCandle(b []byte, coin string, i market.Interval, c *market.Candle) []byte {
	b = strconv.AppendInt(append(b, `{"t":`...), c.OpenTime, 10)
	b = strconv.AppendInt(append(b, `,"T":`...), i.NextMs(c.OpenTime)-1, 10)
	b = appendText(append(b, `,"s":`...), coin)
	b = append(append(append(b, `,"i":"`...), i.String()...), '"')
	for _, f := range [...]struct {
		key   string
		value market.Decimal
	}{{"o", c.Open}, {"c", c.Close}, {"h", c.High}, {"l", c.Low}, {"v", c.Size}, {"a", c.Amount}, {"vb", c.SizeBuyer}, {"ab", c.AmountBuyer}} {
		b = append(append(append(b, `,"`...), f.key...), `":"`...)
		b = append(market.AppendText(b, f.value), '"')
	}
	b = strconv.AppendInt(append(b, `,"n":`...), c.Trades, 10)
	b = strconv.AppendInt(append(b, `,"nb":`...), c.TradesBuyer, 10)
	return append(b, '}')
}

// appendFill appends a fill as the feed /ws/fills tells it.
func appendFill(b []byte, f *market.Fill) []byte {
	b = appendText(append(b, `{"address":`...), f.Address)
	b = strconv.AppendInt(append(b, `,"time":`...), f.Time, 10)
	b = appendText(append(b, `,"coin":`...), f.Coin)
	b = appendText(append(b, `,"px":`...), f.Px)
	b = appendText(append(b, `,"sz":`...), f.Sz)
	b = append(append(b, `,"side":"`...), byte(f.Side))
	b = appendText(append(b, `","startPosition":`...), f.StartPosition)
	b = appendText(append(b, `,"dir":`...), f.Dir)
	b = appendText(append(b, `,"closedPnl":`...), f.ClosedPnl)
	b = appendText(append(b, `,"hash":`...), f.Hash)
	b = strconv.AppendInt(append(b, `,"oid":`...), f.Oid, 10)
	b = strconv.AppendBool(append(b, `,"crossed":`...), f.Crossed)
	b = appendText(append(b, `,"fee":`...), f.Fee)
	b = strconv.AppendInt(append(b, `,"tid":`...), f.Tid, 10)
	b = appendText(append(b, `,"feeToken":`...), f.FeeToken)
	if f.TwapID == nil {
		return append(b, `,"twapId":null}`...)
	}
	return append(strconv.AppendInt(append(b, `,"twapId":`...), *f.TwapID, 10), '}')
}

// appendFilled appends a filled order as the feed /ws/filled-orders tells it.
// What the venue has as null is null.
func appendFilled(b []byte, s *market.OrderStatus) []byte {
	b = strconv.AppendInt(append(b, `{"ts":`...), s.Time, 10)
	b = appendText(append(b, `,"address":`...), s.Address)
	b = appendTextOrNull(append(b, `,"hash":`...), s.Hash)
	b = appendTextOrNull(append(b, `,"builder":`...), s.Builder)
	b = append(b, `,"builderF":`...)
	if s.Builder == "" {
		b = append(b, `null`...)
	} else {
		b = strconv.AppendInt(b, s.BuilderFee, 10)
	}
	b = appendText(append(b, `,"status":`...), s.Status)
	b = appendText(append(b, `,"coin":`...), s.Coin)
	b = appendText(append(b, `,"side":`...), s.Side)
	b = appendText(append(b, `,"limitPx":`...), s.LimitPx)
	b = appendText(append(b, `,"sz":`...), s.Sz)
	b = strconv.AppendInt(append(b, `,"oid":`...), s.Oid, 10)
	b = strconv.AppendInt(append(b, `,"placeTs":`...), s.Timestamp, 10)
	b = appendText(append(b, `,"trigger":`...), s.TriggerCondition)
	b = strconv.AppendBool(append(b, `,"isTrigger":`...), s.IsTrigger)
	b = appendText(append(b, `,"triggerPx":`...), s.TriggerPx)
	b = append(b, `,"children":`...)
	if len(s.Children) == 0 {
		b = append(b, `[]`...)
	} else {
		b = append(b, s.Children...)
	}
	b = strconv.AppendBool(append(b, `,"positionTpsl":`...), s.IsPositionTpsl)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), s.ReduceOnly)
	b = appendText(append(b, `,"orderType":`...), s.OrderType)
	b = appendText(append(b, `,"origSz":`...), s.OrigSz)
	b = appendTextOrNull(append(b, `,"tif":`...), s.Tif)
	b = appendTextOrNull(append(b, `,"cloid":`...), s.Cloid)
	return append(b, '}')
}

func appendTextOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, `null`...)
	}
	return appendText(b, s)
}
