// Package sec asks the Securities and Exchange Commission of the United States for what
// companies have filed of themselves: the company facts of EDGAR, which are in the public
// domain. It allows ten requests a second to those who say whom to write to, and blocks
// others for some ten minutes.
package sec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
)

// Company is a company that is asked about.
type Company struct {
	Key string // of its share, e.g. i:mstr:nasdaq
	CIK int64  // the commission's number of it
}

// Facts polls the facts of companies.
type Facts struct {
	URL       string // https://data.sec.gov
	Contact   string // who asks, with an address of mail: the User-Agent that the commission wants
	Companies []Company
	Every     time.Duration // between two looks at all of them
	Stats     *source.Stats
	Log       *slog.Logger
}

// Sink takes what a company has filed, as it was asked for at a time. It blocks while its
// consumer is behind.
type Sink func(ctx context.Context, asked time.Time, facts market.CompanyFacts) error

const (
	perMinute = 240 // a fifth of what is allowed: others ask from the same address
	burst     = 4   // of these at once
	timeout   = time.Minute
	blocked   = 10 * time.Minute // how long the commission blocks
)

// bounds are those of an answer: the facts of a large company of many years are some 10 MB, and
// a concept has some hundred values. No more values than rows are read of all concepts together.
var bounds = upstream.Bounds{Bytes: 32 << 20, Rows: 10_000}

// Follow delivers the facts of all companies, and then so often those that have changed,
// until ctx ends or the sink fails. A company that cannot be read is tried again with the
// others, or soon where there is no other. It runs in the caller's goroutine.
func (f *Facts) Follow(ctx context.Context, sink Sink) error {
	host := source.NewHost(f.URL, perMinute)
	host.Budget = source.NewBurstBudget(perMinute, burst, time.Now)
	host.Usual, host.Timeout = bounds, timeout
	host.Header = http.Header{"User-Agent": {f.Contact}}
	host.Limited = func(status int, _ []byte) time.Duration {
		if status == http.StatusForbidden {
			return blocked
		}
		return 0
	}
	known := map[string]market.CompanyFacts{}
	return source.PollEach(ctx, f.Every, f.Log, "company facts", f.Companies, func(ctx context.Context, c Company) error {
		asked := time.Now()
		facts, err := f.ask(ctx, host, c)
		if err != nil || facts.Equal(known[c.Key]) {
			return err
		}
		if err := sink(ctx, asked, facts); err != nil {
			return source.OfSink(err)
		}
		known[c.Key] = facts
		return nil
	})
}

func (f *Facts) ask(ctx context.Context, host *source.Host, c Company) (facts market.CompanyFacts, err error) {
	var body json.RawMessage
	if err := host.Get(ctx, fmt.Sprintf("/api/xbrl/companyfacts/CIK%010d.json", c.CIK), nil, 1, &body); err != nil {
		return facts, err
	}
	facts, malformed, err := Read(body, c, time.Now())
	f.Stats.Malformed.Add(int64(malformed))
	if err != nil {
		return facts, fmt.Errorf("read the facts of CIK %d: %w", c.CIK, err)
	}
	f.Stats.Lines.Add(1)
	f.Stats.Seen(time.Now(), 0)
	return facts, nil
}

// Concepts by which companies file a fact, the plainest first. Companies with several classes
// of shares file the number of each, which is not among the facts: the average of the period
// is.
var (
	dilutedConcepts = []string{"us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding"}
	sharesConcepts  = []string{"dei:EntityCommonStockSharesOutstanding", "us-gaap:CommonStockSharesOutstanding", "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic"}
	cashConcepts    = []string{"us-gaap:CashAndCashEquivalentsAtCarryingValue", "us-gaap:CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"}
	debtConcepts    = []string{"us-gaap:LongTermDebt", "us-gaap:LongTermDebtNoncurrent", "us-gaap:ConvertibleLongTermNotesPayable"}
	heldConcepts    = []string{"us-gaap:CryptoAssetNumberOfUnits"}
)

// answer is the facts of a company, by taxonomy.
type answer struct {
	CIK   json.Number `json:"cik"`
	Name  string      `json:"entityName"`
	Facts taxonomies  `json:"facts"`

	values int    // that were read, of all concepts
	last   string // the newest day of which something can be filed
}

// taxonomies are those that are read.
type taxonomies map[string]concepts

// UnmarshalJSON keeps what is read of the taxonomies: an answer may have a million others.
func (t *taxonomies) UnmarshalJSON(text []byte) error {
	*t = taxonomies{}
	return eachMember(text, func(name string, value json.RawMessage) error {
		if !isRead(func(concept string) bool { return strings.HasPrefix(concept, name+":") }) {
			return nil
		}
		var of concepts
		err := json.Unmarshal(value, &of)
		(*t)[name] = of
		return err
	})
}

// concepts are those of a taxonomy that are read.
type concepts map[string]json.RawMessage

// UnmarshalJSON keeps what is read of the concepts: companies file hundreds.
func (c *concepts) UnmarshalJSON(text []byte) error {
	*c = concepts{}
	return eachMember(text, func(name string, value json.RawMessage) error {
		if isRead(func(concept string) bool { return strings.HasSuffix(concept, ":"+name) }) {
			(*c)[name] = bytes.Clone(value)
		}
		return nil
	})
}

// eachMember calls see with each member of an object, whose value is valid until it returns.
func eachMember(text []byte, see func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return errNoFacts
	}
	var value json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		text, ok := name.(string)
		if err != nil || !ok {
			return errNoFacts
		}
		if err := see(text, value); err != nil {
			return err
		}
	}
	return nil
}

// isRead reports whether one of the concepts that are read is such a one.
func isRead(such func(concept string) bool) bool {
	for _, list := range [][]string{sharesConcepts, dilutedConcepts, cashConcepts, debtConcepts, heldConcepts} {
		if slices.ContainsFunc(list, such) {
			return true
		}
	}
	return false
}

// filed is a fact in a filing.
type filed struct {
	Start string      `json:"start"` // of a period
	End   string      `json:"end"`
	Value json.Number `json:"val"`
	Form  string      `json:"form"`
	Filed string      `json:"filed"`
}

// maxName is how many bytes of a company's name are kept.
const maxName = 200

var (
	errNoFacts = errors.New("it is no list of facts")
	errOther   = errors.New("it is of another company")
	errNone    = errors.New("it has neither shares nor cash nor debt nor coins")
)

// Read reads an answer: of each fact the value of the newest day in quarterly and annual
// reports, of the same day that of the newest report, and how many values are none. What is filed
// later than the day after it was asked is none: it would be the newest for ever.
func Read(body []byte, c Company, asked time.Time) (facts market.CompanyFacts, malformed int, err error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.Facts == nil {
		return facts, 0, errNoFacts
	}
	if cik, err := a.CIK.Int64(); err != nil || cik != c.CIK {
		return facts, 0, errOther
	}
	a.last = asked.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	facts = market.CompanyFacts{Key: c.Key, Name: visible.Excerpt(a.Name, maxName)}
	for _, one := range []struct {
		to       *market.Fact
		unit     string
		concepts []string
	}{{&facts.Shares, "shares", sharesConcepts}, {&facts.Diluted, "shares", dilutedConcepts}, {&facts.Cash, "USD", cashConcepts}, {&facts.Debt, "USD", debtConcepts}} {
		fact, bad, err := a.newest(one.concepts, one.unit)
		if err != nil {
			return market.CompanyFacts{}, malformed, err
		}
		*one.to = fact
		malformed += bad
	}
	held, bad, err := a.held()
	if err != nil {
		return market.CompanyFacts{}, malformed, err
	}
	facts.Held, malformed = held, malformed+bad
	if facts.Shares.Value == "" && facts.Cash.Value == "" && facts.Debt.Value == "" && len(facts.Held) == 0 {
		return facts, malformed, errNone
	}
	return facts, malformed, nil
}
