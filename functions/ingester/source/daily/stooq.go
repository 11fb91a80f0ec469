package daily

import (
	"bytes"
	"errors"
	"net/url"

	"quotary/shared/market"
)

// Symbol is a share or an index that is asked for.
type Symbol struct {
	Key  string // of ours, e.g. i:mstr:nasdaq
	Name string // the upstream's, e.g. mstr.us
	Unit string // the currency of its prices, e.g. USD; empty for points
}

// Stooq returns the days of symbols, from https://stooq.com/q/d/l or whoever writes the same
// files. The key is that of an account there, empty for none.
func Stooq(base, key string, symbols []Symbol) *Series {
	lists := make([]*list, len(symbols))
	for i, s := range symbols {
		query := url.Values{"s": {s.Name}, "i": {"d"}}
		if key != "" {
			query.Set("apikey", key)
		}
		lists[i] = &list{path: "/", query: func(bool) url.Values { return query },
			read: func(file []byte) ([]market.DayQuote, int, error) { return ReadStooq(file, s) }}
	}
	return series(base, "prices of shares", 20, lists...)
}

// stooqHeadings are in English and in Polish.
var stooqHeadings = []columns{
	{"date", "open", "high", "low", "close", "volume"},
	{"data", "otwarcie", "najwyzszy", "najnizszy", "zamkniecie", "wolumen"},
}

// stooqSays are the sentences that it answers, and what they mean: no other is quoted.
var stooqSays = map[string]error{
	"No data":  errors.New("it says that it has no such symbol"),
	"Exceeded": errors.New("it says that it was asked too often today"),
}

// ReadStooq reads a file of a symbol: the days, and how many rows are none. Rows may lack
// the volume. The upstream says in a sentence, with status 200, that it has no such symbol
// or that it has been asked too often: an error.
func ReadStooq(file []byte, s Symbol) (days []market.DayQuote, malformed int, err error) {
	for sentence, err := range stooqSays {
		if bytes.HasPrefix(file, []byte(sentence)) {
			return nil, 0, err
		}
	}
	return readCSV(file, stooqHeadings, func(date string) string { return date }, s.Key, s.Unit)
}
