package accountlookup

import (
	"context"
	"iter"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/hourmarks"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// Curve is how an account trades, and what it was worth until now.
type Curve struct {
	Address string
	// Awaited says that the venue was never asked about the account, or a moment ago, and not yet,
	// or not long enough ago, what it was worth before: what is here is no curve.
	Awaited bool
	accountstats.WithCurve
}

// awaitedFor is for how long after the venue was asked about an account what it says of before
// is waited for.
const awaitedFor = 2 * time.Minute

// Curve is that of an account. One that is awaited is an error.
func (r *Accounts) Curve(ctx context.Context, address catalog.Address) (c Curve, err error) {
	v, _, err := r.Known(ctx, address)
	if err != nil {
		return c, err
	}
	for c, err = range r.Curves(ctx, &v) {
		if err == nil && c.Awaited {
			err = r.awaited(&v, address)
		}
	}
	return c, err
}

func (r *Accounts) awaited(v *Valuation, address catalog.Address) error {
	if v.refused[string(address)] {
		return r.exhausted(address)
	}
	return api.NotReady(askAgain, "what the account %s was worth is being asked for at the exchange: ask again in %.0f seconds", address, askAgain.Seconds())
}

// awaitsPast reports whether the past of an account is awaited, of whose curve so much is kept: of
// one that the venue was never asked about nothing is known before it is.
func awaitsPast(a *market.Account, c *accountstats.WithCurve, now time.Time) bool {
	since := now.Add(-awaitedFor).UnixMilli()
	switch {
	case a == nil, c.TraderStats != nil && c.VenueUntil > 0:
		return false
	case a.Anchored > 0 && (a.IsEmpty() || a.Anchored < since):
		return false
	}
	return c.TraderStats == nil || !slices.ContainsFunc(c.Curve.Between(0, since), func(p market.CurvePoint) bool { return !p.Perp.Unknown })
}

// Curves are those of the accounts that were asked for, in their order, up to now: what is
// stored goes to the last hour behind which something happened, and from there on an account
// is valued at the marks of each hour as if something had. One that is not known has no
// statistics. What it yields is overwritten by the next step. An error ends the sequence.
func (r *Accounts) Curves(ctx context.Context, v *Valuation) iter.Seq2[Curve, error] {
	return func(yield func(Curve, error) bool) {
		kept, err := store.OrZero(r.hours.Get(ctx))
		if err != nil {
			yield(Curve{}, err)
			return
		}
		var known []string
		for address, account := range v.Each() {
			if account != nil {
				known = append(known, address)
			}
		}
		hours := kept.Clone() // which is this request's own
		rows, stop := iter.Pull2(accountstats.ReadCurves(ctx, r.series, known))
		defer stop()
		for address, account := range v.Each() {
			curve := Curve{Address: address}
			if account != nil {
				if curve.WithCurve, err, _ = rows(); err != nil {
					yield(Curve{}, err)
					return
				}
				curve.Awaited = (!v.refused[address] || account.Anchored == 0) && awaitsPast(account, &curve.WithCurve, v.now)
				v.extend(v.accounts[address].Confirmed, &curve, hours)
			}
			if !yield(curve, nil) {
				return
			}
		}
	}
}

// extend has a curve go on to now: what the venue has said ahead of an account's events knows nothing of what came
// into it and left it meanwhile.
func (v *Valuation) extend(a *market.Account, c *Curve, hours *hourmarks.View) {
	if c.TraderStats == nil {
		return
	}
	now := v.now.UnixMilli()
	a.Sample(c.TraderStats, v.Markets, hours.At, now)
	if len(v.Marks.Px) > 0 {
		w := a.Worth(v.Markets, v.Marks.Px)
		c.AddPoint(now, &w)
	}
}

const (
	hourMs = 3_600_000
	dayMs  = 24 * hourMs
)

// PortfolioDays are the days of the windows of a portfolio, by their names; 0 is all time.
var PortfolioDays = map[string]int64{"day": 1, "week": 7, "month": 30, "allTime": 0}

// Began says in the headers of an answer since when a curve is known, where it was asked for from an
// earlier time on, ms, and until when it is what the venue says.
func Began(ctx context.Context, w *accountstats.Worth, from int64) {
	if w.Since > from {
		retention.Reached(ctx, time.UnixMilli(w.Since).UTC())
	}
	if w.VenueUntil > 0 {
		retention.FromVenue(ctx, time.UnixMilli(w.VenueUntil).UTC())
	}
}

// Window is a part of an account in a number of days up to now, or in all time for 0: its
// values, some 200 of them at most a year (all full hours of 7 days, every sixth of 30, else
// one a day, and a week before 61 days), and the notional of its fills, which is to the hour at the beginning and nil
// where it is not known.
func (c *Curve) Window(s market.Scope, days, now int64) (w accountstats.Worth, volume *market.Decimal) {
	from := int64(0)
	if days > 0 {
		from = now - days*dayMs
	}
	w = c.Worth(nil, s, from, now)
	switch {
	case days > 30 || days == 0:
		w.Values = every(w.Values, dayMs)
	case days > 7:
		w.Values = every(w.Values, 6*hourMs)
	}
	return w, c.volume(s, from, w.VenueUntil > 0)
}

// every keeps the last of the values of each time so long, and the first.
func every(values []market.AccountValue, ms int64) []market.AccountValue {
	kept := values[:0]
	for i, v := range values {
		if i == 0 || i == len(values)-1 || (v.Time-1)/ms != (values[i+1].Time-1)/ms {
			kept = append(kept, v)
		}
	}
	return kept
}

// volume is the notional of the fills since a time, ms, of a window that begins in what the
// venue says or does not.
func (c *Curve) volume(s market.Scope, from int64, venue bool) *market.Decimal {
	all := market.CurvePoint{Perp: market.CurvePart{Volume: market.MicrosOf(c.Volume)}, Spot: market.CurvePart{Volume: market.MicrosOf(c.SpotVolume)}}
	sum := s.Volume(&all)
	switch {
	case from == 0 && c.Venue.Until > 0 && s == market.ScopePerp:
		sum += c.Venue.PerpVolume
	case from == 0 && c.Venue.Until > 0:
		sum += c.Venue.Volume
	case venue:
		return nil
	default:
		if p, ok := c.Curve.At(from); ok {
			sum -= s.Volume(p)
		}
	}
	d := sum.Decimal()
	return &d
}
