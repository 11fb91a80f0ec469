package binance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// exchangeInfo is the part of the description of all markets that is read.
type exchangeInfo struct {
	RateLimits []struct {
		Type     string `json:"rateLimitType"`
		Interval string `json:"interval"`
		Num      int    `json:"intervalNum"`
		Limit    int    `json:"limit"`
	} `json:"rateLimits"`
	Symbols source.Rows[symbol] `json:"symbols"`
}

type symbol struct {
	Symbol       string `json:"symbol"`
	Status       string `json:"status"`
	Contract     string `json:"contractStatus"` // the status of a COIN-M contract
	BaseAsset    string `json:"baseAsset"`
	QuoteAsset   string `json:"quoteAsset"`
	ContractType string `json:"contractType"` // of perpetuals and futures
	ContractSize int64  `json:"contractSize"` // US dollars, of a COIN-M contract
}

// Contracts that are perpetual: of coins, and of stocks, metals and the like.
const (
	perpetual       = "PERPETUAL"
	tradfiPerpetual = "TRADIFI_PERPETUAL"

	trading = "TRADING"
)

// What a market may be besides.
var (
	datedContracts = map[string]bool{
		"CURRENT_MONTH": true, "NEXT_MONTH": true, "CURRENT_QUARTER": true, "NEXT_QUARTER": true,
		"CURRENT_QUARTER DELIVERING": true, "NEXT_QUARTER DELIVERING": true, "PERPETUAL DELIVERING": true, "PERPETUAL_DELIVERING": true,
	}
	idleStatuses = map[string]bool{
		"PRE_TRADING": true, "POST_TRADING": true, "END_OF_DAY": true, "HALT": true, "AUCTION_MATCH": true, "BREAK": true, // of spot
		"PENDING_TRADING": true, "PRE_DELIVERING": true, "DELIVERING": true, "DELIVERED": true, "PRE_SETTLE": true, "SETTLING": true, "CLOSE": true,
	}
)

// trades says whether a market trades now; of contracts the perpetual ones do. It notes one of
// which it is not known whether it does.
func (m *Market) trades(s *symbol) bool {
	status := s.Status
	if m.rules.inverse {
		status = s.Contract
	}
	switch {
	case idleStatuses[status] || m.rules.swap && datedContracts[s.ContractType]:
		return false
	case status != trading:
		m.Unknown(s.Symbol, "status", status)
		return false
	case m.rules.swap && s.ContractType != perpetual && s.ContractType != tradfiPerpetual:
		m.Unknown(s.Symbol, "contract type", s.ContractType)
		return false
	case m.rules.inverse && s.ContractSize <= 0:
		m.Unknown(s.Symbol, "contract size", strconv.FormatInt(s.ContractSize, 10))
		return false
	}
	return m.Named(s.Symbol, s.BaseAsset, s.QuoteAsset)
}

// mostWeight is what the exchange may allow a minute at most: its spot markets do.
const mostWeight = 6000

// Pairs returns the markets that trade now: of contracts the perpetual ones. It takes
// over how much weight the host allows, and how long funding periods are.
func (m *Market) Pairs(ctx context.Context) ([]market.Pair, error) {
	var info exchangeInfo
	if err := m.host.Get(ctx, m.rules.path+"/exchangeInfo", nil, m.rules.infoWeight, &info); err != nil {
		return nil, err
	}
	for _, limit := range info.RateLimits {
		if limit.Type == "REQUEST_WEIGHT" && limit.Interval == "MINUTE" && limit.Num > 0 && limit.Limit > limit.Num {
			m.host.Budget.SetRate(max(1, min(limit.Limit/limit.Num, mostWeight)*share/100))
		}
	}
	if m.rules.swap {
		if err := m.readPeriods(ctx); err != nil {
			return nil, err
		}
	}
	var pairs []market.Pair
	listed := m.Listing()
	for i := range info.Symbols {
		s := &info.Symbols[i]
		if m.trades(s) {
			pairs = append(pairs, m.pair(s))
		}
	}
	listed()
	return pairs, nil
}

// KlinesMost is the most candles that one request is worth asking for.
func (m *Market) KlinesMost() int { return m.rules.klinesMost - 1 }

// Klines returns the candles of a pair that open from a time on (ms), at most so many:
// those that have ended. The run ends at the opening of the first that may not have,
// which is its open one.
// An interval is one of the exchange's own: 1m, 5m, 15m, 1h, 4h and 1d are.
func (m *Market) Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	run := market.CandleRun{Pair: pair.Key, Interval: i, From: from, To: from}
	limit := min(most+1, m.rules.klinesMost)
	query := url.Values{
		"symbol": {pair.Symbol}, "interval": {i.String()},
		"startTime": {strconv.FormatInt(from, 10)}, "limit": {strconv.Itoa(limit)},
	}
	var rows []kline
	if err := m.host.Get(ctx, m.rules.path+"/klines", query, m.rules.weight(limit), &rows); err != nil {
		return run, fmt.Errorf("read K-lines of %s: %w", pair.Key, err)
	}
	if len(rows) > limit {
		return run, fmt.Errorf("read K-lines of %s: %w: %d rows, where %d were asked for", pair.Key, upstream.ErrBounds, len(rows), limit)
	}
	latest := m.Now().Add(source.MostAhead).UnixMilli()
	for n := range rows {
		if pair.Inverse {
			rows[n].invert(pair.Contract)
		}
		open := rows[n].candle.OpenTime
		if open > latest {
			return run, fmt.Errorf("read K-lines of %s: %w: a row opens at %d", pair.Key, source.ErrFuture, open)
		}
		if i.StartMs(open) != open || open < from || n > 0 && open <= rows[n-1].candle.OpenTime {
			return run, fmt.Errorf("read K-lines of %s: a row opens at %d, which is no opening after the one before it", pair.Key, open)
		}
	}
	if len(rows) == 0 {
		return run, nil
	}
	last := len(rows) - 1
	for n := range rows[:last] {
		if rows[n].candle.Trades > 0 {
			run.Candles = append(run.Candles, rows[n].candle)
		}
	}
	run.To, run.Open = rows[last].candle.OpenTime, rows[last].candle
	return run, nil
}

// kline is a row of K-lines: open time, open, high, low, close, volume, close time,
// quote volume, trades, volume and quote volume in which takers bought, unused.
type kline struct{ candle market.Candle }

// invert reads sizes as those of an inverse pair, whose rows count contracts where others
// count base coins, and base coins where others count quote coins.
func (k *kline) invert(contract market.Decimal) {
	c := &k.candle
	c.Size, c.Amount = c.Amount, c.Size.Mul(contract)
	c.SizeBuyer, c.AmountBuyer = c.AmountBuyer, c.SizeBuyer.Mul(contract)
}

// klineFields are those of a row that are read.
const klineFields = 11

// UnmarshalJSON reads a row. A field that is missing or no decimal is an error.
func (k *kline) UnmarshalJSON(b []byte) error {
	var fields []json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	if len(fields) < klineFields {
		return fmt.Errorf("a row of %d fields, %d are read", len(fields), klineFields)
	}
	c := &k.candle
	if err := json.Unmarshal(fields[0], &c.OpenTime); err != nil {
		return fmt.Errorf("open time: %w", err)
	}
	if err := json.Unmarshal(fields[8], &c.Trades); err != nil {
		return fmt.Errorf("trades: %w", err)
	}
	for _, f := range [...]struct {
		to *market.Decimal
		at int
	}{
		{&c.Open, 1}, {&c.High, 2}, {&c.Low, 3}, {&c.Close, 4}, {&c.Size, 5},
		{&c.Amount, 7}, {&c.SizeBuyer, 9}, {&c.AmountBuyer, 10},
	} {
		var text string
		if err := json.Unmarshal(fields[f.at], &text); err != nil {
			return fmt.Errorf("field %d: %w", f.at, err)
		}
		d, err := market.ParseDecimal(text)
		if err != nil {
			return fmt.Errorf("field %d: %w", f.at, err)
		}
		if d.IsNeg() {
			return fmt.Errorf("field %d is negative: %s", f.at, text)
		}
		*f.to = d
	}
	c.First, c.Last = market.Order{Time: c.OpenTime}, market.Order{Time: c.OpenTime}
	return source.CheckKline(c)
}
