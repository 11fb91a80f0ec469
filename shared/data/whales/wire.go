package whales

import (
	"time"

	"quotary/shared/catalog"
	"quotary/shared/market"
)

// Wire is an event as clients get it.
func (e *Event) Wire() catalog.WhaleEvent {
	w := catalog.WhaleEvent{
		User: e.User, Symbol: e.Coin, Coin: e.Coin, PositionSize: market.Text(e.Size), PositionValueUsd: market.Text(e.Value),
		PositionAction: int(e.Action), CreateTime: catalog.Timestamp(time.UnixMilli(e.Time)),
	}
	if e.Isolated != nil {
		w.MarginMode = new(market.MarginMode(*e.Isolated))
	}
	if e.EntryPx != nil {
		w.EntryPrice = new(market.Text(*e.EntryPx))
	}
	if e.LiqPx != nil {
		w.LiqPrice = new(market.Text(*e.LiqPx))
	}
	return w
}
