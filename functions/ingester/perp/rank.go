package perp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
)

// Ranks of processes, by what they have. Without a node, trades come from the public
// API, which gives them to all; with one, from the node alone.
const (
	nodeLags int64 = iota
	noNode
	nodeUpToDate
)

// ranking is the rank of this process, as it was a moment ago: whoever renews the
// lease must not wait for a disk.
type ranking struct {
	dir    string        // of the node, "" without one
	behind time.Duration // by so much, it is not up to date
	known  atomic.Int64
	first  sync.Once
}

// now is the rank as it was last found; the first call looks itself.
func (r *ranking) now() int64 {
	r.first.Do(r.look)
	return r.known.Load()
}

// watch looks once a second, until ctx ends.
func (r *ranking) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look finds the rank. A node that lags counts as up to date again when it has made
// up for most of that, so that the lease does not move with every block.
func (r *ranking) look() {
	if r.dir == "" {
		r.known.Store(noNode)
		return
	}
	most := r.behind
	if r.known.Load() != nodeUpToDate {
		most /= 3
	}
	for _, stream := range hyperliquid.Streams {
		files := hyperliquid.Files{Dir: folder(r.dir, stream)}
		if at, err := files.Newest(); err == nil && time.Since(at) < most {
			r.known.Store(nodeUpToDate)
			return
		}
	}
	r.known.Store(nodeLags)
}
