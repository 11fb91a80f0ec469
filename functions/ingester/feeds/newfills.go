package feeds

import (
	"encoding/hex"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"quotary/shared/market"
)

// fillsSeen is how many fills are remembered as delivered.
const fillsSeen = 100_000

// newFills finds the fills that no source delivered before.
type newFills struct {
	now  func() time.Time
	mu   sync.Mutex
	seen seen[fillKey]
}

// fillKey is what makes a fill one, as in the log of fills. It holds no text, which would keep
// the whole line of the source in memory.
type fillKey struct {
	address [20]byte
	time    int64
	id      uint64 // hash of [market.Fill.AppendID]
}

var idSeed = maphash.MakeSeed()

func keyOf(f *market.Fill) fillKey {
	var id [128]byte
	k := fillKey{time: f.Time, id: maphash.Bytes(idSeed, f.AppendID(id[:0]))}
	_, _ = hex.Decode(k.address[:], []byte(strings.TrimPrefix(f.Address, "0x"))) // addresses were checked when they were read
	return k
}

// filter returns those of the fills that are new: the recent ones, and older ones that
// happened since a time (ms). It leaves the list as it is.
func (n *newFills) filter(list []market.Fill, lateSince int64) (fresh, late []market.Fill) {
	since := n.now().Add(-freshFor).UnixMilli()
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range list {
		switch f := &list[i]; {
		case f.Time < min(since, lateSince) || !n.seen.add(keyOf(f), fillsSeen):
		case f.Time < since:
			late = append(late, *f)
		default:
			if fresh == nil {
				fresh = make([]market.Fill, 0, len(list)-i)
			}
			fresh = append(fresh, *f)
		}
	}
	return fresh, late
}
