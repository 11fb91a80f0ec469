package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/meta"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
	"quotary/shared/service/traderwindows"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table/tablefile"
)

const (
	discover = "/upgrade/v2/hl/traders/discover"
	history  = "/upgrade/v2/hl/traders/discover-history"
	smart    = "/upgrade/v2/hl/smart/find"
	tags     = "/upgrade/v2/hl/traders/query-addr-tags"
)

type body map[string]any

// world is the function with a bucket in which nothing is published.
type world struct {
	*apitest.World
	reader *reader
	views  *store.Views
	client *s3.Client
	bucket string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := new(world)
	w.client, w.bucket = storetest.S3(t)
	w.views = store.NewViews(w.client, w.bucket)
	w.World = apitest.Open(t, catalog.PerpDiscover, func(open *apitest.World) {
		bucket := &tablefile.Bucket{Client: w.client, Name: w.bucket}
		table := tablefile.NewReader(traders.Columns(), traders.Newest.Open(w.views, open.Now).Get, bucket, 64<<20)
		w.reader = &reader{
			table:     table,
			windows:   traderwindows.New(table, traderhistory.Newest.Open(w.views, open.Now).Get, bucket, 64<<20),
			series:    open.Series(),
			positions: markedpositions.New(w.views, open.Now),
		}
		w.reader.register(open.Family)
	})
	return w
}

// published is the function with a table of so many made-up traders, the first of which is known
// beside: see [world.know].
func published(t testing.TB, n int) *world {
	t.Helper()
	w := newWorld(t)
	w.publish(t, 0, n)
	return w
}

// publish publishes a version of so many traders that is so much older than now, ms.
func (w *world) publish(t testing.TB, before int64, n int) {
	t.Helper()
	now := w.Now().UnixMilli()
	datatest.PublishTraders(t, w.client, w.bucket, now-before, datatest.Traders(n, now))
}

// mark publishes marks, and the open positions of one account, with 3 of the 6 BTC that are open long.
func (w *world) mark(t testing.TB) {
	t.Helper()
	now := w.Now().UnixMilli()
	described := datatest.TwoPerps(now, 40, 25)
	of, markets := new(market.Positions), described.Markets()
	of.SetAccount(w.account(3), markets)
	storetest.Publish(t, w.views, openpositions.Published, of.Table(now))
	storetest.Publish(t, w.views, meta.Published, described)
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: now, Marks: map[string]string{"BTC": "30000.0"}, Interests: map[string]string{"BTC": "6.0"}})
}

// account is account n with a long position of 3 BTC.
func (w *world) account(n int) *market.Account {
	now := w.Now().UnixMilli()
	return &market.Account{
		Address: address(n), Mode: market.ModeStandard, Anchored: now, SpotTime: now, Dexes: []market.DexFunds{{Anchored: now, Cash: market.DecimalFromInt(500_000)}},
		Holdings: []market.Holding{{Coin: "BTC", Leverage: market.Leverage{Value: 5}, Open: &market.OpenPosition{Size: market.DecimalFromInt(3), Cost: market.DecimalFromInt(80_000)}}},
	}
}

func address(n int) string { return fmt.Sprintf("0x%040x", n) }

func (w *world) post(t testing.TB, path string, in any) apitest.Answer {
	t.Helper()
	return w.Call(t, w.SubKey, http.MethodPost, path, in)
}

// page is what discover answers.
type page struct {
	List  []map[string]any
	Total int64
}
