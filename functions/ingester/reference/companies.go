package reference

import (
	"maps"
	"math"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/companies"
	"quotary/shared/store"
)

// droppedCompanies has a row of each entry of a drop.
var droppedCompanies = engine.Log[*Batch]{Dataset: companies.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return companies.AppendRows(rows, b.Companies)
}}

// storedCompanies are the entries for who is folded from their log.
var storedCompanies = []engine.Fold[*Batch]{{Dataset: companies.Name, Append: func(to *Batch, row store.Row) error {
	entry, err := companies.DecodeRow(row)
	if err == nil {
		to.Companies = append(to.Companies, entry)
	}
	return err
}}}

// companyFacts keeps the view of companies: of each the filing that was asked for last, and
// the entry of the last place in a drop.
type companyFacts struct {
	byKey map[string]companies.Company
}

// newCompanyFacts is folded from what was dropped. Whoever has filings is asked again.
func newCompanyFacts() Projection {
	return engine.KeepView(companies.Published, func() *companyFacts {
		return &companyFacts{byKey: map[string]companies.Company{}}
	}).FoldedFrom(storedCompanies)
}

// Restore takes the companies from the view.
func (p *companyFacts) Restore(v companies.View) error {
	for _, c := range v.Companies {
		p.byKey[c.Key] = c
	}
	return nil
}

// Apply takes filings and entries that are newer than what is known.
func (p *companyFacts) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Filings {
		f := &b.Filings[i]
		c := p.byKey[f.Key]
		if c.Filing != nil && c.Filing.Compare(&f.Filing) >= 0 {
			continue
		}
		filing := f.Filing
		c.Key, c.Filing = f.Key, &filing
		p.byKey[c.Key], changed = c, true
	}
	for i := range b.Companies {
		e := &b.Companies[i]
		c := p.byKey[e.Key]
		if c.Place != nil && c.Place.Compare(e.Place) >= 0 {
			continue
		}
		entry, place := e.Entry, e.Place
		c.Key, c.Entry, c.Place = e.Key, &entry, &place
		p.byKey[c.Key], changed = c, true
	}
	return changed
}

// View has all companies: those that are asked about, and the newest of those that were only dropped.
func (p *companyFacts) View(time.Time) companies.View {
	keepNewest(p.byKey, mostDropped, func(c companies.Company) int64 {
		if c.Filing != nil {
			return math.MaxInt64
		}
		return c.Place.Time
	})
	return companies.View{Companies: slices.Collect(maps.Values(p.byKey))}
}
