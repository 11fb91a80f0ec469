package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/service/venuerelay"
	"quotary/shared/store"
)

// info holds what the answers are read from.
type info struct {
	log      *store.Log
	series   *store.Series
	mids     *store.View[mids.View]
	meta     *store.View[meta.View]
	books    *store.View[books.View]
	contexts *store.View[contexts.View]
	twaps    *store.View[twaps.Running]
	accounts *accountlookup.Accounts
	relay    *venuerelay.Relay
}

func newInfo(log *store.Log, series *store.Series, wanted *followrequests.Store, views *store.Views, relay *venuerelay.Relay, clock func() time.Time) *info {
	return &info{
		relay:    relay,
		accounts: accountlookup.New(catalog.PerpInfo, series, wanted, views, clock),
		log:      log,
		series:   series,
		mids:     mids.Published.Open(views, clock),
		meta:     meta.Published.Open(views, clock),
		books:    books.Published.Open(views, clock),
		contexts: contexts.Published.Open(views, clock),
		twaps:    twaps.PublishedRunning.Open(views, clock),
	}
}

// answers are the venue's own answers to the types of questions. The members that a
// type needs are there.
var answers = map[string]func(*info, context.Context, *catalog.InfoIn) (json.RawMessage, error){
	"activeAssetData":      (*info).activeAsset,
	"portfolio":            (*info).portfolio,
	"allMids":              (*info).allMids,
	"meta":                 (*info).perpMeta,
	"spotMeta":             (*info).spotMeta,
	"candleSnapshot":       (*info).candleSnapshot,
	"clearinghouseState":   (*info).clearinghouseState,
	"frontendOpenOrders":   openOrders((*market.OrderStatus).AppendOrder),
	"fundingHistory":       (*info).fundingHistory,
	"historicalOrders":     (*info).historicalOrders,
	"l2Book":               (*info).l2Book,
	"metaAndAssetCtxs":     (*info).perpContexts,
	"openOrders":           openOrders((*market.OrderStatus).AppendShort),
	"orderStatus":          (*info).orderStatus,
	"perpDexs":             (*info).perpDexs,
	"recentTrades":         (*info).recentTrades,
	"spotMetaAndAssetCtxs": (*info).spotContexts,
	"twapHistory":          (*info).twapHistory,
	"userTwapSliceFills":   (*info).twapFills,
	"userFees":             (*info).userFees,
	"userFills":            (*info).userFills,
	"userFillsByTime":      (*info).userFillsByTime,
	"userFunding":          (*info).userFunding,
	"webData2":             (*info).webData,

	"spotClearinghouseState":      (*info).spotState,
	"userNonFundingLedgerUpdates": (*info).ledgerUpdates,
}

// member is a member of the request that some type takes.
type member struct {
	kind  string                    // what its value is, for who leaves it out
	value func(*catalog.InfoIn) any // as the venue takes it; nil where it is absent
}

const anAddress = "an address: 0x followed by 40 hexadecimal digits"

var members = map[string]member{
	"user":            {anAddress, func(in *catalog.InfoIn) any { return given(in.User) }},
	"vaultAddress":    {anAddress, func(in *catalog.InfoIn) any { return given(in.VaultAddress) }},
	"builder":         {anAddress, func(in *catalog.InfoIn) any { return given(in.Builder) }},
	"source":          {anAddress, func(in *catalog.InfoIn) any { return given(in.Source) }},
	"coin":            {"a coin name", func(in *catalog.InfoIn) any { return given(in.Coin) }},
	"dex":             {"the name of a perpetual dex", func(in *catalog.InfoIn) any { return text(in.Dex) }},
	"startTime":       {"a time in milliseconds since 1970 UTC", func(in *catalog.InfoIn) any { return given(in.StartTime) }},
	"endTime":         {"a time in milliseconds since 1970 UTC", func(in *catalog.InfoIn) any { return given(in.EndTime) }},
	"oid":             {"an order id, a whole number, or a client order id: 0x followed by 32 hexadecimal digits", func(in *catalog.InfoIn) any { return text(in.Oid) }},
	"req":             {"an object of coin, interval, startTime and endTime", func(in *catalog.InfoIn) any { return given(in.Req) }},
	"token":           {"the number of a token, as spotMeta lists it", func(in *catalog.InfoIn) any { return given(in.Token) }},
	"id":              {"the number of a margin table, as meta lists it", func(in *catalog.InfoIn) any { return given(in.ID) }},
	"tokenId":         {"the id of a token, as spotMeta lists it: 0x followed by 32 hexadecimal digits", func(in *catalog.InfoIn) any { return text(in.TokenID) }},
	"aggregateByTime": {"true or false", func(in *catalog.InfoIn) any { return in.AggregateByTime }},
}

func given[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

func text(value string) any {
	if value == "" {
		return nil
	}
	return value
}

// answer answers a question by its type.
func (i *info) answer(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	kind, err := kindOf(&in)
	switch {
	case err != nil:
		return nil, err
	case kind.Weight > 0:
		return i.relayed(ctx, kind, &in)
	}
	answer, err := answers[kind.Name](i, ctx, &in)
	if err != nil {
		return nil, err
	}
	return i.completed(ctx, kind, &in, answer)
}

// kindOf is the type of a question, all of whose members are there.
func kindOf(in *catalog.InfoIn) (*catalog.Variant, error) {
	n := slices.IndexFunc(catalog.InfoTypes, func(t catalog.Variant) bool { return t.Name == in.Type })
	if n < 0 {
		return nil, api.BadParameter("unknown type %q: it must be one of %s", in.Type, strings.Join(names(), ", "))
	}
	kind := &catalog.InfoTypes[n]
	for _, name := range kind.Needs {
		if m := members[name]; m.value(in) == nil {
			return nil, api.BadParameter("missing %s: it must be %s", name, m.kind)
		}
	}
	return kind, nil
}

// names are those of the types.
func names() []string {
	list := make([]string, len(catalog.InfoTypes))
	for n := range catalog.InfoTypes {
		list[n] = catalog.InfoTypes[n].Name
	}
	return list
}
