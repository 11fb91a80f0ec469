package exchange

import (
	"context"
	"time"

	"quotary/shared/market"
)

// answerWithin is how long an answer of an exchange is waited for: for all tries of a request, a
// pause that the exchange asks for as most do, and a wait for the budget of its requests.
const answerWithin = 2 * time.Minute

// within asks for something that is given up after [answerWithin].
func within[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	return ask(ctx)
}

// patientVenue is a venue that is asked for what was before, one thing at a time: who has much to
// ask for leaves room for others in the budget of its requests. What is not answered is given up.
type patientVenue struct {
	Venue
	Contracts
	turn chan struct{} // holds a token while something is asked for
}

// patient returns a venue to be asked so; of is nil where it is asked for K-lines alone.
func patient(v Venue, of Contracts) *patientVenue {
	return &patientVenue{v, of, make(chan struct{}, 1)}
}

// Klines is that of a [Venue].
func (p *patientVenue) Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	return inTurn(ctx, p, func(ctx context.Context) (market.CandleRun, error) {
		return p.Venue.Klines(ctx, pair, i, from, most)
	})
}

// PastFundings, PastInterests and PastRatios are those of [Contracts].
func (p *patientVenue) PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error) {
	return inTurn(ctx, p, func(ctx context.Context) ([]market.PairFunding, error) {
		return p.Contracts.PastFundings(ctx, pair, from, to)
	})
}

// PastInterests is explained at [patientVenue.PastFundings].
func (p *patientVenue) PastInterests(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairInterest, error) {
	return inTurn(ctx, p, func(ctx context.Context) ([]market.PairInterest, error) {
		return p.Contracts.PastInterests(ctx, pair, from, to)
	})
}

// PastRatios is explained at [patientVenue.PastFundings].
func (p *patientVenue) PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) ([]market.PairRatio, error) {
	return inTurn(ctx, p, func(ctx context.Context) ([]market.PairRatio, error) {
		return p.Contracts.PastRatios(ctx, kind, pair, from, to)
	})
}

// inTurn asks for something when nothing else is asked for.
func inTurn[T any](ctx context.Context, p *patientVenue, ask func(context.Context) (T, error)) (answer T, err error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	return within(ctx, ask)
}
