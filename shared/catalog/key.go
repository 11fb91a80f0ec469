package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Key names a coin, a platform, an index (i:<name>:<source>) or a stock
// (i:<symbol>:<market>). Keys follow no rule but their letters: they are compared as
// they are, and one that nobody knows is no error.
type Key string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Key) UnmarshalText(text []byte) error {
	if !isKey(text) {
		return errors.New("a key of 1 to 64 letters, digits or :._-/@+")
	}
	*k = Key(text)
	return nil
}

// PairKey names a trading pair as <pair>:<platform>, for example
// btcusdt:binance. Where it is a parameter it is accepted under every name of
// [PairKey.Spellings] beside the one of its tag.
type PairKey string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *PairKey) UnmarshalText(text []byte) error {
	if !isKey(text) {
		return errors.New("a pair key of 1 to 64 letters, digits or :._-/@+")
	}
	*k = PairKey(text)
	return nil
}

// Spellings are the names under which clients send a pair key.
func (PairKey) Spellings() []string { return []string{"symbol", "dbkey", "dbKey", "key"} }

func isKey(text []byte) bool {
	if len(text) == 0 || !utf8.Valid(text) || utf8.RuneCount(text) > 64 {
		return false
	}
	for _, r := range string(text) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(":._-/@+", r) {
			return false
		}
	}
	return true
}

// FuturesInterval is the length of a bucket of the futures histories.
type FuturesInterval string

// FuturesIntervals are the lengths that a [FuturesInterval] may have.
func FuturesIntervals() []FuturesInterval {
	return []FuturesInterval{"1m", "2m", "5m", "15m", "30m", "1h", "4h", "8h", "12h", "1d"}
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (i *FuturesInterval) UnmarshalText(text []byte) error {
	if !slices.Contains(FuturesIntervals(), FuturesInterval(text)) {
		return errors.New("one of " + join(FuturesIntervals()))
	}
	*i = FuturesInterval(text)
	return nil
}

// Duration returns the length of the bucket, 0 of an interval that was not given.
func (i FuturesInterval) Duration() time.Duration {
	var l Lookback
	_ = l.UnmarshalText([]byte(i)) // every interval is written as a window
	return l.Duration()
}

// KlinePeriod is the length of a K-line in seconds.
type KlinePeriod int64

// KlinePeriods are the lengths that a [KlinePeriod] may have.
func KlinePeriods() []KlinePeriod {
	return []KlinePeriod{60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 259200, 604800, 2592000}
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *KlinePeriod) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || text[0] == '+' || !slices.Contains(KlinePeriods(), KlinePeriod(n)) {
		return errors.New("a period in seconds, one of " + join(KlinePeriods()))
	}
	*p = KlinePeriod(n)
	return nil
}

// Duration returns the length of the period.
func (p KlinePeriod) Duration() time.Duration { return time.Duration(p) * time.Second }

// Seconds is a time in seconds since 1970-01-01 UTC.
type Seconds int64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Seconds) UnmarshalText(text []byte) error {
	const latest = 253402300799 // the end of year 9999: anything later is a unit mistaken
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || text[0] == '+' || n < 0 || n > latest {
		return errors.New("a time in seconds since 1970 UTC, a whole number")
	}
	*s = Seconds(n)
	return nil
}

// UnmarshalJSON accepts a number and a string that holds one.
func (s *Seconds) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, s.UnmarshalText) }

// Time returns the moment in UTC; that of nil, a time which was not given, is the
// zero time.
func (s *Seconds) Time() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Unix(int64(*s), 0).UTC()
}

// join lists values in words.
func join[T any](values []T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ", ")
}
