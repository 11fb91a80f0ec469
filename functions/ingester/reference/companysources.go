package reference

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sec"
	"quotary/shared/catalog"
	"quotary/shared/data/companies"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/service/config"
)

// Filings is which companies are asked about.
type Filings struct {
	URL       string // of EDGAR's data; "" asks nobody
	Contact   string // the User-Agent that EDGAR wants
	Companies []sec.Company
	Every     time.Duration // between two looks at each
}

// Bounds of the setting.
const (
	maxCompanies = 200
	maxCIK       = 9_999_999_999
)

var errNoContact = errors.New("must say who asks, with an address of mail, where companies are asked about")

func filingSettings(env *config.Env) Filings {
	c := Filings{
		URL:       env.Text(catalog.EnvSECURL),
		Contact:   env.Text(catalog.EnvSECContact),
		Companies: config.Parsed(env, catalog.EnvSECCompanies, parseCompanies),
		Every:     env.Duration(catalog.EnvSECEvery),
	}
	if c.URL != "" && len(c.Companies) > 0 && c.Contact == "" {
		env.Refuse(catalog.EnvSECContact, errNoContact)
	}
	return c
}

// parseCompanies reads the setting of companies, a JSON list:
//
//	[{"key": "i:mstr:nasdaq", "cik": 1050446}]
func parseCompanies(text string) ([]sec.Company, error) {
	type object struct {
		Key string `json:"key"`
		CIK int64  `json:"cik"`
	}
	list, err := config.Objects[object](text, "{key, cik}", maxCompanies, "companies")
	if err != nil {
		return nil, err
	}
	var all []sec.Company
	for n, one := range list {
		switch {
		case !market.ValidCoinKey(one.Key):
			return nil, fmt.Errorf("company %d: key must be one that clients can send, such as i:mstr:nasdaq, not %q", n+1, one.Key)
		case slices.ContainsFunc(all, func(have sec.Company) bool { return have.Key == one.Key }):
			return nil, fmt.Errorf("company %d: its key is listed twice", n+1)
		case one.CIK < 1 || one.CIK > maxCIK:
			return nil, fmt.Errorf("company %d: cik must be a number of up to ten digits, not %d", n+1, one.CIK)
		}
		all = append(all, sec.Company{Key: one.Key, CIK: one.CIK})
	}
	return all, nil
}

// sources is EDGAR, where it is set.
func (c Filings) sources(logger *slog.Logger) []engine.Source[*Batch] {
	if c.URL == "" || len(c.Companies) == 0 {
		return nil
	}
	stats := new(source.Stats)
	facts := &sec.Facts{URL: c.URL, Contact: c.Contact, Companies: c.Companies, Every: c.Every, Stats: stats, Log: source.Watched(logger.With("source", "sec"), stats)}
	return []engine.Source[*Batch]{polled("sec", facts.Stats, func(ctx context.Context, sink engine.Sink[*Batch]) error {
		return facts.Follow(ctx, func(ctx context.Context, asked time.Time, f market.CompanyFacts) error {
			return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Filings: []companies.Filed{companies.FiledOf(f, asked.UnixMilli())}, Held: treasuries.FiledOf(f)}})
		})
	})}
}
