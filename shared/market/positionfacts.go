package market

// PositionFacts are what completed positions come to, see [CompletedTrade].
type PositionFacts struct {
	Long, Short PositionSum

	MaxPnl, MinPnl Decimal // the greatest and the least; 0 without positions

	Duration                 int64 // of all together, ms
	MaxDuration, MinDuration int64 // ms; 0 without positions
	OpenOrders, CloseOrders  int64 // of each, summed up

	Funding Decimal // received less paid
	Value   Decimal // the largest that each held, summed up

	// Of those whose leverage is known:
	Levered   int64
	Leverage  int64   // summed up
	Margin    Decimal // the largest value over the leverage, each rounded to marginPlaces
	MarginPnl Decimal

	// Of those of which a value is known: the rate is the pnl over the largest value, each
	// rounded to [RatioPlaces].
	Rated            int64
	Rates, Squares   Decimal // of the rates, and of their squares
	MaxRate, MinRate Decimal // 0 without any
}

// marginPlaces is how exact a margin is, half away from zero. The venue's amounts are whole
// millionths.
const marginPlaces = 8

// PositionSum is what the completed positions of one direction come to.
type PositionSum struct {
	Count        int64
	Wins, Losses int64   // with a closedPnl above and below 0
	Won, Lost    Decimal // closedPnl of these; Lost is not positive
}

// Pnl is the closedPnl of all.
func (s *PositionSum) Pnl() Decimal { return s.Won.Add(s.Lost) }

// Merge adds other positions.
func (s *PositionSum) Merge(o PositionSum) {
	s.Count, s.Wins, s.Losses = s.Count+o.Count, s.Wins+o.Wins, s.Losses+o.Losses
	s.Won, s.Lost = s.Won.Add(o.Won), s.Lost.Add(o.Lost)
}

// All are the positions of both directions.
func (p *PositionFacts) All() PositionSum {
	sum := p.Long
	sum.Merge(p.Short)
	return sum
}

// positionFacts are those of one position.
func positionFacts(t *CompletedTrade) PositionFacts {
	side := PositionSum{Count: 1}
	switch t.Pnl.Sign() {
	case 1:
		side.Wins, side.Won = 1, t.Pnl
	case -1:
		side.Losses, side.Lost = 1, t.Pnl
	}
	one := PositionFacts{
		MaxPnl: t.Pnl, MinPnl: t.Pnl, Duration: t.Duration(), MaxDuration: t.Duration(), MinDuration: t.Duration(),
		OpenOrders: t.OpenOrders, CloseOrders: t.CloseOrders, Funding: t.Funding, Value: t.MaxValue,
	}
	if one.Short = side; t.Long {
		one.Long, one.Short = side, PositionSum{}
	}
	if t.Leverage > 0 {
		one.Levered, one.Leverage, one.MarginPnl = 1, t.Leverage, t.Pnl
		one.Margin = t.MaxValue.MustDiv(count(t.Leverage)).RoundHAZ(marginPlaces)
	}
	if t.MaxValue.IsPos() {
		rate := t.Pnl.MustDiv(t.MaxValue).RoundHAZ(RatioPlaces)
		one.Rated, one.Rates, one.Squares, one.MaxRate, one.MinRate = 1, rate, rate.Mul(rate), rate, rate
	}
	return one
}

// Merge adds other positions.
func (p *PositionFacts) Merge(o *PositionFacts) {
	if o.Long.Count+o.Short.Count == 0 {
		return
	}
	if first := p.Long.Count+p.Short.Count == 0; first {
		*p = *o
		return
	}
	if o.Rated > 0 {
		p.MaxRate, p.MinRate = widen(p.Rated == 0, p.MaxRate, p.MinRate, o.MaxRate, o.MinRate)
	}
	p.MaxPnl, p.MinPnl = widen(false, p.MaxPnl, p.MinPnl, o.MaxPnl, o.MinPnl)
	p.Long.Merge(o.Long)
	p.Short.Merge(o.Short)
	p.Duration += o.Duration
	p.MaxDuration, p.MinDuration = max(p.MaxDuration, o.MaxDuration), min(p.MinDuration, o.MinDuration)
	p.OpenOrders, p.CloseOrders = p.OpenOrders+o.OpenOrders, p.CloseOrders+o.CloseOrders
	p.Funding, p.Value = p.Funding.Add(o.Funding), p.Value.Add(o.Value)
	p.Levered, p.Leverage = p.Levered+o.Levered, p.Leverage+o.Leverage
	p.Margin, p.MarginPnl = p.Margin.Add(o.Margin), p.MarginPnl.Add(o.MarginPnl)
	p.Rated, p.Rates, p.Squares = p.Rated+o.Rated, p.Rates.Add(o.Rates), p.Squares.Add(o.Squares)
}

// widen is a range that has another in it, or the other where it is the first.
func widen(first bool, most, least, otherMost, otherLeast Decimal) (greatest, smallest Decimal) {
	if first || otherMost.GreaterThan(most) {
		most = otherMost
	}
	if first || otherLeast.LessThan(least) {
		least = otherLeast
	}
	return most, least
}
