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

const (
	// whaleEventsShown is how many events a snapshot has at most.
	whaleEventsShown = 10

	// whaleEventsRecent is for how long an event is shown again from among the recent ones, longer than
	// it takes to look through those that are kept.
	whaleEventsRecent = 2 * time.Minute
)

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

// replayed are those that are kept: tens of thousands of all coins, which are looked through without
// the lock that everybody's events wait for.
func (ws *whaleEvents) replayed(_ context.Context, about string, from time.Time) iter.Seq2[replayed, error] {
	var kept []*whales.Event
	ws.arriving.mu.Lock()
	lists := ws.lists(about)
	ws.arriving.mu.Unlock()
	for _, list := range lists {
		for i := range list {
			if e := &list[i]; e.Time >= from.UnixMilli() || !e.Arrival.When().Before(from) {
				kept = append(kept, e)
			}
		}
	}
	slices.SortFunc(kept, func(x, y *whales.Event) int { return y.Compare(x) })
	return func(yield func(replayed, error) bool) {
		for _, e := range kept {
			if !yield(replayWhale(about, e), nil) {
				return
			}
		}
	}
}

// lists are the events of a coin, or of each for "". The caller holds the lock of [arriving], and may
// read them without.
func (ws *whaleEvents) lists(about string) (lists [][]whales.Event) {
	if about != "" {
		return [][]whales.Event{ws.newest.Of(about)}
	}
	for _, coin := range ws.newest.Coins() {
		lists = append(lists, ws.newest.Of(coin))
	}
	return lists
}

// recent are those that arrived since replayed has looked, and some before.
func (ws *whaleEvents) recent(about map[string]bool) (list []replayed) {
	since := market.ArrivalAt(ws.Now().Add(-whaleEventsRecent))
	for name := range about {
		for _, events := range ws.lists(name) {
			for i := range events {
				if e := &events[i]; e.Arrival >= since {
					list = append(list, replayWhale(name, e))
				}
			}
		}
	}
	return list
}

func replayWhale(about string, e *whales.Event) replayed {
	return replayed{about, whaleKey{e.Time, e.User, e.Coin}, e.Arrival, e.Time, whaleBody(e)}
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
