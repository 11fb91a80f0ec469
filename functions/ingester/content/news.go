package content

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/news"
	"quotary/shared/store"
)

// newsLog has a row of each state of an item.
var newsLog = engine.Log[*Batch]{Dataset: news.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return news.AppendRows(rows, b.News)
}}

// storedNews are the items for who is folded from their log.
var storedNews = []engine.Fold[*Batch]{{Dataset: news.Name, Append: func(to *Batch, row store.Row) error {
	item, err := news.Decode(row)
	if err != nil {
		return err
	}
	to.News = append(to.News, item)
	return nil
}}}

// newest keeps the view of the newest items.
type newest struct {
	engine.Defaults[*Batch]
	byID    map[int64]news.Heading
	changed bool
}

func newNewest() *newest { return &newest{byID: map[int64]news.Heading{}} }

// Name is that of the view.
func (*newest) Name() string { return news.Name }

// Folds has the log of news.
func (*newest) Folds() []engine.Fold[*Batch] { return storedNews }

// Restores has its own view.
func (*newest) Restores() []engine.RestoredView {
	return []engine.RestoredView{{Name: news.Name, Check: func(body []byte) error {
		_, err := news.DecodeView(body)
		return err
	}}}
}

// Restore takes the headings from the view.
func (p *newest) Restore(views map[string][]byte) error {
	body, ok := views[news.Name]
	if !ok {
		return nil
	}
	v, err := news.DecodeView(body)
	if err != nil {
		return fmt.Errorf("read view %s: %w", news.Name, err)
	}
	p.keep(v)
	return nil
}

// Apply merges the headings of a batch in.
func (p *newest) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.News {
		h := news.HeadingOf(&b.News[i])
		had, ok := p.byID[h.ID]
		if ok {
			h = had.Merge(h)
		}
		if !ok || h != had {
			p.byID[h.ID], p.changed = h, true
		}
	}
	return nil
}

// Changes returns the view when a heading has changed.
func (p *newest) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := news.NewView(slices.Collect(maps.Values(p.byID)))
	if len(p.byID) > len(v.Items) {
		p.keep(v)
	}
	return engine.Changes{Views: []engine.View{{Name: news.Name, Body: news.Encode(v)}}}
}

// keep forgets all headings but those of a view.
func (p *newest) keep(v news.View) {
	clear(p.byID)
	for _, h := range v.Items {
		p.byID[h.ID] = h
	}
}
