package reference

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/companies"
)

// companyFacts keeps the view of companies: of each the filing that was asked for last, and
// the entry of the last place in a drop.
type companyFacts struct {
	engine.Defaults[*Batch]
	byKey   map[string]companies.Company
	changed bool
}

func newCompanyFacts() *companyFacts {
	return &companyFacts{byKey: map[string]companies.Company{}}
}

// Name is that of the view.
func (*companyFacts) Name() string { return companies.Name }

// Restores has its own view.
func (*companyFacts) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(companies.Published)}
}

// Restore takes the companies from the view.
func (p *companyFacts) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, companies.Published)
	for _, c := range v.Companies {
		p.byKey[c.Key] = c
	}
	return err
}

// Apply takes filings and entries that are newer than what is known.
func (p *companyFacts) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Filings {
		f := &b.Filings[i]
		c := p.byKey[f.Key]
		if c.Filing != nil && c.Filing.Compare(&f.Filing) >= 0 {
			continue
		}
		filing := f.Filing
		c.Key, c.Filing = f.Key, &filing
		p.byKey[c.Key], p.changed = c, true
	}
	for i := range b.Companies {
		e := &b.Companies[i]
		c := p.byKey[e.Key]
		if c.Place != nil && c.Place.Compare(e.Place) >= 0 {
			continue
		}
		entry, place := e.Entry, e.Place
		c.Key, c.Entry, c.Place = e.Key, &entry, &place
		p.byKey[c.Key], p.changed = c, true
	}
	return nil
}

// Changes returns the view when anything of a company has changed.
func (p *companyFacts) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := companies.View{Companies: slices.Collect(maps.Values(p.byKey))}
	return engine.Changes{Views: []engine.View{engine.ViewOf(companies.Published, v)}}
}
