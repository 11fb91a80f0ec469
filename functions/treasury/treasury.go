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
	"quotary/shared/data/rates"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/service/coinprices"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	series    *store.Series
	holdings  *store.View[treasuries.Holdings]
	coins     *coinprices.Prices
	shares    *store.View[indices.View]
	companies *store.View[companies.View]
	rates     *store.View[rates.View]
}

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{
		series: series, holdings: treasuries.Open(views, clock), coins: coinprices.Open(views, clock), shares: indices.Published.Open(views, clock),
		companies: companies.Published.Open(views, clock), rates: rates.Published.Open(views, clock),
	}
}

// entities returns a page of holders.
func (r *reader) entities(ctx context.Context, in catalog.TreasuryEntitiesIn) (catalog.TreasuryEntityPage, error) {
	out := catalog.TreasuryEntityPage{Paging: catalog.Paging{Page: in.Page, PageSize: in.PageSize}}
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return out, err
	}
	prices, err := r.prices(ctx)
	if err != nil {
		return out, err
	}
	var found []valued
	for i := range h.Holders {
		holder := &h.Holders[i]
		if is(in.Coin, holder.Coin) && sameOrAny(in.EntityType, holder.Type) && sameOrAny(in.Ticker, holder.Ticker) && contains(holder.Name, in.Name) &&
			within(lastDay(holder), in.StartDate, in.EndDate) {
			found = append(found, prices.value(holder))
		}
	}
	slices.SortStableFunc(found, func(a, b valued) int {
		if in.SortOrder == "asc" {
			return compareValued(a, b)
		}
		return compareValued(b, a)
	})
	out.Total = int64(len(found))
	now := api.Now(ctx)
	out.List = rows(pageOf(found, in.Page, in.PageSize), func(v valued) catalog.TreasuryEntity { return v.entity(now) })
	return out, nil
}

// compareValued orders holdings by their value: those of unknown value below all others, by coins.
func compareValued(a, b valued) int {
	known := func(v valued) int { return min(len(v.value), 1) }
	if order := cmp.Or(cmp.Compare(known(a), known(b)), a.worth.Cmp(b.worth)); order != 0 {
		return order
	}
	return a.Amount.Cmp(b.Amount)
}

// latestEntities returns the holders that have changed last.
func (r *reader) latestEntities(ctx context.Context, in catalog.TreasuryLatestEntitiesIn) ([]catalog.TreasuryEntity, error) {
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return nil, err
	}
	prices, err := r.prices(ctx)
	if err != nil {
		return nil, err
	}
	var found []*treasuries.Holder
	for i := range h.Holders {
		if is(in.Coin, h.Holders[i].Coin) {
			found = append(found, &h.Holders[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *treasuries.Holder) int { return lastDay(b).Compare(lastDay(a)) })
	now := api.Now(ctx)
	return rows(pageOf(found, 1, in.Limit), func(h *treasuries.Holder) catalog.TreasuryEntity {
		v := prices.value(h)
		return v.entity(now)
	}), nil
}

// summary adds up what is held of a coin.
func (r *reader) summary(ctx context.Context, in catalog.TreasurySummaryIn) (catalog.TreasuryTotals, error) {
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return catalog.TreasuryTotals{}, err
	}
	prices, err := r.prices(ctx)
	if err != nil {
		return catalog.TreasuryTotals{}, err
	}
	total, out := market.Decimal{}, catalog.TreasuryTotals{}
	for i := range h.Holders {
		holder := &h.Holders[i]
		if !is(in.Coin, holder.Coin) {
			continue
		}
		if total = total.Add(holder.Amount); !holder.Amount.IsZero() {
			out.TotalEntities++
		}
		if out.LastUpdateTime == nil || *out.LastUpdateTime < holder.Said {
			out.LastUpdateTime = &holder.Said
		}
	}
	out.TotalAmount = json.Number(total.String())
	if price, _ := prices.coin(strings.ToUpper(string(in.Coin))); price != "" {
		out.TotalValueUSD = number(product(price, total))
	}
	return out, nil
}

// lastDay is the day of the last change, the zero time without one.
func lastDay(h *treasuries.Holder) time.Time {
	if len(h.Changes) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(h.Changes[len(h.Changes)-1].Day)
}

// is reports whether a coin is the one that was asked for, or none was.
func is(asked catalog.Key, coin string) bool { return sameOrAny(string(asked), coin) }

func sameOrAny(asked, have string) bool { return asked == "" || strings.EqualFold(asked, have) }

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func within(t time.Time, from catalog.StartDate, to catalog.EndDate) bool {
	return !t.Before(from.Time) && (to.IsZero() || !t.After(to.Time))
}

// pageOf is a page of all, from 1 on: behind the last page there is nothing.
func pageOf[T any](all []T, page, size int64) []T {
	if page-1 > int64(len(all))/size {
		return nil
	}
	return all[min((page-1)*size, int64(len(all))):min(page*size, int64(len(all)))]
}

func rows[T, Row any](of []T, row func(T) Row) []Row {
	list := make([]Row, len(of))
	for i, one := range of {
		list[i] = row(one)
	}
	return list
}
