package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/airdrops"
	"quotary/shared/store"
)

// calendar returns what begins and ends in a month, day by day.
func (c *airdropHandlers) calendar(ctx context.Context, in catalog.AirdropCalendarIn) (catalog.AirdropMonth, error) {
	out := catalog.AirdropMonth{Year: in.Year, Month: in.Month, List: []catalog.AirdropDay{}}
	v, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return out, err
	}
	first := time.Date(int(in.Year), time.Month(in.Month), 1, 0, 0, 0, 0, time.UTC)
	from, to := first.UnixMilli(), first.AddDate(0, 1, 0).UnixMilli()
	lan, now := airdrops.Language(in.Lan), api.Now(ctx)
	var events []catalog.AirdropEvent
	for a := range v.Shown() {
		for _, e := range []catalog.AirdropEvent{{Event: "start", Time: a.Begins()}, {Event: "end", Time: a.EndTime}} {
			if e.Time < from || e.Time >= to {
				continue
			}
			e.AirdropID, e.Title, e.ProjectName, e.TokenSymbol = a.AirdropID, a.Title(lan), a.Project(lan), a.TokenSymbol
			e.Exchange, e.ExchangeName, e.ActivityType, e.ActivityTypeName = a.Exchange, a.ExchangeTitle(lan), a.ActivityType, a.Activity(lan)
			e.Status, e.Source = int64(a.StatusAt(now)), a.Source
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b catalog.AirdropEvent) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.AirdropID, b.AirdropID))
	})
	for i := range events {
		date := time.UnixMilli(events[i].Time).UTC().Format(time.DateOnly)
		if n := len(out.List); n == 0 || out.List[n-1].Date != date {
			out.List = append(out.List, catalog.AirdropDay{Date: date})
		}
		day := &out.List[len(out.List)-1]
		day.List, day.Count = append(day.List, events[i]), day.Count+1
	}
	out.Count = int64(len(events))
	return out, nil
}
