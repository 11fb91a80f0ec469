package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/indices"
	"quotary/shared/data/rates"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	indices *store.View[indices.View]
	rates   *store.View[rates.View]
}

func newReader(views *store.Views, clock func() time.Time) *reader {
	return &reader{indices: indices.Published.Open(views, clock), rates: rates.Published.Open(views, clock)}
}

// unpriced is the price where none is known: clients show it as it is.
const unpriced = "-"

// list returns the indexes, without the shares.
func (r *reader) list(ctx context.Context, _ catalog.IndexListIn) (catalog.IndexPage, error) {
	v, err := store.OrZero(r.indices.Get(ctx))
	if err != nil {
		return catalog.IndexPage{}, err
	}
	listed := v.Listed()
	page := catalog.IndexPage{List: make([]catalog.IndexRow, len(listed)), Count: strconv.Itoa(len(listed))}
	for i := range listed {
		about, _ := indices.AboutOf(listed[i].Key)
		row := catalog.IndexRow{
			Key: about.Key, CNName: about.Name.CN, ENName: about.Name.EN, Show: about.Show, Describe: about.Introduce.EN,
			ENType: about.Kind.EN, CNType: about.Kind.CN, Price: unpriced,
		}
		if last, before, ok := listed[i].Last(api.Now(ctx)); ok {
			_, percent := last.Change(before)
			row.Price, row.Degree24h = last.Close, known(percent)
		}
		page.List[i] = row
	}
	return page, nil
}

// index is that of a key, of which clients may have changed the letter case, or an exchange
// rate; false where nothing is stored of it.
func (r *reader) index(ctx context.Context, key string) (index indices.Index, exchange rates.View, ok bool, err error) {
	if exchange, err = store.OrZero(r.rates.Get(ctx)); err != nil {
		return index, exchange, false, err
	}
	if strings.HasPrefix(key, catalog.RateKeys) {
		quotes, ok := exchange.Quotes(key)
		return indices.NewestOf(key, quotes), exchange, ok, nil
	}
	v, err := store.OrZero(r.indices.Get(ctx))
	if index, ok = v.Lookup(key); !ok {
		index, ok = v.Lookup(strings.ToLower(key))
	}
	return index, exchange, ok, err
}

// price returns what an index stands at, in a currency.
func (r *reader) price(ctx context.Context, in catalog.IndexPriceIn) (*catalog.IndexFigures, error) {
	index, exchange, ok, err := r.index(ctx, string(in.Key))
	if err != nil || !ok {
		return nil, err
	}
	now := api.Now(ctx)
	figures := &catalog.IndexFigures{Price: unpriced}
	last, before, ok := index.Last(now)
	if !ok {
		return figures, nil
	}
	change, percent := last.Change(before)
	figures.Degree24H = known(percent)
	written := func(amount string) string { return amount }
	if in.Currency != "" && last.Unit != "" && !strings.HasPrefix(string(in.Key), catalog.RateKeys) {
		if written, ok = exchange.Convert(now, last.Unit, in.Currency); !ok {
			return figures, nil
		}
	}
	figures.Price = written(last.Close)
	figures.Open, figures.High, figures.Low, figures.Close = known(written(last.Open)), known(written(last.High)), known(written(last.Low)), known(figures.Price)
	figures.Change24H = known(written(change))
	return figures, nil
}

// info describes an index.
func (r *reader) info(ctx context.Context, in catalog.IndexInfoIn) (*catalog.IndexText, error) {
	about, found := indices.AboutOf(string(in.Key))
	if !found {
		index, _, stored, err := r.index(ctx, string(in.Key))
		if err != nil || !stored {
			return nil, err
		}
		about, _ = indices.AboutOf(index.Key)
	}
	return &catalog.IndexText{
		Show: about.Show, Name: about.Name.In(in.Lan), Link: about.Link, ReleaseDate: about.Released, Amount: known(about.Members),
		Introduce: about.Introduce.In(in.Lan), FileName: about.FileName, FileLink: about.FileLink,
	}, nil
}

// known is a text, nil for none.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
