package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Address is an account: 0x and 40 hexadecimal digits, in any case.
//
// Inside it is always lower case.
type Address string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *Address) UnmarshalText(text []byte) error {
	s := strings.ToLower(string(text))
	if len(s) != 42 || s[:2] != "0x" || strings.Trim(s[2:], "0123456789abcdef") != "" {
		return errors.New("an address: 0x followed by 40 hexadecimal digits")
	}
	*a = Address(s)
	return nil
}

// Coin names a market: a perpetual (BTC), one of a builder-deployed dex
// (dex:GOLD), a spot pair (PURR/USDC), a spot asset by number (@107) or an outcome by
// number (#12).
// Upper and lower case differ.
type Coin string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Coin) UnmarshalText(text []byte) error {
	const accepted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@:/_.-"
	name, numbered := strings.CutPrefix(string(text), "#")
	letters := accepted
	if numbered {
		letters = "0123456789"
	}
	if len(name) == 0 || len(text) > 32 || strings.Trim(name, letters) != "" {
		return errors.New("a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)")
	}
	*c = Coin(text)
	return nil
}

// Millis is a time in milliseconds since 1970-01-01 UTC.
type Millis int64

// latestMillis is the end of year 9999: anything later is a unit mistaken.
const latestMillis = 253402300799999

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Millis) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 || n > latestMillis {
		return errors.New("a time in milliseconds since 1970 UTC, a whole number")
	}
	*m = Millis(n)
	return nil
}

// UnmarshalJSON accepts a number and a string that holds one.
func (m *Millis) UnmarshalJSON(b []byte) error {
	return unmarshalScalar(b, m.UnmarshalText)
}

// Time returns the moment in UTC; that of nil, a time which was not given, is the
// zero time.
func (m *Millis) Time() time.Time {
	if m == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(*m)).UTC()
}

// Lookback is a window that ends now: a whole number and one of s, m, h, d, w, as in 15m
// or 7d.
//
// It is kept in seconds.
type Lookback int64

// Reach implements [Reacher].
func (l Lookback) Reach() time.Duration { return time.Duration(l) * time.Second }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Lookback) UnmarshalText(text []byte) error {
	fail := errors.New("a window as a whole number and one of s, m, h, d, w (for example 15m or 7d)")
	if len(text) < 2 || len(text) > 10 {
		return fail
	}
	unit := map[byte]int64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 604800}[text[len(text)-1]]
	n, err := strconv.ParseInt(string(text[:len(text)-1]), 10, 64)
	if err != nil || unit == 0 || n < 1 || text[0] == '+' {
		return fail
	}
	*l = Lookback(n * unit)
	return nil
}

// Duration returns the length of the window.
func (l Lookback) Duration() time.Duration { return time.Duration(l) * time.Second }

// Moment is a time, an ISO 8601 date or date-time, or how long before now, as in -14d, -6h or -30m.
type Moment struct {
	at     StartDate
	before Lookback
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *Moment) UnmarshalText(text []byte) error {
	if span, ok := bytes.CutPrefix(text, []byte("-")); ok {
		if m.before.UnmarshalText(span) == nil && m.before <= mostBefore {
			return nil
		}
	} else if m.at.UnmarshalText(text) == nil && m.at.Unix() >= 0 {
		return nil
	}
	return errors.New("an ISO 8601 date or date-time (2026-01-31T08:00:00Z), or a time since 1970 before now as a minus, a whole number and one of s, m, h, d, w (-1d)")
}

// mostBefore is how long before now a moment may be: 50 years, in seconds.
const mostBefore = 50 * 365 * 86_400

// UnmarshalJSON accepts a string.
func (m *Moment) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, m.UnmarshalText) }

// At is the moment, in UTC.
func (m *Moment) At(now time.Time) time.Time {
	if m.before > 0 {
		return now.Add(-m.before.Duration()).UTC()
	}
	return m.at.UTC()
}

// Days is how many days a window reaches back from now, 0 to 365; 0 is all time. It is
// written 7 or 7d.
type Days int64

// Reach implements [Reacher].
func (d Days) Reach() time.Duration { return time.Duration(d) * 24 * time.Hour }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Days) UnmarshalText(text []byte) error {
	n, ok := parseDays(text)
	if !ok || n > 365 {
		return errors.New("a number of days from 0 to 365, where 0 is all time (for example 7 or 7d)")
	}
	*d = Days(n)
	return nil
}

// WindowDays is how many days a window reaches back from now: 1, 7 or 30, or 0 for all
// time. It is written 7 or 7d.
type WindowDays int64

// Reach implements [Reacher].
func (d WindowDays) Reach() time.Duration { return time.Duration(d) * 24 * time.Hour }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *WindowDays) UnmarshalText(text []byte) error {
	n, ok := parseDays(text)
	if !ok || n != 0 && n != 1 && n != 7 && n != 30 {
		return errors.New("a number of days, one of 0 (all time), 1, 7, 30")
	}
	*d = WindowDays(n)
	return nil
}

// UnmarshalJSON accepts a number and a string that holds one.
func (d *WindowDays) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, d.UnmarshalText) }

// LongDays is how many days a window reaches back from now: 1, 7, 30, 60 or 90. It is
// written 7 or 7d.
type LongDays int64

// Reach implements [Reacher].
func (d LongDays) Reach() time.Duration { return time.Duration(d) * 24 * time.Hour }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *LongDays) UnmarshalText(text []byte) error {
	n, ok := parseDays(text)
	if !ok || !isLong(n) {
		return errors.New("a number of days, one of 1, 7, 30, 60, 90")
	}
	*d = LongDays(n)
	return nil
}

// LongWindowDays is how many days a window reaches back from now: 1, 7, 30, 60 or 90, or 0 for
// all time. It is written 7 or 7d.
type LongWindowDays int64

// Reach implements [Reacher].
func (d LongWindowDays) Reach() time.Duration { return time.Duration(d) * 24 * time.Hour }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *LongWindowDays) UnmarshalText(text []byte) error {
	n, ok := parseDays(text)
	if !ok || n != 0 && !isLong(n) {
		return errors.New("a number of days, one of 0 (all time), 1, 7, 30, 60, 90")
	}
	*d = LongWindowDays(n)
	return nil
}

func isLong(days int64) bool { return slices.Contains([]int64{1, 7, 30, 60, 90}, days) }

// parseDays reads a whole number without a sign, and a d behind it.
func parseDays(text []byte) (int64, bool) {
	s := strings.TrimSuffix(string(text), "d")
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && digits(s)
}

// CandleIntervals are the bucket lengths of candleSnapshot.
const CandleIntervals = "1m|3m|5m|15m|30m|1h|2h|4h|8h|12h|1d|3d|1w|1M"

// Int is a whole number; in JSON also accepted as a string that holds one, as
// clients in the field send it.
type Int int64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (i *Int) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || (len(text) > 0 && text[0] == '+') {
		return errors.New("a whole number")
	}
	*i = Int(n)
	return nil
}

// UnmarshalJSON accepts a number and a string that holds one.
func (i *Int) UnmarshalJSON(b []byte) error {
	return unmarshalScalar(b, i.UnmarshalText)
}

// WholeNumber is a JSON number without a fraction of zeros: languages that know no whole numbers
// write 5 as 5.0.
func WholeNumber(number string) string {
	if whole, fraction, ok := strings.Cut(number, "."); ok && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return number
}

// unmarshalScalar parses the text of a JSON number or string.
func unmarshalScalar(b []byte, parse func([]byte) error) error {
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	if b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		b = []byte(s)
	} else {
		b = []byte(WholeNumber(string(b)))
	}
	if err := parse(b); err != nil {
		return fmt.Errorf("must be %w", err)
	}
	return nil
}
