package catalog

import "strings"

// How the keys of exchange rates begin, and those of indexes and shares.
const (
	RateKeys  = "t:"
	indexKeys = "i:"
)

// IsIndexKey reports whether a key, in any letter case, is that of an index, of a share or of
// an exchange rate.
func IsIndexKey[K ~string](key K) bool {
	lower := strings.ToLower(string(key))
	return strings.HasPrefix(lower, indexKeys) || strings.HasPrefix(lower, RateKeys)
}

// The endpoints of the family Index.
var (
	// Lists the indexes with their prices.
	IndexList = route[IndexListIn, IndexPage]("GET", "/v2/index/getIndex", Index, anyLevel, EnvelopeA).needs(ReferenceIndices)
	// Shows the price of an index, or an exchange rate.
	IndexPrice = route[IndexPriceIn, *IndexFigures]("GET", "/v2/index/indexPrice", Index, anyLevel, EnvelopeA).needs(ReferenceIndices, ReferenceRates)
	// Describes an index.
	IndexInfo = route[IndexInfoIn, *IndexText]("GET", "/v2/index/indexInfo", Index, anyLevel, EnvelopeA).needs(ReferenceIndices, ReferenceRates)
)

var _ = does(Index, readViews)

// IndexListIn asks for all indexes.
type IndexListIn struct{}

// IndexPage has the indexes of which a day is stored.
type IndexPage struct {
	List  []IndexRow `json:"list"`  // those that are known by name first
	Count string     `json:"count"` // how many there are
}

// IndexRow is an index and what it stood at last. Indexes are known by the day: an open day
// counts as far as its source has published it. Days that are older than two weeks have no
// figures.
type IndexRow struct {
	Key       string  `json:"key"`       // names the index in requests
	CNName    string  `json:"cn_name"`   // name in Chinese; the short name where none is known
	ENName    string  `json:"en_name"`   // name in English; the short name where none is known
	Show      string  `json:"show"`      // short name
	Describe  string  `json:"describe"`  // what it measures, in English; empty where it is not known
	Degree24h *string `json:"degree24h"` // change from the close of the day before, percent to four places: a decimal; null where it is not known
	Price     string  `json:"price"`     // what it stood at last, a decimal in points or in its own currency; - where it is not known
	ENType    string  `json:"en_type"`   // kind of index in English; empty where it is not known
	CNType    string  `json:"cn_type"`   // kind of index in Chinese; empty where it is not known
}

// IndexPriceIn selects an index, a share or an exchange rate, and a currency.
type IndexPriceIn struct {
	// key of an index (i:fgi:alternative), of a share, or of an exchange rate: t:usdcny
	// and other pairs of currencies that the European Central Bank has reference rates of,
	// with any source behind them, such as t:usdcny:sina, are these
	Key Key `query:"key,symbol,dbkey,dbKey" required:"true" example:"i:fgi:alternative"`

	// currency of the figures: its own where none is given. Points and exchange rates have
	// none, and are the same in all of them
	Currency string `query:"currency" enum:"|cny|usd|eur|hkd|jpy"`
}

// Needs implements [Needer].
func (in IndexPriceIn) Needs() []Need { return ofIndex(in.Key) }

// IndexFigures is what an index stood at on its last day, of which an open day counts as far
// as its source has published it; null where no day is stored of a key. Figures are decimals
// as text. In another currency they are converted by the European Central Bank's reference
// rate that is in force now, the change in percent stays that of the index.
type IndexFigures struct {
	Price     string  `json:"price"`     // what it stood at last; - where it is not known in the currency, or is older than two weeks
	Open      *string `json:"open"`      // what it stood at first on the last day; null where the price is not known
	High      *string `json:"high"`      // its highest on the last day; null where the price is not known
	Low       *string `json:"low"`       // its lowest on the last day; null where the price is not known
	Close     *string `json:"close"`     // the same as the price; null where that is not known
	Degree24H *string `json:"degree24H"` // change from the close of the day before, percent to four places; null where it is not known
	Change24H *string `json:"change24H"` // change from the close of the day before; null where it is not known
	Up        *string `json:"up"`        // members of the index that rose: null, no source says it
	Down      *string `json:"down"`      // members of the index that fell: null, no source says it
}

// IndexInfoIn selects an index and a language.
type IndexInfoIn struct {
	Key Key    `query:"key,symbol,dbkey,dbKey" required:"true" example:"i:fgi:alternative"` // key of an index, of a share or of an exchange rate
	Lan string `query:"lan" default:"cn" enum:"cn|en"`                                      // language of the name and of the introduction
}

// Needs implements [Needer].
func (in IndexInfoIn) Needs() []Need { return ofIndex(in.Key) }

// IndexText is what an index is; null where nothing is known of a key. Texts are empty where
// they are not known.
type IndexText struct {
	Show        string  `json:"show"`         // short name
	Name        string  `json:"name"`         // name in the language; the short name where none is known
	Link        string  `json:"link"`         // site of whoever computes it
	ReleaseDate string  `json:"release_date"` // first day of its publication, as 2018-02-01
	Amount      *string `json:"amount"`       // how many members it has; null where that is not known, or where it has none
	Introduce   string  `json:"introduce"`    // what it measures, in the language
	FileName    string  `json:"file_name"`    // name of the paper that says how it is computed
	FileLink    string  `json:"file_link"`    // where that paper is
}

// ofIndex is what an index needs, or an exchange rate.
func ofIndex[K ~string](key K) []Need {
	if strings.HasPrefix(strings.ToLower(string(key)), RateKeys) {
		return []Need{ReferenceRates.On("")}
	}
	return []Need{ReferenceIndices.On("")}
}
