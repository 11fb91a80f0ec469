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
	"quotary/shared/data/indices"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
)

// history returns a page of changes.
func (r *reader) history(ctx context.Context, in catalog.TreasuryHistoryIn) (catalog.TreasuryChangePage, error) {
	out := catalog.TreasuryChangePage{Paging: catalog.Paging{Page: in.Page, PageSize: in.PageSize}}
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return out, err
	}
	var found []*treasuries.Change
	for i := range h.Changes {
		c := &h.Changes[i]
		if is(in.Coin, c.Holder.Coin) && contains(c.Holder.Name, in.Name) && sameOrAny(in.Type, kind(c)) && within(time.UnixMilli(c.Day), in.StartDate, in.EndDate) {
			found = append(found, c)
		}
	}
	sortChanges(found, in.SortBy, in.SortOrder == "desc")
	out.Total = int64(len(found))
	out.List, err = r.changes(ctx, pageOf(found, in.Page, in.PageSize))
	return out, err
}

// changes are the rows of changes. What shares cost is looked up where nobody said it with the
// change.
func (r *reader) changes(ctx context.Context, page []*treasuries.Change) ([]catalog.TreasuryChange, error) {
	var asked []indices.DayOf
	for _, c := range page {
		if c.StockPrice == "" && c.Holder.Key != "" {
			asked = append(asked, shareOf(c))
		}
	}
	days, err := indices.OnOrBefore(ctx, r.series, asked)
	if err != nil {
		return nil, err
	}
	rows := make([]catalog.TreasuryChange, len(page))
	for i, c := range page {
		rows[i] = change(c)
		if rows[i].StockPrice == nil {
			rows[i].StockPrice = number(days[shareOf(c)].Close)
		}
	}
	return rows, nil
}

// shareOf is the day of a change of whoever's share it is.
func shareOf(c *treasuries.Change) indices.DayOf {
	return indices.DayOf{Key: c.Holder.Key, Date: time.UnixMilli(c.Day).UTC().Format(time.DateOnly)}
}

// latestHistory returns the last changes.
func (r *reader) latestHistory(ctx context.Context, in catalog.TreasuryLatestHistoryIn) ([]catalog.TreasuryChange, error) {
	page, err := r.history(ctx, catalog.TreasuryHistoryIn{Coin: in.Coin, Page: 1, PageSize: in.Limit, SortBy: "date", SortOrder: "desc"})
	return page.List, err
}

// kind is what a change was.
func kind(c *treasuries.Change) string {
	if c.Change.IsNeg() {
		return "Sell"
	}
	return "Buy"
}

// sortChanges orders changes, which come oldest first, by a member: those of which it is not
// known come last, and of the same value the newest or oldest first.
func sortChanges(all []*treasuries.Change, by string, descending bool) {
	if descending {
		slices.Reverse(all)
	}
	var value func(*treasuries.Change) *market.Decimal
	switch by {
	case "balance":
		value = func(c *treasuries.Change) *market.Decimal { return &c.Balance }
	case "change":
		value = func(c *treasuries.Change) *market.Decimal { return &c.Change }
	case "total_cost_usd":
		value = func(c *treasuries.Change) *market.Decimal { return c.Cost }
	case "price":
		value = func(c *treasuries.Change) *market.Decimal {
			price, err := market.ParseDecimal(c.Price)
			if err != nil {
				return nil
			}
			return &price
		}
	default:
		return
	}
	slices.SortStableFunc(all, func(a, b *treasuries.Change) int {
		x, y := value(a), value(b)
		switch {
		case x == nil || y == nil:
			return cmp.Compare(present(y), present(x))
		case descending:
			return y.Cmp(*x)
		}
		return x.Cmp(*y)
	})
}

func present(d *market.Decimal) int {
	if d == nil {
		return 0
	}
	return 1
}

// change is the row of a change.
func change(c *treasuries.Change) catalog.TreasuryChange {
	return catalog.TreasuryChange{
		ID: c.ID, Coin: c.Holder.Coin, Name: c.Holder.Name, Date: c.Day, Type: kind(c), Balance: json.Number(c.Balance.String()), Change: json.Number(c.Change.String()),
		TotalCostUSD: decimal(c.Cost), Price: number(c.Price), StockPrice: number(c.StockPrice), CrawlDate: iso(c.Said),
	}
}

// widths are the intervals of points.
var widths = map[string]market.Interval{
	"day": market.Day1, "daily": market.Day1, "week": market.Week1, "weekly": market.Week1, "month": market.Month1, "monthly": market.Month1,
}

// accumulated returns what was held at the end of each day, week or month.
func (r *reader) accumulated(ctx context.Context, in catalog.TreasuryAccumulatedIn) ([]catalog.TreasuryPoint, error) {
	h, err := r.holdings.Get(ctx)
	if err != nil {
		return nil, err
	}
	var changes []*treasuries.Change
	for i := range h.Changes {
		if c := &h.Changes[i]; is(in.Coin, c.Holder.Coin) && sameOrAny(in.EntityType, c.Holder.Type) && sameOrAny(in.Ticker, c.Holder.Ticker) && named(c.Holder, in.Name) {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return []catalog.TreasuryPoint{}, nil
	}
	width, end := widths[in.Interval], api.Now(ctx).UnixMilli()
	if !in.EndDate.IsZero() {
		end = min(end, in.EndDate.UnixMilli())
	}
	start := changes[0].Day
	if !in.StartDate.IsZero() {
		start = in.StartDate.UnixMilli()
	}
	return points(changes, width, start, end), nil
}

// named reports whether an entity has a name, or a key of its share, or none was asked for.
func named(h *treasuries.Holder, name string) bool {
	return name == "" || strings.EqualFold(h.Name, name) || strings.EqualFold(h.Key, name)
}

// points are those of changes, which come oldest first, from the interval of one time to that of
// another, ms.
func points(changes []*treasuries.Change, width market.Interval, start, end int64) []catalog.TreasuryPoint {
	total, out := newSum(), []catalog.TreasuryPoint{}
	next := 0
	for at := width.StartMs(start); at <= end; at = width.NextMs(at) {
		for ; next < len(changes) && changes[next].Day < at; next++ {
			total.add(changes[next])
		}
		before := total.amount
		for ; next < len(changes) && changes[next].Day < width.NextMs(at) && changes[next].Day <= end; next++ {
			total.add(changes[next])
		}
		out = append(out, catalog.TreasuryPoint{
			Timestamp: at, Date: time.UnixMilli(at).UTC().Format(time.DateOnly), Balance: json.Number(total.amount.String()),
			Change: json.Number(total.amount.Sub(before).String()), TotalCostUSD: total.costs(),
		})
	}
	return out
}

// sum is what several entities hold.
type sum struct {
	amount, cost market.Decimal
	of           map[*treasuries.Holder]*market.Decimal // cost of each, nil where it is not known
	unknown      int                                    // whose cost is not known
}

func newSum() *sum { return &sum{of: map[*treasuries.Holder]*market.Decimal{}} }

func (s *sum) add(c *treasuries.Change) {
	s.amount = s.amount.Add(c.Change)
	if before, ok := s.of[c.Holder]; ok && before == nil {
		s.unknown--
	} else if ok {
		s.cost = s.cost.Sub(*before)
	}
	s.of[c.Holder] = c.Cost
	if c.Cost == nil {
		s.unknown++
	} else {
		s.cost = s.cost.Add(*c.Cost)
	}
}

func (s *sum) costs() *json.Number {
	if s.unknown > 0 {
		return nil
	}
	return decimal(&s.cost)
}
