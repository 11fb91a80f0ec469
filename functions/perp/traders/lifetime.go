package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/fills"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store/retention"
)

// maxSteps is how many fills of a position are read at most, the newest ones: some
// ten megabytes.
const maxSteps = 20_000

// lifetime is one position of an account in a perpetual, and what each of its fills led
// to.
type lifetime struct {
	address, coin string
	long          bool
	leverage      market.Leverage // of value 0 where it is not known
	start         int64           // ms of the first fill that is known of it
	end           int64           // ms of the fill that closed it; 0 while it is open
	funding       market.Decimal  // paid less received over all of it, quote units; of a closed one
	entryPx       market.Decimal  // average of all that opened it; of a closed one
	partial       bool            // a closed one began before the account was known
	steps         []step          // oldest first, at least one
	now           market.OpenPosition
	account       *market.Account // as it is now; nil where it is not known
	values        accountlookup.Valuation
	worth         []market.AccountValue // of the account's perps at full hours, as far as it is known; of the history alone
}

// step is a fill of a position.
type step struct {
	time, oid int64
	px, sz    market.Decimal // sz is the part that belongs to the position, base units
	buy       bool

	after market.OpenPosition // of Size 0 where it was closed
}

// current is the open position of an account in a coin, nil where there is none.
func (r *reader) current(ctx context.Context, in catalog.CurrentPositionIn) (*lifetime, error) {
	address, coin := string(in.Address), string(in.Coin)
	if market.IsSpot(coin) {
		return nil, nil
	}
	values, account, err := r.accounts.Known(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	list, err := r.fillsOf(ctx, address, coin, time.Time{}, time.Time{}, 0)
	if err != nil || len(list) == 0 || list[len(list)-1].EndPosition().IsZero() {
		return nil, err
	}
	l := &lifetime{address: address, coin: coin, long: list[len(list)-1].EndPosition().IsPos(), start: list[0].Time, values: values, account: account}
	if h, ok := account.Holding(coin); ok {
		l.leverage = h.Leverage
	}
	return l, r.follow(ctx, l, list, time.Time{})
}

// notFound are the words for which clients look where a closed position is not found.
const notFound = "position not found"

// named is the closed position that a request names by its times.
func (r *reader) named(ctx context.Context, in catalog.CompletedPositionIn) (*lifetime, error) {
	if in.StartTime == nil && in.EndTime == nil {
		return nil, api.Absent(notFound, "startTime or endTime must say when it was opened or closed, in ms, as completed-trades lists them")
	}
	of := completedtrades.Selection{Address: string(in.Address), Coin: string(in.Coin), From: in.StartTime.Time(), To: in.EndTime.Time()}
	if in.EndTime != nil {
		of.From = of.To
	}
	for t, err := range completedtrades.Oldest(ctx, r.log, of) {
		if err != nil {
			return nil, err
		}
		if in.StartTime == nil || t.Start == int64(*in.StartTime) {
			return r.completed(ctx, &t)
		}
		if t.Start > int64(*in.StartTime) { // and so are all that were closed later
			break
		}
	}
	return nil, api.Absent(notFound, "%s has closed none in %s with these times; startTime and endTime must be those that completed-trades lists, in ms", in.Address, in.Coin)
}

// completed is the position that a trade was.
func (r *reader) completed(ctx context.Context, t *market.CompletedTrade) (*lifetime, error) {
	list, err := r.fillsOf(ctx, t.Address, t.Coin, time.UnixMilli(t.Start).UTC(), t.When(), t.Tid)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		since, err := r.log.Since(ctx, fills.Name)
		if err != nil {
			return nil, err
		}
		if since.IsZero() {
			return nil, api.Absent(notFound, "no fill of this position is stored")
		}
		retention.Reached(ctx, since)
		return nil, api.Absent(notFound, "the fills of this position are no longer stored; startTime and endTime must be of %d (%s) or later", since.UnixMilli(), since.Format(time.DateOnly))
	}
	l := &lifetime{address: t.Address, coin: t.Coin, long: t.Long, leverage: market.Leverage{Isolated: t.Isolated, Value: t.Leverage}, start: t.Start, end: t.End, funding: t.Funding.Neg(), entryPx: t.EntryPx, partial: t.Partial}
	if l.values.Markets, err = r.accounts.Markets(ctx); err != nil {
		return nil, err
	}
	if err := r.follow(ctx, l, list, t.When()); err != nil {
		return nil, err
	}
	if n := len(l.steps) - 1; n > 0 { // all but the last one added to it, or a cost is known already
		l.knowCosts(n-1, t.EntryPx)
	}
	return l, nil
}

// fillsOf are the newest fills of one position in a coin, oldest first: of the one that
// the fill of a trade id closed, or for 0 of the last one.
func (r *reader) fillsOf(ctx context.Context, address, coin string, from, to time.Time, closedBy int64) ([]market.Fill, error) {
	var list []market.Fill
	for f, err := range fills.NewestOfCoin(ctx, r.log, address, coin, from, to, maxSteps) {
		if err != nil {
			return nil, err
		}
		if len(list) == 0 && closedBy != 0 && f.Tid != closedBy {
			continue // of the next position, in the millisecond in which this one was closed
		}
		list = append(list, f)
		if f.Opens() && (closedBy == 0 || len(list) > 1) { // the fill that closed it may have opened the next one
			break
		}
	}
	slices.Reverse(list)
	if len(list) == maxSteps {
		retention.Reached(ctx, list[0].When())
	}
	return list, nil
}

// follow folds fills, oldest first and at least one, and the funding that was paid meanwhile, up to a
// time or, for the zero time, now.
func (r *reader) follow(ctx context.Context, l *lifetime, list []market.Fill, to time.Time) error {
	var paid []market.FundingPayment
	for hour, err := range payments.Window(ctx, r.log, l.address, list[0].When(), to) {
		if err != nil {
			return err
		}
		for i := range hour {
			if hour[i].Coin == l.coin {
				paid = append(paid, hour[i])
			}
		}
	}
	var account market.Account
	account.Anchor(&market.Anchor{Leverages: map[string]market.Leverage{l.coin: l.leverage}}, nil, nil)
	for i := range list {
		f := &list[i]
		for i > 0 && len(paid) > 0 && paid[0].Time < f.Time {
			account.Payment(&paid[0], nil)
			paid = paid[1:]
		}
		if err := l.fill(&account, f, i == 0, f.Time == l.end && i == len(list)-1); err != nil {
			return err
		}
	}
	for i := range paid {
		account.Payment(&paid[i], nil)
	}
	if l.end == 0 {
		l.now = open(&account, l.coin)
		if known := l.held(); l.now.NoCost && known.Size.Equal(l.now.Size) && !known.NoCost { // as the venue said it
			l.now.Cost, l.now.NoCost = known.Cost, false
			l.knowCosts(len(l.steps)-1, known.Cost.MustDiv(known.Size))
		}
	}
	for i := range l.steps {
		if p := &l.steps[i].after; !p.NoCost && !p.Size.IsZero() {
			// What reduces a position leaves its entry price as it was.
			l.knowCosts(i-1, p.Cost.MustDiv(p.Size))
			break
		}
	}
	return nil
}

// knowCosts sets the costs up to a step, where they are not known, from the entry price
// behind it: the position was opened unseen, and all that is seen before added to it.
func (l *lifetime) knowCosts(to int, entryPx market.Decimal) {
	for cost := (market.Decimal{}); to >= 0 && l.steps[to].after.NoCost; to-- {
		s := &l.steps[to]
		if cost.IsZero() {
			cost = market.Notional(entryPx, s.after.Size).RoundHAZ(costPlaces)
		}
		s.after.Cost, s.after.NoCost = cost, false
		added := market.Notional(s.px, s.sz)
		if !s.buy {
			added = added.Neg()
		}
		cost = cost.Sub(added)
	}
}

// costPlaces is to how many decimal places a cost is derived, as the venue keeps it.
const costPlaces = 6

// fill takes in a fill. Of the one that opened the position out of its opposite, and of
// the one that turned it around, only a part belongs to it.
func (l *lifetime) fill(account *market.Account, f *market.Fill, first, last bool) error {
	px, err := market.ParseDecimal(f.Px)
	if err != nil {
		return fmt.Errorf("price of fill %d: %w", f.Tid, err)
	}
	sz, err := market.ParseDecimal(f.Sz)
	if err != nil {
		return fmt.Errorf("size of fill %d: %w", f.Tid, err)
	}
	if outcome, _ := account.Fill(f, nil, nil); outcome == market.Gap {
		account.Forget(l.coin) // a fill is missing: what it did shows in where this one starts
		account.Fill(f, nil, nil)
	}
	s := step{time: f.Time, oid: f.Oid, px: px, sz: sz, buy: f.Side == market.Buy, after: open(account, l.coin)}
	switch end := f.EndPosition().Abs(); {
	case last:
		s.sz, s.after = sz.Sub(end), market.OpenPosition{}
	case first && f.Opens():
		s.sz = end
	}
	l.steps = append(l.steps, s)
	return nil
}

// held is the position as the account has it now, of Size 0 where that is not known.
func (l *lifetime) held() market.OpenPosition {
	if l.account == nil {
		return market.OpenPosition{}
	}
	return open(l.account, l.coin)
}

// open is the position of an account in a coin, of Size 0 where there is none.
func open(account *market.Account, coin string) market.OpenPosition {
	if h, ok := account.Holding(coin); ok && h.Open != nil {
		return *h.Open
	}
	return market.OpenPosition{}
}
