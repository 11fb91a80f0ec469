package feeds

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	filldata "quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid/wire"
	"quotary/shared/store"
)

const (
	// recentFor is how long every fill is kept, longer than the stores are behind:
	// who begins to follow an account finds its fills stored or here.
	recentFor = 30 * time.Second
	// recentMost bounds the fills that are kept so.
	recentMost = 100_000
	// fillsKept is how many fills of an account a snapshot has at most.
	fillsKept = 200
)

// fills keeps the last fills of the accounts that are followed on the channel
// userFills; the feed /ws/fills needs no past.
type fills struct {
	hub *hub.Hub
	log *store.Log
	now func() time.Time

	mu     sync.Mutex
	shelf  shelf[*fillList] // by address
	recent []recentFill     // oldest first
	told   told[fillKey]
	pushed pushed // to /ws/fills
}

type recentFill struct {
	heard time.Time
	fill  market.Fill
}

// fillKey is what makes a fill one. It holds no text, which would keep the whole
// line of the source in memory.
type fillKey struct {
	address        [20]byte
	time, tid, oid int64
}

func keyOf(f *market.Fill) fillKey {
	k := fillKey{time: f.Time, tid: f.Tid, oid: f.Oid}
	_, _ = hex.Decode(k.address[:], []byte(strings.TrimPrefix(f.Address, "0x"))) // addresses were checked when they were read
	return k
}

// fillList is the last fills of one account, each as the venue writes it.
type fillList struct {
	fills []listedFill // oldest first
	known map[fillKey]bool
}

type listedFill struct {
	key  fillKey
	seq  int64
	body []byte
}

// take pushes those fills that were not told before.
func (fs *fills) take(list []market.Fill) {
	if len(list) == 0 {
		return
	}
	now := fs.now()
	since := now.Add(-freshFor).UnixMilli()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.forget(now)
	fresh := map[*fillList][]listedFill{}
	owner := map[*fillList]string{}
	for i := range list {
		f := &list[i]
		if f.Time < since || !fs.told.add(keyOf(f), recentMost) {
			continue
		}
		fs.recent = append(fs.recent, recentFill{now, *f})
		if topic := topicOf(fillsTopic, f.Address); fs.hub.Watched(topic) && fs.pushed.next(f.Time) {
			b := appendFill(append(make([]byte, 0, 640), `{"type":"data","data":`...), f)
			fs.hub.Publish(topic, append(b, '}'), hub.Event)
		}
		if l, ok := fs.shelf.get(f.Address); ok {
			if one, isNew := l.add(f); isNew {
				fresh[l], owner[l] = append(fresh[l], one), f.Address
			}
		}
	}
	for l, news := range fresh {
		l.cut()
		fs.hub.Publish(topicOf(userFillsTopic, owner[l]), userFillsFrame(owner[l], false, news), hub.Event)
	}
}

// forget drops the recent fills that are old, or too many.
func (fs *fills) forget(now time.Time) {
	old := 0
	for old < len(fs.recent) && (now.Sub(fs.recent[old].heard) > recentFor || len(fs.recent)-old > recentMost) {
		old++
	}
	if old > len(fs.recent)/2 {
		fs.recent = append([]recentFill(nil), fs.recent[old:]...)
	}
}

// prepare makes the last fills of an account ready for a snapshot.
func (fs *fills) prepare(ctx context.Context, address string) error {
	return fs.shelf.acquire(ctx, address,
		func() *fillList {
			l := &fillList{known: map[fillKey]bool{}}
			for i := range fs.recent {
				if fs.recent[i].fill.Address == address {
					l.add(&fs.recent[i].fill)
				}
			}
			return l
		},
		func(ctx context.Context, l *fillList) error { return fs.load(ctx, address, l) })
}

// load adds the newest stored fills of an account.
func (fs *fills) load(ctx context.Context, address string, l *fillList) error {
	var stored []market.Fill
	for fill, err := range filldata.Newest(ctx, fs.log, address, "", fillsKept) {
		if err != nil {
			return fmt.Errorf("read the last fills of an account: %w", err)
		}
		stored = append(stored, fill)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range stored {
		l.add(&stored[i])
	}
	slices.SortStableFunc(l.fills, func(a, b listedFill) int {
		if a.key.time != b.key.time {
			return int(a.key.time - b.key.time)
		}
		return int(a.seq - b.seq)
	})
	l.cut()
	return nil
}

// add puts a fill at the end of the list, and tells whether it is new to it.
func (l *fillList) add(f *market.Fill) (listedFill, bool) {
	one := listedFill{key: keyOf(f), seq: f.Seq}
	if l.known[one.key] {
		return one, false
	}
	one.body = wire.AppendFill(make([]byte, 0, 480), f)
	l.known[one.key] = true
	l.fills = append(l.fills, one)
	return one, true
}

// cut drops the oldest fills beyond what a snapshot has.
func (l *fillList) cut() {
	for len(l.fills) > fillsKept {
		delete(l.known, l.fills[0].key)
		l.fills = l.fills[1:]
	}
}

// snapshot is the last fills of an account, newest first. The hub holds the
// lock.
func (fs *fills) snapshot(address string) []byte {
	l, ok := fs.shelf.get(address)
	if !ok {
		return nil
	}
	newest := slices.Clone(l.fills)
	slices.Reverse(newest)
	return userFillsFrame(address, true, newest)
}

// userFillsFrame holds as many of the fills, from the first on, as fit.
func userFillsFrame(address string, snapshot bool, list []listedFill) []byte {
	b := inChannel("userFills")
	if snapshot {
		b = append(b, `{"isSnapshot":true,"user":`...)
	} else {
		b = append(b, `{"user":`...)
	}
	b = append(appendText(b, address), `,"fills":[`...)
	for i := range list {
		if len(b)+len(list[i].body) > frameMost {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, list[i].body...)
	}
	return append(b, `]}}`...)
}
