package market

// FactsByHour is what one account did in its hours, by their beginnings in ms; or what is to be
// added to what is known of them.
type FactsByHour map[int64]*Facts

func (h FactsByHour) at(hour int64) *Facts {
	f := h[hour]
	if f == nil {
		f = new(Facts)
		h[hour] = f
	}
	return f
}

// Merge adds what the account did beside.
func (h FactsByHour) Merge(o FactsByHour) {
	for hour, f := range o {
		h.at(hour).Merge(f)
	}
}

// Within is what the account did in the hours that begin from one time on and before another, ms.
func (h FactsByHour) Within(from, to int64) Window {
	w := Window{From: from}
	for hour, f := range h {
		if hour >= from && hour < to {
			w.Add(f)
		}
	}
	return w
}

// OrderSeen is what has to be known of an order to count it once. An order has one coin, one side and
// one builder, if any.
type OrderSeen struct {
	Filled     HoursSeen
	Liquidated HoursSeen // with fills that liquidated the account
	Routed     HoursSeen // with fills that name the builder
}

// Fill takes in a fill of the account, which changes what is known of its order, and of the account at
// the builder that routed the fill: builder is nil where none did, or none that is to be counted. What
// has no trade id counts only if it liquidated the account: it is no trade.
//
// Events may come in any order, and each once.
func (h FactsByHour) Fill(f *Fill, order *OrderSeen, builder *HoursSeen) {
	hour := Hour1.StartMs(f.Time)
	if _, ok := LiquidationOf(f); ok {
		of := func(f *Facts) *LiquidatedFacts { return &f.LiquidatedShort }
		if f.Side == Sell {
			of = func(f *Facts) *LiquidatedFacts { return &f.LiquidatedLong }
		}
		of(h.at(hour)).Merge(&LiquidatedFacts{Value: f.Notional(), Pnl: mustDecimal(f.ClosedPnl)})
		order.Liquidated.add(hour, func(hour int64) *Distinct { return &of(h.at(hour)).Orders })
	}
	if f.Tid == 0 {
		return
	}
	of := func(f *Facts) *FillFacts { return &f.Perp }
	if IsSpot(f.Coin) {
		of = func(f *Facts) *FillFacts { return &f.Spot }
	} else {
		did := h.at(hour)
		did.Coins = addCoin(did.Coins, f.Coin)
	}
	fills, one := of(h.at(hour)), FillSum{1, f.Notional(), f.feeValue()}
	if f.Crossed {
		fills.Taker.Merge(one)
	} else {
		fills.Maker.Merge(one)
	}
	order.Filled.add(hour, func(hour int64) *Distinct { return &of(h.at(hour)).Orders })
	if by, ok := ParseAccount(f.Builder); ok && builder != nil {
		via := func(hour int64) *RoutedFacts { return h.at(hour).routedBy(by) }
		via(hour).Merge(&RoutedFacts{Value: one.Value, Fee: one.Fee, BuilderFee: f.builderFee()})
		order.Routed.add(hour, func(hour int64) *Distinct { return &via(hour).Orders })
		builder.add(hour, func(hour int64) *Distinct { return &via(hour).Traders })
	}
}

// builderFee is the part of the fee that went to the builder; 0 where it is not known.
func (f *Fill) builderFee() (fee Decimal) {
	if f.BuilderFee != "" {
		fee = mustDecimal(f.BuilderFee)
	}
	return fee
}

// feeValue is the fee in quote units, of which a product has at most 19 places: who buys a token
// pays in it.
func (f *Fill) feeValue() Decimal {
	fee := mustDecimal(f.Fee)
	if KindOf(f.Coin) == SpotPair && f.Side == Buy && f.FeeToken != USDC {
		return Notional(mustDecimal(f.Px), fee)
	}
	return fee
}

// Complete takes in a trade that was completed.
func (h FactsByHour) Complete(t *CompletedTrade) {
	one := positionFacts(t)
	h.at(Hour1.StartMs(t.End)).Closed.Merge(&one)
}

// Order takes in a status of an order, of which only that it was filled counts.
func (h FactsByHour) Order(o *OrderStatus) {
	if o.Status == StatusFilled {
		h.at(Hour1.StartMs(o.Time)).Filled.add(o.Time)
	}
}

// Flow takes in what a ledger update moved into the perpetuals of the account and into its spot
// part, negative of what it moved out, USDC.
func (h FactsByHour) Flow(ms int64, perp, spot Decimal) {
	if !perp.IsZero() || !spot.IsZero() {
		h.at(Hour1.StartMs(ms)).Flows.add(FlowSum{1, perp, spot})
	}
}
