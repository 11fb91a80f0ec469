package feeds

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	filldata "quotary/shared/data/fills"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// fillsKept is how many fills of an account a snapshot has at most, as at the venue.
const fillsKept = 500

// userFills publishes the fills of the accounts that are followed on the channel, and
// keeps the last of each.
type userFills struct {
	base
	addressTopic
	mu    *sync.Mutex         // that of arriving
	cache refCache[*fillList] // by address
}

// fillList is the last fills of one account, each as the venue writes it. Of one that was shed
// there are the keys of the last ones that a source may deliver once more.
type fillList struct {
	fills    []listedFill // oldest first
	known    map[fillKey]bool
	bytes    int // of the bodies
	keysOnly bool
	since    func() int64 // ms of the oldest fill that may be delivered once more
}

const (
	// shedFillsKept is how many keys of an account are kept where the rest is not.
	shedFillsKept = 100
	// fillSize is what a fill takes in memory beside its body, bytes.
	fillSize = 256
)

func (l *fillList) size() int { return l.bytes + fillSize*len(l.fills) }

func (l *fillList) shed() {
	l.keysOnly = true
	l.cut()
	l.fills = slices.Clone(l.fills) // the arrays of all are let go
	l.known, l.bytes = make(map[fillKey]bool, len(l.fills)), 0
	for i := range l.fills {
		l.fills[i].body = nil
		l.known[l.fills[i].key] = true
	}
}

type listedFill struct {
	key  fillKey
	seq  int64
	at   market.Arrival
	body []byte
}

func newUserFills(b base) publisher {
	fs := &userFills{base: b, mu: &b.arriving.mu}
	fs.cache = newRefCache[*fillList](fs.mu, b.loads.turn)
	fs.cache.pastIsRead = b.pastIsRead
	return fs
}

func (fs *userFills) topic(address string) hub.Topic {
	return hub.Topic{Guard: fs.mu, Place: func() int64 { return fs.placeOf(!fs.cache.incomplete(address)) }, Snapshot: func() [][]byte {
		l, ok := fs.cache.shown(address)
		if !ok {
			return nil
		}
		return fs.snapshot(address, l)
	}}
}

// snapshot is the frames of a snapshot. The caller holds fs.mu.
func (fs *userFills) snapshot(address string, l *fillList) [][]byte {
	var newest []listedFill
	if !l.keysOnly {
		newest = slices.Clone(l.fills)
		slices.Reverse(newest)
	}
	kind := snapshotMembers
	if fs.cache.incomplete(address) {
		kind = incompleteMembers
	}
	return userFillsFrames(address, kind, newest)
}

func (fs *userFills) history() bool { return true }

// run publishes new snapshots of those that were incomplete, when the past is read.
func (fs *userFills) run(ctx context.Context) error {
	return fs.completeSnapshots(ctx, func(ctx context.Context) error {
		return fs.cache.complete(ctx, fs.recentOf, fs.load, func(address string, l *fillList) {
			fs.hub.PublishSnapshot(fs.topicName(address), fs.snapshot(address, l), fs.placeOf(!fs.cache.incomplete(address)))
		})
	})
}

func (fs *userFills) consume(e *market.Events) { fs.add(e) }

// consumeLate publishes late fills as any. Of those from before the start there are
// stored ones in new snapshots.
func (fs *userFills) consumeLate(e *market.Events, beforeStart bool) {
	if !beforeStart {
		fs.add(e)
	}
}

func (fs *userFills) consumeHour(e *market.Events) { fs.add(e) }

func (fs *userFills) add(e *market.Events) {
	fresh := map[*fillList][]listedFill{}
	owner := map[*fillList]string{}
	for f := range fillsOf(e) {
		if l, ok := fs.cache.get(f.Address); ok {
			if one, isNew := l.add(f); isNew {
				fresh[l], owner[l] = append(fresh[l], one), f.Address
			}
		}
	}
	for l, list := range fresh {
		l.cut()
		fs.cache.changed(owner[l])
		for len(list) > 0 {
			n := fitting(list)
			fs.hub.PublishAt(fs.topicName(owner[l]), userFillsFrames(owner[l], updateMembers, list[:n])[0], int64(list[n-1].at))
			list = list[n:]
		}
	}
}

// replace puts fills in the place of provisional ones that are kept. They are not published again.
func (fs *userFills) replace(list []market.Fill) {
	for i := range list {
		if l, ok := fs.cache.get(list[i].Address); ok && !l.keysOnly {
			l.replace(&list[i])
			fs.cache.changed(list[i].Address)
		}
	}
}

// prepare reads the last fills of an account.
func (fs *userFills) prepare(of string, s *channel.Subscription) (load func(context.Context) error, release func()) {
	address := s.User
	return func(ctx context.Context) error {
		return fs.cache.acquire(ctx, of, address,
			func() *fillList { return fs.recentOf(address) },
			func(ctx context.Context, l *fillList) error { return fs.load(ctx, address, l) })
	}, func() { fs.cache.release(address) }
}

func (fs *userFills) prune() {
	fs.cache.prune(func(address string) bool { return fs.hub.Watched(fs.topicName(address)) })
}

// recentOf lists the recent fills of an account. The caller holds fs.mu.
func (fs *userFills) recentOf(address string) *fillList {
	l := &fillList{known: map[fillKey]bool{}, since: fs.freshSince}
	for _, list := range [...][]received[market.Fill]{fs.arriving.recentHour.list, fs.arriving.recentFills.list} {
		for i := range list { // those of hours first: they are whole
			if f := &list[i].one; f.Address == address {
				l.add(f)
			}
		}
	}
	return l
}

// load adds the newest stored fills of an account.
func (fs *userFills) load(ctx context.Context, address string, l *fillList) error {
	var stored []market.Fill
	for fill, err := range filldata.Newest(ctx, fs.Log, address, "", fillsKept) {
		if err != nil {
			return fmt.Errorf("read the last fills of an account: %w", err)
		}
		stored = append(stored, fill)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range slices.Backward(stored) {
		l.add(&stored[i])
	}
	l.cut()
	return nil
}

// add puts a fill into the list at its place, and reports whether it is new to it; one
// that is older than a full list is not.
func (l *fillList) add(f *market.Fill) (listedFill, bool) {
	one := listedFill{key: keyOf(f), seq: f.Seq, at: f.Arrived.At}
	if l.known[one.key] {
		return one, false
	}
	at := len(l.fills)
	for at > 0 && l.fills[at-1].after(&one) {
		at--
	}
	if at == 0 && len(l.fills) >= fillsKept {
		return one, false
	}
	one.body = f.AppendJSON(make([]byte, 0, 480))
	kept := one
	if l.keysOnly {
		kept.body = nil
	}
	l.known[one.key] = true
	l.bytes += len(kept.body)
	l.fills = slices.Insert(l.fills, at, kept)
	return one, true
}

// replace puts a fill in the place of the provisional one.
func (l *fillList) replace(f *market.Fill) {
	key := keyOf(f)
	if i := slices.IndexFunc(l.fills, func(one listedFill) bool { return one.key == key }); i >= 0 {
		one := &l.fills[i]
		l.bytes -= len(one.body)
		one.body, one.seq = f.AppendJSON(make([]byte, 0, 480)), f.Seq
		l.bytes += len(one.body)
	}
}

func (one *listedFill) after(other *listedFill) bool {
	if one.key.time != other.key.time {
		return one.key.time > other.key.time
	}
	return one.seq > other.seq
}

// cut drops the oldest fills beyond what a snapshot has, or beyond what is kept without one.
func (l *fillList) cut() {
	most, since := fillsKept, int64(0)
	if l.keysOnly {
		most, since = shedFillsKept, l.since()
	}
	for len(l.fills) > most || len(l.fills) > 0 && l.fills[0].key.time < since {
		delete(l.known, l.fills[0].key)
		l.bytes -= len(l.fills[0].body)
		l.fills = l.fills[1:]
	}
}

// userFillsFrames are the fills in their order, in as many frames as they need, one at
// least. Every frame of a snapshot says that it is one: clients that leave out
// snapshots must not take its later frames for new fills.
func userFillsFrames(address, kind string, list []listedFill) (frames [][]byte) {
	for {
		n := fitting(list)
		bodies := make([][]byte, n)
		for i := range bodies {
			bodies[i] = list[i].body
		}
		frames = append(frames, userFillsFrame(address, kind, bodies))
		if list = list[n:]; len(list) == 0 {
			return frames
		}
	}
}

// fitting is how many of the fills a frame takes.
func fitting(list []listedFill) (n int) {
	for size := 0; n < len(list); n++ {
		if size += len(list[n].body) + 1; n > 0 && size > frameMost {
			break
		}
	}
	return n
}

func userFillsFrame(address, kind string, bodies [][]byte) []byte {
	open := append(append(inChannel(channel.UserFills), kind...), `"user":`...)
	return append(appendList(append(jsontext.AppendString(open, address), `,"fills":`...), bodies), `}}`...)
}

func (fs *userFills) replayed(ctx context.Context, address string, from time.Time) iter.Seq2[replayed, error] {
	return replayedOf(filldata.Since(ctx, fs.Log, address, from), fs.replay)
}

func (fs *userFills) recent(about map[string]bool) []replayed {
	return recentlyOf(&fs.arriving.recentFills, about, func(f *market.Fill) string { return f.Address }, fs.replay)
}

func (fs *userFills) replay(f *market.Fill) replayed {
	return replayed{f.Address, keyOf(f), f.Arrived.At, f.Time, f.AppendJSON(nil)}
}

func (fs *userFills) replayFrame(address string, bodies [][]byte) []byte {
	return userFillsFrame(address, updateMembers, bodies)
}

func (fs *userFills) datasets() []string { return []string{filldata.Name} }
