package feeds

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/shared/data/arrivals"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// A subscription that names a cursor, or a time, begins with what came after it: what is stored
// of that, and what arrived so lately that it may not be stored yet. Both are read in this
// order, and the second under the lock under which events are published, so that each event is
// either shown again or published.

// A replayer is a publisher whose events can be shown again.
type replayer interface {
	publisher
	// datasets are the logs that it reads, by whose names is known how late events are.
	datasets() []string
	// replayed are the stored events of a subject from a time on, newest first.
	replayed(ctx context.Context, about string, from time.Time) iter.Seq2[replayed, error]
	// recent are those of some subjects that arrived lately. The caller holds the lock of
	// [arriving].
	recent(about map[string]bool) []replayed
	// replayFrame is the frame of events; on a feed of addresses there is one of them.
	replayFrame(about string, bodies [][]byte) []byte
}

// A partial replayer keeps only so much of what happened.
type partial interface {
	// reaches reports whether all is kept that happened to a subject since a time, ms, or, where that
	// is 0, arrived behind a cursor. The caller holds the lock of [arriving].
	reaches(about string, after *market.ArrivalCursor, since int64) bool
}

// replayed is an event that is shown again.
type replayed struct {
	about string
	key   any            // what makes it one
	at    market.Arrival // 0 where it was stored before places were
	ms    int64          // when it happened
	body  []byte         // as a frame has it
}

func (r *replayed) place() market.Arrival { return r.at.Or(r.ms) }

const (
	// resumeBack is how far back a subscription may begin, tradesBack one of trades.
	resumeBack = 24 * time.Hour
	tradesBack = time.Hour
	// replayMost is how many events a subscription begins with at most, addressReplayMost a
	// message on a feed of addresses, which are a frame each: those that happen meanwhile wait.
	replayMost        = 10_000
	addressReplayMost = 1000
	// replayPassed is how many events a message has read at most that are not shown, as they arrived before:
	// a cursor may say that what is late was last known a day ago, and be made up.
	replayPassed = 20_000
	// replayReads is how many subjects of one message are read at a time.
	replayReads = 16
	// replayMay is how long a replay may take, with the wait for its turn and for a client that reads
	// slowly. One that began so shortly before an earlier run of the feeds has sent its last reply is
	// done again: nobody knows whether it was.
	replayMay = 5 * time.Minute
	// storesBehind is how far behind the stores may be, shorter than events are kept here.
	storesBehind = recentFor - 5*time.Second
)

// replay is the beginning of a subscription, or of the addresses of a message.
type replay struct {
	replayer
	name     string   // of the channel or feed
	subjects []string // what it is about, each
	after    market.ArrivalCursor
	since    int64 // ms; 0: behind the cursor
	most     int
	back     time.Duration

	passed atomic.Int64 // events that were read, and are not shown
	floor  atomic.Int64 // ms: of what happened since there are as many as are shown; 0: of nothing

	mu         sync.Mutex
	events     []replayed
	seen       map[any]bool // keys of the events at the last cut
	incomplete bool
}

// newReplay is nil where what is asked for cannot begin but now.
func newReplay(name string, p publisher, from channel.Resume, subjects []string) *replay {
	r, ok := p.(replayer)
	if !ok || from == (channel.Resume{}) {
		return nil
	}
	all := &replay{replayer: r, name: name, subjects: subjects, since: from.Since, most: replayMost, back: resumeBack, seen: map[any]bool{}}
	if channel.Feed(name).Known() {
		all.most = addressReplayMost
	}
	if _, ok := p.(*trades); ok {
		all.back = tradesBack
	}
	if from.Cursor != "" {
		c, err := market.ParseArrivalCursor(from.Cursor)
		if err != nil {
			return nil // the function has read it
		}
		all.after = c
	}
	return all
}

// wants reports whether an event is one of those.
func (r *replay) wants(e *replayed) bool {
	if r.since > 0 {
		return e.ms >= r.since
	}
	return r.after.Before(e.place())
}

// read reads what is stored.
func (r *replay) read(ctx context.Context, f *Feeds) error {
	from, oldest := time.UnixMilli(r.since), f.Now().Add(-r.back)
	if r.since == 0 {
		from = r.after.Fresh.When().Add(-arrivals.NotedAfter)
		for _, name := range r.datasets() {
			since, err := arrivals.Since(ctx, f.Series, name, &r.after, oldest)
			if err != nil {
				return err
			}
			if since.Before(from) {
				from = since
			}
		}
	}
	if r.incomplete = from.Before(oldest.Add(-arrivals.NotedAfter)) || r.since > 0 && from.Before(oldest); from.Before(oldest) {
		from = oldest
	}
	group, ctx := guard.WithContext(ctx)
	group.SetLimit(replayReads)
	for _, subject := range r.subjects {
		group.Go(func() error { return r.readOne(ctx, subject, from) })
	}
	err := group.Wait()
	r.cut() // all that there is to do before the locks are taken
	return err
}

func (r *replay) readOne(ctx context.Context, subject string, from time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var list []replayed
	all := true
	for e, err := range r.replayed(ctx, subject, from) {
		if err != nil {
			return fmt.Errorf("read what came after a cursor: %w", err)
		}
		if e.ms < r.floor.Load() {
			break
		}
		if r.wants(&e) {
			list = append(list, e)
		} else if all = r.passed.Add(1) <= replayPassed; !all {
			break
		}
		if len(list) > r.most {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.incomplete = r.incomplete || !all
	if r.events = append(r.events, list...); len(r.events) > 2*r.most {
		r.cut()
	}
	return nil
}

// cut brings the events into the order of arrival, each once, and leaves the newest.
func (r *replay) cut() {
	r.sort()
	r.seen = make(map[any]bool, len(r.events))
	r.events = slices.DeleteFunc(r.events, func(e replayed) bool { return !r.first(&e) })
	r.bound()
}

// first reports whether an event is not among those that were seen, and notes that it was: it may be
// stored already, or was delivered again after a restart.
func (r *replay) first(e *replayed) bool {
	double := r.seen[e.key]
	r.seen[e.key] = true
	return !double
}

func (r *replay) sort() {
	slices.SortFunc(r.events, func(a, b replayed) int { return cmp.Compare(a.place(), b.place()) })
}

// bound leaves the newest events.
func (r *replay) bound() {
	if n := len(r.events) - r.most; n > 0 {
		r.events, r.incomplete = append(r.events[:0], r.events[n:]...), true
		place := r.events[0].place()
		r.floor.Store(place.When().UnixMilli())
	}
}

// frames are what is sent of what was read, with what arrived lately. The caller holds the lock of
// [arriving].
func (r *replay) frames(a *arriving) hub.Replayed {
	subjects := make(map[string]bool, len(r.subjects))
	for _, subject := range r.subjects {
		subjects[subject] = true
	}
	before := len(r.events)
	for _, e := range r.recent(subjects) {
		if r.wants(&e) && r.first(&e) {
			r.events = append(r.events, e)
		}
	}
	if len(r.events) > before {
		r.sort()
		r.bound()
	}
	r.incomplete = r.incomplete || a.behind() > storesBehind
	if p, ok := r.replayer.(partial); ok {
		r.incomplete = r.incomplete || slices.ContainsFunc(r.subjects, func(about string) bool { return !p.reaches(about, &r.after, r.since) })
	}
	all := hub.Replayed{Fresh: int64(r.after.Fresh), Late: int64(r.after.Late)}
	for rest := r.events; len(rest) > 0; {
		n := r.fit(rest)
		bodies := make([][]byte, n)
		for i := range bodies {
			bodies[i] = rest[i].body
		}
		all.Frames = append(all.Frames, r.replayFrame(rest[0].about, bodies))
		all.Places = append(all.Places, int64(rest[n-1].place()))
		rest = rest[n:]
	}
	if r.incomplete {
		if len(all.Frames) == 0 {
			all.Frames, all.Places = [][]byte{r.noEvents()}, []int64{int64(a.next(false))}
		}
		all.Frames[0] = append(all.Frames[0][:len(all.Frames[0])-1], `,"incomplete":true}`...)
	}
	return all
}

// fit is how many of the events a frame takes.
func (r *replay) fit(list []replayed) (n int) {
	if channel.Feed(r.name).Known() {
		return 1
	}
	for size := 0; n < min(len(list), frameTrades); n++ {
		if size += len(list[n].body) + 1; n > 0 && size > frameMost {
			break
		}
	}
	return n
}

// noEvents is a frame without events: on a feed of addresses, whose frames have one, the reply
// once more.
func (r *replay) noEvents() []byte {
	if channel.Feed(r.name).Known() {
		return []byte(`{"type":"subscribe"}`)
	}
	return r.replayFrame(r.subjects[0], nil)
}

// resume begins what a client asks for with what came before. ready completes what the publisher
// needs, and release ends the need, both nil for nothing; begun is called under f.mu and reports
// which topics are still to begin. The caller holds f.mu.
func (f *Feeds) resume(ctx context.Context, c *client, r *replay, ready func(context.Context) error, release func(), begun func(*client) []string) {
	id, of := c.ID, c.Distributor
	c.resumed = true
	f.connectedSince.Store(0)
	if !f.hub.Hold(id) {
		return
	}
	f.loads.Go(func() {
		done, err := f.resumes.turn(ctx, of, nil)
		if err != nil {
			return // ctx has ended
		}
		done = sync.OnceFunc(done)
		if ready != nil {
			defer release()
		}
		// What has ended meanwhile is not read: a client that subscribes and unsubscribes all the time
		// would have more wait than is ever read.
		wanted := f.stillBegins(id, begun)
		if wanted && ready != nil {
			err = ready(ctx)
		}
		if wanted && err == nil {
			err = r.read(ctx, f)
		}
		if err != nil && ctx.Err() == nil {
			r.incomplete = true
			f.Logger.Warn("a subscription does not begin at its cursor", "channel", r.name, "error", err.Error())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.arriving.mu.Lock()
		defer f.arriving.mu.Unlock()
		var topics []string
		if c := f.clients[id]; c != nil && wanted {
			topics = begun(c)
		}
		var frames hub.Replayed
		if len(topics) > 0 {
			frames = r.frames(f.arriving)
		}
		if f.hub.Replay(id, topics, frames, done) != nil { // it is gone, or lets too much wait
			done()
		}
	})
}

// stillBegins reports whether anything is still to begin of what a client has asked for.
func (f *Feeds) stillBegins(id string, begun func(*client) []string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clients[id]
	return c != nil && len(begun(c)) > 0
}

// replayedOf shows what is stored again.
func replayedOf[T any](list iter.Seq2[T, error], show func(*T) replayed) iter.Seq2[replayed, error] {
	return func(yield func(replayed, error) bool) {
		for one, err := range list {
			var r replayed
			if err == nil {
				r = show(&one)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// recentlyOf shows again what arrived lately and is about some subjects.
func recentlyOf[T any](from *recent[T], wanted map[string]bool, about func(*T) string, show func(*T) replayed) (list []replayed) {
	for i := range from.list {
		if one := &from.list[i].one; wanted[about(one)] {
			list = append(list, show(one))
		}
	}
	return list
}

// cursorText is the text of a cursor of a topic, or of anything for "".
func cursorText(topic string, fresh, late int64) string {
	of := topic
	if name, _, _ := strings.Cut(topic, " "); channel.Feed(name).Known() {
		of = name // whatever the address
	}
	c := market.CursorBetween(of, market.Arrival(fresh), market.Arrival(late))
	return c.Text()
}

// present is the place up to which all events were published. The caller holds the lock of
// [arriving].
func (b *base) present() int64 { return int64(b.arriving.next(false)) }

// placeOf is the place of a snapshot, 0 of one that lacks something. The caller holds the lock of
// [arriving].
func (b *base) placeOf(whole bool) int64 {
	if !whole {
		return 0
	}
	return b.present()
}

// asSnapshot is a frame of events as a snapshot, which may lack something.
func asSnapshot(frame []byte, whole bool) []byte {
	frame = append(frame[:len(frame)-1], `,"isSnapshot":true`...)
	if !whole {
		frame = append(frame, `,"incomplete":true`...)
	}
	return append(frame, '}')
}
