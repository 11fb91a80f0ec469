package feeds

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/whales"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// whaleEventsShown is how many events a snapshot has at most.
const whaleEventsShown = 10

// whaleEvents publishes what whales do with their positions, to who follows all of it or a coin. It
// is folded behind the fills, so that an event has its place in the order of arrival as it is published; what
// was kept of before the start has the place of then. All is guarded by the lock of arriving.
type whaleEvents struct {
	base
	newest whales.Newest
	begun  chan struct{} // closed once what was kept of before is known
}

func newWhaleEvents(b base) publisher {
	return &whaleEvents{base: b, begun: make(chan struct{})}
}

func (*whaleEvents) about(s *channel.Subscription) string { return s.About() }

// topic has a snapshot even of no events at all, so that every subscription starts with one.
func (ws *whaleEvents) topic(coin string) hub.Topic {
	return hub.Topic{Guard: &ws.arriving.mu, Place: func() int64 { return ws.placeOf(ws.known()) }, Snapshot: func() [][]byte {
		var last [][]byte
		for _, e := range ws.newest.Latest(coin, whaleEventsShown) {
			last = append(last, whaleBody(&e))
		}
		slices.Reverse(last)
		return hub.Single(asSnapshot(whaleEventsFrame(last), ws.known()))
	}}
}

func (ws *whaleEvents) known() bool {
	select {
	case <-ws.begun:
		return true
	default:
		return false
	}
}

// prepare waits for what was kept of before the start, which comes with the first batch.
func (ws *whaleEvents) prepare(string, *channel.Subscription) (load func(context.Context) error, release func()) {
	if ws.known() {
		return nil, nil
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		select {
		case <-ws.begun:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for what whales did before: %w", ctx.Err())
		}
	}, func() {}
}

// applied publishes what a batch has made known, one frame a coin and one for all.
func (ws *whaleEvents) applied(folded WhaleFolds) {
	ws.arriving.mu.Lock()
	defer ws.arriving.mu.Unlock()
	if !ws.known() {
		ws.newest = folded.KnownWhaleEvents()
		close(ws.begun)
	}
	bodies := map[string][][]byte{} // by coin, and of all as ""
	last := map[string]market.Arrival{}
	folded.WhaleEvents(func(e *whales.Event) {
		e.Arrival = ws.arriving.next(false)
		ws.newest.Keep(*e)
		body := whaleBody(e)
		for _, coin := range [...]string{"", e.Coin} {
			bodies[coin], last[coin] = append(bodies[coin], body), e.Arrival
		}
	})
	for coin, list := range bodies {
		if topic := ws.topicName(coin); ws.hub.Watched(topic) {
			ws.hub.PublishAt(topic, whaleEventsFrame(list), int64(last[coin]))
		}
	}
}

func whaleBody(e *whales.Event) []byte {
	body, err := json.Marshal(e.Wire())
	if err != nil {
		panic("feeds: " + err.Error()) // it is texts and numbers
	}
	return body
}

func whaleEventsFrame(bodies [][]byte) []byte {
	return append(appendList(inChannel(channel.WhaleEvents), bodies), '}')
}

// datasets are none: what is kept is all in memory.
func (*whaleEvents) datasets() []string { return nil }

func (*whaleEvents) replayed(context.Context, string, time.Time) iter.Seq2[replayed, error] {
	return func(func(replayed, error) bool) {}
}

func (ws *whaleEvents) recent(about func(string) bool) (list []replayed) {
	for _, name := range ws.newest.Coins() {
		for _, coin := range [...]string{"", name} {
			if !about(coin) {
				continue
			}
			for _, e := range ws.newest.Of(name) {
				list = append(list, replayed{coin, whaleKey{e.Time, e.User, e.Coin}, e.Arrival, e.Time, whaleBody(&e)})
			}
		}
	}
	return list
}

// whaleKey is what makes an event one.
type whaleKey struct {
	ms         int64
	user, coin string
}

// reaches reports whether all that happened since a time, ms, or arrived behind a cursor is kept: of
// each coin the newest are.
func (ws *whaleEvents) reaches(about string, after *market.ArrivalCursor, since int64) bool {
	for _, name := range ws.newest.Coins() {
		list := ws.newest.Of(name)
		if about != "" && about != name || len(list) < whales.MostEvents {
			continue
		}
		if oldest := &list[0]; since > 0 && oldest.Time > since || since == 0 && after.Before(oldest.Arrival.Or(oldest.Time)) {
			return false
		}
	}
	return ws.known()
}

func (*whaleEvents) replayFrame(_ string, bodies [][]byte) []byte { return whaleEventsFrame(bodies) }
