// Package topfills is the series of the largest fills by value: by coin, in the
// intervals [market.TopTiers]. Both sides of a trade count; shares of dust
// conversions, which are no executions, do not.
//
// The row of a second has up to [market.TopOfSecond] fills and is written at
// once; a wider one has up to [market.TopOfBucket] and is written when its bucket
// has closed. Where a row is missing, finer ones have its fills.
package topfills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// Name of the series.
const Name = "topfills"

var series = dataset.Series[market.Top]{Name: Name, Append: func(b []byte, t *market.Top) []byte { return Append(b, *t) }, Decode: Decode}

// Key names the series of a coin in one of [market.TopTiers].
func Key(coin string, i market.Interval) store.SeriesKey { return series.Key(coin, i) }

// At is the key of the bucket that opens at start, ms.
func At(coin string, i market.Interval, start int64) store.SeriesAt { return series.At(coin, i, start) }

// Row is the row of the bucket that opens at start, ms.
func Row(coin string, i market.Interval, start int64, top market.Top) store.SeriesRow {
	return series.Row(coin, i, start, &top, 2+260*len(top))
}

// Limit is how many fills a row of a tier has at most.
func Limit(tier market.Interval) int {
	if tier == market.TopTiers[0] {
		return market.TopOfSecond
	}
	return market.TopOfBucket
}

// Append appends the body of a row, an array with the largest fill first:
//
//	[{"time":ms,"address":"0x..","coin":"..","side":"B","oid":n,"isTaker":true,"px":"..","sz":"..",
//	  "val":"..","endPosition":".."}, ...]
func Append(b []byte, t market.Top) []byte {
	b = append(b, '[')
	for i := range t {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFill(b, &t[i])
	}
	return append(b, ']')
}

func appendFill(b []byte, r *market.Ranked) []byte {
	b = append(b, `{"time":`...)
	b = strconv.AppendInt(b, r.Time, 10)
	b = append(b, `,"address":"`...)
	b = append(b, r.Address...)
	b = jsontext.AppendString(append(b, `","coin":`...), r.Coin)
	b = append(b, `,"side":"`...)
	b = append(b, byte(r.Side))
	b = append(b, `","oid":`...)
	b = strconv.AppendInt(b, r.Oid, 10)
	b = append(b, `,"isTaker":`...)
	b = strconv.AppendBool(b, r.IsTaker)
	b = append(b, `,"px":"`...)
	b = append(b, r.Px...)
	b = append(b, `","sz":"`...)
	b = append(b, r.Sz...)
	b = append(b, `","val":"`...)
	b = market.AppendText(b, r.Val)
	b = append(b, `","endPosition":"`...)
	b = market.AppendText(b, r.EndPosition)
	return append(b, `"}`...)
}

// Decode reads the body of a row.
func Decode(body []byte) (top market.Top, err error) {
	return top, scan(body, func(r *market.Ranked) bool {
		top = append(top, *r)
		return true
	})
}

// scan reads a body fill by fill, largest first, until take returns false.
func scan(body []byte, take func(*market.Ranked) bool) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if opening, err := decoder.Token(); err != nil {
		return err
	} else if opening != json.Delim('[') {
		return fmt.Errorf("the body begins with %v, not with a list", opening)
	}
	for decoder.More() {
		var w struct {
			Time        int64  `json:"time"`
			Address     string `json:"address"`
			Coin        string `json:"coin"`
			Side        string `json:"side"`
			Oid         int64  `json:"oid"`
			IsTaker     bool   `json:"isTaker"`
			Px          string `json:"px"`
			Sz          string `json:"sz"`
			Val         string `json:"val"`
			EndPosition string `json:"endPosition"`
		}
		if err := decoder.Decode(&w); err != nil {
			return err
		}
		val, err := market.ParseStored(w.Val)
		if err != nil {
			return fmt.Errorf("val %w", err)
		}
		end, err := market.ParseStored(w.EndPosition)
		if err != nil {
			return fmt.Errorf("endPosition %w", err)
		}
		if w.Side != "A" && w.Side != "B" {
			return fmt.Errorf("side %.10q is neither A nor B", w.Side)
		}
		if !take(&market.Ranked{Time: w.Time, Address: w.Address, Coin: w.Coin, Side: market.Side(w.Side[0]), Oid: w.Oid,
			IsTaker: w.IsTaker, Px: w.Px, Sz: w.Sz, Val: val, EndPosition: end}) {
			return nil
		}
	}
	_, err := decoder.Token()
	return err
}
