package connections

import (
	"time"

	"quotary/shared/gate/channel"
)

// Event is one change of the table, as [Follower.Follow] yields it.
type Event interface{ event() }

// The events. Those of one connection come in the order in which they were
// made.
type (
	// Reset begins the difference between the events so far and a scan of the
	// whole table: at the start, where there were none, and after a gap in the
	// stream. It goes on to the next Live.
	Reset struct {
		Cause error // nil at the start
	}

	// Live ends a Reset: from here on events are as young as the stream.
	Live struct{}

	// Connected is a new connection.
	Connected struct{ Connection }

	// Seen is a message of a client.
	Seen struct {
		Connection string
		At         time.Time
	}

	// Pinged is a client that asks for a pong. It comes again after a restart.
	Pinged struct {
		Connection string
		At         time.Time
		Found      bool // as in [Subscribed]
	}

	// Subscribed is a new subscription of /ws. Whoever has no room for it calls
	// [Store.RefuseSubscription].
	Subscribed struct {
		Connection string // id
		channel.Subscription
		Reply Reply     // goes to the client before the snapshot
		At    time.Time // when it was made
		// Found means that the subscription was found by a scan: it may have been
		// answered already, by an ingester that has ended since.
		Found bool
	}

	// Unsubscribed ends one subscription of /ws.
	Unsubscribed struct {
		Connection string
		channel.Subscription
	}

	// AddressesAdded are addresses that an address feed follows from now on;
	// none of them was followed before. There may be none but the reply. Whoever has no
	// room for them calls [Store.RefuseAddresses].
	AddressesAdded struct {
		Pending
		Addresses []string
		Reply     Reply     // goes to the client before their data
		At        time.Time // when they were added
		Found     bool      // as in [Subscribed]
	}

	// AddressesRemoved are addresses that are followed no more.
	AddressesRemoved struct {
		Connection string
		Addresses  []string
	}

	// Answer is a reply that [Store.Answer] left. It comes again after a restart,
	// until [Store.Answered] has been called with it.
	Answer struct {
		Pending
		Reply Reply
		At    time.Time // when it was left
		Found bool      // as in [Subscribed]
	}

	// StatAsked is a client's request for figures. It comes again after a
	// restart, until [Store.Answered] has been called with it.
	StatAsked struct{ Pending }

	// CloseAsked is a client's request to be closed, after the replies to what it
	// sent before. It comes again after a restart, until the connection was removed.
	CloseAsked struct{ Connection string }

	// Disconnected is a connection that was removed, or that somebody has begun to
	// remove; it ends all that the connection followed.
	Disconnected struct{ Connection }

	// CountAsked asks for what is there to be counted under a cap that was set where there
	// was none: nothing more gets in until [Store.CountAll] has done so. It comes again
	// until then.
	CountAsked struct {
		Distributor string // whose cap it is, or that of a sub-key of it

		owner string // partition key of the owner's shards, without the number
		kind  kind
		cap   int64
		since int64 // when it was set, ms
	}

	// Stray is a connection of which something has been in the table for a minute without
	// the connection, or since its removal began: whoever wrote or removed it has
	// crashed. It comes again every minute until [Store.Remove] has removed that.
	Stray struct{ Connection string }
)

// Pending is what the table holds until the ingester has answered it.
type Pending struct {
	Connection string
	item       string // its sort key
}

func (Reset) event()            {}
func (Live) event()             {}
func (Connected) event()        {}
func (Seen) event()             {}
func (Pinged) event()           {}
func (Subscribed) event()       {}
func (Unsubscribed) event()     {}
func (AddressesAdded) event()   {}
func (AddressesRemoved) event() {}
func (Answer) event()           {}
func (StatAsked) event()        {}
func (CloseAsked) event()       {}
func (CountAsked) event()       {}
func (Disconnected) event()     {}
func (Stray) event()            {}
