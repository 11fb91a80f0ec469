// Package market is the domain: what a venue emits (fills, trades, mid
// prices), exact decimals, time buckets, and the pure folds that turn the one
// into the other (candles, rankings). It does no input or output, reads no
// clock and knows no store, so the same events always give the same figures.
//
// A [Fill] is one account's side of an execution; [AppendTrades] makes of each
// pair of fills the one [Trade] behind it; a [Candle] sums trades of one bucket of
// an [Interval]; a [Top] keeps the largest fills; [Positions] keeps what all
// accounts hold; an [Account] is the whole state of one, and makes a [CompletedTrade] of
// each position from flat to flat; [TraderStats] sums up how an account trades, for any
// window. Candle and Top merge in any grouping and give the same result, which is what
// lets stored buckets be rebuilt from finer ones.
//
// How a venue writes these things is known to its package under functions/ingester/source, and
// how they are stored to those of shared/data.
//
// Times are Unix milliseconds, UTC. Prices are quote units per base unit, sizes
// base units, amounts quote units; all are exact decimals and texts in the venue's
// style ("30135.0").
package market
