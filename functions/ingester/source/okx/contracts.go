package okx

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// Tickers returns the last 24 hours of those pairs that the exchange tells of. It does not
// tell what was paid for linear swaps: that is what was traded, at the last price.
func (m *Market) Tickers(ctx context.Context, pairs []market.Pair) ([]market.PairTicker, error) {
	rows, err := get[ticker](ctx, m.host, "/api/v5/market/tickers", url.Values{"instType": {m.instType}}, tickersWeight)
	if err != nil {
		return nil, err
	}
	return source.OfPairs("ticker", rows, pairs, func(row *ticker) string { return row.InstID }, (*ticker).read)
}

// ticker is a row of tickers.
type ticker struct {
	InstID string `json:"instId"`
	Last   string `json:"last"`
	Open   string `json:"open24h"`
	High   string `json:"high24h"`
	Low    string `json:"low24h"`
	Vol    string `json:"vol24h"`    // base coins, of swaps contracts
	VolCcy string `json:"volCcy24h"` // quote coins, of swaps base coins
	Ts     string `json:"ts"`
}

func (row *ticker) read(pair *market.Pair) (market.PairTicker, error) {
	t := market.PairTicker{Pair: pair.Key}
	var counted, coins market.Decimal
	err := errors.Join(source.Milliseconds(row.Ts, &t.Time), source.Decimals(
		source.Field{To: &t.Last, Name: "last", Text: row.Last}, source.Field{To: &t.Open, Name: "open24h", Text: row.Open},
		source.Field{To: &t.High, Name: "high24h", Text: row.High}, source.Field{To: &t.Low, Name: "low24h", Text: row.Low},
		source.Field{To: &counted, Name: "vol24h", Text: row.Vol}, source.Field{To: &coins, Name: "volCcy24h", Text: row.VolCcy},
	))
	switch {
	case pair.Inverse:
		t.Size, t.Amount = coins, counted.Mul(pair.Contract)
	case pair.Swap:
		t.Size, t.Amount = coins, market.Notional(t.Last, coins)
	default:
		t.Size, t.Amount = counted, coins
	}
	return t, err
}

// Interests returns the open interest of swaps now; of spot markets none.
func (m *Market) Interests(ctx context.Context, pairs []market.Pair) ([]market.PairInterest, error) {
	if !m.Swap {
		return nil, nil
	}
	rows, err := get[interest](ctx, m.host, "/api/v5/public/open-interest", url.Values{"instType": {m.instType}}, interestsWeight)
	if err != nil {
		return nil, err
	}
	return source.OfPairs("open interest", rows, pairs, func(row *interest) string { return row.InstID }, (*interest).read)
}

// interest is a row of open interest.
type interest struct {
	InstID string `json:"instId"`
	Coins  string `json:"oiCcy"`
	USD    string `json:"oiUsd"`
	Ts     string `json:"ts"`
}

func (row *interest) read(pair *market.Pair) (market.PairInterest, error) {
	one := market.PairInterest{Pair: pair.Key}
	err := errors.Join(source.Milliseconds(row.Ts, &one.Time), source.Decimals(
		source.Field{To: &one.Size, Name: "oiCcy", Text: row.Coins}, source.Field{To: &one.Value, Name: "oiUsd", Text: row.USD},
	))
	return one, err
}

const (
	fiveMinutes = 300_000
	pastPage    = 100 // rows of an answer about the past
)

// PastFundings returns the rates that were paid of a pair: see [source.PastFundings].
func (m *Market) PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error) {
	type row struct {
		Time string `json:"fundingTime"`
		Rate string `json:"realizedRate"`
	}
	return source.PastFundings(&pair, from, to, pastPage, func(_, end int64) ([]row, error) {
		query := url.Values{"instId": {pair.Symbol}, "after": {strconv.FormatInt(end, 10)}, "limit": {strconv.Itoa(pastPage)}}
		return get[row](ctx, m.funding, "/api/v5/public/funding-rate-history", query, 1)
	}, func(r *row) (at, rate string) { return r.Time, r.Rate })
}

var errRow = errors.New("it is out of order or outside of what was asked for")

// past reads rows of text of every five minutes, in pages; add takes each, oldest first.
func past(ctx context.Context, host *source.Host, path string, query url.Values, from, to int64, add func(at int64, row []string) error) error {
	from = (from + fiveMinutes - 1) / fiveMinutes * fiveMinutes
	for from < to {
		end := min(to, from+pastPage*fiveMinutes)
		query.Set("period", "5m")
		query.Set("begin", strconv.FormatInt(from, 10))
		query.Set("end", strconv.FormatInt(end-1, 10))
		query.Set("limit", strconv.Itoa(pastPage))
		rows, err := get[[]string](ctx, host, path, query, 1)
		if err != nil {
			return err
		}
		last := int64(0)
		for _, row := range slices.Backward(rows) {
			var at int64
			if len(row) == 0 {
				return errRow
			}
			if err := source.Milliseconds(row[0], &at); err != nil {
				return err
			}
			if at <= last {
				return fmt.Errorf("the row of %d: %w", at, errRow)
			}
			last = at
			if at < from || at >= end {
				continue // the edges are not documented
			}
			if err := add(at, row); err != nil {
				return fmt.Errorf("the row of %d: %w", at, err)
			}
		}
		from = end
	}
	return nil
}

// PastInterests returns the open interest of a swap in steps of five minutes from a time
// until before another (ms), oldest first, as far back as the exchange has it: some days.
func (m *Market) PastInterests(ctx context.Context, pair market.Pair, from, to int64) (list []market.PairInterest, err error) {
	if !m.Swap {
		return nil, nil
	}
	query := url.Values{"instId": {pair.Symbol}}
	err = past(ctx, m.interest, "/api/v5/rubik/stat/contracts/open-interest-history", query, from, to, func(at int64, row []string) error {
		if len(row) < 4 { // time, contracts, coins, US dollars
			return errRow
		}
		one := market.PairInterest{Pair: pair.Key, Time: at}
		err := source.Decimals(source.Field{To: &one.Size, Name: "oiCcy", Text: row[2]}, source.Field{To: &one.Value, Name: "oiUsd", Text: row[3]})
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read open interest of %s: %w", pair.Key, err)
	}
	return list, nil
}

// ratioAsk is where a kind of ratios is told, and how far back in steps of five minutes.
type ratioAsk struct {
	path string
	coin bool // it is of a coin, not of a pair
	back int64
}

var ratioAsks = map[market.RatioKind]ratioAsk{
	market.LongAccounts:     {"/api/v5/rubik/stat/contracts/long-short-account-ratio", true, 0},
	market.LongTopAccounts:  {"/api/v5/rubik/stat/contracts/long-short-account-ratio-contract-top-trader", false, 1440 * fiveMinutes},
	market.LongTopPositions: {"/api/v5/rubik/stat/contracts/long-short-position-ratio-contract-top-trader", false, 1440 * fiveMinutes},
	market.MarginLoans:      {"/api/v5/rubik/stat/margin/loan-ratio", true, 2 * 288 * fiveMinutes},
}

// PastRatios returns a kind of ratios likewise: the exchange tells how many are long for one
// that is short.
func (m *Market) PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) (list []market.PairRatio, err error) {
	if !m.Swap || pair.Inverse {
		return nil, nil
	}
	ask, host, query := ratioAsks[kind], m.tops, url.Values{"instId": {pair.Symbol}}
	if ask.coin {
		host, query = m.accounts, url.Values{"ccy": {pair.Base}}
	}
	if ask.back > 0 {
		from = max(from, m.Now().UnixMilli()-ask.back)
	}
	err = past(ctx, host, ask.path, query, from, to, func(at int64, row []string) error {
		if len(row) < 2 {
			return errRow
		}
		var ratio market.Decimal
		if err := source.Decimals(source.Field{To: &ratio, Name: "ratio", Text: row[1]}); err != nil {
			return err
		}
		one := market.PairRatio{Pair: pair.Key, Time: at, Kind: kind, Value: ratio}
		if kind != market.MarginLoans {
			share, err := ratio.Div(ratio.Add(market.DecimalFromInt(1)))
			if err != nil {
				return err
			}
			one.Value = share.RoundHAZ(sharePlaces)
		}
		list = append(list, one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read ratios of %s: %w", pair.Key, err)
	}
	return list, nil
}

// sharePlaces are the decimal places of a share that is made of a ratio.
const sharePlaces = 6
