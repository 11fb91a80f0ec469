package market

import (
	"errors"
	"fmt"
	"time"
)

// DayQuote is what an index stood at, or what a share cost, on one day.
type DayQuote struct {
	Key  string // of the index, e.g. i:vix:cboe: as [ValidCoinKey] says
	Date string // yyyy-mm-dd
	Unit string // the currency, e.g. USD; empty for points

	// Plain decimals: in the unit, and in shares. An empty volume is not known.
	Open, High, Low, Close string
	Volume                 string
}

// FirstDay is the first day that is kept of an index.
const FirstDay = "1970-01-01"

var errNoClose = errors.New("close is missing")

// Checked returns q with its figures as they are kept: without needless zeros, all four of
// the close where only that is known, and high and low so that they hold the open and the
// close, which old rows of some upstreams do not. The error says which figure is none, or
// negative, or that the date is no day from [FirstDay] on.
func (q DayQuote) Checked() (DayQuote, error) {
	if _, err := time.Parse(time.DateOnly, q.Date); err != nil || q.Date < FirstDay {
		return q, fmt.Errorf("date must be a day from %s on, as 2026-11-20", FirstDay)
	}
	if q.Close == "" {
		return q, errNoClose
	}
	high, low := Decimal{}, Decimal{}
	for i, f := range []struct {
		name string
		text *string
	}{{"close", &q.Close}, {"open", &q.Open}, {"high", &q.High}, {"low", &q.Low}} {
		if *f.text == "" {
			*f.text = q.Close
		}
		d, err := figure(f.name, f.text)
		if err != nil {
			return q, err
		}
		if i == 0 || d.GreaterThan(high) {
			high = d
		}
		if i == 0 || d.LessThan(low) {
			low = d
		}
	}
	q.High, q.Low = high.String(), low.String()
	if q.Volume != "" {
		if _, err := figure("volume", &q.Volume); err != nil {
			return q, err
		}
	}
	return q, nil
}

// figure reads a figure, and writes it without needless zeros.
func figure(name string, text *string) (Decimal, error) {
	d, err := ParseDecimal(*text)
	if err != nil || d.IsNeg() {
		return d, fmt.Errorf("%s must be a plain decimal of at least 0, not %.40q", name, *text)
	}
	*text = d.String()
	return d, nil
}

// DayKline is a K-line of days. A volume that is not known is nil.
type DayKline struct {
	Start                  int64 // when its period opens, ms
	Open, High, Low, Close Decimal
	Volume                 *Decimal
}

// DayKlines are the K-lines of a period of a day or more, of days by date. A day belongs to
// the period that holds its midnight in UTC. The volume is the sum of those of all days, where
// each has one.
func DayKlines(days []DayQuote, p Period) ([]DayKline, error) {
	var lines []DayKline
	for i := range days {
		one, err := days[i].kline(p)
		if err != nil {
			return nil, err
		}
		n := len(lines) - 1
		if n < 0 || lines[n].Start != one.Start {
			lines = append(lines, one)
			continue
		}
		last := &lines[n]
		if one.High.GreaterThan(last.High) {
			last.High = one.High
		}
		if one.Low.LessThan(last.Low) {
			last.Low = one.Low
		}
		last.Close = one.Close
		if last.Volume == nil || one.Volume == nil {
			last.Volume = nil
			continue
		}
		last.Volume = new(last.Volume.Add(*one.Volume))
	}
	return lines, nil
}

// kline is that of the day alone.
func (q *DayQuote) kline(p Period) (line DayKline, err error) {
	day, err := time.Parse(time.DateOnly, q.Date)
	if err != nil {
		return line, fmt.Errorf("read a day of %s: %w", q.Key, err)
	}
	line.Start = p.StartMs(day.UnixMilli())
	for _, f := range []struct {
		text string
		into *Decimal
	}{{q.Open, &line.Open}, {q.High, &line.High}, {q.Low, &line.Low}, {q.Close, &line.Close}} {
		if *f.into, err = ParseDecimal(f.text); err != nil {
			return line, fmt.Errorf("read the day %s of %s: %w", q.Date, q.Key, err)
		}
	}
	if q.Volume != "" {
		volume, err := ParseDecimal(q.Volume)
		if err != nil {
			return line, fmt.Errorf("read the volume of %s on %s: %w", q.Key, q.Date, err)
		}
		line.Volume = &volume
	}
	return line, nil
}
