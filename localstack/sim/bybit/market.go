package bybit

import (
	"net/http"
	"time"

	"quotary/localstack/sim/trading"
)

// instrument describes a market.
type instrument struct {
	Symbol          string         `json:"symbol"`
	ContractType    string         `json:"contractType,omitempty"`
	Status          string         `json:"status"`
	BaseCoin        string         `json:"baseCoin"`
	QuoteCoin       string         `json:"quoteCoin"`
	SettleCoin      string         `json:"settleCoin,omitempty"`
	LaunchTime      string         `json:"launchTime,omitempty"`
	PriceFilter     map[string]any `json:"priceFilter,omitempty"`
	LotSizeFilter   map[string]any `json:"lotSizeFilter,omitempty"`
	FundingInterval int64          `json:"fundingInterval,omitempty"` // minutes
}

// others are instruments that nobody can trade now, or that are no perpetuals.
var others = map[string][]instrument{
	Spot:    {{Symbol: "LUNAUSDT", Status: "Closed", BaseCoin: "LUNA", QuoteCoin: "USDT"}},
	Linear:  {{Symbol: "NEWUSDT", ContractType: "LinearPerpetual", Status: "PreLaunch", BaseCoin: "NEW", QuoteCoin: "USDT", SettleCoin: "USDT"}},
	Inverse: {{Symbol: "BTCUSDZ26", ContractType: "InverseFutures", Status: "Trading", BaseCoin: "BTC", QuoteCoin: "USD", SettleCoin: "BTC"}},
}

const instrumentsMost = 2 // contracts of an answer; the exchange has a thousand

// instruments describes the markets of a category: all of spot, contracts page by page.
func (x *Exchange) instruments(r *http.Request) answer {
	category := r.URL.Query().Get("category")
	if !isCategory(category) {
		return errCategory
	}
	all := append([]instrument{}, others[category]...)
	for _, m := range x.Markets {
		if categoryOf(m) == category {
			all = append(all, x.describe(m))
		}
	}
	if category == Spot {
		return listed(result{Category: category, List: all})
	}
	const cursor = "last%3D" // as opaque as that of the exchange
	from := 0
	if given := r.URL.Query().Get("cursor"); given != "" {
		for i := range all {
			if cursor+all[i].Symbol == given {
				from = i + 1
			}
		}
		if from == 0 {
			return refusal(badParameter, "params error: cursor is invalid")
		}
	}
	to, next := min(len(all), from+instrumentsMost), ""
	if to < len(all) {
		next = cursor + all[to-1].Symbol
	}
	return listed(result{Category: category, List: all[from:to], Next: next})
}

func (x *Exchange) describe(m *trading.Market) instrument {
	i := instrument{Symbol: m.Symbol, Status: "Trading", BaseCoin: m.Base, QuoteCoin: m.Quote}
	i.PriceFilter = map[string]any{"tickSize": trading.Decimal(1, m.Tick)}
	if !m.Swap {
		i.LotSizeFilter = map[string]any{"basePrecision": trading.Decimal(1, m.Lot)}
		return i
	}
	i.LotSizeFilter = map[string]any{"qtyStep": trading.Decimal(1, m.Lot)}
	i.ContractType, i.SettleCoin = "LinearPerpetual", m.Quote
	if m.Dollars > 0 {
		i.ContractType, i.SettleCoin = "InversePerpetual", m.Base
	}
	i.LaunchTime, i.FundingInterval = text(x.since), m.Period()/minute
	return i
}

// intervals are those that can be asked for, and how long they are, ms.
var intervals = map[string]int64{
	"1": minute, "3": 3 * minute, "5": 5 * minute, "15": 15 * minute, "30": 30 * minute,
	"60": hour, "120": 2 * hour, "240": 4 * hour, "360": 6 * hour, "720": 12 * hour, "D": day,
}

const (
	klinesMost    = 1000 // rows of an answer
	klinesDefault = 200
)

// rows answers with the newest buckets that open from one time to another, newest first.
func (x *Exchange) rows(r *http.Request, m *trading.Market, row func(from, to int64, now time.Time) []string) answer {
	width := intervals[r.URL.Query().Get("interval")]
	if width == 0 {
		return errInterval
	}
	now := x.clock()
	limit := min(int(number(r, "limit", klinesDefault)), klinesMost)
	oldest := max(x.since, number(r, "start", 0))
	list := [][]string{}
	for at := min(now.UnixMilli(), number(r, "end", now.UnixMilli())) / width * width; at >= oldest && len(list) < limit; at -= width {
		list = append(list, row(at, at+width, now))
	}
	return listed(result{Category: categoryOf(m), Symbol: m.Symbol, List: list})
}

func (x *Exchange) klines(r *http.Request) answer {
	m, refused := x.market(r)
	if m == nil {
		return refused
	}
	return x.rows(r, m, func(from, to int64, now time.Time) []string {
		k := m.Kline(from, to, now)
		volume, turnover := traded(m, &k)
		return []string{text(from), m.Price(k.First), m.Price(k.High), m.Price(k.Low), m.Price(k.Last), volume, turnover}
	})
}

// traded writes what was traded: base and quote coins, of an inverse market dollars and
// base coins.
func traded(m *trading.Market, k *trading.Kline) (volume, turnover string) {
	if m.Dollars > 0 {
		return text(k.Size * m.Dollars), trading.Coins(k.Coins)
	}
	return m.Lots(k.Size), m.Amount(k.Quote)
}

// marks are K-lines of mark prices, which have no volume.
func (x *Exchange) marks(r *http.Request) answer {
	m, refused := x.market(r)
	if m == nil || !m.Swap {
		return refused
	}
	return x.rows(r, m, func(from, to int64, now time.Time) []string {
		const points = 10 // that its high and low are of
		first := m.Mark(from)
		high, low, last := first, first, first
		to = min(to, now.UnixMilli())
		for n := range int64(points) {
			last = m.Mark(from + (to-from)*(n+1)/points)
			high, low = max(high, last), min(low, last)
		}
		return []string{text(from), m.Price(first), m.Price(high), m.Price(low), m.Price(last)}
	})
}
