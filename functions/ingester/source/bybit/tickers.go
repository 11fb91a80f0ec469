package bybit

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// ticker is the part of a ticker that is read.
type ticker struct {
	Symbol   string `json:"symbol"`
	Last     string `json:"lastPrice"`
	Open     string `json:"prevPrice24h"`
	High     string `json:"highPrice24h"`
	Low      string `json:"lowPrice24h"`
	Volume   string `json:"volume24h"`   // base coins; of an inverse pair US dollars
	Turnover string `json:"turnover24h"` // quote coins; of an inverse pair base coins

	Mark string `json:"markPrice"` // of perpetuals, like all that follow
	openInterest
}

// openInterest is counted as volume is.
type openInterest struct {
	Single string `json:"singleOpenInterest"` // one side
	Both   string `json:"openInterest"`       // longs and shorts together
}

// size is one side. Where the exchange tells only the sum of both, it is half of that.
func (o *openInterest) size() (size market.Decimal, err error) {
	if o.Single != "" {
		err = source.Decimals(source.Field{To: &size, Name: "singleOpenInterest", Text: o.Single})
		return size, err
	}
	err = source.Decimals(source.Field{To: &size, Name: "openInterest", Text: o.Both})
	return size.Mul(half), err
}

var half = market.DecimalFromInt(1).MustDiv(market.DecimalFromInt(2))

// lastTickers are the tickers that the exchange sent last: prices and open interest come in
// one answer.
type lastTickers struct {
	mu    sync.Mutex
	rows  []ticker
	time  int64     // the exchange's clock, ms
	asked time.Time // zero before the first
}

// tickersFor is how long an answer with tickers stands for open interest too.
const tickersFor = 15 * time.Second

// askTickers asks for all tickers and remembers them.
func (m *Market) askTickers(ctx context.Context) (rows []ticker, at int64, err error) {
	asked := m.Now()
	a, err := get[ticker](ctx, m.host, "/v5/market/tickers", url.Values{"category": {m.category}})
	if err != nil {
		return nil, 0, err
	}
	m.tickers.mu.Lock()
	defer m.tickers.mu.Unlock()
	m.tickers.rows, m.tickers.time, m.tickers.asked = a.Result.List, a.Time, asked
	return a.Result.List, a.Time, source.CheckTime(a.Time)
}

// newestTickers are those that were asked for last, unless that is too long ago.
func (m *Market) newestTickers(ctx context.Context) (rows []ticker, at int64, err error) {
	m.tickers.mu.Lock()
	rows, at, asked := m.tickers.rows, m.tickers.time, m.tickers.asked
	m.tickers.mu.Unlock()
	if age := m.Now().Sub(asked); age < 0 || age >= tickersFor {
		return m.askTickers(ctx)
	}
	return rows, at, source.CheckTime(at)
}

// Tickers returns the last 24 hours of those pairs that the exchange tells of.
func (m *Market) Tickers(ctx context.Context, pairs []market.Pair) ([]market.PairTicker, error) {
	rows, at, err := m.askTickers(ctx)
	if err != nil {
		return nil, err
	}
	return source.OfPairs("ticker", rows, pairs, symbolOf, func(row *ticker, pair *market.Pair) (market.PairTicker, error) {
		t := market.PairTicker{Pair: pair.Key, Time: at}
		size, amount := &t.Size, &t.Amount
		if m.Inverse {
			size, amount = amount, size
		}
		err := source.Decimals(
			source.Field{To: &t.Last, Name: "lastPrice", Text: row.Last}, source.Field{To: &t.Open, Name: "prevPrice24h", Text: row.Open},
			source.Field{To: &t.High, Name: "highPrice24h", Text: row.High}, source.Field{To: &t.Low, Name: "lowPrice24h", Text: row.Low},
			source.Field{To: size, Name: "volume24h", Text: row.Volume}, source.Field{To: amount, Name: "turnover24h", Text: row.Turnover},
		)
		return t, err
	})
}

func symbolOf(row *ticker) string { return row.Symbol }

// Interests returns the open interest of perpetuals now, at their mark prices; of spot
// markets none.
func (m *Market) Interests(ctx context.Context, pairs []market.Pair) ([]market.PairInterest, error) {
	if !m.Swap {
		return nil, nil
	}
	rows, at, err := m.newestTickers(ctx)
	if err != nil {
		return nil, err
	}
	return source.OfPairs("open interest", rows, pairs, symbolOf, func(row *ticker, pair *market.Pair) (market.PairInterest, error) {
		var mark market.Decimal
		counted, err := row.size()
		if err = errors.Join(err, source.Decimals(source.Field{To: &mark, Name: "markPrice", Text: row.Mark})); err != nil {
			return market.PairInterest{}, err // without its price an inverse size cannot be told
		}
		return interest(pair, at, mark, counted), nil
	})
}

// interest is open interest that is counted as the exchange does.
func interest(pair *market.Pair, at int64, mark, counted market.Decimal) market.PairInterest {
	one := market.PairInterest{Pair: pair.Key, Time: at}
	one.Size, one.Value = source.Sizes(pair, mark, counted)
	return one
}
