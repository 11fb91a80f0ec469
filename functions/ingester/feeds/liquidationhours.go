package feeds

import (
	"slices"

	"quotary/shared/market"
)

// What an hour of the venue tells to be a liquidation was there before as provisional fills that say nothing of it. So it
// has a place of its own in the order of arrival: that of the hour, whatever places its fills have.

// liquidates reports whether any of some fills did.
func liquidates(list []market.Fill) bool {
	return slices.ContainsFunc(list, func(f market.Fill) bool { return f.Liquidates() })
}

// hour gives the fills of an hour that liquidate the places of their events, and publishes and returns the events that are
// new, to whoever follows them by now. The last events were read before.
func (ls *liquidations) hour(list []market.Fill) []market.LiquidationEvent {
	places := map[liquidationKey]market.Arrival{}
	for i := range list {
		e, ok := market.LiquidationOf(&list[i])
		if !ok {
			continue
		}
		key := keyOfLiquidation(&e)
		if _, placed := places[key]; !placed {
			places[key] = ls.placeAtHour(&e, key)
		}
		list[i].Arrived.Whole = places[key]
	}
	late := ls.taken(list)
	if len(late) > 0 {
		ls.publish(late, func(topic string, frame []byte, last *market.LiquidationEvent) {
			ls.hub.PublishAt(topic, frame, int64(last.Arrival))
		})
	}
	return late
}

// placeAtHour is the place of an event: the one that it has, where it came before.
func (ls *liquidations) placeAtHour(e *market.LiquidationEvent, key liquidationKey) market.Arrival {
	if ls.kept[key] {
		if i := ls.newest.find(e, key.second); i >= 0 {
			return ls.newest.events[i].Arrival
		}
	}
	return ls.arriving.next(true)
}

// oldHour keeps the events of an old hour, which are published to nobody.
func (ls *liquidations) oldHour(list []market.Fill) {
	since := ls.Now().Add(-liquidationsBack).UnixMilli()
	for i := range list {
		if e, ok := market.LiquidationOf(&list[i]); ok && e.Time >= since {
			ls.keep(&e)
		}
	}
}
