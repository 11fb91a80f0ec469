package market

import "slices"

// CompanyFacts is what a company has filed of itself. A fact without a value is not known.
type CompanyFacts struct {
	Key  string // of its share, e.g. i:mstr:nasdaq: as [ValidCoinKey] says
	Name string

	Shares  Fact // outstanding
	Diluted Fact // shares that there would be if all that may become one did
	Cash    Fact // and what is as good as cash, US dollars
	Debt    Fact // of the long term, US dollars

	Held []HeldFact // coins that were held, by coin and day, each once
}

// HeldFact is how many of a coin were held at the end of a day.
type HeldFact struct {
	Coin string // e.g. BTC
	Fact
}

// Equal reports whether both say the same.
func (f CompanyFacts) Equal(g CompanyFacts) bool {
	return f.Key == g.Key && f.Name == g.Name && f.Shares == g.Shares && f.Diluted == g.Diluted && f.Cash == g.Cash && f.Debt == g.Debt && slices.Equal(f.Held, g.Held)
}

// Fact is a figure of a filing.
type Fact struct {
	Value   string `json:"value"`   // a plain decimal
	AsOf    string `json:"as_of"`   // the day of which it is, yyyy-mm-dd
	Filed   string `json:"filed"`   // the day on which it was filed, yyyy-mm-dd
	Form    string `json:"form"`    // of the filing, e.g. 10-Q
	Concept string `json:"concept"` // how the filing names it, e.g. us-gaap:LongTermDebt
}
