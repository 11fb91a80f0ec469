package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/indices"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	series    *store.Series
	shares    *store.View[indices.View]
	companies *store.View[companies.View]
}

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{series, indices.Published.Open(views, clock), companies.Published.Open(views, clock)}
}

// stock is a share with what is known of its company. Either may be missing.
type stock struct {
	key     string
	priced  bool
	day     indices.Day  // the newest, where it is priced
	before  *indices.Day // the one before, nil where it is not known
	company companies.Company
}

// stocks are all shares and companies, by key. Indexes, which are in points, are none.
func (r *reader) stocks(ctx context.Context) ([]stock, error) {
	shares, err := store.OrZero(r.shares.Get(ctx))
	if err != nil {
		return nil, err
	}
	filed, err := store.OrZero(r.companies.Get(ctx))
	if err != nil {
		return nil, err
	}
	var all []stock
	for i := range shares.Indices {
		share := &shares.Indices[i]
		if day, before, ok := share.Last(api.Now(ctx)); ok && share.Share() {
			company, _ := filed.Lookup(share.Key)
			all = append(all, stock{share.Key, true, day, before, company})
		}
	}
	priced := len(all)
	for _, company := range filed.Companies {
		if _, found := slices.BinarySearchFunc(all[:priced], company.Key, func(s stock, key string) int { return strings.Compare(s.key, key) }); !found {
			all = append(all, stock{key: company.Key, company: company})
		}
	}
	return all, nil
}

// find returns the stock of a key, in any letter case, or the first one of a symbol.
func find(all []stock, asked catalog.Key) (stock, bool) {
	for _, match := range []func(*stock) string{func(s *stock) string { return s.key }, (*stock).symbol} {
		if i := slices.IndexFunc(all, func(s stock) bool { return strings.EqualFold(match(&s), string(asked)) }); i >= 0 {
			return all[i], true
		}
	}
	return stock{}, false
}

// symbol is that in the key of a share: of i:mstr:nasdaq it is MSTR.
func (s *stock) symbol() string {
	if parts := strings.Split(s.key, ":"); len(parts) > 1 {
		return strings.ToUpper(parts[1])
	}
	return strings.ToUpper(s.key)
}

// market is that in the key of a share, empty for none.
func (s *stock) market() string {
	if parts := strings.Split(s.key, ":"); len(parts) > 2 {
		return parts[2]
	}
	return ""
}

func (s *stock) name() string { return cmp.Or(s.company.Name(), s.symbol()) }

// worth is the value of so many shares at the last price, nil where either is not known.
func (s *stock) worth(shares string) *json.Number {
	price, errPrice := market.ParseDecimal(s.day.Close)
	number, errShares := market.ParseDecimal(shares)
	if !s.priced || errPrice != nil || errShares != nil {
		return nil
	}
	return new(json.Number(price.Mul(number).String()))
}

// quotes returns the last prices of stocks.
func (r *reader) quotes(ctx context.Context, in catalog.StockQuotesIn) ([]catalog.StockQuote, error) {
	all, err := r.stocks(ctx)
	if err != nil {
		return nil, err
	}
	list, shown := []catalog.StockQuote{}, map[string]bool{}
	for _, asked := range in.Tickers {
		s, _ := find(all, asked)
		day := &s.day
		if !s.priced || shown[s.key] {
			continue
		}
		shown[s.key] = true
		start, err := time.Parse(time.DateOnly, day.Date)
		if err != nil {
			return nil, err
		}
		list = append(list, catalog.StockQuote{
			Ticker: s.key, CompanyName: s.name(), LastPrice: json.Number(day.Close), Open: json.Number(day.Open), Close: json.Number(day.Close), High: json.Number(day.High), Low: json.Number(day.Low),
			Volume: number(day.Volume), MarketCap: s.worth(s.company.Shares()), OpenToday: json.Number(day.Open),
			StartTS: start.UnixMilli(), EndTS: start.AddDate(0, 0, 1).UnixMilli(), Timestamp: day.Place.Time,
		})
	}
	return list, nil
}

// company returns what is known of a company, nil of one that is not known.
func (r *reader) company(ctx context.Context, in catalog.StockCompanyIn) (*catalog.StockProfile, error) {
	all, err := r.stocks(ctx)
	if err != nil {
		return nil, err
	}
	s, ok := find(all, in.Symbol)
	if !ok {
		return nil, nil
	}
	out := &catalog.StockProfile{
		CompanyName: s.name(), Ticker: s.symbol(), Market: s.market(), CountryRegion: s.company.Country(),
		FDV: s.worth(s.company.Diluted()), MarketCap: s.worth(s.company.Shares()), Description: s.company.Description(),
	}
	now := api.Now(ctx)
	days, err := indices.Read(ctx, r.series, s.key, now.AddDate(0, 0, -365), time.Time{})
	if err != nil {
		return nil, err
	}
	out.AnnualHigh, out.AnnualLow = bounds(days)
	return out, nil
}

// bounds are the highest and the lowest price of days, nil without one.
func bounds(days indices.Days) (high, low *json.Number) {
	var most, least market.Decimal
	for i := range days {
		h, errHigh := market.ParseDecimal(days[i].High)
		l, errLow := market.ParseDecimal(days[i].Low)
		if errHigh != nil || errLow != nil {
			continue
		}
		if high == nil || h.GreaterThan(most) {
			most, high = h, number(days[i].High)
		}
		if low == nil || l.LessThan(least) {
			least, low = l, number(days[i].Low)
		}
	}
	return high, low
}

// gainersPost returns what gainers does.
func (r *reader) gainersPost(ctx context.Context, in catalog.StockGainersPostIn) ([]catalog.StockGainer, error) {
	return r.gainers(ctx, catalog.StockGainersIn(in))
}

// markets are those of currencies.
var markets = map[string]string{"USD": "US", "HKD": "HK"}

// gainers returns the stocks of markets by their change, those of which it is not known last.
func (r *reader) gainers(ctx context.Context, in catalog.StockGainersIn) ([]catalog.StockGainer, error) {
	all, err := r.stocks(ctx)
	if err != nil {
		return nil, err
	}
	type ranked struct {
		catalog.StockGainer
		rate  market.Decimal
		known int
	}
	var list []ranked
	both := in.USStock == in.HKStock
	for i := range all {
		s := &all[i]
		day := &s.day
		where := markets[day.Unit]
		if !s.priced || where == "" || !both && (where == "US") != in.USStock {
			continue
		}
		one := ranked{StockGainer: catalog.StockGainer{Symbol: s.symbol(), Name: s.name(), Price: json.Number(day.Close), Key: s.key, Market: where, Currency: day.Unit, UpdateTime: day.Place.Time}}
		change, percent := day.Change(s.before)
		one.Change, one.ChangeRate = number(change), number(percent)
		if one.ChangeRate != nil {
			one.known = 1
			one.rate, _ = market.ParseDecimal(one.ChangeRate.String())
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.known, a.known), b.rate.Cmp(a.rate)) })
	out := make([]catalog.StockGainer, min(int64(len(list)), in.Limit))
	for i := range out {
		out[i] = list[i].StockGainer
	}
	return out, nil
}

// number is a decimal as JSON has it, nil where it is not known.
func number(text string) *json.Number {
	if text == "" {
		return nil
	}
	return new(json.Number(text))
}
