package main

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/aws/metrics"
	"quotary/shared/backoff"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/contexts"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/meta"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	// freshFor is for how long what the venue itself said of an account is good enough:
	// what happened since is folded from its events.
	freshFor = 15 * time.Minute

	// emptyFor is that where the venue knew nothing of the account.
	emptyFor = time.Hour

	// An answer that waits for what the venue says looks after waitFirst, and then after
	// pauses of which each is twice the one before, up to waitPause.
	waitFirst = 50 * time.Millisecond
	waitPause = 400 * time.Millisecond

	// askAgain is when a client may ask again for an account that is being asked for at the
	// venue, and whose distributor has too many of them.
	askAgain     = 2 * time.Second
	askAgainFull = time.Minute
)

// accountReader reads what is known of accounts, and values it. It is safe for
// concurrent use.
type accountReader struct {
	series  *store.Series
	wanted  *followrequests.Store
	markets *store.View[*market.Markets]
	marks   *store.View[contexts.Marks]
	orders  *store.View[openorders.Reserves]

	patience time.Duration // how long an answer waits for what the venue says

	metrics *metrics.Writer // nil counts nothing
}

func newAccountReader(series *store.Series, wanted *followrequests.Store, views *store.Views, clock func() time.Time) *accountReader {
	return &accountReader{series: series, wanted: wanted, patience: wanted.Wait,
		markets: meta.Markets.Open(views, clock), marks: contexts.MarksOnly.Open(views, clock), orders: openorders.PublishedReserves.Open(views, clock)}
}

// valuation is accounts with the prices at which they are valued.
type valuation struct {
	addresses []string // that were asked for, each once, in their order

	accounts map[string]*market.Account // by address; those that are not known in time are missing
	refused  map[string]bool            // these are missing because the caller's distributor wants too many
	markets  *market.Markets
	marks    contexts.Marks
	now      time.Time
}

// value reads accounts, at most 50 of them. Where the venue was never asked about one, or
// long ago, the ingester is asked to, and the answer waited for a second at most, where nobody
// has waited for it before and few requests of the caller's distributor wait.
func (r *accountReader) value(ctx context.Context, addresses []catalog.Address) (v valuation, err error) {
	v.now = api.Now(ctx)
	if v.markets, err = store.OrZero(r.markets.Get(ctx)); err != nil {
		return v, err
	}
	if v.marks, err = store.OrZero(r.marks.Get(ctx)); err != nil {
		return v, err
	}
	v.addresses = texts(once(addresses))
	names := slices.Sorted(slices.Values(v.addresses))
	if v.accounts, err = accounts.Load(ctx, r.series, names...); err != nil {
		return v, err
	}
	stale := r.stale(ctx, v.accounts, names)
	if len(stale) == 0 {
		return v, nil
	}
	asked := r.want(ctx, &v, stale)
	return v, r.await(ctx, v.accounts, asked)
}

// known reads an account, which is an error where it is not known in time.
func (r *accountReader) known(ctx context.Context, address catalog.Address) (v valuation, a *market.Account, err error) {
	if v, err = r.value(ctx, []catalog.Address{address}); err != nil {
		return v, nil, err
	}
	switch a = v.accounts[string(address)]; {
	case a != nil:
		return v, a, nil
	case v.refused[string(address)]:
		return v, nil, api.LookupsExhausted(askAgainFull, "the account %s is not known, and the keys of your distributor have asked for %d others in the last minutes, as many as they may: ask again later", address, r.wanted.Most)
	}
	return v, nil, api.NotReady(askAgain, "the account %s is being asked for at the exchange for the first time: ask again in %.0f seconds", address, askAgain.Seconds())
}

// stale are those of the accounts that the venue should be asked about.
func (r *accountReader) stale(ctx context.Context, known map[string]*market.Account, names []string) (stale []string) {
	now := api.Now(ctx)
	for _, name := range names {
		a, fresh := known[name], freshFor
		if a != nil && a.IsEmpty() {
			fresh = emptyFor
		}
		if a == nil || a.Anchored < now.Add(-fresh).UnixMilli() || assumes(a) {
			stale = append(stale, name)
		}
	}
	return stale
}

// assumes reports whether the leverage of an open position is not known.
func assumes(a *market.Account) bool {
	return slices.ContainsFunc(a.Holdings, func(h market.Holding) bool { return h.Open != nil && h.Leverage.Value == 0 })
}

// want asks for accounts, and returns those that the venue may be asked about. Those that
// the caller's distributor wants beyond what it may are counted, and so are all where they
// cannot be written: what is known is what there is.
func (r *accountReader) want(ctx context.Context, v *valuation, names []string) (asked []string) {
	refused, err := r.wanted.Want(ctx, api.Caller(ctx).Distributor, names, api.Now(ctx))
	n := len(refused)
	if err != nil {
		n = len(names)
	}
	if n > 0 {
		r.metrics.Write([]metrics.Label{{Name: metrics.Function, Value: string(catalog.PerpTraders)}},
			metrics.Metric{Name: metrics.AccountsNotAsked, Unit: metrics.Count, Value: int64(n)})
	}
	if err != nil {
		return nil
	}
	v.refused = make(map[string]bool, len(refused))
	for _, name := range refused {
		v.refused[name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return v.refused[name] })
}

// wantAll asks for accounts of which nothing is known, for the next request: this one waits for
// none.
func (r *accountReader) wantAll(ctx context.Context, names []string) {
	if slices.Sort(names); len(names) > 0 {
		r.want(ctx, new(valuation), slices.Compact(names))
	}
}

// await reads accounts again until the venue was asked about all of them that are worth
// waiting for. Between, it reads one of them alone, and the
// others when that has come: who asks for many that nobody knows reads few rows.
func (r *accountReader) await(ctx context.Context, known map[string]*market.Account, stale []string) error {
	stale = r.answerable(ctx, stale)
	for pause, left := waitFirst, r.patience; len(stale) > 0; pause = min(2*pause, waitPause) {
		pause = min(pause, left)
		if left -= pause; pause <= 0 {
			return nil
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
		rest := stale
		if left > 0 {
			if err := r.again(ctx, known, stale[:1]); err != nil {
				return err
			}
			if rest = r.stale(ctx, known, stale); len(rest) == len(stale) {
				continue
			}
		}
		if err := r.again(ctx, known, rest); err != nil {
			return err
		}
		stale = r.stale(ctx, known, rest)
	}
	return nil
}

// again reads accounts once more.
func (r *accountReader) again(ctx context.Context, known map[string]*market.Account, names []string) error {
	read, err := accounts.Load(ctx, r.series, names...)
	maps.Copy(known, read)
	return err
}

// answerable are those that are worth waiting for, none where the request may not wait.
func (r *accountReader) answerable(ctx context.Context, names []string) []string {
	distributor, now := api.Caller(ctx).Distributor, api.Now(ctx)
	recent := r.wanted.Recent(distributor, names, now)
	if len(recent) == 0 || !r.wanted.MayWait(ctx, distributor, now) {
		return nil
	}
	return recent
}

// each are the accounts that were asked for; nil for those that are not known.
func (v *valuation) each() iter.Seq2[string, *market.Account] {
	return func(yield func(string, *market.Account) bool) {
		for _, address := range v.addresses {
			if !yield(address, v.accounts[address]) {
				return
			}
		}
	}
}

// state is an account in a dex, of when its newest event was, or the marks where they are newer.
func (v *valuation) state(a *market.Account, dex string) market.AccountState {
	s := a.State(dex, v.markets, v.marks.Px, v.now.UnixMilli())
	s.Time = max(a.Time, v.marks.Of(dex))
	return s
}
