package catalog

import (
	"slices"
	"strings"
)

// Dataset is a part of what a domain of the ingester collects, of which it records whether
// any source has ever spoken of it. An endpoint that [Endpoint.Needs] one of which none has
// answers 503: an empty answer would say that there is nothing.
type Dataset struct {
	Name   string // unique
	Domain *Domain
	Holds  string // what it holds, as people who call the API read it, plural
	Takes  string // what brings it, for the operator of a deployment without

	// OnDemand is set where nothing comes before somebody asks for it: while a source is
	// configured, the handler says what is still awaited.
	OnDemand bool

	// Hourly is set where without a node it comes with the hours that the venue publishes:
	// see [HeaderDataUntil].
	Hourly bool
}

// Need is a dataset, or the part of it that is of one platform.
type Need struct {
	*Dataset
	Part string // key of a platform; "" is all of the dataset
}

// On is the part of a platform.
func (d *Dataset) On(platform string) Need { return Need{d, platform} }

// Key names the dataset or its part in what the ingester records.
func (n Need) Key() string {
	if n.Part == "" {
		return n.Name
	}
	return n.Name + "/" + n.Part
}

// AllOf are datasets as needs, each of all platforms.
func AllOf(datasets ...*Dataset) []Need {
	needs := make([]Need, len(datasets))
	for i, d := range datasets {
		needs[i] = d.On("")
	}
	return needs
}

// Needer is a request of which the parameters decide what its endpoint needs.
type Needer interface {
	// Needs are alternatives, in the place of [Endpoint.Needs].
	Needs() []Need
}

// NeedsOf is what a request needs: alternatives, of which one is enough.
func (e *Endpoint) NeedsOf(in any) []Need {
	if chosen, ok := in.(Needer); ok {
		return chosen.Needs()
	}
	return AllOf(e.Needs...)
}

// needs declares the datasets of which at least one must have been spoken of.
func (r Route[In, Out]) needs(alternatives ...*Dataset) Route[In, Out] {
	r.Needs = alternatives
	return r
}

// looksUp says that the endpoint looks for one thing.
func (r Route[In, Out]) looksUp() Route[In, Out] {
	r.Lookup = true
	return r
}

// Hourly reports whether all that the endpoint needs comes by the hour where no node is followed.
func (e *Endpoint) Hourly() bool {
	return len(e.Needs) > 0 && !slices.ContainsFunc(e.Needs, func(d *Dataset) bool { return !d.Hourly })
}

// SaysSince reports whether answers may carry [HeaderDataSince]: those of the log of events, of which
// only some is retained, and those that say so of something else.
func (e *Endpoint) SaysSince() bool {
	p, ok := ProgramOf(e.Function())
	return e.Begins || ok && !e.Planned && len(p.Tables[LogTable]) > 0
}

// checksKeys says that clients check a key by the endpoint, and refuse one that it does not
// succeed with.
func (r Route[In, Out]) checksKeys() Route[In, Out] {
	r.KeyCheck = true
	return r
}

// Datasets are all that are declared, in the order of their names.
func Datasets() []*Dataset {
	all := slices.Clone(datasets)
	slices.SortFunc(all, func(a, b *Dataset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

var datasets []*Dataset

func dataset(d Dataset) *Dataset {
	datasets = append(datasets, &d)
	return &d
}

// What of the perpetual exchange depends on whether a node is followed.
const (
	takesVenue = "its public API"
	takesNode  = "the files of a node"
	takesHours = takesNode + " or the hours that the venue publishes"
)

// The datasets of the perpetual exchange.
var (
	VenueTrades   = dataset(Dataset{Name: "trades", Domain: PerpDomain, Holds: "trades of Hyperliquid", Takes: takesVenue + " or " + takesNode})
	VenueBooks    = dataset(Dataset{Name: "books", Domain: PerpDomain, Holds: "order books of Hyperliquid", Takes: takesVenue})
	VenueMids     = dataset(Dataset{Name: "mids", Domain: PerpDomain, Holds: "mid prices of Hyperliquid", Takes: takesVenue})
	VenueMeta     = dataset(Dataset{Name: "meta", Domain: PerpDomain, Holds: "descriptions of the markets of Hyperliquid", Takes: takesVenue})
	VenueContexts = dataset(Dataset{Name: "contexts", Domain: PerpDomain, Holds: "figures of the markets of Hyperliquid", Takes: takesVenue})
	VenueFunding  = dataset(Dataset{Name: "funding", Domain: PerpDomain, Holds: "funding rates of Hyperliquid", Takes: takesVenue})
	VenueFills    = dataset(Dataset{Name: "fills", Domain: PerpDomain, Holds: "fills of the accounts of Hyperliquid", Takes: takesHours, Hourly: true})

	// VenueAccountEvents are fills with whom they liquidated, and funding, as feeds show them.
	VenueAccountEvents = dataset(Dataset{Name: "accountevents", Domain: PerpDomain, Holds: "liquidations and funding of Hyperliquid", Takes: takesHours})

	// VenueAccountTrades are the fills that are trades, as they happen: without a node they are provisional first.
	VenueAccountTrades = dataset(Dataset{Name: "accounttrades", Domain: PerpDomain, Holds: "fills of the accounts of Hyperliquid", Takes: takesNode + ", public trades or the hours that the venue publishes"})

	VenueOrders   = dataset(Dataset{Name: "orders", Domain: PerpDomain, Holds: "orders of the accounts of Hyperliquid", Takes: takesNode})
	VenueLedgers  = dataset(Dataset{Name: "ledgers", Domain: PerpDomain, Holds: "ledger updates of the accounts of Hyperliquid", Takes: takesHours, Hourly: true})
	VenuePayments = dataset(Dataset{Name: "payments", Domain: PerpDomain, Holds: "funding payments of the accounts of Hyperliquid", Takes: takesHours, Hourly: true})
	VenueTwaps    = dataset(Dataset{Name: "twaps", Domain: PerpDomain, Holds: "TWAP orders of the accounts of Hyperliquid", Takes: takesNode})
	VenueAccounts = dataset(Dataset{Name: "accounts", Domain: PerpDomain, Holds: "states of the accounts of Hyperliquid", Takes: takesVenue + " or " + takesNode, OnDemand: true})
)

const takesExchanges = "a centralised exchange"

// The datasets of the centralised exchanges.
var (
	ExchangePairs        = dataset(Dataset{Name: "pairs", Domain: ExchangeDomain, Holds: "pairs of exchanges", Takes: takesExchanges})
	ExchangeTickers      = dataset(Dataset{Name: "pairtickers", Domain: ExchangeDomain, Holds: "prices of pairs of exchanges", Takes: takesExchanges})
	ExchangeTrades       = dataset(Dataset{Name: "pairtrades", Domain: ExchangeDomain, Holds: "trades of exchanges", Takes: takesExchanges})
	ExchangeKlines       = dataset(Dataset{Name: "pairklines", Domain: ExchangeDomain, Holds: "K-lines of exchanges", Takes: takesExchanges})
	ExchangeFunding      = dataset(Dataset{Name: "pairfunding", Domain: ExchangeDomain, Holds: "funding rates of exchanges", Takes: takesExchanges})
	ExchangeInterest     = dataset(Dataset{Name: "pairinterest", Domain: ExchangeDomain, Holds: "figures of the open interest of exchanges", Takes: takesExchanges})
	ExchangeRatios       = dataset(Dataset{Name: "pairratios", Domain: ExchangeDomain, Holds: "long and short accounts of exchanges", Takes: takesExchanges})
	ExchangeBooks        = dataset(Dataset{Name: "pairbooks", Domain: ExchangeDomain, Holds: "order books of exchanges", Takes: takesExchanges + " and coins whose books are followed"})
	ExchangeLiquidations = dataset(Dataset{Name: "pairliquidations", Domain: ExchangeDomain, Holds: "liquidations of exchanges", Takes: takesExchanges})
)

// The datasets of what people write.
var (
	ContentNews     = dataset(Dataset{Name: "news", Domain: ContentDomain, Holds: "items of news", Takes: "feeds of news"})
	ContentFlashes  = dataset(Dataset{Name: "flashes", Domain: ContentDomain, Holds: "flashes", Takes: "a vendor of flashes, announcements of exchanges, exchanges or drops of flashes"})
	ContentPosts    = dataset(Dataset{Name: "posts", Domain: ContentDomain, Holds: "posts", Takes: "drops of posts"})
	ContentMembers  = dataset(Dataset{Name: "members", Domain: ContentDomain, Holds: "authors of posts", Takes: "drops of their authors"})
	ContentReadings = dataset(Dataset{Name: "readings", Domain: ContentDomain, Holds: "readings of coins", Takes: "exchanges or the perpetual exchange"})
	ContentAirdrops = dataset(Dataset{Name: "airdrops", Domain: ContentDomain, Holds: "airdrops", Takes: "announcements of exchanges or drops of airdrops"})
)

// The reference datasets.
var (
	ReferenceCoins      = dataset(Dataset{Name: "coins", Domain: ReferenceDomain, Holds: "names of coins", Takes: "a source of prices of coins or drops of coins"})
	ReferencePrices     = dataset(Dataset{Name: "cointickers", Domain: ReferenceDomain, Holds: "prices of coins", Takes: "a source of prices of coins"})
	ReferenceIndices    = dataset(Dataset{Name: "indices", Domain: ReferenceDomain, Holds: "indexes", Takes: "a source of indexes or of daily prices, or drops of indices"})
	ReferenceRates      = dataset(Dataset{Name: "rates", Domain: ReferenceDomain, Holds: "exchange rates", Takes: "a source of exchange rates"})
	ReferenceShares     = dataset(Dataset{Name: "shares", Domain: ReferenceDomain, Holds: "prices of shares", Takes: "a source of daily prices or drops of indices"})
	ReferenceCompanies  = dataset(Dataset{Name: "companies", Domain: ReferenceDomain, Holds: "facts of companies", Takes: "filings or drops of companies"})
	ReferenceTreasuries = dataset(Dataset{Name: "treasuries", Domain: ReferenceDomain, Holds: "holdings of coins", Takes: "drops of treasuries or filings that say them"})
)

// PerpPlatform is the key of the perpetual exchange as a platform.
const PerpPlatform = "hyperliquid"

// ofPlatform is the part of a platform of a dataset of the centralised exchanges or, for
// that of the perpetual exchange, the dataset of that.
func ofPlatform(platform string, exchanges, perp *Dataset) []Need {
	if platform = strings.ToLower(platform); platform == PerpPlatform {
		return []Need{perp.On("")}
	}
	return []Need{exchanges.On(platform)}
}

// ofPairs are those of the platforms of pairs, by their keys.
func ofPairs[K ~string](keys []K, exchanges, perp *Dataset) (needs []Need) {
	for _, key := range keys {
		_, platform, _ := strings.Cut(string(key), ":")
		needs = append(needs, ofPlatform(platform, exchanges, perp)...)
	}
	return needs
}
