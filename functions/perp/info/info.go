package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/books"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
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
}

func newInfo(log *store.Log, series *store.Series, views *store.Views, clock func() time.Time) *info {
	return &info{
		log:      log,
		series:   series,
		mids:     mids.Open(views, clock),
		meta:     meta.Open(views, clock),
		books:    books.Open(views, clock),
		contexts: contexts.Open(views, clock),
	}
}

// question is one type of question that POST /info takes.
type question struct {
	name string

	// needs are the members of the request without which there is no answer,
	// beside the type.
	needs []member

	// answer returns the venue's own answer to the question; nil where the type
	// is specified but not built yet. The members that it needs are there.
	answer func(*info, context.Context, *catalog.InfoIn) (json.RawMessage, error)
}

// questions are all types, in the order in which they are listed to a caller.
var questions = []question{
	{name: "allMids", answer: (*info).allMids},
	{name: "meta", answer: (*info).perpMeta},
	{name: "spotMeta", answer: (*info).spotMeta},
	{name: "candleSnapshot", needs: []member{req}, answer: (*info).candleSnapshot},
	{name: "fundingHistory", needs: []member{coin, startTime}, answer: (*info).fundingHistory},
	{name: "historicalOrders", needs: []member{user}, answer: (*info).historicalOrders},
	{name: "l2Book", needs: []member{coin}, answer: (*info).l2Book},
	{name: "metaAndAssetCtxs", answer: (*info).perpContexts},
	{name: "orderStatus", needs: []member{user, oid}, answer: (*info).orderStatus},
	{name: "perpDexs", answer: (*info).perpDexs},
	{name: "spotMetaAndAssetCtxs", answer: (*info).spotContexts},
	{name: "userFills", needs: []member{user}, answer: (*info).userFills},
	{name: "userFillsByTime", needs: []member{user, startTime}, answer: (*info).userFillsByTime},

	{name: "activeAssetData"},
	{name: "clearinghouseState"},
	{name: "frontendOpenOrders"},
	{name: "openOrders"},
	{name: "portfolio"},
	{name: "spotClearinghouseState"},
	{name: "userFees"},
	{name: "userFunding"},
	{name: "userNonFundingLedgerUpdates"},
	{name: "userTwapSliceFills"},
	{name: "webData2"},
}

// member is a member of the request.
type member struct {
	name  string
	kind  string // what its value is, for who leaves it out where it is needed
	given func(*catalog.InfoIn) bool
}

var (
	user      = member{"user", "an address: 0x followed by 40 hexadecimal digits", func(in *catalog.InfoIn) bool { return in.User != nil }}
	coin      = member{"coin", "a coin name", func(in *catalog.InfoIn) bool { return in.Coin != nil }}
	startTime = member{"startTime", "a time in milliseconds since 1970 UTC", func(in *catalog.InfoIn) bool { return in.StartTime != nil }}
	oid       = member{"oid", "an order id, a whole number, or a client order id: 0x followed by 32 hexadecimal digits", func(in *catalog.InfoIn) bool { return in.Oid != "" }}
	req       = member{"req", "an object of coin, interval, startTime and endTime", func(in *catalog.InfoIn) bool { return in.Req != nil }}
)

// answer answers a question by its type.
func (i *info) answer(ctx context.Context, in catalog.InfoIn) (json.RawMessage, error) {
	n := slices.IndexFunc(questions, func(q question) bool { return q.name == in.Type })
	if n < 0 {
		return nil, api.BadRequest("unknown type %q: it must be one of %s", in.Type, strings.Join(built(), ", "))
	}
	q := &questions[n]
	if q.answer == nil {
		return nil, &api.Error{Status: http.StatusNotImplemented, Message: "the type " + q.name + " is specified but not available yet"}
	}
	for _, m := range q.needs {
		if !m.given(&in) {
			return nil, api.BadRequest("missing %s: it must be %s", m.name, m.kind)
		}
	}
	return q.answer(i, ctx, &in)
}

// built are the names of the types that have an answer.
func built() (names []string) {
	for _, q := range questions {
		if q.answer != nil {
			names = append(names, q.name)
		}
	}
	return names
}

// unavailable turns the absence of a view into what a caller may read.
func unavailable(err error) error {
	if errors.Is(err, store.ErrNoView) {
		return &api.Error{Status: http.StatusServiceUnavailable, Message: "the venue's data has not arrived yet: try again later"}
	}
	return err
}
