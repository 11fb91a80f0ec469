package market

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Candle is the fold of the trades of one coin in one bucket. Candles of parts
// of a bucket merge into the candle of the whole in any grouping and order. The
// zero value is the candle of no trades.
type Candle struct {
	OpenTime int64 // ms; the bucket's start, set by who knows the bucket

	Trades int64   // number of trades
	Size   Decimal // base units
	Amount Decimal // quote units, the sum of px x sz

	// The parts of the three above in which the taker bought.
	TradesBuyer int64
	SizeBuyer   Decimal
	AmountBuyer Decimal

	Open, High, Low, Close Decimal // quote units per base unit

	// First and Last are the places of the trades that opened and closed the
	// candle. A candle read from a row knows only its bucket and has the
	// bucket's start in both: enough to merge candles of disjoint buckets.
	First, Last Order
}

// Add folds t into c. Each trade must be added once.
func (c *Candle) Add(t *Trade) {
	amount := Notional(t.Px, t.Sz)
	one := Candle{
		OpenTime: c.OpenTime, Trades: 1, Size: t.Sz, Amount: amount,
		Open: t.Px, High: t.Px, Low: t.Px, Close: t.Px,
		First: t.Order(), Last: t.Order(),
	}
	if t.Side == Buy {
		one.TradesBuyer, one.SizeBuyer, one.AmountBuyer = 1, t.Sz, amount
	}
	c.Merge(&one)
}

// Merge folds the trades of d, none of which is in c, into c. OpenTime stays.
func (c *Candle) Merge(d *Candle) {
	if d.Trades == 0 {
		return
	}
	if c.Trades == 0 {
		open := c.OpenTime
		*c = *d
		c.OpenTime = open
		return
	}
	c.Trades += d.Trades
	c.Size = c.Size.Add(d.Size)
	c.Amount = c.Amount.Add(d.Amount)
	c.TradesBuyer += d.TradesBuyer
	c.SizeBuyer = c.SizeBuyer.Add(d.SizeBuyer)
	c.AmountBuyer = c.AmountBuyer.Add(d.AmountBuyer)
	if d.High.Cmp(c.High) > 0 {
		c.High = d.High
	}
	if d.Low.Cmp(c.Low) < 0 {
		c.Low = d.Low
	}
	if d.First.Compare(c.First) < 0 {
		c.Open, c.First = d.Open, d.First
	}
	if d.Last.Compare(c.Last) >= 0 {
		c.Close, c.Last = d.Close, d.Last
	}
}

// Equal tells whether c and d are the same row: everything but First and Last,
// which a row does not keep.
func (c *Candle) Equal(d *Candle) bool {
	return c.OpenTime == d.OpenTime && c.Trades == d.Trades && c.TradesBuyer == d.TradesBuyer &&
		c.Size.Equal(d.Size) && c.Amount.Equal(d.Amount) &&
		c.SizeBuyer.Equal(d.SizeBuyer) && c.AmountBuyer.Equal(d.AmountBuyer) &&
		c.Open.Equal(d.Open) && c.High.Equal(d.High) && c.Low.Equal(d.Low) && c.Close.Equal(d.Close)
}

// AppendJSON appends c as the kline of the wire:
//
//	{"openTime":ms,"tc":n,"size":"..","amount":"..","tcBuyer":n,"sizeBuyer":"..","amountBuyer":"..",
//	 "open":"..","high":"..","low":"..","close":".."}
func (c *Candle) AppendJSON(b []byte) []byte {
	b = append(b, `{"openTime":`...)
	b = strconv.AppendInt(b, c.OpenTime, 10)
	b = append(b, `,"tc":`...)
	b = strconv.AppendInt(b, c.Trades, 10)
	b = append(b, `,"size":"`...)
	b = AppendText(b, c.Size)
	b = append(b, `","amount":"`...)
	b = AppendText(b, c.Amount)
	b = append(b, `","tcBuyer":`...)
	b = strconv.AppendInt(b, c.TradesBuyer, 10)
	b = append(b, `,"sizeBuyer":"`...)
	b = AppendText(b, c.SizeBuyer)
	b = append(b, `","amountBuyer":"`...)
	b = AppendText(b, c.AmountBuyer)
	b = append(b, `","open":"`...)
	b = AppendText(b, c.Open)
	b = append(b, `","high":"`...)
	b = AppendText(b, c.High)
	b = append(b, `","low":"`...)
	b = AppendText(b, c.Low)
	b = append(b, `","close":"`...)
	b = AppendText(b, c.Close)
	return append(b, `"}`...)
}

// ParseCandle reads what [Candle.AppendJSON] wrote.
func ParseCandle(body []byte) (Candle, error) {
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
		return Candle{}, fmt.Errorf("read a kline: %w", err)
	}
	c := Candle{OpenTime: w.OpenTime, Trades: w.TC, TradesBuyer: w.TCBuyer,
		First: Order{Time: w.OpenTime}, Last: Order{Time: w.OpenTime}}
	for _, f := range [...]struct {
		to   *Decimal
		text string
	}{
		{&c.Size, w.Size}, {&c.Amount, w.Amount}, {&c.SizeBuyer, w.SizeBuyer}, {&c.AmountBuyer, w.AmountBuyer},
		{&c.Open, w.Open}, {&c.High, w.High}, {&c.Low, w.Low}, {&c.Close, w.Close},
	} {
		d, err := ParseDecimal(f.text)
		if err != nil {
			return Candle{}, fmt.Errorf("read a kline: %w", err)
		}
		*f.to = d
	}
	return c, nil
}
