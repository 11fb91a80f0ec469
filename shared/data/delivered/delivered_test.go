package delivered_test

import (
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// Once a source has spoken of a dataset, nothing is read for it any more; until then a
// second is believed, and the answer names what is awaited.
func TestWhatWasSpokenOfOnceIsNotLookedForAgain(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	s3 := storetest.S3Handler()
	client := storetest.S3Client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			reads.Add(1)
		}
		s3.ServeHTTP(w, r)
	}))
	must.Do(t, schema.CreateBucket(t.Context(), client, "views"))
	views := store.NewViews(client, "views")
	now := time.UnixMilli(1_800_000_000_000)
	reader := delivered.Open(views, func() time.Time { return now })
	publish := func(v delivered.View) {
		t.Helper()
		storetest.Publish(t, views, delivered.Published(catalog.ExchangeDomain.Name), v)
		now = now.Add(time.Minute)
	}
	check := func(want string, needs ...catalog.Need) {
		t.Helper()
		err := reader.Check(t.Context(), needs)
		var awaited *delivered.Awaited
		if errors.As(err, &awaited); awaited == nil && (err != nil || want != "") || awaited != nil && awaited.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	pairs, all := catalog.ExchangePairs, catalog.ExchangePairs.On("")
	check("pairs of exchanges have not arrived yet: no ingester has begun on them", all)
	publish(delivered.View{"pairs": {Sources: []string{"binance spot", "okx spot"}}, "pairs/binance": {Sources: []string{"binance spot"}}, "pairs/okex": {Sources: []string{"okx spot"}}})
	check("pairs of exchanges have not arrived yet: nothing has come from binance spot, okx spot", all)
	check("pairs of exchanges have not arrived yet: nothing has come from okx spot", pairs.On("okex"))
	check("liquidations of exchanges are not configured in this deployment: they take a centralised exchange", catalog.ExchangeLiquidations.On("okex"))
	before := reads.Load()
	check("pairs of exchanges have not arrived yet: nothing has come from okx spot", pairs.On("okex"))
	if n := reads.Load() - before; n != 0 {
		t.Errorf("%d reads within a second", n)
	}
	publish(delivered.View{"pairs": {Since: 1}, "pairs/binance": {Since: 1}, "pairs/okex": {Sources: []string{"okx spot"}}})
	check("", all)
	check("", pairs.On("binance"))
	check("pairs of exchanges have not arrived yet: nothing has come from okx spot", pairs.On("okex"))
	check("", pairs.On("okex"), pairs.On("binance"))
	check("", pairs.On("kraken")) // that nobody follows
	publish(delivered.View{"pairs": {Since: 1}, "pairs/binance": {Since: 1}, "pairs/okex": {Since: 2}})
	check("", pairs.On("okex"))
	before, now = reads.Load(), now.Add(time.Hour)
	for range 100 {
		for _, need := range []catalog.Need{all, pairs.On("binance"), pairs.On("okex"), pairs.On("kraken")} {
			check("", need)
		}
	}
	if n := reads.Load() - before; n != 0 {
		t.Errorf("%d reads for what is known", n)
	}
}

// It is believed for half a minute, and looked for of nothing but what may come so.
func TestUpToWhenSomethingIsKnown(t *testing.T) {
	t.Parallel()
	client, bucket := storetest.S3(t)
	views, now := store.NewViews(client, bucket), time.UnixMilli(1_800_000_000_000)
	reader := delivered.Open(views, func() time.Time { return now })
	fills, ledgers, accounts := catalog.VenueFills.On(""), catalog.VenueLedgers.On(""), catalog.VenueAccounts.On("")
	until := func(when string, want int64, needs ...catalog.Need) {
		t.Helper()
		at := must.Get(reader.Until(t.Context(), needs))(t).Until
		if want == 0 && !at.IsZero() || want != 0 && at.UnixMilli() != want {
			t.Errorf("%s: until %s, want %d", when, at, want)
		}
	}
	publish := func(v delivered.View) {
		storetest.Publish(t, views, delivered.Published(catalog.PerpDomain.Name), v)
		now = now.Add(time.Minute)
	}
	until("before there is anything", 0, fills)
	publish(delivered.View{"fills": {Since: 1, Until: 500}, "ledgers": {Since: 1, Until: 400}, "accounts": {Since: 1}})
	until("one", 500, fills)
	until("either", 400, fills, ledgers)
	until("or what comes as it happens", 0, fills, accounts)
	until("nothing is needed", 0)
	publish(delivered.View{"fills": {Since: 1, Until: 9e6, Missing: []int64{3.6e6}}, "ledgers": {Since: 1, Until: 9e6, Missing: []int64{0, 3.6e6}}})
	if known := must.Get(reader.Until(t.Context(), []catalog.Need{fills, ledgers}))(t); !slices.Equal(known.Missing, []time.Time{time.UnixMilli(0).UTC(), time.UnixMilli(3.6e6).UTC()}) {
		t.Errorf("missing are %v", known.Missing)
	}
	publish(delivered.View{"fills": {Since: 1}})
	until("beside a node", 0, fills)
}
