package feeds

import (
	"context"
	"strings"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// publishers lists who serves each channel of /ws and each feed of addresses, by its
// name in the registry.
var publishers = map[string]func(base) publisher{
	string(channel.L2Book):                      newBooks,
	string(channel.BBO):                         newBestPrices,
	string(channel.Trades):                      newTrades,
	string(channel.Candle):                      newCandles,
	string(channel.UserFills):                   newUserFills,
	string(channel.UserNonFundingLedgerUpdates): newLedgerUpdates,
	string(channel.AccountState):                newAccountState,
	string(channel.OpenOrders):                  newOpenOrders,
	string(channel.AllMids):                     newAllMids,
	string(channel.ActiveAssetCtx):              newAssetContexts,
	string(channel.OrderUpdates):                newOrderUpdates,
	string(channel.UserEvents):                  newUserEvents,
	string(channel.UserFundings):                newUserFundings,
	string(channel.Liquidations):                newLiquidations,
	string(channel.WhaleEvents):                 newWhaleEvents,

	string(channel.FeedFills):              newFillFeed,
	string(channel.FeedFilledOrders):       newOrderFeed,
	string(channel.FeedClearinghouseState): newStateFeed,
}

// A publisher serves one channel of /ws, or one feed of addresses. It keeps the
// present state of what it shows under a lock of its own, which is the Guard of its
// topics, and publishes what changes.
//
// A publisher may also be a [consumer], a [lateConsumer] or [lateKeeper], an [hourConsumer], a [preparer], a
// [historian], a [runner], a [pruner], a [resumer] or a [replayer].
type publisher interface {
	// about says what a subscription shows, the same for all that show the same. On a
	// feed of addresses User and Dex of the subscription are set.
	about(s *channel.Subscription) string
	// topic describes to the hub the topic of what a subscription is about.
	topic(about string) hub.Topic
}

// A consumer publishes what sources deliver.
type consumer interface {
	// consume is called by several sources at a time, but with fills, orders, ledger updates and
	// trades by one, which holds the lock of [arriving]. Fills and ledger updates are those that
	// no source delivered before. It must not change the events or keep them.
	consume(e *market.Events)
}

// A lateConsumer publishes what happened too long ago to be shown as what happens now,
// to those who were connected then: what a source delivers late, and what was missed
// before the start.
type lateConsumer interface {
	// consumeLate takes events that somebody who is connected may have missed, under the lock of
	// [arriving]. It must not change them or keep them. Those before the start come again where it is
	// interrupted.
	consumeLate(e *market.Events, beforeStart bool)
}

// A lateKeeper shows late events to who comes later too, so that it takes all, whoever was connected
// then.
type lateKeeper interface {
	lateConsumer
	keepsLate()
}

// An hourConsumer publishes what only an hour of the venue has, to whoever follows it by now: nobody knew of it before.
type hourConsumer interface {
	// consumeHour takes new fills and ledger updates of an hour, and payments that may have come before, under the lock of
	// [arriving]. It must not change them or keep them.
	consumeHour(e *market.Events)
}

// A preparer needs more than what was received since the start.
type preparer interface {
	// prepare returns what completes the state before the snapshot of a subscription of a
	// distributor is taken, and what ends the need for it afterwards; nil for nothing.
	prepare(distributor string, s *channel.Subscription) (load func(context.Context) error, release func())
}

// A historian's snapshots may show what happened before the start: while that is being
// read they wait for it, and say that they are incomplete where they cannot.
type historian interface {
	history() bool
}

// A runner works beside the sources, until ctx ends.
type runner interface {
	run(ctx context.Context) error
}

// A pruner forgets, now and then, what nobody follows.
type pruner interface {
	prune()
}

// A resumer publishes events without a snapshot, and goes on after a restart from
// where they were published to.
type resumer interface {
	position() *position
}

// subscribers are those whom publishers publish to; a [*hub.Hub] has them.
type subscribers interface {
	Followers(topics ...string) []string
	Watched(topic string) bool
	Publish(topic string, frame []byte, kind hub.Kind)
	PublishAt(topic string, frame []byte, place int64)
	PublishSnapshot(topic string, frames [][]byte, place int64)
	PublishLate(topic string, frame []byte, at time.Time, place int64)
}

// base is what publishers share.
type base struct {
	*Config
	name     string // of the channel or feed
	hub      subscribers
	accounts *accounts
	loads    *loads
	arriving *arriving
}

// topicName names a topic: by its publisher, and what it is about.
func (b *base) topicName(about string) string { return b.name + " " + about }

// coinTopic is the embedded part of publishers whose topics are about a coin.
type coinTopic struct{}

func (coinTopic) about(s *channel.Subscription) string { return s.Coin }

// addressTopic is the embedded part of publishers whose topics are about an address.
type addressTopic struct{}

func (addressTopic) about(s *channel.Subscription) string { return s.User }

// completeSnapshots calls complete when the past is read, until it succeeds or ctx ends.
func (b *base) completeSnapshots(ctx context.Context, complete func(context.Context) error) error {
	select {
	case <-b.PastRead: // nil where nothing is read
	case <-ctx.Done():
		return nil
	}
	for try := 0; ; try++ {
		err := complete(ctx)
		if err == nil || ctx.Err() != nil {
			return unlessEnded(ctx, err)
		}
		b.Logger.Warn("snapshots are still incomplete; trying again", "channel", b.name, "error", err.Error())
		if err := claims.Wait(ctx, try); err != nil {
			return unlessEnded(ctx, err)
		}
	}
}

// newPublishers makes all of them.
func newPublishers(b base) map[string]publisher {
	all := make(map[string]publisher, len(publishers))
	for name, make := range publishers {
		b.name = name
		all[name] = make(b)
	}
	return all
}

// topic describes a topic to the hub.
func (f *Feeds) topic(topicName string) hub.Topic {
	name, about, _ := strings.Cut(topicName, " ")
	if p := f.publishers[name]; p != nil {
		return p.topic(about)
	}
	return hub.Topic{}
}

// topicOf returns the name of the topic that shows a subscription, and its publisher;
// nil where there is none.
func (f *Feeds) topicOf(name string, s *channel.Subscription) (string, publisher) {
	p := f.publishers[name]
	if p == nil {
		return "", nil
	}
	return name + " " + p.about(s), p
}

// freshFor is how old an event may be that is published as what happens now. What a
// source delivers of longer ago is late, see [lateConsumer].
const freshFor = market.LateAfter

// hourFor is how old an event may be at most that an hour of the venue brings as new: it is passed over six hours behind
// its end.
const hourFor = 8 * time.Hour

// comesSince is the time from which on a source may deliver events, once more too, as what is new, ms.
func (b *base) comesSince() int64 {
	if b.Hours {
		return b.Now().Add(-hourFor).UnixMilli()
	}
	return b.freshSince()
}

// freshSince is the time from which on events are published, ms.
func (b *base) freshSince() int64 { return b.Now().Add(-freshFor).UnixMilli() }
