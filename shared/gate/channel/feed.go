package channel

import (
	"slices"
	"strings"
	"sync"

	"quotary/shared/catalog"
)

// Feed names a WebSocket feed as [catalog.Endpoint.Feed] does. The stage of its API
// carries the name as a variable.
type Feed string

// The feeds.
var (
	FeedChannels           = Feed(catalog.FeedChannels.Feed()) // subscriptions by channel, see [Channels]
	FeedFills              = Feed(catalog.FeedFills.Feed())
	FeedFilledOrders       = Feed(catalog.FeedFilledOrders.Feed())
	FeedClearinghouseState = Feed(catalog.FeedClearinghouseState.Feed())
)

// Feeds lists the feeds of the catalog. A client of each but [FeedChannels] names
// addresses.
var Feeds = func() (list []Feed) {
	for _, e := range catalog.All() {
		if name := e.Feed(); name != "" {
			list = append(list, Feed(name))
		}
	}
	return list
}()

// Known reports whether there is a feed of that name.
func (f Feed) Known() bool { return slices.Contains(Feeds, f) }

// TakesDex reports whether a connection names the dex that it is about in the query.
func (f Feed) TakesDex() bool { return f == FeedClearinghouseState }

// Needs are the datasets of which the feed shows something, see [Channel]; none of that of channels.
func (f Feed) Needs() []*catalog.Dataset {
	switch f {
	case FeedFills:
		return fills
	case FeedFilledOrders:
		return orders
	}
	return nil
}

// Action returns the action that a level must list to open the feed.
func (f Feed) Action() string { return actions()[f] }

var actions = sync.OnceValue(func() map[Feed]string {
	of := map[Feed]string{}
	for _, e := range catalog.All() {
		if name := e.Feed(); name != "" {
			of[Feed(name)] = e.Access.Name
		}
	}
	return of
})

// DexRule says what the name of a dex must be.
const DexRule = "the name of a dex, at most 32 letters, digits, _ or -, or empty for the main one"

// ValidDex reports whether a name may be that of a dex.
func ValidDex(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return len(name) <= 32 && strings.Trim(name, letters) == ""
}
