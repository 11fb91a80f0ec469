package connections

import (
	"strconv"
	"time"
)

// Channel is a kind of subscription on /ws, by its name on the wire.
type Channel string

// The channels of /ws.
const (
	L2Book                      Channel = "l2Book"
	BBO                         Channel = "bbo"
	Trades                      Channel = "trades"
	Candle                      Channel = "candle"
	UserFills                   Channel = "userFills"
	UserNonFundingLedgerUpdates Channel = "userNonFundingLedgerUpdates"
	AccountState                Channel = "clearinghouseState"
	OpenOrders                  Channel = "openOrders"
)

// Wallet tells whether the channel follows an account. A connection has one
// subscription of such a channel.
func (c Channel) Wallet() bool {
	switch c {
	case UserFills, UserNonFundingLedgerUpdates, AccountState, OpenOrders:
		return true
	}
	return false
}

// Subscription is what one subscribe message on /ws asks for. Which fields
// apply depends on Type; the others are zero.
type Subscription struct {
	Type     Channel
	Coin     string // l2Book, bbo, trades, candle
	Interval string // candle: 1s 5s 15s 1m 15m 1h 4h
	NSigFigs int    // l2Book: 2 to 5, 0 = all figures
	Mantissa int    // l2Book with NSigFigs 5: 2 or 5, 0 = 1
	User     string // wallet channels: an address in lower case
	Dex      string // clearinghouseState, openOrders: "" is the main dex
}

// Key tells the subscriptions of a connection apart: the channel; the coin; the
// interval of a candle; nSigFigs and mantissa of a book where they are given.
// A wallet channel has one key.
func (s *Subscription) Key() string {
	if s.Type.Wallet() {
		return string(s.Type)
	}
	key := string(s.Type) + "#" + s.Coin
	if s.Interval != "" {
		key += "#" + s.Interval
	}
	if s.NSigFigs != 0 {
		key += "#" + strconv.Itoa(s.NSigFigs)
	}
	if s.Mantissa != 0 {
		key += "#" + strconv.Itoa(s.Mantissa)
	}
	return key
}

// Subscribed is a subscription as it stands in the table.
type Subscribed struct {
	Connection string // id
	Subscription
	Reply []byte    // the frame that goes to the client before the snapshot
	At    time.Time // when it was made
	// Found tells that the subscription was found by a scan: it may have been
	// answered already, by an ingester that has ended since.
	Found bool
}
