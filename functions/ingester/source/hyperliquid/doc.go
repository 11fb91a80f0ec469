// Package hyperliquid follows the venue Hyperliquid, through either of its
// protocols:
//
//   - [Files] reads what a node of the venue writes to disk: every fill of every
//     account, in hourly files that grow. A [Position] says how far it has been
//     read, so that nothing is lost or emitted twice across restarts, and nothing is
//     lost where another node's files are read from then on.
//   - [Feed] follows what the public API sends to everyone: trades without the
//     accounts' fills, books, mid prices, and the description of the markets. It
//     has no positions; what a lost connection missed is asked for again where the API
//     still knows it.
//
// Both pass [Delivery] values to a [Sink], which blocks while the consumer is
// behind: that is the only queue, and the consumer bounds it. Both return when
// their context ends, and only then or when the sink fails: trouble outside is
// logged, counted in [Stats] and tried again.
package hyperliquid

import (
	"context"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// Delivery is a run of events and where its source stands after it.
type Delivery struct {
	Events   market.Events
	Position Position // of a file source; zero on the public feed
}

// Position is a place in the files of a node. Its last three members name the same
// place in the files of another node, which differ in every line by the time at
// which it was written; they are zero where nothing was read yet.
type Position struct {
	File   string `json:"file"`           // below the folder that is followed, e.g. 20260315/0; "" before the first
	Offset int64  `json:"offset"`         // bytes of it that were read
	Line   int64  `json:"line,omitempty"` // bytes of the last line that was read, without its break
	Sum    uint32 `json:"sum,omitempty"`  // CRC-32C of that line
	Time   int64  `json:"time,omitempty"` // of the newest event so far, ms

	Block int64 `json:"block,omitempty"` // number of the last block, where holes are looked for
}

// Sink takes deliveries in order.
type Sink func(context.Context, Delivery) error

// Stats counts what a source has seen.
type Stats = source.Stats

// newestOf is the time of the newest event of those that come all the time, ms; 0
// where there is none.
func newestOf(e *market.Events) (newest int64) {
	if n := len(e.Fills); n > 0 {
		newest = e.Fills[n-1].Time
	}
	for i := range e.Trades {
		newest = max(newest, e.Trades[i].Time)
	}
	for i := range e.Mids {
		newest = max(newest, e.Mids[i].Time)
	}
	for i := range e.Books {
		newest = max(newest, e.Books[i].Time)
	}
	if n := len(e.Orders); n > 0 {
		newest = max(newest, e.Orders[n-1].Time)
	}
	return newest
}
