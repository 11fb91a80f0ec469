package catalog

import "time"

// Traders by their figures, of which a table is made every five minutes.
var (
	// Finds successful accounts with more than 100,000 USD in perpetuals.
	SmartFind = route[SmartFindIn, []SmartTrader]("POST", "/upgrade/v2/hl/smart/find", PerpDiscover, action("HL_SMART_FIND"), EnvelopeB).needs(VenueFills).covers().ofVersions()
	// Finds accounts by filters on their statistics.
	Discover = route[DiscoverIn, DiscoverPage]("POST", "/upgrade/v2/hl/traders/discover", PerpDiscover, action("HL_TRADERS_DISCOVER"), EnvelopeB).needs(VenueFills).covers().ofVersions()
	// Lists the tags of many addresses.
	AddressTags = route[AddressTagsIn, []TraderTags]("POST", "/upgrade/v2/hl/traders/query-addr-tags", PerpDiscover, action("HL_QUERY_ADDR_TAGS"), EnvelopeB).needs(VenueFills).covers().ofVersions()
	// Finds accounts by filters on their statistics over a window of the past.
	DiscoverHistory = route[DiscoverHistoryIn, DiscoverPage]("POST", "/upgrade/v2/hl/traders/discover-history", PerpDiscover, action("HL_TRADERS_DISCOVER_HISTORY"), EnvelopeB).needs(VenueFills).begins().covers().ofVersions()
)

// Of its memory some hundred columns of a million traders are kept, and what holds two cores, on which
// questions are answered.
var _ = does(PerpDiscover, readViews, loadSeries, objects("tables/", "GetObject"), size(3538, GatewayTimeout))

// DiscoverIn selects traders by their figures. Names of fields that are bound to a period may end
// in 1d, 7d or 30d; that wins over the period of a filter, and that over period.
type DiscoverIn struct {
	PageNum    int64            `body:"pageNum" default:"1" min:"1" max:"20"`   // number of the page, from 1 to 20
	PageSize   int64            `body:"pageSize" default:"20" min:"1" max:"25"` // rows of the answer, 25 at most
	Period     WindowDays       `body:"period" default:"7"`
	Sort       *DiscoverSort    `body:"sort"`                                     // absent for the greatest totalPnl first
	Tags       []string         `body:"tags" max:"30" maxlen:"64" list:"set"`     // only traders with all of these tags, in any language
	Coins      []Coin           `body:"coins,allCoins" max:"500" list:"set"`      // only who traded all of these perpetuals in period
	AnyCoins   []Coin           `body:"anyCoins" max:"500" list:"set"`            // only who traded one of these at least
	NoCoins    []Coin           `body:"noCoins" max:"500" list:"set"`             // only who traded none of these
	LimitCoins []Coin           `body:"limitCoins" max:"500" list:"set"`          // only who traded, and nothing but these
	Selects    []string         `body:"selects" max:"500" maxlen:"64" list:"set"` // fields of the rows; absent for the usual ones
	LoadPnls   bool             `body:"loadPnls"`                                 // true for pnls too, the profit over time of all of the account, as batch-pnls has it at the hours that are stored
	LoadTags   bool             `body:"loadTags"`                                 // true for the tags too
	CountOnly  bool             `body:"countOnly"`                                // true for total alone
	Lang       string           `body:"lang" default:"en" enum:"en|zh"`           // language of the tags
	Filters    []DiscoverFilter `body:"filters" max:"50"`                         // all of which hold
	Addrs      []Address        `body:"addrs" cut:"2000" list:"set"`              // only these accounts; those beyond 2,000 are left out
}

// DiscoverHistoryIn selects traders by their figures over a window of full hours: from the one that its
// start is in to the one that its cut-off is in. The fields are those of completed positions, fills, perp
// fills, filled orders, builders, liquidation, account value change, whose values are those of the last
// beginnings of a day (UTC) up to the ends, and account snapshot, which is of now.
type DiscoverHistoryIn struct {
	PageNum    int64            `body:"pageNum" default:"1" min:"1" max:"20"`     // number of the page, from 1 to 20
	PageSize   int64            `body:"pageSize" default:"20" min:"1" max:"25"`   // rows of the answer, 25 at most
	StartTime  *Millis          `body:"startTime"`                                // when the window begins, ms; absent for period before the cut-off
	Time       *Millis          `body:"time"`                                     // cut-off, ms; absent for time2
	Time2      *Moment          `body:"time2"`                                    // cut-off: an ISO time, or how long before now, as in -14d, -6h or -30m; absent for now
	Period     Days             `body:"period" default:"7"`                       // days before the cut-off, from 1 to 365, or 0 for all of the history
	Sort       *DiscoverSort    `body:"sort"`                                     // absent for the greatest totalPnl first
	Coins      []Coin           `body:"coins,allCoins" max:"500" list:"set"`      // only who traded all of these perpetuals in the window
	AnyCoins   []Coin           `body:"anyCoins" max:"500" list:"set"`            // only who traded one of these at least
	NoCoins    []Coin           `body:"noCoins" max:"500" list:"set"`             // only who traded none of these
	LimitCoins []Coin           `body:"limitCoins" max:"500" list:"set"`          // only who traded, and nothing but these
	Selects    []string         `body:"selects" max:"500" maxlen:"64" list:"set"` // fields of the rows; absent for the usual ones
	CountOnly  bool             `body:"countOnly"`                                // true for total alone
	Filters    []DiscoverFilter `body:"filters" max:"50"`                         // all of which hold; without a period of their own
	Addrs      []Address        `body:"addrs" cut:"2000" list:"set"`              // only these accounts; those beyond 2,000 are left out
}

// Span implements [Spanner].
func (in DiscoverHistoryIn) Span(now time.Time) (start, end time.Time) {
	end = now
	switch {
	case in.Time != nil:
		end = in.Time.Time()
	case in.Time2 != nil:
		end = in.Time2.At(now)
	}
	switch {
	case in.StartTime != nil:
		start = in.StartTime.Time()
	case in.Period == 0:
		start = time.UnixMilli(0).UTC()
	default:
		start = end.AddDate(0, 0, -int(in.Period))
	}
	return start, end
}

// DiscoverSort is the order of traders: what is not known comes last, and of equal ones the smaller
// address first.
type DiscoverSort struct {
	Field string `json:"field"`         // what they are ordered by
	Dir   string `json:"dir,omitempty"` // asc or desc; absent for desc
}

// DiscoverFilter is a condition on a field. What is not known passes none.
type DiscoverFilter struct {
	Field  string      `json:"field"`            // name of the field, as it is asked for
	Op     string      `json:"op,omitempty"`     // <, =, >, >=, <=, != or <>, or exist, which what is known passes; absent for >=. Of a text =, !=, <> and exist; absent for =
	Val    *Decimal    `json:"val,omitempty"`    // a number; of a date ms since 1970 UTC
	Val2   *string     `json:"val2,omitempty"`   // of a date in place of val: an ISO time, or a time before now as in -1d, -30m or -1w; the text that a text is compared with, or that is looked for in a list
	Period *WindowDays `json:"period,omitempty"` // in place of the period of the body
}

// DiscoverPage is a page of the traders that pass.
type DiscoverPage struct {
	List  []DiscoverRow `json:"list"`
	Total int64         `json:"total"` // traders that pass, of all pages
}

// DiscoverRow is a trader: address, the fields that were asked for under the names under which they
// were, pnls with loadPnls and tags with loadTags. Counts, ratios and durations are numbers, money is
// a decimal string in USD and dates are ms, but for snapPositionCount, oaLastOrderAt, avgLeverage,
// snapEffLeverage and snapMarginUsageRate, which are strings. vtName and vtLeader are strings too, and
// dexNames is a list of strings. What is not known is null.
type DiscoverRow map[string]any

// AddressTagsIn names accounts.
type AddressTagsIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" max:"2000"`
	Lang      string    `body:"lang" default:"en" enum:"en|zh"` // language of the tags
}

// TraderTags are the tags of an account.
type TraderTags struct {
	Address string    `json:"address"`
	Tags    *[]string `json:"tags"` // null where the account is not known
}

// SmartFindIn selects accounts of which more than 100,000 USD are in perpetuals.
type SmartFindIn struct {
	PageNum  int64      `body:"pageNum" default:"1" min:"1" max:"20"`   // number of the page, from 1 to 20
	PageSize int64      `body:"pageSize" default:"20" min:"1" max:"25"` // rows of the answer, 25 at most
	Period   WindowDays `body:"period" default:"7"`
	Sort     string     `body:"sort" default:"pnl" enum:"win-rate|account-balance|ROI|pnl|position-count|profit-count|last-operation|avg-holding-period|current-position"` // what they are ordered by, the greatest first
	PnlList  bool       `body:"pnlList"`                                                                                                                                   // true for the profit of the perpetuals over time too
}

// SmartTrader is what an account holds, and how it traded in a window, as the table of traders has it;
// leverage, builderPerpValue and lastOperationAt are of now.
type SmartTrader struct {
	TraderStatisticsRow
	BuilderPerpValue *string `json:"builderPerpValue"` // part of perpValue in the dexes of builders; null where one token backs positions in several dexes, and where it is not known
}
