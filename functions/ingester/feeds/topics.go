package feeds

import (
	"strconv"
	"strings"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/channel"
	"quotary/shared/connections"
	"quotary/shared/market"
)

// Kinds of topics. A topic is named by its kind and what it is about, the part
// that may hold spaces last: "candle 1m BTC", "l2Book 5 2 BTC".
const (
	tradesTopic = "trades"     // coin
	bboTopic    = "bbo"        // coin
	bookTopic   = "l2Book"     // figures, mantissa, coin
	candleTopic = "candle"     // interval, coin
	ledgerTopic = "ledger"     // address
	ordersTopic = "openOrders" // address, dex

	userFillsTopic = "userFills" // address: the channel of /ws
	fillsTopic     = "fills"     // address: the feed /ws/fills
	filledTopic    = "filled"    // address: the feed /ws/filled-orders
	accountTopic   = "account"   // address, dex: the channel of /ws
	stateTopic     = "state"     // address, dex: the feed /ws/clearinghouse-state
)

const candleSpacing = 500 * time.Millisecond

func topicOf(kind string, about ...string) string {
	return kind + " " + strings.Join(about, " ")
}

func bookTopicOf(coin string, g market.Grouping) string {
	return topicOf(bookTopic, strconv.Itoa(g.Figs), strconv.Itoa(g.Mantissa), coin)
}

// groupingOf is how the prices of a subscription of a book are joined.
func groupingOf(s *channel.Subscription) market.Grouping {
	g := market.Grouping{Figs: s.NSigFigs, Mantissa: s.Mantissa}
	if g.Figs > 0 {
		g.Mantissa = max(1, g.Mantissa)
	}
	return g
}

// channelTopic is the topic of a subscription of /ws, "" for a channel that is
// not known here.
func channelTopic(s *channel.Subscription) string {
	switch s.Type {
	case channel.Trades:
		return topicOf(tradesTopic, s.Coin)
	case channel.BBO:
		return topicOf(bboTopic, s.Coin)
	case channel.L2Book:
		return bookTopicOf(s.Coin, groupingOf(s))
	case channel.Candle:
		return topicOf(candleTopic, s.Interval, s.Coin)
	case channel.UserFills:
		return topicOf(userFillsTopic, s.User)
	case channel.UserNonFundingLedgerUpdates:
		return topicOf(ledgerTopic, s.User)
	case channel.OpenOrders:
		return topicOf(ordersTopic, s.User, s.Dex)
	case channel.AccountState:
		return topicOf(accountTopic, s.User, s.Dex)
	}
	return ""
}

// addressTopic is the topic of an address on one of the address feeds.
func addressTopic(c *connections.Connection, address string) string {
	switch c.Feed {
	case channel.FeedFills:
		return topicOf(fillsTopic, address)
	case channel.FeedFilledOrders:
		return topicOf(filledTopic, address)
	case channel.FeedClearinghouseState:
		return topicOf(stateTopic, address, c.Dex)
	}
	return ""
}

// topic describes a topic to the hub.
func (f *Feeds) topic(name string) hub.Topic {
	kind, about, _ := strings.Cut(name, " ")
	switch kind {
	case tradesTopic:
		return hub.Topic{Guard: &f.trades.mu, Snapshot: func() []byte { return f.trades.snapshot(about) }}
	case bboTopic:
		return hub.Topic{Guard: &f.books.mu, Snapshot: func() []byte { return f.books.bestSnapshot(about) }}
	case bookTopic:
		figs, rest, _ := strings.Cut(about, " ")
		mantissa, coin, _ := strings.Cut(rest, " ")
		var g market.Grouping
		g.Figs, _ = strconv.Atoi(figs) // both were written by bookTopicOf
		g.Mantissa, _ = strconv.Atoi(mantissa)
		return hub.Topic{Guard: &f.books.mu, Snapshot: func() []byte { return f.books.snapshot(coin, g) },
			Silence: f.Silence, Stale: markStale}
	case candleTopic:
		return hub.Topic{Guard: &f.candles.mu, Snapshot: func() []byte { return f.candles.snapshot(name) }, Spacing: candleSpacing}
	case userFillsTopic:
		return hub.Topic{Guard: &f.fills.mu, Snapshot: func() []byte { return f.fills.snapshot(about) }}
	case ledgerTopic:
		return hub.Topic{Guard: &f.ledgers.mu, Snapshot: func() []byte { return f.ledgers.snapshot(about) }}
	case ordersTopic, accountTopic, stateTopic:
		address, dex, _ := strings.Cut(about, " ")
		key := accountKey{orders: kind == ordersTopic, address: address, dex: dex}
		f.accounts.want(key)
		return hub.Topic{Guard: &f.accounts.mu, Snapshot: func() []byte { return f.accounts.snapshot(key, name) }}
	}
	return hub.Topic{}
}
