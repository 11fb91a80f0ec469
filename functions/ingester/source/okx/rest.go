package okx

import (
	"context"
	"encoding/json"
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
	Code string         `json:"code"`
	Data source.Rows[T] `json:"data"`
}

// Codes of answers.
const (
	codeOK           = "0"
	codeTooMany      = "50011"
	codeTooManyUser  = "50061"
	codeBadParameter = "51000"
	codeUnknown      = "51001" // instrument
)

const (
	tooManyPause = 3 * time.Second // the limits are of two seconds
	mostRefusal  = 4096            // bytes: a longer answer is no refusal
)

// limited reports the pause that a refusal for too many requests asks for.
func limited(_ int, body []byte) time.Duration {
	if len(body) > mostRefusal {
		return 0
	}
	var a answer[json.RawMessage]
	if json.Unmarshal(body, &a) == nil && (a.Code == codeTooMany || a.Code == codeTooManyUser) {
		return tooManyPause
	}
	return 0
}

// get asks for the data of an answer.
func get[T any](ctx context.Context, h *source.Host, path string, query url.Values, weight int) ([]T, error) {
	var a answer[T]
	if err := h.Get(ctx, path, query, weight, &a); err != nil {
		return nil, err
	}
	switch a.Code {
	case codeOK:
		return a.Data, nil
	case codeBadParameter, codeUnknown:
		return nil, &upstream.RefusedError{Status: http.StatusBadRequest, Code: a.Code}
	}
	return nil, fmt.Errorf("ask for %s: the answer has code %.20q", path, a.Code)
}

// instrument is the part of the description of an instrument that is read.
type instrument struct {
	InstID    string `json:"instId"`
	State     string `json:"state"`
	BaseCcy   string `json:"baseCcy"`   // of spot
	QuoteCcy  string `json:"quoteCcy"`  // of spot
	CtType    string `json:"ctType"`    // of contracts, like all that follow
	CtVal     string `json:"ctVal"`     // coins of CtValCcy in a contract,
	CtMult    string `json:"ctMult"`    // times this
	CtValCcy  string `json:"ctValCcy"`  // base coin of a linear contract, USD of an inverse one
	SettleCcy string `json:"settleCcy"` // quote coin of a linear contract, base coin of an inverse one
}

// Pairs returns the markets that trade now: of contracts the perpetual ones of the kind.
func (m *Market) Pairs(ctx context.Context) ([]market.Pair, error) {
	instruments, err := get[instrument](ctx, m.host, "/api/v5/public/instruments", url.Values{"instType": {m.instType}}, instrumentsWeight)
	if err != nil {
		return nil, err
	}
	var pairs []market.Pair
	listed := m.Listing()
	for i := range instruments {
		if pair, ok := m.pair(&instruments[i]); ok {
			pairs = append(pairs, pair)
		}
	}
	listed()
	return pairs, nil
}

// States and types of contracts.
var (
	idleStates    = map[string]bool{"suspend": true, "preopen": true, "test": true, "rebase": true, "post_only": true, "expired": true, "settling": true}
	contractTypes = map[string]bool{"linear": true, "inverse": true}
)

// pair is the market of an instrument; false for one that does not trade, or whose sizes
// cannot be told in base coins. It counts those whose description cannot be read, and notes
// those of which something is not known.
func (m *Market) pair(i *instrument) (pair market.Pair, ok bool) {
	if i.State != "live" {
		if !idleStates[i.State] {
			m.Unknown(i.InstID, "state", i.State)
		}
		return pair, false
	}
	pair = market.Pair{Platform: m.Platform, Base: i.BaseCcy, Quote: i.QuoteCcy, Symbol: i.InstID, Swap: m.Swap, Inverse: m.Inverse}
	if m.Swap {
		kind := "linear"
		if pair.Base, pair.Quote = i.CtValCcy, i.SettleCcy; m.Inverse {
			kind, pair.Base, pair.Quote = "inverse", i.SettleCcy, i.CtValCcy
		}
		// The name says what it is priced in, which is not always what it is settled in.
		switch {
		case i.CtType != kind:
			if !contractTypes[i.CtType] {
				m.Unknown(i.InstID, "contract type", i.CtType)
			}
			return pair, false
		case i.InstID != pair.Base+"-"+pair.Quote+"-SWAP":
			m.Unknown(i.InstID, "name of a swap of", pair.Base+"-"+pair.Quote)
			return pair, false
		}
		value, err := market.ParseDecimal(i.CtVal)
		multiplier, err2 := market.ParseDecimal(i.CtMult)
		// Amounts are products of it, which are stored: it has no more digits than each of their other factors.
		contract, err3 := market.ParseDecimal(value.Mul(multiplier).String())
		if pair.Contract = contract; err != nil || err2 != nil || err3 != nil || !contract.IsPos() {
			m.Stats.Malformed.Add(1)
			m.Log.Warn("a contract of no size is left out", "instrument", fmt.Sprintf("%.50q", i.InstID))
			return pair, false
		}
	}
	if !m.Named(i.InstID, pair.Base, pair.Quote) {
		return pair, false
	}
	pair.Key = market.PairKey(pair.Base, pair.Quote, m.Platform, m.Swap)
	return pair, true
}

const (
	candlesPage = 300 // rows of an answer
	historyPage = 100
	candlesBack = 1440 - 10 // rows that are not history; a few less, as clocks differ
)

// since is when the first K-lines open that the exchange may have, ms: 2018-01-01. Before,
// it is not worth asking.
const since = 1_514_764_800_000

// KlinesMost is the most candles that one request is worth asking for.
func (m *Market) KlinesMost() int { return candlesPage - 1 }

// bars are the exchange's names of the intervals that can be asked for.
var bars = map[market.Interval]string{
	market.Minute1: "1m", market.Minute5: "5m", market.Minute15: "15m",
	market.Hour1: "1H", market.Hour4: "4H", market.Day1: "1Dutc",
}

// Klines returns the candles of a pair that open from a time on (ms), at most so many:
// those that have ended. The run ends at the opening of the first that may not have,
// which is its open one, or sooner where one page has no more.
func (m *Market) Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	run, err := m.klines(ctx, pair, i, from, most)
	if err != nil {
		return run, fmt.Errorf("read K-lines of %s: %w", pair.Key, err)
	}
	run.From = from
	return run, nil
}

func (m *Market) klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (run market.CandleRun, err error) {
	bar, ok := bars[i]
	if !ok {
		return run, fmt.Errorf("the exchange has none of %s", i)
	}
	from = max(from, since)
	path, page, weight := "/api/v5/market/candles", candlesPage, candlesWeight
	if width := i.NextMs(from) - from; from < m.Now().UnixMilli()-candlesBack*width {
		path, page, weight = "/api/v5/market/history-candles", historyPage, historyWeight
	}
	w := source.NewKlineWindow(i, from, most, page)
	rows, err := m.rows(ctx, path, pair, url.Values{
		"instId": {pair.Symbol}, "bar": {bar}, "limit": {strconv.Itoa(w.Openings)},
		"before": {strconv.FormatInt(w.From-1, 10)}, // newer than, and older than:
		"after":  {strconv.FormatInt(w.To(), 10)},
	}, weight)
	if err != nil {
		return run, err
	}
	if len(rows) > 0 {
		return w.Run(pair.Key, rows)
	}
	newest, err := m.rows(ctx, "/api/v5/market/candles", pair, url.Values{"instId": {pair.Symbol}, "bar": {bar}, "limit": {"1"}}, candlesWeight)
	if err != nil || len(newest) == 0 {
		return w.EmptyRun(pair.Key, from), err
	}
	return w.EmptyRun(pair.Key, newest[0].OpenTime), nil
}

// rows asks for K-lines.
func (m *Market) rows(ctx context.Context, path string, pair market.Pair, query url.Values, weight int) ([]source.KlineRow, error) {
	data, err := get[[]string](ctx, m.host, path, query, weight)
	if err != nil {
		return nil, err
	}
	rows := make([]source.KlineRow, len(data))
	for n, fields := range data {
		if rows[n], err = klineRow(fields, &pair); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// klineFields are those of a row: open time, open, high, low, close, volume (base coins,
// of a swap contracts), volume in coins, volume in quote coins, whether it has ended.
const klineFields = 9

func klineRow(fields []string, pair *market.Pair) (source.KlineRow, error) {
	if len(fields) < klineFields {
		return source.KlineRow{}, fmt.Errorf("a row of %d fields, %d are read", len(fields), klineFields)
	}
	row, err := source.NewKlineRow(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[7])
	if err != nil {
		return row, err
	}
	switch {
	case pair.Inverse: // the volume in coins is told
		if err := source.Decimals(source.Field{To: &row.Size, Name: "volCcy", Text: fields[6]}); err != nil {
			return row, err
		}
	case !pair.Contract.IsZero():
		row.Size = row.Size.Mul(pair.Contract)
	}
	switch fields[8] {
	case "0":
	case "1":
		row.Ended = true
	default:
		return row, fmt.Errorf("the row from %d says %.20q of whether it has ended", row.OpenTime, fields[8])
	}
	return row, nil
}
