package perp

import (
	"context"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/service/config"
)

// HoursSettings say which bucket the venue's hours are read from. The zero value is none.
type HoursSettings struct {
	Bucket, Region string
	Since          time.Duration // how far back the first start begins
}

// hoursSettings reads the part of the environment.
func hoursSettings(env *config.Env) HoursSettings {
	s := HoursOf(env)
	if env.Text(catalog.EnvAccounts) != catalog.AccountsOfHours {
		return HoursSettings{}
	}
	return s
}

// HoursOf reads which bucket has the venue's hours, whether they are read or not.
func HoursOf(env *config.Env) HoursSettings {
	return HoursSettings{Bucket: env.Text(catalog.EnvHoursBucket), Region: env.Text(catalog.EnvHoursRegion), Since: env.Duration(catalog.EnvHoursSince)}
}

// venueHours are those that the configuration names, nil for none.
func (c Config) venueHours() *hyperliquid.Hours {
	if c.Hours == nil {
		return nil
	}
	stats := new(source.Stats)
	return &hyperliquid.Hours{Bucket: c.Hours, Since: c.HoursOf.Since, Stats: stats, Coins: hyperliquid.NewCoins(), Log: c.log("hours", stats), Most: pastEvents, Poll: c.hoursPoll}
}

// hoursSource is that of the venue's hours. They give way to what happens now. They come in the order of
// their time, so that accounts are folded from them as from a node's files; what comes late is folded
// as the past of a node is.
//
// The feeds, nil for none, have shown most of their fills as public trades: see [feeds.Feeds.Hour]. What is older is
// shown to nobody.
func hoursSource(h *hyperliquid.Hours, feeds *Feeds) engine.Source[*Batch] {
	return engine.Source[*Batch]{
		Name: "hours", Stats: h.Stats, Background: true, Periodic: true,
		Brings: catalog.AllOf(catalog.VenueFills, catalog.VenueAccountTrades, catalog.VenueAccountEvents, catalog.VenueTrades, catalog.VenueLedgers, catalog.VenuePayments),
		Follow: func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
			var at hyperliquid.HoursPosition
			if err := from.Decode(&at); err != nil {
				return err
			}
			return h.Follow(ctx, at, func(ctx context.Context, d hyperliquid.HoursDelivery) error {
				position, err := engine.PositionOf(d.Position)
				if err != nil {
					return err
				}
				for i := range d.Events.Fills { // a provisional one may be there, with the place at which it arrived
					d.Events.Fills[i].Arrived.Again = true
				}
				for i := range d.Events.Ledgers { // of an hour that is read once more
					d.Events.Ledgers[i].Arrived.Again = true
				}
				if feeds != nil {
					if err := feeds.Hour(ctx, &d.Events, d.Old || d.Late); err != nil {
						return err
					}
				}
				batch := &Batch{Events: d.Events, Stored: d.Old || d.Late, Past: d.Late, Hourly: !d.Old && !d.Late, Until: d.Position.Until()}
				return sink(ctx, engine.Delivery[*Batch]{Batch: batch, Position: position, Until: d.Position.Until(), Missing: d.Position.Missing()})
			})
		},
	}
}

// hoursFigures say how they fare; h is nil where none are read.
func hoursFigures(h *hyperliquid.Hours) []engine.Figure {
	if h == nil {
		return nil
	}
	f := &h.Figures
	behind := int64(0)
	if until := f.Until.Load(); until > 0 {
		behind = max(0, time.Now().UnixMilli()-until)
	}
	return []engine.Figure{
		{Name: metrics.HoursRead, Unit: metrics.Count, Value: f.Hours.Load(), Grows: true},
		{Name: metrics.HoursPassed, Unit: metrics.Count, Value: f.Passed.Load(), Grows: true},
		{Name: metrics.HoursOwed, Unit: metrics.Count, Value: f.Owed.Load()},
		{Name: metrics.HoursRefused, Unit: metrics.Count, Value: f.Refused.Load()},
		{Name: metrics.HoursBehind, Unit: metrics.Milliseconds, Value: behind},
	}
}
