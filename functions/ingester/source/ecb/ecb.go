// Package ecb asks the European Central Bank for its daily reference rates of euro
// exchange: US dollars, yuan and others for one euro, published at about 16:00 in Frankfurt
// on working days.
//
// The bank serves them as XML files: eurofxref-daily.xml has the last day, and
// eurofxref-hist-90d.xml the days of the last 90. They are for information, free to
// use with their source named.
package ecb

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// Every is how often the last day is asked for.
const Every = 30 * time.Minute

// callsPerMinute is some manners: the bank names no limit.
const callsPerMinute = 10

// The files, of the last 90 days and of the last one.
const (
	historyFile = "/eurofxref-hist-90d.xml"
	dailyFile   = "/eurofxref-daily.xml"
)

// Rates polls the rates.
type Rates struct {
	URL   string        // of the folder of the files: https://www.ecb.europa.eu/stats/eurofxref
	Every time.Duration // 0 means [Every]
	Stats *source.Stats
	Log   *slog.Logger
	Now   func() time.Time // nil means time.Now
}

// Sink takes days in any order. It blocks while its consumer is behind.
type Sink func(context.Context, []market.DayRates) error

// Follow delivers the last 90 days and then the last day every so often, until ctx ends
// or the sink fails. After trouble it asks for the 90 days again, as a day may have passed
// meanwhile. It runs in the caller's goroutine.
func (r *Rates) Follow(ctx context.Context, sink Sink) error {
	host, file := source.NewHost(r.URL, callsPerMinute), historyFile
	return source.Poll(ctx, cmp.Or(r.Every, Every), r.Log, "exchange rates", func(ctx context.Context) error {
		days, err := r.ask(ctx, host, file)
		if err != nil {
			file = historyFile
			return err
		}
		if err := sink(ctx, days); err != nil {
			return source.OfSink(err)
		}
		file = dailyFile
		return nil
	})
}

func (r *Rates) ask(ctx context.Context, host *source.Host, file string) ([]market.DayRates, error) {
	body, err := host.Body(ctx, file, nil, 1)
	if err != nil {
		return nil, err
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	days, malformed, err := Parse(body, now())
	r.Stats.Malformed.Add(int64(malformed))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	r.Stats.Lines.Add(1)
	r.Stats.Seen(time.Now(), 0)
	return days, nil
}

var errNoFile = errors.New("it is no file of rates")

// envelope is a file of rates: days, each with a rate for every currency.
type envelope struct {
	Days []struct {
		Time  string `xml:"time,attr"`
		Rates []struct {
			Currency string `xml:"currency,attr"`
			Rate     string `xml:"rate,attr"`
		} `xml:"Cube"`
	} `xml:"Cube>Cube"`
}

// maxOthers bounds the currencies of a day. The bank names some thirty.
const maxOthers = 60

// isCode reports whether a text is the code of a currency: three letters.
func isCode(text string) bool {
	return len(text) == 3 && !strings.ContainsFunc(text, func(c rune) bool { return c < 'A' || c > 'Z' })
}

// Parse reads a file of rates that was asked for at a time: the days that have both currencies,
// and how many have not, or are no days. Nothing is known of the day after tomorrow, and what says
// so would be the newest for ever. A file without a single day is an error.
func Parse(file []byte, asked time.Time) (days []market.DayRates, malformed int, err error) {
	var e envelope
	if err := xml.Unmarshal(file, &e); err != nil {
		return nil, 0, errNoFile // those of the decoder quote what they read
	}
	last := asked.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	for _, d := range e.Days {
		day := market.DayRates{Date: d.Time}
		for _, r := range d.Rates {
			rate, err := market.ParseDecimal(r.Rate)
			switch {
			case err != nil || !rate.IsPos():
			case r.Currency == "USD":
				day.USD = rate
			case r.Currency == "CNY":
				day.CNY = rate
			case isCode(r.Currency) && len(day.Others) < maxOthers:
				if day.Others == nil {
					day.Others = map[string]market.Decimal{}
				}
				day.Others[strings.ToLower(r.Currency)] = rate
			}
		}
		if _, err := time.Parse(time.DateOnly, day.Date); err != nil || day.Date > last || !day.USD.IsPos() || !day.CNY.IsPos() {
			malformed++
			continue
		}
		days = append(days, day)
	}
	if len(days) == 0 {
		return nil, malformed, errors.New("it has no rates of US dollars and yuan")
	}
	return days, malformed, nil
}
