package hyperliquid

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// aheadMost is how far an event may be ahead of the clock. What is folded goes by the
// newest time that it has seen: one that is wrong would make all that follows old.
const aheadMost = 5 * time.Minute

// emit delivers what a source has read but for what is ahead of the clock, which it takes
// out of d, and notes that the source has spoken. What is left may be nothing: that is
// not delivered.
func emit(ctx context.Context, now time.Time, d *Delivery, stats *source.Stats, log *slog.Logger, sink Sink) error {
	refuseAhead(&d.Events, now, stats, log)
	if d.Events.Len() == 0 {
		return nil
	}
	stats.Seen(now, newestOf(&d.Events))
	return sink(ctx, *d)
}

// refuseAhead drops the events that are ahead of the clock, and counts them as malformed.
func refuseAhead(e *market.Events, now time.Time, stats *source.Stats, log *slog.Logger) {
	if n := dropAhead(e, now.Add(aheadMost).UnixMilli()); n > 0 {
		stats.Malformed.Add(int64(n))
		log.Warn("skipped events that have a time in the future", "count", n)
	}
}

// dropAhead drops the events that are later than a time, ms, and returns how many they
// were. Of an anchor, for which somebody waits, stays that it was refused.
func dropAhead(e *market.Events, latest int64) int {
	had := e.Len()
	e.Fills = slices.DeleteFunc(e.Fills, func(f market.Fill) bool { return f.Time > latest })
	e.Trades = slices.DeleteFunc(e.Trades, func(t market.Trade) bool { return t.Time > latest })
	e.Books = slices.DeleteFunc(e.Books, func(b market.Book) bool { return b.Time > latest })
	e.BBOs = slices.DeleteFunc(e.BBOs, func(b market.BBO) bool { return b.Time > latest })
	e.Funding = slices.DeleteFunc(e.Funding, func(f market.Funding) bool { return f.Time > latest })
	e.Orders = slices.DeleteFunc(e.Orders, func(s market.OrderStatus) bool { return s.Time > latest })
	e.Payments = slices.DeleteFunc(e.Payments, func(p market.FundingPayment) bool { return p.Time > latest })
	e.Ledgers = slices.DeleteFunc(e.Ledgers, func(l market.Ledger) bool { return l.Time > latest })
	e.Twaps = slices.DeleteFunc(e.Twaps, func(s market.TwapStatus) bool { return s.Time > latest })
	refused := 0
	for i, a := range e.Anchors {
		if a.SpotTime > latest || slices.ContainsFunc(a.Dexes, func(s market.AccountState) bool { return s.Time > latest }) ||
			slices.ContainsFunc(a.Orders, func(s market.OrderStatus) bool { return s.Time > latest }) {
			e.Anchors[i] = market.Anchor{Address: a.Address}
			refused++
		}
	}
	return had - e.Len() + refused
}
