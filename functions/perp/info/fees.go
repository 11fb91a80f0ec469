package main

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
)

// feeDays is how many UTC days of volumes userFees has, today included, as at the venue, whose
// fee tiers are by the volume of 14 days.
const feeDays = 15

// userFees is what an account has traded of perpetuals by day. What it pays for that is the
// venue's own.
func (i *info) userFees(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	_, account, err := i.accounts.Known(ctx, *in.User)
	if err != nil {
		return nil, err
	}
	today := api.Now(ctx).UTC().Truncate(24 * time.Hour)
	var fees catalog.InfoUserFees
	for stats, err := range accountstats.Read(ctx, i.series, []string{account.Address}) {
		if err != nil {
			return nil, err
		}
		for n := range feeDays {
			fees.DailyUserVlm = append(fees.DailyUserVlm, volumesOf(stats, today.AddDate(0, 0, n-feeDays+1)))
		}
	}
	return api.Encode(fees)
}

// volumesOf is what an account traded of perpetuals in a day; null of a day of which a part is
// not known.
func volumesOf(stats *market.TraderStats, day time.Time) catalog.InfoDayVolume {
	of := catalog.InfoDayVolume{Date: day.Format(time.DateOnly)}
	if stats == nil || stats.Began == 0 || day.UnixMilli() < stats.Began {
		return of
	}
	var taken, made market.Decimal
	for i := range stats.Days {
		if d := &stats.Days[i]; d.Day == day.Unix()/86_400 {
			taken, made = d.Taken, d.Volume.Sub(d.Taken)
		}
	}
	of.UserCross, of.UserAdd = new(market.Text(taken)), new(market.Text(made))
	return of
}
