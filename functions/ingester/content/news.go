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

// log has a row of each state of an item.
func (p *newest) log() engine.Log[*Batch] {
	return engine.Log[*Batch]{Dataset: news.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
		return news.AppendRows(rows, slices.DeleteFunc(slices.Clone(b.News), p.stored))
	}}
}

// stored reports whether the log has an item as it is: a feed shows for long what it has
// forgotten to have shown before.
func (p *newest) stored(item news.Item) bool {
	h := news.HeadingOf(&item)
	had, ok := p.byID[h.ID]
	return ok && had.Owner == h.Owner && had.Digest == h.Digest
}

// storedNews are the items for who is folded from their log.
var storedNews = []engine.Fold[*Batch]{{Dataset: news.Name, Append: func(to *Batch, row store.Row) error {
	item, err := news.Decode(row)
	if err != nil {
		return err
	}
	to.News = append(to.News, item)
	return nil
}}}

// newest keeps the view of the newest items, and of every item when it was first seen: an
// old one without a date that is edited is not new.
type newest struct {
	engine.Defaults[*Batch]
	byID    map[int64]news.Heading
	rows    []store.SeriesRow // of when items were first seen, to be written
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
		_, err := news.Published.Decode(body)
		return err
	}}}
}

// Restore takes the headings from the view.
func (p *newest) Restore(views map[string][]byte) error {
	body, ok := views[news.Name]
	if !ok {
		return nil
	}
	v, err := news.Published.Decode(body)
	if err != nil {
		return fmt.Errorf("read view %s: %w", news.Name, err)
	}
	p.keep(v)
	return nil
}

// Prefetch asks when those items were first seen that are not among the newest.
func (p *newest) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.News {
		item := &b.News[i]
		if owner := news.Subject(item.Source, item.Key); p.byID[item.ID].Owner != owner {
			r.Prefetch(news.FirstSeenAt(owner), checkFirstSeen)
		}
	}
}

// checkFirstSeen reports why a stored row cannot be read.
func checkFirstSeen(_ store.SeriesAt, p *store.Point) error {
	_, err := news.DecodeFirstSeen(p.Body)
	return err
}

// Apply merges the headings of a batch in.
func (p *newest) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.News {
		h := news.HeadingOf(&b.News[i])
		had, ok := p.byID[h.ID]
		first := had.FirstSeen
		if had.Owner != h.Owner {
			var err error
			if first, err = storedFirst(r, h.Owner); err != nil {
				return err
			}
		}
		if first == 0 || h.FirstSeen < first {
			p.rows = append(p.rows, news.FirstSeenRow(h.Owner, h.FirstSeen))
		} else {
			h.FirstSeen = first
		}
		if ok {
			h = had.Merge(h)
		}
		if !ok || h != had {
			p.byID[h.ID], p.changed = h, true
		}
	}
	return nil
}

// storedFirst is when an item was first seen as far as it is stored, ms; 0 for a new one.
func storedFirst(r *engine.Reads, owner string) (ms int64, err error) {
	if row := r.Row(news.FirstSeenAt(owner)); row != nil {
		if ms, err = news.DecodeFirstSeen(row.Body); err != nil {
			return 0, fmt.Errorf("read when the item %s was first seen: %w", owner, err)
		}
	}
	return ms, nil
}

// Changes returns the rows of new items, and the view when a heading has changed.
func (p *newest) Changes(time.Time, bool) engine.Changes {
	changes := engine.Changes{Fine: p.rows}
	p.rows = nil
	if !p.changed {
		return changes
	}
	p.changed = false
	v := news.NewView(slices.Collect(maps.Values(p.byID)))
	if len(p.byID) > len(v.Items) {
		p.keep(v)
	}
	changes.Views = []engine.View{engine.ViewOf(news.Published, v)}
	return changes
}

// keep forgets all headings but those of a view.
func (p *newest) keep(v news.View) {
	clear(p.byID)
	for _, h := range v.Items {
		p.byID[h.ID] = h
	}
}
