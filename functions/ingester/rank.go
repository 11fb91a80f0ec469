package main

import (
	"sync/atomic"
	"time"

	"quotary/shared/source/hyperliquid"
)

// Ranks of processes, by what they have. Without a node, trades come from the public
// API, which tells them to all; with one, from the node alone.
const (
	nodeLags int64 = iota
	noNode
	nodeTells
)

// ranking tells the rank of this process. A node that lags counts as up to date again
// when it has made up for most of that, so that the lease does not change hands with
// every block.
type ranking struct {
	settings
	upToDate atomic.Bool
}

func (r *ranking) rank() int64 {
	if r.nodeDir == "" {
		return noNode
	}
	most := r.behind
	if !r.upToDate.Load() {
		most /= 3
	}
	tells := false
	for _, stream := range hyperliquid.Streams {
		files := hyperliquid.Files{Dir: r.folder(stream)}
		at, err := files.Newest()
		tells = tells || err == nil && time.Since(at) < most
	}
	r.upToDate.Store(tells)
	if tells {
		return nodeTells
	}
	return nodeLags
}
