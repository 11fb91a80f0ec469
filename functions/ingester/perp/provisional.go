package perp

import (
	"context"
	"slices"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/fills"
	"quotary/shared/market"
)

const (
	// justTraded is how old a trade is at most that nobody else can have stored.
	justTraded = time.Minute
	// lookWithin is how long live trades wait until it is known which of the older ones are stored.
	lookWithin = 5 * time.Second
)

// withProvisional adds to public trades the fills of their accounts, but to those that are stored, and those that an
// hour of the venue has brought or may have: a provisional fill takes nobody's place. Hours are nil where none are read.
func (c Config) withProvisional(hours *hyperliquid.Hours, sink hyperliquid.Sink) hyperliquid.Sink {
	return func(ctx context.Context, d hyperliquid.Delivery) error {
		if len(d.Events.Trades) == 0 {
			return sink(ctx, d)
		}
		now := time.Now()
		list := market.AppendProvisional(nil, d.Events.Trades)
		if hours != nil {
			since := hours.Awaited(now).UnixMilli()
			list = slices.DeleteFunc(list, func(f market.Fill) bool { return f.Time < since })
		}
		old := slices.ContainsFunc(list, func(f market.Fill) bool { return now.Sub(f.When()) > justTraded })
		if old { // the venue is asked for the last trades of each coin when a connection begins
			list = c.notStored(ctx, list, now)
			for i := range list { // an hour may bring them before they are stored
				list[i].Arrived.Again = now.Sub(list[i].When()) > justTraded
			}
		}
		d.Events.Provisional = list
		vouch(d.Events.TradesWhole, d.Events.Trades, list)
		return sink(ctx, d)
	}
}

// vouch says of coins that their trades have come since a time behind those of which no fills are emitted now.
func vouch(whole []market.TradesWhole, trades []market.Trade, list []market.Fill) {
	if len(whole) == 0 {
		return
	}
	emitted := map[int64]bool{}
	for i := range list {
		emitted[list[i].Tid] = true
	}
	for i := range whole {
		one := &whole[i]
		for _, t := range trades {
			if t.Coin == one.Coin && !emitted[t.Tid] {
				one.Since = max(one.Since, t.Time+1)
			}
		}
	}
}

// notStored leaves out of fills those that are stored and, where that cannot be found out, all that may be.
func (c Config) notStored(ctx context.Context, list []market.Fill, now time.Time) []market.Fill {
	looking, done := context.WithTimeout(ctx, lookWithin)
	defer done()
	stored, err := fills.Arrivals(looking, c.Stores.Log, list)
	if err != nil && ctx.Err() == nil {
		c.Logger.Warn("cannot look which trades are stored as fills: older ones are left out", "error", err.Error())
	}
	fresh := list[:0]
	for i := range list {
		if err == nil && !stored[i].Stored || err != nil && now.Sub(list[i].When()) <= justTraded {
			fresh = append(fresh, list[i])
		}
	}
	return fresh
}
