package daily

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"quotary/shared/market"
)

// FearGreed returns the days of the Fear and Greed index of alternative.me, in points from
// 0 to 100, under a key. Its API is https://api.alternative.me/fng.
func FearGreed(base, key string) *Series {
	query := func(whole bool) url.Values {
		limit := "10" // days, should some have been missed
		if whole {
			limit = "0" // all of them
		}
		return url.Values{"limit": {limit}, "format": {"json"}}
	}
	return series(base, "the Fear and Greed index", 10, &list{path: "/", query: query,
		read: func(answer []byte) ([]market.DayQuote, int, error) { return ReadFearGreed(answer, key) }})
}

var (
	errNoIndex = errors.New("it is no list of days")
	errRefused = errors.New("the upstream says that it cannot answer")
)

// mostFearGreed is the highest the index goes.
const mostFearGreed = 100

// ReadFearGreed reads an answer: the days, and how many of its rows are none.
func ReadFearGreed(answer []byte, key string) (days []market.DayQuote, malformed int, err error) {
	var list struct {
		Data     []json.RawMessage `json:"data"`
		Metadata struct {
			Error any `json:"error"`
		} `json:"metadata"`
	}
	if err := bounds.CheckRows(answer); err != nil {
		return nil, 0, err
	}
	switch err := json.Unmarshal(answer, &list); {
	case err != nil:
		return nil, 0, errNoIndex
	case list.Metadata.Error != nil:
		return nil, 0, errRefused
	}
	for _, row := range list.Data {
		day, ok := fearGreedDay(row, key)
		if !ok {
			malformed++
			continue
		}
		days = append(days, day)
	}
	if len(days) == 0 {
		return nil, malformed, errNoDays
	}
	return days, malformed, nil
}

// fearGreedDay reads a row, whose numbers are texts.
func fearGreedDay(row json.RawMessage, key string) (market.DayQuote, bool) {
	var r struct {
		Value     json.Number `json:"value"`
		Timestamp json.Number `json:"timestamp"` // s, the beginning of the day
	}
	if json.Unmarshal(row, &r) != nil {
		return market.DayQuote{}, false
	}
	value, errValue := strconv.Atoi(r.Value.String())
	at, errTime := r.Timestamp.Int64()
	if errValue != nil || errTime != nil || value < 0 || value > mostFearGreed || at < 0 || at > 1<<40 {
		return market.DayQuote{}, false
	}
	q, err := market.DayQuote{Key: key, Date: time.Unix(at, 0).UTC().Format(time.DateOnly), Close: strconv.Itoa(value)}.Checked()
	return q, err == nil
}
