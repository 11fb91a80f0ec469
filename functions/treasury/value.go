package main

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/indices"
	"quotary/shared/data/rates"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/service/coinprices"
	"quotary/shared/store"
)

// prices is what holdings are valued by. What was never published is not known.
type prices struct {
	now       time.Time
	coins     *coinprices.Snapshot
	shares    indices.View
	companies companies.View
	rates     rates.View

	known map[string][2]string // price and coins of those that were asked for
}

func (r *reader) prices(ctx context.Context) (*prices, error) {
	p := &prices{now: api.Now(ctx), known: map[string][2]string{}}
	var err error
	if p.coins, err = r.coins.Now(ctx); err != nil {
		return nil, err
	}
	if p.shares, err = store.OrZero(r.shares.Get(ctx)); err != nil {
		return nil, err
	}
	if p.companies, err = store.OrZero(r.companies.Get(ctx)); err != nil {
		return nil, err
	}
	p.rates, err = store.OrZero(r.rates.Get(ctx))
	return p, err
}

// ratioPlaces are those of what does not come out even.
const ratioPlaces = 8

// bitcoins is how many there will ever be.
const bitcoins = "21000000"

// coin returns the price of a coin in US dollars and how many coins there are, by its short
// name. Either is empty where it is not known.
func (p *prices) coin(show string) (price, supply string) {
	if known, ok := p.known[show]; ok {
		return known[0], known[1]
	}
	if c, ok := p.coins.Coins.ByShow(show); ok {
		t, _ := p.coins.Ticker(c.Key)
		if price, supply = t.PriceUSD, c.Supply(); c.Key == "bitcoin" {
			supply = bitcoins
		}
	}
	p.known[show] = [2]string{price, supply}
	return price, supply
}

// valued is a holding with what it is worth, decimals as text: empty where they are not known.
type valued struct {
	*treasuries.Holder
	worth market.Decimal // value as a number, 0 where it is not known

	share, value, marketCap, enterprise, perShare string
}

func (p *prices) value(h *treasuries.Holder) valued {
	v := valued{Holder: h}
	price, supply := p.coin(h.Coin)
	if price != "" {
		v.value = product(price, h.Amount)
		v.worth, _ = market.ParseStored(v.value)
	}
	v.share = market.Quotient(h.Amount.String(), supply, ratioPlaces)
	company, ok := p.companies.Lookup(h.Key)
	if !ok {
		return v
	}
	v.perShare = market.Quotient(h.Amount.String(), company.Shares(), ratioPlaces)
	share, _ := p.shares.Lookup(h.Key)
	day, _, ok := share.Last(p.now)
	shares, err := market.ParseDecimal(company.Shares())
	if !ok || err != nil {
		return v
	}
	dollars, ok := p.rates.Convert(p.now, day.Unit, "USD")
	if !ok {
		return v
	}
	v.marketCap = dollars(product(day.Close, shares))
	marketCap, err := market.ParseStored(v.marketCap)
	cash, errCash := market.ParseDecimal(company.Cash())
	debt, errDebt := market.ParseDecimal(company.Debt())
	if err == nil && errCash == nil && errDebt == nil {
		v.enterprise = marketCap.Add(debt).Sub(cash).String()
	}
	return v
}

// entity is the row of a holding.
func (v *valued) entity(now time.Time) catalog.TreasuryEntity {
	days30 := market.Decimal{}
	from := now.AddDate(0, 0, -30).UnixMilli()
	for i := range v.Changes {
		if v.Changes[i].Day >= from {
			days30 = days30.Add(v.Changes[i].Change)
		}
	}
	out := catalog.TreasuryEntity{
		ID: v.ID, Coin: v.Coin, Name: v.Name, Ticker: v.Ticker, EntityType: v.Type, HoldAmount: json.Number(v.Amount.String()), Days30: json.Number(days30.String()),
		Share: number(v.share), InUSD: number(v.value), MarketCap: number(v.marketCap), EnterpriseValue: number(v.enterprise), BTCShare: number(v.perShare),
		CostBasis: decimal(v.Cost), MNAV: number(market.Quotient(v.marketCap, v.value, ratioPlaces)), MCap: number(market.Quotient(v.value, v.marketCap, ratioPlaces)),
		CrawlDate: iso(v.Said),
	}
	if v.Cost != nil {
		out.NGU = number(market.Quotient(v.value, v.Cost.String(), ratioPlaces))
	}
	if n := len(v.Changes); n > 0 {
		out.Last = decimal(&v.Changes[n-1].Change)
	}
	return out
}

// iso writes a time, ms.
func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// product is a price by a number of what costs it, empty where the price is none.
func product(price string, amount market.Decimal) string {
	px, err := market.ParseDecimal(price)
	if err != nil {
		return ""
	}
	return px.Mul(amount).String()
}

// number is a decimal as JSON has it, nil where it is not known.
func number(text string) *json.Number {
	if text == "" {
		return nil
	}
	return new(json.Number(text))
}

func decimal(d *market.Decimal) *json.Number {
	if d == nil {
		return nil
	}
	return number(d.String())
}
