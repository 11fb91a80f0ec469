package main

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/backoff"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/data/openorders"
	"quotary/shared/data/wants"
	"quotary/shared/lru"
	"quotary/shared/market"
	"quotary/shared/metrics"
	"quotary/shared/store"
)

const (
	// freshFor is for how long what the venue itself said of an account is good enough:
	// what happened since is folded from its events.
	freshFor = 15 * time.Minute

	// emptyFor is that where the venue knew nothing of the account.
	emptyFor = time.Hour

	// waitMost is how long an answer waits for what the venue says, and waitEvery how
	// often it looks.
	waitMost  = time.Second
	waitEvery = 50 * time.Millisecond

	// unansweredFor is for how long an account is not waited for again that the venue was
	// not asked about in time.
	unansweredFor = time.Minute
)

// accountReader reads what is known of accounts, and values it. It is safe for
// concurrent use.
type accountReader struct {
	series  *store.Series
	wanted  *store.Documents
	markets *store.View[*market.Markets]
	marks   *store.View[contexts.Marks]
	orders  *store.View[openorders.Reserves]

	patience time.Duration // how long an answer waits for what the venue says

	metrics *metrics.Writer // nil counts nothing

	unanswered lru.Cache[string, time.Time] // by address: until when it is not waited for
}

func newAccountReader(series *store.Series, wanted *store.Documents, views *store.Views, clock func() time.Time) *accountReader {
	return &accountReader{series: series, wanted: wanted, patience: waitMost,
		markets: meta.OpenMarkets(views, clock), marks: contexts.OpenMarks(views, clock), orders: openorders.OpenReserves(views, clock)}
}

// valuation is accounts with the prices at which they are valued.
type valuation struct {
	accounts map[string]*market.Account // by address; those that nothing is known of are missing
	markets  *market.Markets
	marks    contexts.Marks
}

// value reads accounts, at most 50 of them. Where the venue was never asked about one, or
// long ago, the ingester is asked to, and the answer waited for a second at most.
func (r *accountReader) value(ctx context.Context, addresses []catalog.Address) (v valuation, err error) {
	if v.markets, err = store.OrZero(r.markets.Get(ctx)); err != nil {
		return v, err
	}
	if v.marks, err = store.OrZero(r.marks.Get(ctx)); err != nil {
		return v, err
	}
	names := make([]string, len(addresses))
	for i, a := range addresses {
		names[i] = string(a)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if v.accounts, err = accounts.Load(ctx, r.series, names...); err != nil {
		return v, err
	}
	defer maps.DeleteFunc(v.accounts, func(_ string, a *market.Account) bool { return a.IsEmpty() })
	stale := r.stale(ctx, v.accounts, names)
	if len(stale) == 0 {
		return v, nil
	}
	if err := r.want(ctx, stale); err != nil {
		return v, err
	}
	return v, r.await(ctx, v.accounts, stale)
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

// want asks for accounts. Where the caller's distributor asks for too many already, what
// is known is what there is.
func (r *accountReader) want(ctx context.Context, names []string) error {
	refused, err := wants.Accounts.Want(ctx, r.wanted, api.Caller(ctx).Distributor, names, api.Now(ctx))
	if refused > 0 {
		r.metrics.Write([]metrics.Label{{Name: metrics.Function, Value: string(catalog.PerpTraders)}},
			metrics.Metric{Name: metrics.AccountsNotAsked, Unit: metrics.Count, Value: int64(refused)})
	}
	return err
}

// await reads accounts again until the venue was asked about all of them, but for those
// that were waited for before and not answered.
func (r *accountReader) await(ctx context.Context, known map[string]*market.Account, stale []string) error {
	began := time.Now()
	stale = r.answerable(stale, began)
	for len(stale) > 0 {
		if time.Since(began) > r.patience {
			r.giveUp(stale, time.Now().Add(unansweredFor))
			return nil
		}
		if err := backoff.Sleep(ctx, waitEvery); err != nil {
			return err
		}
		read, err := accounts.Load(ctx, r.series, stale...)
		if err != nil {
			return err
		}
		for name, a := range read {
			known[name] = a
		}
		stale = r.stale(ctx, known, stale)
	}
	return nil
}

// answerable are those that are worth waiting for.
func (r *accountReader) answerable(names []string, now time.Time) (answerable []string) {
	for _, name := range names {
		if until, _ := r.unanswered.Get(name); !now.Before(until) {
			answerable = append(answerable, name)
		}
	}
	return answerable
}

func (r *accountReader) giveUp(names []string, until time.Time) {
	for _, name := range names {
		r.unanswered.Set(name, until)
	}
}

// each are the known ones of addresses, each once, in their order.
func (v *valuation) each(addresses []catalog.Address) iter.Seq2[string, *market.Account] {
	return func(yield func(string, *market.Account) bool) {
		seen := map[catalog.Address]bool{}
		for _, address := range addresses {
			a := v.accounts[string(address)]
			if a == nil || seen[address] {
				continue
			}
			seen[address] = true
			if !yield(string(address), a) {
				return
			}
		}
	}
}

// time is of when an account is valued: of its newest event, or of the marks where they
// are newer, ms.
func (v *valuation) time(a *market.Account) int64 { return max(a.Time, v.marks.Time) }

// state is an account in a dex.
func (v *valuation) state(a *market.Account, dex string) market.AccountState {
	return a.State(dex, v.markets, v.marks.Px, v.time(a))
}
