package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/service/markedpositions"
	"quotary/shared/service/traderwindows"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderquery"
)

// askAgain is when a client may ask again before the first table was published, which is made
// every five minutes.
const askAgain = 30 * time.Second

// discover finds traders by their figures.
func (r *reader) discover(ctx context.Context, in catalog.DiscoverIn) (page catalog.DiscoverPage, err error) {
	q, err := traderquery.Discover(&in, api.Now(ctx))
	if err != nil {
		return page, api.BadParameter("%s", err)
	}
	a, _, err := r.askTable(ctx, q)
	if err != nil {
		return page, err
	}
	page = catalog.DiscoverPage{List: q.Rows(a.Rows), Total: int64(a.Total)}
	if in.LoadPnls && len(page.List) > 0 {
		err = r.addPnls(ctx, a.Rows, page.List, int64(in.Period))
	}
	return page, err
}

// discoverHistory finds traders by their figures over a window of the past.
func (r *reader) discoverHistory(ctx context.Context, in catalog.DiscoverHistoryIn) (page catalog.DiscoverPage, err error) {
	q, of, err := traderquery.History(&in, api.Now(ctx))
	if err != nil {
		return page, api.BadParameter("%s", err)
	}
	var since int64
	a, _, err := r.ask(ctx, func(ctx context.Context) (tablefile.Answer, error) {
		a, err := r.windows.Ask(ctx, of, &q.Query, q.Show)
		since = a.Since
		return a.Answer, err
	})
	if errors.Is(err, traderwindows.ErrTooMuch) {
		return page, api.BadParameter("%s: ask for a shorter window, or narrow it by selects, filters", err)
	}
	if err != nil {
		return page, err
	}
	if since > of.From {
		retention.Reached(ctx, time.UnixMilli(since).UTC())
	}
	return catalog.DiscoverPage{List: q.Rows(a.Rows), Total: int64(a.Total)}, nil
}

// addPnls adds to rows what each of them earned in a number of days up to now, as batch-pnls has it at
// the hours that are stored.
func (r *reader) addPnls(ctx context.Context, found []tablefile.Row, rows []catalog.DiscoverRow, days int64) error {
	now, i := api.Now(ctx).UnixMilli(), 0
	for of, err := range accountstats.ReadCurves(ctx, r.series, addresses(found)) {
		if err != nil {
			return err
		}
		rows[i]["pnls"] = nil
		if of.TraderStats != nil {
			c := accountlookup.Curve{WithCurve: of}
			if w, _ := c.Window(market.ScopeAll, days, now); len(w.Values) > 0 {
				rows[i]["pnls"] = accountlookup.Points(market.Earned(w.Values))
			}
		}
		i++
	}
	return nil
}

// addressTags lists the tags of accounts, one row an address in their order.
func (r *reader) addressTags(ctx context.Context, in catalog.AddressTagsIn) ([]catalog.TraderTags, error) {
	in.Addresses = accountlookup.Distinct(in.Addresses)
	q := traderquery.Tagged(in.Addresses, in.Lang)
	a, _, err := r.askTable(ctx, q)
	if err != nil {
		return nil, err
	}
	tags := make(map[string][]string, len(a.Rows))
	for i := range a.Rows {
		tags[market.AddressOf(a.Rows[i].Address)] = q.Tags(&a.Rows[i])
	}
	rows := make([]catalog.TraderTags, len(in.Addresses))
	for i, address := range in.Addresses {
		rows[i].Address = string(address)
		if of, known := tags[string(address)]; known {
			rows[i].Tags = &of
		}
	}
	return rows, nil
}

// askTable answers a question from the table, as [reader.ask] does.
func (r *reader) askTable(ctx context.Context, q *traderquery.Question) (tablefile.Answer, markedpositions.Table, error) {
	return r.ask(ctx, func(ctx context.Context) (tablefile.Answer, error) { return r.table.Ask(ctx, &q.Query, q.Show) })
}

// ask answers a question, and says of when the answer is and how much of the venue's open interest those
// have who are in the table. It also returns the marks of now; none before there are any.
func (r *reader) ask(ctx context.Context, answer func(context.Context) (tablefile.Answer, error)) (a tablefile.Answer, marks markedpositions.Table, err error) {
	g, within := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		a, err = answer(within)
		return err
	})
	g.Go(func() (err error) {
		marks, err = store.OrZero(r.positions.Of(within, ""))
		return err
	})
	switch err = g.Wait(); {
	case errors.Is(err, store.ErrNoView):
		return a, marks, api.NotReady(askAgain, "the table of traders is not made yet: ask again in %.0f seconds", askAgain.Seconds())
	case err != nil:
		return a, marks, err
	}
	api.ReportVersion(ctx, time.UnixMilli(a.Version))
	if a.Until > 0 {
		api.ReportUntil(ctx, time.UnixMilli(a.Until))
	}
	return a, marks, nil
}

func addresses(rows []tablefile.Row) []string {
	list := make([]string, len(rows))
	for i := range rows {
		list[i] = market.AddressOf(rows[i].Address)
	}
	return list
}
