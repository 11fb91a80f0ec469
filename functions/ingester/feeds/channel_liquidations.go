package feeds

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/fills"
	liquidated "quotary/shared/data/liquidations"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

const (
	// liquidationsShown is how many events a snapshot has at most.
	liquidationsShown = 10
	// liquidationsKept bounds the events that are kept for snapshots, those of liquidationsBack.
	liquidationsKept = 20_000
	liquidationsBack = 24 * time.Hour
	// liquidationsAFrame bounds the rows of one frame, which are some 400 bytes each.
	liquidationsAFrame = 200
	// liquidationsRecent is for how long an event is shown again from here: its row is written
	// some seconds after those of its fills.
	liquidationsRecent = 2 * time.Minute
)

// liquidations publishes what is liquidated, to who follows all of it, a coin, or what is worth
// enough: an event a row. A row is published with the fills that its delivery brings: those of a
// whole block, where the node writes a line a block. Where it writes a line a fill, what is
// delivered later is a part of the event in snapshots and in what is shown again, and is not
// published. Everything but the filters is guarded by the lock of arriving, which is taken before
// theirs.
type liquidations struct {
	base

	newest liquidationList         // of all
	kept   map[liquidationKey]bool // the same

	reading sync.Mutex // is held while the last are read
	read    bool       // they are

	past pastLiquidations

	filtersMu sync.Mutex
	filters   map[string]*liquidationFilter  // of the topics, by what they are about
	byCoin    map[string]*liquidationFilters // the same
}

func newLiquidations(b base) publisher {
	return &liquidations{base: b, kept: map[liquidationKey]bool{}, filters: map[string]*liquidationFilter{}, byCoin: map[string]*liquidationFilters{}}
}

func (*liquidations) about(s *channel.Subscription) string { return s.About() }

// filter is that of a topic, by what it is about, and is kept while somebody follows it.
func (ls *liquidations) filter(about string) *liquidationFilter {
	ls.filtersMu.Lock()
	defer ls.filtersMu.Unlock()
	f := ls.filters[about]
	if f == nil {
		coin, text, _ := strings.Cut(about, "=")
		least, _ := market.ParseDecimal(cmp.Or(text, "0")) // it was read before
		f = &liquidationFilter{about: about, topic: ls.topicName(about), coin: coin, least: least}
		ls.filters[about] = f
		if ls.byCoin[coin] == nil {
			ls.byCoin[coin] = &liquidationFilters{}
		}
		ls.byCoin[coin].add(f)
	}
	f.idle = false
	return f
}

// topic has a snapshot even of no events at all, so that every subscription starts with one.
func (ls *liquidations) topic(about string) hub.Topic {
	filter := ls.filter(about)
	return hub.Topic{Guard: &ls.arriving.mu, Place: func() int64 { return ls.placeOf(ls.read) }, Snapshot: func() [][]byte {
		var last [][]byte
		for e := range ls.newest.backward(filter) {
			if filter.shows(e) {
				last = append(last, e.AppendJSON(nil))
			}
			if len(last) == liquidationsShown {
				break
			}
		}
		slices.Reverse(last)
		return hub.Single(asSnapshot(liquidationsFrame(last), ls.read))
	}}
}

// history is what happened before the start: snapshots wait until it is read.
func (*liquidations) history() bool { return true }

// prepare reads the last events, once.
func (ls *liquidations) prepare(string, *channel.Subscription) (load func(context.Context) error, release func()) {
	ls.arriving.mu.Lock()
	defer ls.arriving.mu.Unlock()
	if ls.read {
		return nil, nil
	}
	return ls.load, func() {}
}

func (ls *liquidations) load(ctx context.Context) error {
	ls.reading.Lock()
	defer ls.reading.Unlock()
	ls.arriving.mu.Lock()
	read := ls.read
	ls.arriving.mu.Unlock()
	if read {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var list []market.LiquidationEvent
	for e, err := range liquidated.Newest(ctx, ls.Series, ls.Now().Add(-liquidationsBack)) {
		if err != nil {
			return err
		}
		if list = append(list, e); len(list) == liquidationsKept {
			break
		}
	}
	ls.arriving.mu.Lock()
	defer ls.arriving.mu.Unlock()
	for i := range slices.Backward(list) {
		ls.keep(&list[i])
	}
	ls.read = true
	return nil
}

// keep keeps an event, or a part of one, and reports whether it is a new one.
func (ls *liquidations) keep(e *market.LiquidationEvent) bool {
	key := keyOfLiquidation(e)
	if ls.kept[key] {
		ls.newest.merge(e, key.second)
		return false
	}
	ls.kept[key] = true
	ls.newest.insert(e)
	if n := len(ls.newest.events) - liquidationsKept; n > liquidationsKept/10 {
		for i := range ls.newest.events[:n] {
			delete(ls.kept, keyOfLiquidation(&ls.newest.events[i]))
		}
		ls.newest.drop(n)
	}
	return true
}

// taken are the events of some fills, each whole, by the order of arrival.
func (ls *liquidations) taken(list []market.Fill) (events []market.LiquidationEvent) {
	at := map[liquidationKey]int{}
	for i := range list {
		e, ok := market.LiquidationOf(&list[i])
		if !ok {
			continue
		}
		key := keyOfLiquidation(&e)
		if n, has := at[key]; has {
			events[n].Add(&e)
		} else {
			at[key] = len(events)
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(a, b market.LiquidationEvent) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return slices.DeleteFunc(events, func(e market.LiquidationEvent) bool { return !ls.keep(&e) })
}

// consume publishes the events that are new, in one frame a topic.
func (ls *liquidations) consume(e *market.Events) {
	events := ls.taken(e.Fills)
	if len(events) == 0 {
		return
	}
	ls.publish(events, func(topic string, frame []byte, last *market.LiquidationEvent) {
		ls.hub.PublishAt(topic, frame, int64(last.Arrival))
	})
}

func (*liquidations) keepsLate() {}

// consumeLate keeps late events, and shows them to those who began with what came before.
func (ls *liquidations) consumeLate(e *market.Events, _ bool) {
	for _, one := range ls.taken(e.Fills) {
		ls.publish([]market.LiquidationEvent{one}, func(topic string, frame []byte, last *market.LiquidationEvent) {
			ls.hub.PublishLate(topic, frame, time.UnixMilli(last.Time), int64(last.Arrival))
		})
	}
}

// publish makes the frames of the topics that somebody follows.
func (ls *liquidations) publish(events []market.LiquidationEvent, send func(topic string, frame []byte, last *market.LiquidationEvent)) {
	ls.filtersMu.Lock()
	defer ls.filtersMu.Unlock()
	for some := range slices.Chunk(events, liquidationsAFrame) {
		frames := newLiquidationFrames(some)
		for filter := range ls.showing(frames) {
			if ls.hub.Watched(filter.topic) {
				frame, last := frames.of(filter)
				send(filter.topic, frame, last)
			}
		}
	}
}

// showing are the filters that show any of the events of frames: those who want what is worth more
// cost nothing. The caller holds filtersMu.
func (ls *liquidations) showing(frames *liquidationFrames) iter.Seq[*liquidationFilter] {
	return func(yield func(*liquidationFilter) bool) {
		for coin, values := range frames.values {
			of := ls.byCoin[coin]
			if of == nil {
				continue
			}
			for filter := range of.upTo(values[len(values)-1]) {
				if !yield(filter) {
					return
				}
			}
		}
	}
}

// liquidationFrames are the frames of some events, of which a filter shows those of a coin, or of
// all, that are the largest. So there are at most two for each event, however many filters there are.
type liquidationFrames struct {
	events []market.LiquidationEvent
	bodies [][]byte
	values map[string][]market.Decimal // of the events by coin, and of all as "", in order
	made   map[shownLiquidations]madeFrame
}

// shownLiquidations are the largest of a coin.
type shownLiquidations struct {
	coin string // "" is any
	n    int
}

type madeFrame struct {
	frame []byte
	last  *market.LiquidationEvent // that it has
}

func newLiquidationFrames(events []market.LiquidationEvent) *liquidationFrames {
	f := &liquidationFrames{events: events, bodies: make([][]byte, len(events)), values: map[string][]market.Decimal{}, made: map[shownLiquidations]madeFrame{}}
	for i := range events {
		e := &events[i]
		f.bodies[i] = e.AppendJSON(make([]byte, 0, 384))
		f.values[""], f.values[e.Coin] = append(f.values[""], e.Value), append(f.values[e.Coin], e.Value)
	}
	for _, values := range f.values {
		slices.SortFunc(values, market.Decimal.Cmp)
	}
	return f
}

// of is the frame of a filter and the last event in it, nil where it shows none.
func (f *liquidationFrames) of(filter *liquidationFilter) ([]byte, *market.LiquidationEvent) {
	values := f.values[filter.coin]
	smaller, _ := slices.BinarySearchFunc(values, filter.least, market.Decimal.Cmp)
	shown := shownLiquidations{filter.coin, len(values) - smaller}
	if shown.n == 0 {
		return nil, nil
	}
	one, made := f.made[shown]
	if !made {
		var bodies [][]byte
		for i := range f.events {
			if e := &f.events[i]; filter.shows(e) {
				bodies, one.last = append(bodies, f.bodies[i]), e
			}
		}
		one.frame = liquidationsFrame(bodies)
		f.made[shown] = one
	}
	return one.frame, one.last
}

// prune forgets the filters of topics that nobody has followed for a while.
func (ls *liquidations) prune() {
	ls.filtersMu.Lock()
	defer ls.filtersMu.Unlock()
	for coin, of := range ls.byCoin {
		of.remove(func(filter *liquidationFilter) bool {
			idle := filter.idle
			filter.idle = !ls.hub.Watched(filter.topic)
			if idle = idle && filter.idle; idle {
				delete(ls.filters, filter.about)
			}
			return idle
		})
		if len(of.blocks) == 0 {
			delete(ls.byCoin, coin)
		}
	}
	ls.past.forget(ls.Now())
}

func liquidationsFrame(bodies [][]byte) []byte {
	return append(appendList(inChannel(channel.Liquidations), bodies), '}')
}

func (*liquidations) datasets() []string { return []string{fills.Name, liquidated.Name} }

func (ls *liquidations) replayed(ctx context.Context, about string, from time.Time) iter.Seq2[replayed, error] {
	filter := ls.filter(about)
	list, err := ls.past.since(ctx, ls.Series, from, ls.Now())
	return func(yield func(replayed, error) bool) {
		if err != nil {
			yield(replayed{}, err)
			return
		}
		for i := range list {
			if e := &list[i]; e.Time >= from.UnixMilli() && filter.shows(e) && !yield(ls.replay(about, e), nil) {
				return
			}
		}
	}
}

// reaches is about what was read in this process: see [partial].
func (ls *liquidations) reaches(_ string, after *market.ArrivalCursor, since int64) bool {
	if since == 0 {
		since = after.Fresh.When().UnixMilli()
	}
	return since >= ls.past.cut.Load()
}

func (ls *liquidations) recent(about map[string]bool) (list []replayed) {
	since := market.ArrivalAt(ls.Now().Add(-liquidationsRecent))
	var arrived []*market.LiquidationEvent
	for i := range ls.newest.events {
		if e := &ls.newest.events[i]; e.Arrival >= since {
			arrived = append(arrived, e)
		}
	}
	for name := range about {
		filter := ls.filter(name)
		for _, e := range arrived {
			if filter.shows(e) {
				list = append(list, ls.replay(name, e))
			}
		}
	}
	return list
}

// liquidationKey is what makes an event one.
type liquidationKey struct {
	second        int64
	address, coin string
	oid           int64
}

func keyOfLiquidation(e *market.LiquidationEvent) liquidationKey {
	return liquidationKey{market.Second1.StartMs(e.Time), e.Address, e.Coin, e.Oid}
}

func (*liquidations) replay(about string, e *market.LiquidationEvent) replayed {
	return replayed{about, keyOfLiquidation(e), e.Arrival, e.Time, e.AppendJSON(nil)}
}

func (*liquidations) replayFrame(_ string, bodies [][]byte) []byte { return liquidationsFrame(bodies) }
