// Package accountlookup lets functions answer from what is known of accounts, those included
// that the ingester does not follow by itself, valued at the mark prices of the views. Whoever
// asks for one of these has the venue asked about it from then on: the function leaves a
// document, and the answer waits for a second at most.
package accountlookup

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
	"quotary/shared/data/hourmarks"
	"quotary/shared/data/meta"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	// FreshFor is for how long what the venue itself said of an account is good enough:
	// what happened since is folded from its events.
	FreshFor = 15 * time.Minute

	// aheadFor is that where its events come later: whoever follows it has the venue asked again as it trades.
	aheadFor = 5 * time.Minute

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

// Accounts reads what is known of accounts, and values it. It is safe for
// concurrent use.
type Accounts struct {
	Patience time.Duration   // how long an answer waits for what the venue says
	Metrics  *metrics.Writer // counts the accounts that the venue is not asked about; nil counts nothing

	function catalog.Family // under which they are counted
	series   *store.Series
	wanted   *followrequests.Store
	markets  *store.View[*market.Markets]
	marks    *store.View[contexts.Marks]
	orders   *store.View[openorders.Reserves]
	lists    [openorders.Parts]*store.View[openorders.Accounts]
	hours    *store.View[hourmarks.View]
}

// New returns the accounts of a series for a function, valued by the views. The venue is
// asked about those that are wanted.
func New(function catalog.Family, series *store.Series, wanted *followrequests.Store, views *store.Views, clock func() time.Time) *Accounts {
	r := &Accounts{Patience: wanted.Wait, function: function, series: series, wanted: wanted,
		markets: meta.Markets.Open(views, clock), marks: contexts.MarksOnly.Open(views, clock), orders: openorders.PublishedReserves.Open(views, clock), hours: hourmarks.Published.Open(views, clock)}
	for part := range r.lists {
		r.lists[part] = openorders.PublishedAccounts(part).Open(views, clock)
	}
	return r
}

// Valuation is accounts with the prices at which they are valued.
type Valuation struct {
	Markets *market.Markets
	Marks   contexts.Marks

	addresses []string                  // that were asked for, each once, in their order
	accounts  map[string]accounts.Known // by address; those that are not known in time are missing
	refused   map[string]bool           // these are missing because the caller's distributor wants too many
	now       time.Time
}

// Value reads accounts, at most 200 of them. Where the venue was never asked about one, or
// long ago, the ingester is asked to, and the answer waited for a second at most, where nobody
// has waited for it before and few requests of the caller's distributor wait.
func (r *Accounts) Value(ctx context.Context, addresses []catalog.Address) (v Valuation, err error) {
	v.now = api.Now(ctx)
	if v.Markets, err = r.Markets(ctx); err != nil {
		return v, err
	}
	if v.Marks, err = store.OrZero(r.marks.Get(ctx)); err != nil {
		return v, err
	}
	v.addresses = Texts(Distinct(addresses))
	names := slices.Sorted(slices.Values(v.addresses))
	if v.accounts, err = accounts.LoadKnown(ctx, r.series, names...); err != nil {
		return v, err
	}
	stale, wanted := r.stale(ctx, v.accounts, names), []string{}
	for _, name := range names { // whoever is followed is asked about again as it trades
		if v.accounts[name].Ahead != nil || slices.Contains(stale, name) {
			wanted = append(wanted, name)
		}
	}
	if len(wanted) == 0 {
		return v, nil
	}
	asked := r.want(ctx, &v, wanted)
	return v, r.await(ctx, v.accounts, slices.DeleteFunc(asked, func(name string) bool { return !slices.Contains(stale, name) }))
}

// Markets are those that the venue describes; none before it has.
func (r *Accounts) Markets(ctx context.Context) (*market.Markets, error) {
	return store.OrZero(r.markets.Get(ctx))
}

// Reserves are what the orders that rest in the spot markets reserve.
func (r *Accounts) Reserves(ctx context.Context) (openorders.Reserves, error) {
	return store.OrZero(r.orders.Get(ctx))
}

// Known reads an account, which is an error where it is not known in time.
func (r *Accounts) Known(ctx context.Context, address catalog.Address) (v Valuation, a *market.Account, err error) {
	if v, err = r.Value(ctx, []catalog.Address{address}); err != nil {
		return v, nil, err
	}
	switch a = v.accounts[string(address)].Now(); {
	case a != nil:
		return v, a, nil
	case v.refused[string(address)]:
		return v, nil, r.exhausted(address)
	}
	return v, nil, api.NotReady(askAgain, "the account %s is being asked for at the exchange for the first time: ask again in %.0f seconds", address, askAgain.Seconds())
}

// exhausted is the error where the caller's distributor wants too many accounts.
func (r *Accounts) exhausted(address catalog.Address) error {
	return api.LookupsExhausted(askAgainFull, "the account %s is not known, and the keys of your distributor have asked for %d others in the last minutes, as many as they may: ask again later", address, r.wanted.Most)
}

// stale are those of the accounts that the venue should be asked about.
func (r *Accounts) stale(ctx context.Context, known map[string]accounts.Known, names []string) (stale []string) {
	now := api.Now(ctx)
	for _, name := range names {
		a, fresh := known[name].Now(), FreshFor
		switch {
		case a != nil && a.IsEmpty():
			fresh = emptyFor
		case known[name].Ahead != nil:
			fresh = aheadFor
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
func (r *Accounts) want(ctx context.Context, v *Valuation, names []string) (asked []string) {
	refused, err := r.wanted.Want(ctx, api.Caller(ctx).Distributor, names, api.Now(ctx))
	n := len(refused)
	if err != nil {
		n = len(names)
	}
	if n > 0 {
		r.Metrics.Write([]metrics.Label{{Name: metrics.Function, Value: string(r.function)}},
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

// WantAll asks for accounts of which nothing is known, for the next request: this one waits for
// none.
func (r *Accounts) WantAll(ctx context.Context, names []string) {
	if slices.Sort(names); len(names) > 0 {
		r.want(ctx, new(Valuation), slices.Compact(names))
	}
}

// await reads accounts again until the venue was asked about all of them that are worth
// waiting for. Between, it reads one of them alone, and the
// others when that has come: who asks for many that nobody knows reads few rows.
func (r *Accounts) await(ctx context.Context, known map[string]accounts.Known, stale []string) error {
	stale = r.answerable(ctx, stale)
	for pause, left := waitFirst, r.Patience; len(stale) > 0; pause = min(2*pause, waitPause) {
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
func (r *Accounts) again(ctx context.Context, known map[string]accounts.Known, names []string) error {
	read, err := accounts.LoadKnown(ctx, r.series, names...)
	maps.Copy(known, read)
	return err
}

// answerable are those that are worth waiting for, none where the request may not wait.
func (r *Accounts) answerable(ctx context.Context, names []string) []string {
	distributor, now := api.Caller(ctx).Distributor, api.Now(ctx)
	recent := r.wanted.Recent(distributor, names, now)
	if len(recent) == 0 || !r.wanted.MayWait(ctx, distributor, now) {
		return nil
	}
	return recent
}

// HasDex returns the error of a request that names a dex which is not known.
func (v *Valuation) HasDex(dex string) error {
	if !v.Markets.HasDex(dex) {
		return api.BadParameter("unknown dex %q: it must be the name of a perpetual dex, or absent for the main one", dex)
	}
	return nil
}

// Each are the accounts that were asked for, as they are now: see [accounts.Known]; nil for those that are not known.
func (v *Valuation) Each() iter.Seq2[string, *market.Account] {
	return func(yield func(string, *market.Account) bool) {
		for _, address := range v.addresses {
			if !yield(address, v.accounts[address].Now()) {
				return
			}
		}
	}
}

// State is an account in a dex, of when its newest event was, or the marks where they are newer: what is ahead of its
// events is of when the venue has said it.
func (v *Valuation) State(a *market.Account, dex string) market.AccountState {
	s := a.State(dex, v.Markets, v.Marks.Px, v.now.UnixMilli())
	if s.Time = a.Time; v.accounts[a.Address].Ahead == nil {
		s.Time = max(a.Time, v.Marks.Of(dex))
	}
	return s
}

// Summary is what an account holds in all dexes.
func (v *Valuation) Summary(a *market.Account) market.AccountSummary {
	return a.Summary(v.Markets, v.Marks.Px, v.now.UnixMilli())
}

// Distinct are addresses without those that come again.
func Distinct(addresses []catalog.Address) (list []catalog.Address) {
	seen := make(map[catalog.Address]bool, len(addresses))
	for _, address := range addresses {
		if !seen[address] {
			seen[address], list = true, append(list, address)
		}
	}
	return list
}

// Texts are addresses as they are stored.
func Texts(addresses []catalog.Address) []string {
	list := make([]string, len(addresses))
	for i, address := range addresses {
		list[i] = string(address)
	}
	return list
}
