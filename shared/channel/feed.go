package channel

import (
	"slices"
	"strings"
)

// Feed names a WebSocket feed: the last part of its path, which the stage of its API
// carries as a variable.
type Feed string

// The feeds.
const (
	FeedChannels           Feed = "ws" // subscriptions by channel, see [Channels]
	FeedFills              Feed = "fills"
	FeedFilledOrders       Feed = "filled-orders"
	FeedClearinghouseState Feed = "clearinghouse-state"
)

// FeedEntry describes a feed.
type FeedEntry struct {
	Feed Feed
	// Dex says that a connection names the dex that it is about in the query.
	Dex bool
}

// Feeds lists the feeds. A client of each but the first names addresses.
var Feeds = []FeedEntry{
	{Feed: FeedChannels},
	{Feed: FeedFills},
	{Feed: FeedFilledOrders},
	{Feed: FeedClearinghouseState, Dex: true},
}

// Entry returns the entry of a feed, and whether there is one.
func (f Feed) Entry() (FeedEntry, bool) {
	i := slices.IndexFunc(Feeds, func(e FeedEntry) bool { return e.Feed == f })
	if i < 0 {
		return FeedEntry{}, false
	}
	return Feeds[i], true
}

// DexRule says what the name of a dex must be.
const DexRule = "the name of a dex, at most 32 letters, digits, _ or -, or empty for the main one"

// ValidDex reports whether a name may be that of a dex.
func ValidDex(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return len(name) <= 32 && strings.Trim(name, letters) == ""
}
