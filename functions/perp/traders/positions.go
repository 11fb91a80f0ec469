package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/klines"
	"quotary/shared/market"
)

// maxPoints is how many points a position's history has at most, the newest ones.
const maxPoints = 2000

func (r *reader) currentPositionHistory(ctx context.Context, in catalog.CurrentPositionIn) (*catalog.PositionHistory, error) {
	l, err := r.current(ctx, in)
	if err != nil || l == nil {
		return nil, err
	}
	return r.history(ctx, l)
}

func (r *reader) completedPositionHistory(ctx context.Context, in catalog.CompletedPositionIn) (*catalog.PositionHistory, error) {
	l, err := r.named(ctx, in)
	if err != nil {
		return nil, err
	}
	return r.history(ctx, l)
}

func (r *reader) currentPositionPnl(ctx context.Context, in catalog.CurrentPositionBucketsIn) (*catalog.PositionPnl, error) {
	l, err := r.current(ctx, catalog.CurrentPositionIn{Address: in.Address, Coin: in.Coin})
	if err != nil || l == nil {
		return nil, err
	}
	return r.pnl(ctx, l, in.Interval, int(in.Limit))
}

func (r *reader) completedPositionPnl(ctx context.Context, in catalog.CompletedPositionBucketsIn) (*catalog.PositionPnl, error) {
	l, err := r.named(ctx, catalog.CompletedPositionIn{Address: in.Address, Coin: in.Coin, StartTime: in.StartTime, EndTime: in.EndTime})
	if err != nil {
		return nil, err
	}
	return r.pnl(ctx, l, in.Interval, int(in.Limit))
}

func (r *reader) currentPositionExecutions(ctx context.Context, in catalog.CurrentPositionBucketsIn) (*catalog.PositionExecutions, error) {
	l, err := r.current(ctx, catalog.CurrentPositionIn{Address: in.Address, Coin: in.Coin})
	if err != nil || l == nil {
		return nil, err
	}
	return executions(l, in.Interval, int(in.Limit))
}

func (r *reader) completedPositionExecutions(ctx context.Context, in catalog.CompletedPositionBucketsIn) (*catalog.PositionExecutions, error) {
	l, err := r.named(ctx, catalog.CompletedPositionIn{Address: in.Address, Coin: in.Coin, StartTime: in.StartTime, EndTime: in.EndTime})
	if err != nil {
		return nil, err
	}
	return executions(l, in.Interval, int(in.Limit))
}

// history is how a position developed.
func (r *reader) history(ctx context.Context, l *lifetime) (*catalog.PositionHistory, error) {
	for stats, err := range accountstats.ReadCurves(ctx, r.series, []string{l.address}) {
		if err != nil {
			return nil, err
		}
		if stats.TraderStats != nil {
			l.worth = stats.Curve.Values(nil, market.ScopePerp)
		}
	}
	h := &catalog.PositionHistory{PositionIs: l.is()}
	for i := range l.steps {
		s := &l.steps[i]
		if i+1 < len(l.steps) && l.steps[i+1].time == s.time && l.steps[i+1].oid == s.oid || s.after.NoCost {
			continue // a point for each order of which the position is known
		}
		h.History = append(h.History, l.point(i))
	}
	if l.end == 0 {
		h.History = append(h.History, l.present())
	}
	h.History = h.History[max(0, len(h.History)-maxPoints):]
	return h, nil
}

// point is the position behind a step, at its price.
func (l *lifetime) point(i int) catalog.PositionPoint {
	s := &l.steps[i]
	if s.after.Size.IsZero() {
		zero := market.Text(market.Decimal{})
		closed := l.value(s.time, s.px, l.beforeClosing(i))
		return catalog.PositionPoint{
			Time: s.time, Size: zero, Leverage: closed.Leverage.Value, EntryPrice: market.TextOrNull(!closed.NoCost, closed.EntryPx), PositionValue: zero, UnrealizedPnl: &zero,
			ReturnOnEquity: &zero, MarginUsed: &zero, CumFunding: market.TextOrNull(!l.partial, l.funding),
		}
	}
	value := l.value(s.time, s.px, &s.after)
	p := pointOf(s.time, value)
	after, _ := slices.BinarySearchFunc(l.worth, s.time+1, func(v market.AccountValue, ms int64) int { return cmp.Compare(v.Time, ms) })
	if after > 0 && s.time-l.worth[after-1].Time < time.Hour.Milliseconds() {
		p.EffLeverage = l.effLeverage(value, l.worth[after-1].Value.Decimal())
	}
	return p
}

// beforeClosing is the position that a step closed. Where nothing before that is stored it
// has the entry price of all of the position.
func (l *lifetime) beforeClosing(i int) *market.OpenPosition {
	if i > 0 && !l.steps[i-1].after.NoCost && !l.steps[i-1].after.Size.IsZero() {
		return &l.steps[i-1].after
	}
	size := l.steps[i].sz
	if !l.long {
		size = size.Neg()
	}
	return &market.OpenPosition{Size: size, Cost: market.Notional(l.entryPx, size).RoundHAZ(costPlaces)}
}

// effLeverage is what a position is worth over what the account is worth, nil where that
// is nothing or either is not known.
func (l *lifetime) effLeverage(p *market.PositionState, worth market.Decimal) *string {
	value, ok := l.values.Markets.Usd(p.Coin, p.PositionValue, l.values.Marks.Px)
	if !ok || !worth.IsPos() {
		return nil
	}
	return new(market.Text(value.MustDiv(worth).RoundHAZ(ratioPlaces)))
}

// value is the position at a price. Nothing else of the account is known then.
func (l *lifetime) value(ms int64, px market.Decimal, open *market.OpenPosition) *market.PositionState {
	alone := market.Account{Holdings: []market.Holding{{Coin: l.coin, Leverage: l.leverage, Open: open}}}
	state := alone.State(market.DexOf(l.coin), l.values.Markets, market.Marks{l.coin: px}, ms)
	return &state.Positions[0]
}

// present is the position now, at the mark price, and within the account where that is
// known.
func (l *lifetime) present() catalog.PositionPoint {
	if l.account != nil {
		state := l.values.State(l.account, market.DexOf(l.coin))
		i := slices.IndexFunc(state.Positions, func(p market.PositionState) bool { return p.Coin == l.coin && p.Szi.Equal(l.now.Size) })
		if i >= 0 {
			p := pointOf(state.Time, &state.Positions[i])
			if worth, ok := l.account.PerpValue(l.values.Markets, l.values.Marks.Px); ok {
				p.EffLeverage = l.effLeverage(&state.Positions[i], worth)
			}
			return p
		}
	}
	last := &l.steps[len(l.steps)-1]
	px, ok := l.values.Marks.Px[l.coin]
	if !ok {
		px = last.px
	}
	ms := max(last.time, l.values.Marks.Of(market.DexOf(l.coin)))
	return pointOf(ms, l.value(ms, px, &l.now))
}

// ratioPlaces is to how many decimal places a ratio is rounded.
const ratioPlaces = 6

// pointOf writes a position.
func pointOf(ms int64, p *market.PositionState) catalog.PositionPoint {
	return catalog.PositionPoint{
		Time: ms, Size: market.Text(p.Szi), Leverage: p.Leverage.Value, EntryPrice: market.TextOrNull(!p.NoCost, p.EntryPx), PositionValue: market.Text(p.PositionValue),
		UnrealizedPnl: market.TextOrNull(!p.NoCost, p.UnrealizedPnl), ReturnOnEquity: market.TextOrNull(!p.NoCost, p.ReturnOnEquity),
		LiquidationPrice: market.TextOrNull(p.MarginKnown() && !p.LiquidationPx.IsZero(), p.LiquidationPx), MarginUsed: market.TextOrNull(p.MarginKnown(), p.MarginUsed), CumFunding: market.TextOrNull(!p.Unseen, p.FundingSinceOpen),
	}
}

// is says which position it is.
func (l *lifetime) is() catalog.PositionIs {
	is := catalog.PositionIs{Address: l.address, Coin: l.coin, Direction: direction(l.long), Cross: !l.leverage.Isolated, StartTime: catalog.Timestamp(time.UnixMilli(l.start))}
	if l.end != 0 {
		is.EndTime = catalog.Timestamp(time.UnixMilli(l.end))
	}
	return is
}

// pnl is what the position was worth at the end of its newest buckets.
func (r *reader) pnl(ctx context.Context, l *lifetime, interval string, limit int) (*catalog.PositionPnl, error) {
	answer := &catalog.PositionPnl{PositionIs: l.is(), Interval: interval}
	to := cmp.Or(l.end, api.Now(ctx).UnixMilli())
	width, err := market.ParseInterval(interval)
	if err != nil {
		return nil, err
	}
	first := width.StartMs(to)
	for n := 1; n < limit && first > l.start; n++ {
		first = width.StartMs(first - 1)
	}
	// One more, as the first bucket may be without a trade.
	candles, err := klines.Newest(ctx, r.series, l.coin, width, time.Time{}, time.UnixMilli(to).UTC(), limit+1)
	if err != nil {
		return nil, err
	}
	px, held := l.steps[0].px, market.OpenPosition{}
	steps := l.steps
	for start := first; start <= to; start = width.NextMs(start) {
		end := width.NextMs(start)
		for len(steps) > 0 && steps[0].time < end {
			held, px, steps = steps[0].after, steps[0].px, steps[1:]
		}
		for len(candles) > 0 && candles[0].OpenTime < end {
			px, candles = candles[0].Close, candles[1:]
		}
		value := market.Notional(px, held.Size)
		answer.Pnls = append(answer.Pnls, catalog.PositionPnlPoint{Time: start, Size: market.Text(held.Size), PositionValue: market.Text(value.Abs()), UnrealizedPnl: market.TextOrNull(!held.NoCost, value.Sub(held.Cost))})
	}
	return answer, nil
}

// executions sums up the fills of the position's newest buckets that have any.
func executions(l *lifetime, interval string, limit int) (*catalog.PositionExecutions, error) {
	answer := &catalog.PositionExecutions{PositionIs: l.is(), Interval: interval}
	width, err := market.ParseInterval(interval)
	if err != nil {
		return nil, err
	}
	for steps := l.steps; len(steps) > 0; {
		start := width.StartMs(steps[0].time)
		n := slices.IndexFunc(steps, func(s step) bool { return s.time >= width.NextMs(start) })
		if n < 0 {
			n = len(steps)
		}
		answer.Executions = append(answer.Executions, executed(start, steps[:n]))
		steps = steps[n:]
	}
	answer.Executions = answer.Executions[max(0, len(answer.Executions)-limit):]
	return answer, nil
}

func executed(start int64, steps []step) catalog.ExecutionBucket {
	var buys, sells executedSide
	for i := range steps {
		side := &sells
		if steps[i].buy {
			side = &buys
		}
		side.add(&steps[i])
	}
	return catalog.ExecutionBucket{Time: start, BuyCount: buys.count, SellCount: sells.count, BuySz: market.Text(buys.size), SellSz: market.Text(sells.size), BuyAvgPx: buys.average(), SellAvgPx: sells.average()}
}

// executedSide sums up fills of one side.
type executedSide struct {
	count       int64
	size, value market.Decimal
}

func (s *executedSide) add(one *step) {
	s.count++
	s.size = s.size.Add(one.sz)
	s.value = s.value.Add(market.Notional(one.px, one.sz))
}

// average is by size, nil without a fill.
func (s *executedSide) average() *string {
	if s.size.IsZero() {
		return nil
	}
	return new(market.Text(s.value.MustDiv(s.size).RoundHAZ(market.MaxPricePlaces)))
}
