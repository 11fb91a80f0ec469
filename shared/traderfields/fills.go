package traderfields

import "quotary/shared/market"

// fillFields are about all fills, perpFillFields about those of perpetuals alone.
var (
	fillFields = fills("tr", "fills", "fills", func(f *market.Facts) *market.FillFacts {
		all := f.Fills()
		return &all
	})
	perpFillFields = fills("tp", "perp fills", "fills of perpetuals", func(f *market.Facts) *market.FillFacts { return &f.Perp })
)

// fills are the figures of fills: prefix is that of their names, what names them in formulas.
func fills(prefix, name, what string, pick func(*market.Facts) *market.FillFacts) []Field {
	type facts = market.FillFacts
	return group(name, fillPeriod, did(pick),
		row[facts]{prefix + "Orders", Count, Distinct, "Number of orders with " + what + " in the period, each once.", func(f *facts) (decimal, bool) { return number(f.Orders.First) }},
		row[facts]{prefix + "Fills", Count, Sum, "Number of " + what + ".", func(f *facts) (decimal, bool) { return number(f.All().Count) }},
		row[facts]{prefix + "FilledVal", Money, Sum, "Sum of price × size of the " + what + ", in US dollars.", func(f *facts) (decimal, bool) { return known(f.All().Value) }},
		row[facts]{prefix + "Fee", Money, Sum, "Sum of the fees of the " + what + ", in US dollars; a rebate is negative, and what is paid in a token that was bought counts at the price of the fill.", func(f *facts) (decimal, bool) { return known(f.All().Fee) }},
		row[facts]{prefix + "FeeRate", Ratio, Derived, prefix + "Fee / " + prefix + "FilledVal, a fraction.", func(f *facts) (decimal, bool) { return over(f.All().Fee, f.All().Value) }},
		row[facts]{prefix + "MakerCount", Count, Sum, "Number of " + what + " as the maker.", func(f *facts) (decimal, bool) { return number(f.Maker.Count) }},
		row[facts]{prefix + "TakerCount", Count, Sum, "Number of " + what + " as the taker.", func(f *facts) (decimal, bool) { return number(f.Taker.Count) }},
		row[facts]{prefix + "MakerRatio", Ratio, Derived, prefix + "MakerCount / " + prefix + "Fills, a fraction.", func(f *facts) (decimal, bool) { return part(f.Maker.Count, f.Maker.Count+f.Taker.Count) }},
		row[facts]{prefix + "MakerValRatio", Ratio, Derived, prefix + "MakerVal / " + prefix + "FilledVal, a fraction.", func(f *facts) (decimal, bool) { return over(f.Maker.Value, f.All().Value) }},
		row[facts]{prefix + "TakerVal", Money, Sum, "Sum of price × size of the " + what + " as the taker, in US dollars.", func(f *facts) (decimal, bool) { return known(f.Taker.Value) }},
		row[facts]{prefix + "MakerVal", Money, Sum, "Sum of price × size of the " + what + " as the maker, in US dollars.", func(f *facts) (decimal, bool) { return known(f.Maker.Value) }},
		row[facts]{prefix + "TakerFee", Money, Sum, "Sum of the fees of the " + what + " as the taker, in US dollars.", func(f *facts) (decimal, bool) { return known(f.Taker.Fee) }},
		row[facts]{prefix + "MakerFee", Money, Sum, "Sum of the fees of the " + what + " as the maker, in US dollars; a rebate is negative.", func(f *facts) (decimal, bool) { return known(f.Maker.Fee) }},
		row[facts]{prefix + "TakerFeeRate", Ratio, Derived, prefix + "TakerFee / " + prefix + "TakerVal, a fraction.", func(f *facts) (decimal, bool) { return over(f.Taker.Fee, f.Taker.Value) }},
		row[facts]{prefix + "MakerFeeRate", Ratio, Derived, prefix + "MakerFee / " + prefix + "MakerVal, a fraction.", func(f *facts) (decimal, bool) { return over(f.Maker.Fee, f.Maker.Value) }},
	)
}

// orderFields are about orders: all that were placed, and those that were filled to the end.
var orderFields = func() []Field {
	type times = market.OrderTimes
	ever := did(func(f *market.Facts) *times { return &f.Placed })
	placed := group("all orders", nil, func(t *Trader, _ Period) *times { return ever(t, AllTime) },
		row[times]{"oaFirstOrderAt", Date, Least, "When the first order was placed.", firstAt},
		row[times]{"oaLastOrderAt", Date, Greatest, "When the last order was placed.", lastAt},
		row[times]{"oaOrderCount", Count, Sum, "Number of orders that were placed.", func(o *times) (decimal, bool) { return number(o.Count) }},
	)
	filled := group("filled orders", Periods, did(func(f *market.Facts) *times { return &f.Filled }),
		row[times]{"foFirstOrderAt", Date, Least, "When the first of the orders that were filled in the period was filled to its end.", firstAt},
		row[times]{"foLastOrderAt", Date, Greatest, "When the last of the orders that were filled in the period was filled to its end.", lastAt},
		row[times]{"foOrderCount", Count, Sum, "Number of orders that were filled to their end in the period.", func(o *times) (decimal, bool) { return number(o.Count) }},
	)
	return append(placed, filled...)
}()

func firstAt(o *market.OrderTimes) (decimal, bool) {
	return market.DecimalFromInt(o.First), o.Count > 0
}

func lastAt(o *market.OrderTimes) (decimal, bool) {
	return market.DecimalFromInt(o.Last), o.Count > 0
}

type routed = market.RoutedFacts

// builderFields are about what an account routed for others as a builder.
var builderFields = group("builders", Periods, func(t *Trader, p Period) *routed {
	if w := t.Did[p]; w != nil && w.Did.Routed.Unknown == 0 {
		return &w.Did.Routed
	}
	return nil
},
	row[routed]{"fbTraders", Count, Distinct, "Number of accounts with fills in the period that the address routed as their builder, each once.", func(r *routed) (decimal, bool) { return number(r.Traders.First) }},
	row[routed]{"fbOrdersCount", Count, Distinct, "Number of orders with such fills, each once.", func(r *routed) (decimal, bool) { return number(r.Orders.First) }},
	row[routed]{"fbTradeAmount", Money, Sum, "Sum of price × size of such fills, in US dollars.", func(r *routed) (decimal, bool) { return known(r.Value) }},
	row[routed]{"fbFee", Money, Sum, "Sum of the fees of such fills, the builder's part in them, in US dollars.", func(r *routed) (decimal, bool) { return known(r.Fee) }},
	row[routed]{"fbBuilderFee", Money, Sum, "Sum of the builder's part of these fees, in US dollars, of the fills of which it is known.", func(r *routed) (decimal, bool) { return known(r.BuilderFee) }},
)

// liquidationFields are about positions in perpetuals that were closed by force, deleveraging among
// it, as the liquidations of an address have them.
var liquidationFields = func() []Field {
	type facts = market.Facts
	return group("liquidation", Periods, did(func(f *facts) *facts { return f }),
		row[facts]{"liqOrders", Count, Distinct, "Number of orders by which positions were closed by force in the period, or parts of them, each once.", func(f *facts) (decimal, bool) {
			return number(f.LiquidatedLong.Orders.First + f.LiquidatedShort.Orders.First)
		}},
		row[facts]{"liqTotalFilled", Money, Sum, "Sum of price × size of their fills, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedLong.Value.Add(f.LiquidatedShort.Value)) }},
		row[facts]{"liqTotalPnl", Money, Sum, "Sum of closedPnl of their fills, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedLong.Pnl.Add(f.LiquidatedShort.Pnl)) }},
		row[facts]{"liqLongFilled", Money, Sum, "liqTotalFilled of long positions, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedLong.Value) }},
		row[facts]{"liqLongOrders", Count, Distinct, "liqOrders of long positions.", func(f *facts) (decimal, bool) { return number(f.LiquidatedLong.Orders.First) }},
		row[facts]{"liqLongPnl", Money, Sum, "liqTotalPnl of long positions, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedLong.Pnl) }},
		row[facts]{"liqShortFilled", Money, Sum, "liqTotalFilled of short positions, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedShort.Value) }},
		row[facts]{"liqShortOrders", Count, Distinct, "liqOrders of short positions.", func(f *facts) (decimal, bool) { return number(f.LiquidatedShort.Orders.First) }},
		row[facts]{"liqShortPnl", Money, Sum, "liqTotalPnl of short positions, in US dollars.", func(f *facts) (decimal, bool) { return known(f.LiquidatedShort.Pnl) }},
	)
}()

type flows = market.FlowSum

// flowFields are about what ledger updates moved, as net-flow has it.
var flowFields = group("net flows", Periods, did(func(f *market.Facts) *flows { return &f.Flows }),
	row[flows]{"nfRecordCount", Count, Sum, "Number of ledger updates in the period that moved something into the account or out of it.", func(s *flows) (decimal, bool) { return number(s.Count) }},
	row[flows]{"nfNetSpotIn", Money, Sum, "What ledger updates moved into the spot part of the account less what they moved out of it, in US dollars.", func(s *flows) (decimal, bool) { return known(s.Spot) }},
	row[flows]{"nfNetPerpIn", Money, Sum, "What ledger updates moved into the perpetuals of the account less what they moved out of them, in US dollars.", func(s *flows) (decimal, bool) { return known(s.Perp) }},
)
