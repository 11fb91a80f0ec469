// Package klines is the series of klines with the part in which takers bought: by
// coin, in the intervals [market.KlineTiers]. A bucket without a trade has no row.
// The row of a second has its trades beside it, which shows a trade that comes
// again.
//
// Klines of every other interval are composed when they are read, each of the
// widest stored interval that divides its own.
package klines

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "klines"

var series = dataset.Series[market.Candle]{Name: Name, Append: Append, Decode: Decode}

// Key names the series of a coin in one of [market.KlineTiers].
func Key(coin string, i market.Interval) store.SeriesKey { return series.Key(coin, i) }

// At is the key of the bucket that opens at start, ms.
func At(coin string, i market.Interval, start int64) store.SeriesAt { return series.At(coin, i, start) }

// Row is the row of a candle. trades are those of a second, nil in wider
// intervals.
func Row(coin string, i market.Interval, c *market.Candle, trades *market.TradeSet) store.SeriesRow {
	row := series.Row(coin, i, c.OpenTime, c, 320)
	if trades != nil {
		row.Extra = appendTrades(make([]byte, 0, 8+36*trades.Len()), trades, c.OpenTime)
	}
	return row
}

// Newest returns the newest klines of a coin that open between from and to,
// both inclusive and open when zero: at most limit of them, oldest first. A
// kline is complete even where its end lies after to. Buckets without a trade are
// left out.
func Newest(ctx context.Context, s *store.Series, coin string, interval market.Interval, from, to time.Time, limit int) ([]market.Candle, error) {
	if !from.IsZero() && !interval.Start(from).Equal(from) {
		from = interval.Next(from)
	}
	if !to.IsZero() {
		to = interval.Next(to)
	}
	// Rows enough for limit klines, also when every bucket of the tier has a
	// trade. When fewer rows make more klines, the oldest may be cut, and falls
	// out below.
	tier := interval.StoredAs()
	rows := limit * int(width(interval)/width(tier))
	parts, err := Read(ctx, s, coin, tier, dataset.Range{From: from, To: to, Limit: rows, Newest: true})
	if err != nil {
		return nil, err
	}
	candles := market.Compose(parts, interval.StartMs)
	return candles[max(0, len(candles)-limit):], nil
}

// Latest returns the newest stored candle of a coin in one of
// [market.KlineTiers]; ok is false when there is none.
func Latest(ctx context.Context, s *store.Series, coin string, i market.Interval) (c market.Candle, ok bool, err error) {
	point, ok, err := s.Latest(ctx, Key(coin, i))
	if err != nil || !ok {
		return market.Candle{}, false, err
	}
	c, err = Decode(point.Body)
	return c, err == nil, err
}

// Read returns the stored candles of a coin in one of [market.KlineTiers], oldest first.
func Read(ctx context.Context, s *store.Series, coin string, tier market.Interval, r dataset.Range) ([]market.Candle, error) {
	return dataset.Values(series.Read(ctx, s, coin, tier, r))
}

// width is the longest that a bucket may be, in ms: the month at the epoch has
// 31 days.
func width(i market.Interval) int64 { return i.NextMs(0) - i.StartMs(0) }

// Append appends the body of a row:
//
//	{"openTime":ms,"tc":n,"size":"..","amount":"..","tcBuyer":n,"sizeBuyer":"..","amountBuyer":"..",
//	 "open":"..","high":"..","low":"..","close":".."}
func Append(b []byte, c *market.Candle) []byte {
	b = append(b, `{"openTime":`...)
	b = strconv.AppendInt(b, c.OpenTime, 10)
	b = append(b, `,"tc":`...)
	b = strconv.AppendInt(b, c.Trades, 10)
	b = append(b, `,"size":"`...)
	b = market.AppendText(b, c.Size)
	b = append(b, `","amount":"`...)
	b = market.AppendText(b, c.Amount)
	b = append(b, `","tcBuyer":`...)
	b = strconv.AppendInt(b, c.TradesBuyer, 10)
	b = append(b, `,"sizeBuyer":"`...)
	b = market.AppendText(b, c.SizeBuyer)
	b = append(b, `","amountBuyer":"`...)
	b = market.AppendText(b, c.AmountBuyer)
	b = append(b, `","open":"`...)
	b = market.AppendText(b, c.Open)
	b = append(b, `","high":"`...)
	b = market.AppendText(b, c.High)
	b = append(b, `","low":"`...)
	b = market.AppendText(b, c.Low)
	b = append(b, `","close":"`...)
	b = market.AppendText(b, c.Close)
	return append(b, `"}`...)
}

// Decode reads the body of a row.
func Decode(body []byte) (market.Candle, error) {
	var w struct {
		OpenTime    int64  `json:"openTime"`
		TC          int64  `json:"tc"`
		Size        string `json:"size"`
		Amount      string `json:"amount"`
		TCBuyer     int64  `json:"tcBuyer"`
		SizeBuyer   string `json:"sizeBuyer"`
		AmountBuyer string `json:"amountBuyer"`
		Open        string `json:"open"`
		High        string `json:"high"`
		Low         string `json:"low"`
		Close       string `json:"close"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return market.Candle{}, err
	}
	c := market.Candle{OpenTime: w.OpenTime, Trades: w.TC, TradesBuyer: w.TCBuyer,
		First: market.Order{Time: w.OpenTime}, Last: market.Order{Time: w.OpenTime}}
	for _, f := range [...]struct {
		to   *market.Decimal
		text string
	}{
		{&c.Size, w.Size}, {&c.Amount, w.Amount}, {&c.SizeBuyer, w.SizeBuyer}, {&c.AmountBuyer, w.AmountBuyer},
		{&c.Open, w.Open}, {&c.High, w.High}, {&c.Low, w.Low}, {&c.Close, w.Close},
	} {
		d, err := market.ParseStored(f.text)
		if err != nil {
			return market.Candle{}, err
		}
		*f.to = d
	}
	return c, nil
}
