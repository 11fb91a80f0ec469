package binance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// ticker is a row of tickers.
type ticker struct {
	Symbol      string `json:"symbol"`
	LastPrice   string `json:"lastPrice"`
	OpenPrice   string `json:"openPrice"`
	HighPrice   string `json:"highPrice"`
	LowPrice    string `json:"lowPrice"`
	Volume      string `json:"volume"`
	QuoteVolume string `json:"quoteVolume"`
	BaseVolume  string `json:"baseVolume"` // of COIN-M, whose volume are contracts
	CloseTime   int64  `json:"closeTime"`
}

// Tickers returns the last 24 hours of those pairs that the exchange tells of.
func (m *Market) Tickers(ctx context.Context, pairs []market.Pair) ([]market.PairTicker, error) {
	var rows source.Rows[ticker]
	if err := m.host.Get(ctx, m.rules.path+"/ticker/24hr", nil, m.rules.tickersWeight, &rows); err != nil {
		return nil, err
	}
	return source.OfPairs("ticker", rows, pairs, func(row *ticker) string { return row.Symbol }, (*ticker).read)
}

func (row *ticker) read(pair *market.Pair) (market.PairTicker, error) {
	t := market.PairTicker{Pair: pair.Key, Time: row.CloseTime}
	size, amount := row.Volume, row.QuoteVolume
	if pair.Inverse {
		size, amount = row.BaseVolume, row.Volume
	}
	err := errors.Join(source.CheckTime(t.Time), source.Decimals(
		source.Field{To: &t.Last, Name: "lastPrice", Text: row.LastPrice}, source.Field{To: &t.Open, Name: "openPrice", Text: row.OpenPrice},
		source.Field{To: &t.High, Name: "highPrice", Text: row.HighPrice}, source.Field{To: &t.Low, Name: "lowPrice", Text: row.LowPrice},
		source.Field{To: &t.Size, Name: "volume", Text: size}, source.Field{To: &t.Amount, Name: "quoteVolume", Text: amount},
	))
	if pair.Inverse {
		t.Amount = t.Amount.Mul(pair.Contract)
	}
	return t, err
}

// periods are the funding periods of symbols that have no eight hours, ms.
type periods struct {
	mu       sync.Mutex
	bySymbol map[string]int64
}

const (
	hourMs        = 3_600_000
	defaultPeriod = source.LongestPeriod
	fiveMinutes   = 300_000
)

// readPeriods asks for the funding periods. Of a symbol whose period cannot be read the one
// before stays.
func (m *Market) readPeriods(ctx context.Context) error {
	var rows source.Rows[struct {
		Symbol string `json:"symbol"`
		Hours  int64  `json:"fundingIntervalHours"`
	}]
	if err := m.funding.Get(ctx, m.rules.path+"/fundingInfo", nil, 1, &rows); err != nil {
		return err
	}
	m.periods.mu.Lock()
	defer m.periods.mu.Unlock()
	bySymbol, unread := map[string]int64{}, int64(0)
	for _, row := range rows {
		if row.Hours > 0 {
			bySymbol[row.Symbol] = row.Hours * hourMs
			continue
		}
		unread++
		if before, ok := m.periods.bySymbol[row.Symbol]; ok {
			bySymbol[row.Symbol] = before
		}
	}
	if unread > 0 {
		m.Stats.Malformed.Add(unread)
		m.Log.Warn("funding periods cannot be read", "symbols", unread)
	}
	m.periods.bySymbol = bySymbol
	return nil
}

// of is the funding period of a symbol, ms.
func (p *periods) of(symbol string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ms := p.bySymbol[symbol]; ms > 0 {
		return ms
	}
	return defaultPeriod
}

// Interests returns the open interest of perpetuals now, at their mark prices; of spot
// markets none.
func (m *Market) Interests(ctx context.Context, pairs []market.Pair) ([]market.PairInterest, error) {
	if !m.rules.swap {
		return nil, nil
	}
	var marks source.Rows[struct {
		Symbol    string `json:"symbol"`
		MarkPrice string `json:"markPrice"`
	}]
	if err := m.host.Get(ctx, m.rules.path+"/premiumIndex", nil, 10, &marks); err != nil {
		return nil, err
	}
	prices := map[string]string{}
	for _, mark := range marks {
		prices[mark.Symbol] = mark.MarkPrice
	}
	var list []market.PairInterest
	var bad []error
	for i := range pairs {
		one, err := m.interest(ctx, &pairs[i], prices[pairs[i].Symbol])
		if ctx.Err() != nil {
			return list, context.Cause(ctx)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("open interest of %s: %w", pairs[i].Key, err))
			continue
		}
		list = append(list, one)
	}
	return list, errors.Join(bad...)
}

// interest is that of a pair.
func (m *Market) interest(ctx context.Context, pair *market.Pair, mark string) (one market.PairInterest, err error) {
	var row struct {
		OpenInterest string `json:"openInterest"`
		Time         int64  `json:"time"`
	}
	if err := m.host.Get(ctx, m.rules.path+"/openInterest", url.Values{"symbol": {pair.Symbol}}, 1, &row); err != nil {
		return one, err
	}
	one = market.PairInterest{Pair: pair.Key, Time: row.Time}
	var px market.Decimal
	err = errors.Join(source.CheckTime(row.Time), source.Decimals(
		source.Field{To: &one.Size, Name: "openInterest", Text: row.OpenInterest}, source.Field{To: &px, Name: "markPrice", Text: mark},
	))
	if err == nil {
		one.Size, one.Value = source.Sizes(pair, px, one.Size)
	}
	return one, err
}

// PastFundings returns the rates that were paid of a pair from a time until before another
// (ms), oldest first, but for special ones, which are of no period. The exchange does not say
// how long the periods were: see [source.PaidFundings].
func (m *Market) PastFundings(ctx context.Context, pair market.Pair, from, to int64) (list []market.PairFunding, err error) {
	const most = 1000
	read := 0
	for begin := from - source.FundingLookback; begin < to; {
		var rows []struct {
			Time int64  `json:"fundingTime"`
			Rate string `json:"fundingRate"`
			Type string `json:"rateType"`
		}
		query := window(pair.Symbol, begin, to-1, most)
		if err := m.funding.Get(ctx, m.rules.path+"/fundingRate", query, 1, &rows); err != nil {
			return nil, fmt.Errorf("read funding of %s: %w", pair.Key, err)
		}
		for _, row := range rows {
			f := market.PairFunding{Pair: pair.Key, Time: row.Time, Paid: true}
			if f.Rate, err = market.ParseDecimal(row.Rate); err != nil || row.Time < begin || row.Time >= to {
				return nil, fmt.Errorf("read funding of %s: the row of %d is none: %w", pair.Key, row.Time, errors.Join(errRow, err))
			}
			if begin = row.Time + 1; row.Type != specialRate {
				list = append(list, f)
			}
		}
		read += len(rows)
		if err := source.CheckPaid(read, from-source.FundingLookback, to); err != nil {
			return nil, fmt.Errorf("read funding of %s: %w", pair.Key, err)
		}
		if len(rows) < most {
			break
		}
	}
	return source.PaidFundings(list, from), nil
}

// specialRate is the type of a rate that was paid besides those of periods.
const specialRate = "Special"

var errRow = errors.New("out of order or outside of what was asked for")

// window is the query for what is between two times, ms, both inclusive.
func window(symbol string, from, to int64, limit int) url.Values {
	return url.Values{
		"symbol": {symbol}, "startTime": {strconv.FormatInt(from, 10)}, "endTime": {strconv.FormatInt(to, 10)}, "limit": {strconv.Itoa(limit)},
	}
}

// statsBack is how far back the exchange keeps statistics: 30 days, less a margin for the
// time that a request takes.
const statsBack = 30*24*hourMs - 10*60_000

// statsRow is a row of statistics.
type statsRow struct {
	Interest  string `json:"sumOpenInterest"`
	Value     string `json:"sumOpenInterestValue"`
	Long      string `json:"longAccount"`
	Position  string `json:"longPosition"` // what inverse pairs have in its place, of positions
	Timestamp int64  `json:"timestamp"`
}

// past reads statistics of every five minutes, oldest first, as far back as there are any.
func (m *Market) past(ctx context.Context, path string, pair *market.Pair, from, to int64, add func(*statsRow) error) error {
	const most = 500
	if !m.rules.swap {
		return nil
	}
	from = max(from, m.Now().UnixMilli()-statsBack)
	from = (from + fiveMinutes - 1) / fiveMinutes * fiveMinutes
	for from < to {
		end := min(to, from+most*fiveMinutes)
		query := window(pair.Symbol, from, end-1, most)
		query.Set("period", "5m")
		if pair.Inverse { // statistics are those of a pair
			query.Del("symbol")
			query.Set("pair", pair.Base+pair.Quote)
			query.Set("contractType", "PERPETUAL")
		}
		var rows []statsRow
		if err := m.stats.Get(ctx, path, query, 1, &rows); err != nil {
			return err
		}
		last := from - 1
		for i := range rows {
			if at := rows[i].Timestamp; at <= last || at >= end {
				return fmt.Errorf("the row of %d is none: %w", at, errRow)
			}
			last = rows[i].Timestamp
			if err := add(&rows[i]); err != nil {
				return fmt.Errorf("the row of %d: %w", last, err)
			}
		}
		from = end
	}
	return nil
}

// PastInterests returns the open interest of a pair in steps of five minutes from a time
// until before another (ms), oldest first.
func (m *Market) PastInterests(ctx context.Context, pair market.Pair, from, to int64) (list []market.PairInterest, err error) {
	err = m.past(ctx, "/futures/data/openInterestHist", &pair, from, to, func(row *statsRow) error {
		one := market.PairInterest{Pair: pair.Key, Time: row.Timestamp}
		err := source.Decimals(source.Field{To: &one.Size, Name: "sumOpenInterest", Text: row.Interest}, source.Field{To: &one.Value, Name: "sumOpenInterestValue", Text: row.Value})
		if pair.Inverse { // contracts, worth so many coins
			one.Size, one.Value = one.Value, one.Size.Mul(pair.Contract)
		}
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read open interest of %s: %w", pair.Key, err)
	}
	return list, nil
}

// ratioPaths are where the kinds of ratios are that the exchange tells.
var ratioPaths = map[market.RatioKind]string{
	market.LongAccounts:     "/futures/data/globalLongShortAccountRatio",
	market.LongTopAccounts:  "/futures/data/topLongShortAccountRatio",
	market.LongTopPositions: "/futures/data/topLongShortPositionRatio",
}

// PastRatios returns a kind of ratios likewise: nil of margin loans, of which it tells nothing.
func (m *Market) PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) (list []market.PairRatio, err error) {
	path := ratioPaths[kind]
	if path == "" {
		return nil, nil
	}
	err = m.past(ctx, path, &pair, from, to, func(row *statsRow) error {
		one := market.PairRatio{Pair: pair.Key, Time: row.Timestamp, Kind: kind}
		err := source.Decimals(source.Field{To: &one.Value, Name: "longAccount", Text: cmp.Or(row.Long, row.Position)})
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read ratios of %s: %w", pair.Key, err)
	}
	return list, nil
}
