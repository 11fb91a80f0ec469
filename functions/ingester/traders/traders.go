// Package traders is the domain that publishes the trader table (package traders of the datasets) from
// what the domain perp has stored of every account. It has no sources, and needs nothing of that
// domain but its rows, so that neither waits for the other.
//
// A publication has two forms:
//
//   - Every few minutes those accounts are made anew of which more is known by now that they did
//     (accountchanges). All other rows of the hot tier keep their figures, but for what they hold,
//     which is valued at the marks of now, and for what lists say of addresses.
//   - In a new hour those are made anew too of whom something leaves a window, and one in 24 of all, so
//     that no row is older than a day. Of the others in the hot tier that is made anew which moves while
//     an account does nothing, as what it was worth ([traderfields.Field.Moves]): what accounts did
//     takes a question about each, and most have done nothing in the hour. Then the cold tier is
//     written anew too, with what lists say by then.
//
// When a term begins all rows of the hot tier are made anew, as it is not known when something leaves
// their windows.
//
// Hot is who has an open position, or did something or placed an order in the last day.
//
// An account is noted before its rows are written. A publication takes in again what was noted within
// [noted] before the last one, and in a new hour what was noted within an hour more. Who was stored before any account was noted is noted once.
//
// With each version the history of traders (package traderhistory) is made: the files of those hours are
// replaced in which somebody did something of which more is known by now. Hours of long ago wait, and are
// looked at some at a time (late.go).
package traders

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/publication"
	"quotary/shared/aws/metrics"
	"quotary/shared/backoff"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/delivered"
	"quotary/shared/data/meta"
	"quotary/shared/data/othervenues"
	"quotary/shared/data/routes"
	"quotary/shared/data/traders"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/table/tablefile"
)

// Name is that of the domain.
const Name = "traders"

// keep is for how long a file stays that no version names any more: readers load a new version
// within a minute.
const keep = time.Hour

// Config is how the table is published.
type Config struct {
	Every      time.Duration // between two publications
	LateHours  int64         // of long ago that a publication looks at; 0 is 240
	LateAtOnce int           // of how many accounts; 0 is 20,000
	MostRoutes int           // bytes of what builders routed, of all traders or those of an hour; 0 is [routes.MostBytes]
	Now        func() time.Time

	Log     *store.Log
	Series  *store.Series
	Views   *store.Views
	Objects Objects
	Bucket  string // of Objects
	Logger  *slog.Logger
}

// Objects is the part of the S3 client that is needed.
type Objects interface {
	publication.Objects
	tablefile.Getter
}

// Settings reads the domain's part of the environment.
func Settings(env *config.Env) Config {
	return Config{Every: env.Duration(catalog.EnvTradersEvery), Now: time.Now}
}

// Domain returns the domain for a process to run, with Objects.
func (c Config) Domain(host engine.Host) engine.Domain {
	c.Log, c.Series, c.Views, c.Bucket, c.Logger = host.Stores.Log, host.Stores.Series, host.Stores.Views, host.Bucket, host.Logger
	return engine.Domain{Name: Name, Begin: func(_ context.Context, term *lease.Term) (engine.Work, error) {
		c := c
		c.Views = c.Views.Owned(term.Confirm)
		return c.Begin(), nil
	}}
}

// Begin returns the work of a term, whose views are those that it may write.
func (c Config) Begin() *Work {
	series := *c.Series
	series.Eventual = true
	c.Series = &series
	c.LateHours, c.LateAtOnce, c.MostRoutes = cmp.Or(c.LateHours, lateHours), cmp.Or(c.LateAtOnce, lateAtOnce), cmp.Or(c.MostRoutes, routes.MostBytes)
	bucket := &publication.Bucket{Bucket: tablefile.Bucket{Client: c.Objects, Name: c.Bucket}, Objects: c.Objects, Views: c.Views, Newest: traders.Newest, ListKey: traders.ListKey}
	w := &Work{Config: c, bucket: bucket, markets: meta.Markets.Open(c.Views, c.Now), marks: contexts.MarksOnly.Open(c.Views, c.Now), vaults: vaults.OpenRoles(c.Views, c.Now), others: othervenues.OpenIndex(c.Views, c.Now), delivered: delivered.Open(c.Views, c.Now)}
	w.publisher = publication.Publisher{Columns: traders.Columns(), Prefix: traders.Prefix, Store: bucket, Keep: keep, Now: c.Now}
	return w
}

// Work publishes the table for one term.
type Work struct {
	Config
	bucket    *publication.Bucket
	publisher publication.Publisher
	markets   *store.View[*market.Markets]
	marks     *store.View[contexts.Marks]
	vaults    *store.View[vaults.Roles]
	others    *store.View[othervenues.Index]
	delivered *delivered.Reader

	last   published       // by this term; the zero value before the first one
	broken map[string]bool // accounts whose rows the publication cannot read

	began, flushed, failing atomic.Int64 // ms; failing since when, 0 while it does not
	made, hot               atomic.Int64 // rows
	late, leftOut, unread   atomic.Int64 // traders
	took                    atomic.Int64 // ms
}

// retries are the pauses after publications that failed.
var retries = backoff.Backoff{Min: time.Second, Max: time.Minute}

// Run publishes until ctx ends. What fails is said once and tried again.
func (w *Work) Run(ctx context.Context) error {
	w.began.Store(w.Now().UnixMilli())
	for failures := 0; ctx.Err() == nil; {
		began := w.Now()
		if err := w.Publish(ctx); err != nil {
			if ctx.Err() == nil && w.failing.CompareAndSwap(0, began.UnixMilli()) {
				w.Logger.Error("the trader table is not published", "error", err.Error())
			}
			w.last = published{} // which may be in no version
			_ = retries.Wait(ctx, failures)
			failures++
			continue
		}
		failures = 0
		w.failing.Store(0)
		w.flushed.Store(w.Now().UnixMilli())
		w.took.Store(w.Now().Sub(began).Milliseconds())
		_ = backoff.Sleep(ctx, w.Every-w.Now().Sub(began))
	}
	return nil
}

// Status implements [engine.Work].
func (w *Work) Status() engine.Status {
	return engine.Status{
		Began: w.began.Load(), Flushed: w.flushed.Load(), Rows: w.made.Load(),
		Refused: func(since time.Time) []string {
			if at := w.failing.Load(); at == 0 || at > since.UnixMilli() {
				return nil
			}
			return []string{"publish the trader table"}
		},
		Figures: []engine.Figure{
			{Name: metrics.HotTraders, Unit: metrics.Count, Value: w.hot.Load()},
			{Name: metrics.PublishingTraders, Unit: metrics.Milliseconds, Value: w.took.Load()},
			{Name: metrics.LateTraders, Unit: metrics.Count, Value: w.late.Load()},
			{Name: metrics.UnreadTraders, Unit: metrics.Count, Value: w.unread.Load()},
			{Name: metrics.RoutesLeftOut, Unit: metrics.Count, Value: w.leftOut.Load()},
		},
	}
}
