package bybit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// answer is the envelope of everything.
type answer[T any] struct {
	Code   int   `json:"retCode"`
	Time   int64 `json:"time"` // the exchange's clock, ms
	Result struct {
		List source.Rows[T] `json:"list"`
		Next string         `json:"nextPageCursor"`
	} `json:"result"`
}

// Codes of answers.
const (
	codeBadParameter = 10001
	codeTooMany      = 10006
)

const (
	tooManyPause  = 5 * time.Second // the limit is of five seconds
	bannedPause   = 10 * time.Minute
	mostRefusal   = 4096 // bytes: a longer answer is no refusal
	requestWeight = 1
)

// limited reports the pause that a refusal for too many requests asks for.
func limited(status int, body []byte) time.Duration {
	if status == http.StatusForbidden {
		return bannedPause
	}
	if len(body) > mostRefusal {
		return 0
	}
	var a struct {
		Code int `json:"retCode"`
	}
	if json.Unmarshal(body, &a) == nil && a.Code == codeTooMany {
		return tooManyPause
	}
	return 0
}

// get asks for a page of a list.
func get[T any](ctx context.Context, h *source.Host, path string, query url.Values) (a answer[T], err error) {
	if err = h.Get(ctx, path, query, requestWeight, &a); err != nil {
		return a, err
	}
	switch a.Code {
	case 0:
		return a, nil
	case codeBadParameter: // an unknown symbol is one
		return a, &upstream.RefusedError{Status: http.StatusBadRequest, Code: strconv.Itoa(a.Code)}
	}
	return a, fmt.Errorf("ask for %s: the answer has code %d", path, a.Code)
}

// instrument is the part of the description of an instrument that is read.
type instrument struct {
	Symbol       string `json:"symbol"`
	Status       string `json:"status"`
	BaseCoin     string `json:"baseCoin"`
	QuoteCoin    string `json:"quoteCoin"`
	ContractType string `json:"contractType"` // of contracts
}

const (
	instrumentsPage  = 1000
	instrumentsPages = 20 // more cannot be
)

var errPages = errors.New("the list of instruments does not end")

// Pairs returns the markets that trade now: of contracts the perpetual ones.
func (m *Market) Pairs(ctx context.Context) ([]market.Pair, error) {
	var pairs []market.Pair
	listed := m.Listing()
	query := url.Values{"category": {m.category}}
	if m.Swap { // spot has no pages
		query.Set("limit", strconv.Itoa(instrumentsPage))
	}
	for range instrumentsPages {
		page, err := get[instrument](ctx, m.host, "/v5/market/instruments-info", query)
		if err != nil {
			return nil, err
		}
		for i := range page.Result.List {
			if pair, ok := m.pair(&page.Result.List[i]); ok {
				pairs = append(pairs, pair)
			}
		}
		if page.Result.Next == "" || !m.Swap {
			listed()
			return pairs, nil
		}
		query.Set("cursor", page.Result.Next)
	}
	return nil, errPages
}

// What a market may be besides one that trades and is perpetual.
var (
	idleStatuses  = map[string]bool{"PreLaunch": true, "Delivering": true, "Settling": true, "Closed": true}
	contractTypes = map[string]bool{"LinearPerpetual": true, "LinearFutures": true, "InversePerpetual": true, "InverseFutures": true}
)

// pair is the market of an instrument; false for one that does not trade. It notes one of which
// something is not known.
func (m *Market) pair(i *instrument) (market.Pair, bool) {
	switch {
	case i.Status != "Trading":
		if !idleStatuses[i.Status] {
			m.Unknown(i.Symbol, "status", i.Status)
		}
		return market.Pair{}, false
	case i.ContractType != m.contract:
		if !m.Swap || !contractTypes[i.ContractType] {
			m.Unknown(i.Symbol, "contract type", i.ContractType)
		}
		return market.Pair{}, false
	case !m.Named(i.Symbol, i.BaseCoin, i.QuoteCoin):
		return market.Pair{}, false
	}
	pair := market.Pair{
		Key: market.PairKey(i.BaseCoin, i.QuoteCoin, Platform, m.Swap), Platform: Platform,
		Base: i.BaseCoin, Quote: i.QuoteCoin, Symbol: i.Symbol, Swap: m.Swap, Inverse: m.Inverse,
	}
	if m.Inverse {
		pair.Contract = market.DecimalFromInt(1) // US dollar
	}
	return pair, true
}

const klinesPage = 1000 // rows of an answer

// since is when the first K-lines open that the exchange may have, ms: 2018-10-01. Before,
// it is not worth asking.
const since = 1_538_352_000_000

// KlinesMost is the most candles that one request is worth asking for.
func (m *Market) KlinesMost() int { return klinesPage - 1 }

// intervals are the exchange's names of those that can be asked for.
var intervals = map[market.Interval]string{
	market.Minute1: "1", market.Minute5: "5", market.Minute15: "15",
	market.Hour1: "60", market.Hour4: "240", market.Day1: "D",
}

// Klines returns the candles of a pair that open from a time on (ms), at most so many:
// those that have ended. The run ends at the opening of the first that may not have,
// which is its open one.
func (m *Market) Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	run, err := m.klines(ctx, pair, i, from, most)
	if err != nil {
		return run, fmt.Errorf("read K-lines of %s: %w", pair.Key, err)
	}
	run.From = from
	return run, nil
}

func (m *Market) klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (run market.CandleRun, err error) {
	interval, ok := intervals[i]
	if !ok {
		return run, fmt.Errorf("the exchange has none of %s", i)
	}
	w := source.NewKlineWindow(i, max(from, since), most, klinesPage)
	query := url.Values{
		"category": {m.category}, "symbol": {pair.Symbol}, "interval": {interval}, "limit": {strconv.Itoa(w.Openings)},
		"start": {strconv.FormatInt(w.From, 10)}, "end": {strconv.FormatInt(w.To()-1, 10)},
	}
	rows, err := m.rows(ctx, i, query)
	if err != nil {
		return run, err
	}
	if len(rows) > 0 {
		return w.Run(pair.Key, rows)
	}
	query.Del("start")
	query.Del("end")
	query.Set("limit", "1")
	newest, err := m.rows(ctx, i, query)
	if err != nil || len(newest) == 0 {
		return w.EmptyRun(pair.Key, w.From), err
	}
	return w.EmptyRun(pair.Key, newest[0].OpenTime), nil
}

// rows asks for K-lines. A row has ended when its bucket has by the exchange's clock.
func (m *Market) rows(ctx context.Context, i market.Interval, query url.Values) ([]source.KlineRow, error) {
	a, err := get[[]string](ctx, m.host, "/v5/market/kline", query)
	if err != nil {
		return nil, err
	}
	rows := make([]source.KlineRow, len(a.Result.List))
	for n, fields := range a.Result.List {
		if rows[n], err = m.klineRow(fields); err != nil {
			return nil, err
		}
		rows[n].Ended = i.NextMs(rows[n].OpenTime) <= a.Time
	}
	return rows, nil
}

// klineFields are those of a row: open time, open, high, low, close, volume, turnover. The
// volume is in base coins and the turnover in quote coins; of an inverse pair they are the
// other way round.
const klineFields = 7

func (m *Market) klineRow(fields []string) (source.KlineRow, error) {
	if len(fields) < klineFields {
		return source.KlineRow{}, fmt.Errorf("a row of %d fields, %d are read", len(fields), klineFields)
	}
	size, amount := fields[5], fields[6]
	if m.Inverse {
		size, amount = amount, size
	}
	return source.NewKlineRow(fields[0], fields[1], fields[2], fields[3], fields[4], size, amount)
}
