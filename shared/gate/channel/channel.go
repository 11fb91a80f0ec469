// Package channel is the registry of what clients of the WebSocket feeds can follow.
//
// On /ws a client subscribes to channels, each subscription by a message of its own:
// [Channels] lists them with the members that a subscription takes. The other feeds
// carry what concerns the addresses that a client names: [Feeds] lists them.
//
// The socket function decodes and validates what clients send by these entries, the
// table of connections keeps a [Subscription] under its Key, and the ingester has one
// publisher for each entry. To add a channel, add its entry here, with a member in
// member.go where it takes one that no other does, and its publisher there.
package channel

import (
	"slices"

	"quotary/shared/catalog"
	"quotary/shared/text/strictjson"
)

// Name is the name of a channel on the wire.
type Name string

// The channels of /ws.
const (
	L2Book                      Name = "l2Book"
	BBO                         Name = "bbo"
	Trades                      Name = "trades"
	Candle                      Name = "candle"
	UserFills                   Name = "userFills"
	UserNonFundingLedgerUpdates Name = "userNonFundingLedgerUpdates"
	AccountState                Name = "clearinghouseState"
	OpenOrders                  Name = "openOrders"
	AllMids                     Name = "allMids"
	ActiveAssetCtx              Name = "activeAssetCtx"
	OrderUpdates                Name = "orderUpdates"
	UserEvents                  Name = "userEvents"
	UserFundings                Name = "userFundings"
	Liquidations                Name = "liquidations"
	WhaleEvents                 Name = "whaleEvents"
)

// Channel describes a channel of /ws.
type Channel struct {
	Name Name
	// Account says that the channel follows an account: a connection has one
	// subscription of it, and replies carry neither a status nor a count.
	Account bool
	// Shows is the endpoint of the same content, whose action a level must list beside that of
	// the feed; nil where that is enough.
	Shows *catalog.Endpoint
	// Needs are the datasets of which it shows something, one at least: where a deployment has a source
	// of none of them it knows nothing that it could show. Of a channel without it is not looked.
	Needs   []*catalog.Dataset
	events  bool // it shows events, whose frames have cursors
	members []member
	// check refuses or completes what the members alone cannot; nil for nothing.
	check func(*Subscription) error
}

var (
	fills  = []*catalog.Dataset{catalog.VenueAccountTrades} // of accounts, as they happen
	events = []*catalog.Dataset{catalog.VenueAccountEvents}
	whole  = []*catalog.Dataset{catalog.VenueFills} // with whom they liquidated, and how positions changed
	orders = []*catalog.Dataset{catalog.VenueOrders}
)

// Channels lists the channels of /ws, in the order in which errors name them.
var Channels = []Channel{
	{Name: Trades, events: true, members: []member{coin}},
	{Name: OpenOrders, Account: true, members: []member{user, dex}},
	{Name: AccountState, Account: true, members: []member{user, dex}},
	{Name: L2Book, members: []member{coin, figures, mantissa, fast}, check: checkBook},
	{Name: BBO, members: []member{coin}},
	{Name: Candle, members: []member{coin, interval}},
	{Name: UserFills, Account: true, events: true, members: []member{user, aggregateByTime}, Needs: fills},
	{Name: UserNonFundingLedgerUpdates, Account: true, events: true, members: []member{user}},
	{Name: AllMids, members: []member{dex}},
	{Name: ActiveAssetCtx, members: []member{coin}},
	{Name: OrderUpdates, Account: true, members: []member{user}, Needs: orders},
	{Name: UserEvents, Account: true, members: []member{user}, Needs: []*catalog.Dataset{catalog.VenueAccountTrades, catalog.VenueAccountEvents}},
	{Name: UserFundings, Account: true, members: []member{user}, Needs: events},
	{Name: Liquidations, events: true, members: []member{anyPerpetual, minValue}, Shows: catalog.TopLiquidations.Endpoint, Needs: events},
	{Name: WhaleEvents, events: true, members: []member{anyPerpetual}, Shows: catalog.WhaleEvents.Endpoint, Needs: whole},
}

// Channel returns the entry of a channel; the zero value where there is none.
func (n Name) Channel() Channel {
	i := slices.IndexFunc(Channels, func(c Channel) bool { return c.Name == n })
	if i < 0 {
		return Channel{}
	}
	return Channels[i]
}

func checkBook(s *Subscription) error {
	if s.Mantissa != 0 && s.NSigFigs != 5 {
		return strictjson.Errorf("mantissa is accepted with nSigFigs 5 only")
	}
	if s.Mantissa == 1 { // as without
		s.Mantissa = 0
	}
	return nil
}
