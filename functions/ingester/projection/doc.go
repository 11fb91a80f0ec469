// Package projection turns events into the rows and views that the read
// functions answer from. It does no input or output: the ingester asks what
// rows a batch of events needs, loads them, lets the batch be applied, and
// writes what changed.
//
//	for want := set.Need(&events); !want.Empty(); want = set.Need(&events) {
//		latest, rows := ... // read them
//		set.Load(want, latest, rows)
//	}
//	err := set.Apply(&events, now)
//	...
//	changes := set.Changes(now, false)
//	// write changes.Coarse, then changes.Fine, then changes.Views; then checkpoint
//
// The rows are the state. What is in memory is a cache of open buckets that can
// be lost at any time: every fold is a set union (the trades of a second, the
// largest fills of a bucket), so that events may come late, twice, in any order
// and from several sources and the rows end the same. A source that is asked
// again from its last checkpoint after a crash repairs whatever the crash left
// half written, because a bucket that is not cached is derived anew from its
// stored parts when an event touches it.
//
// What is written, and who reads it:
//
//	log fill         one row a fill                       AppendFillRows
//	series klines    one row a coin, tier and bucket that saw a trade: [market.Candle.AppendJSON].
//	                 Every tier is at most a second behind. A one-second row has its trades as Extra.
//	series topfills  one row a coin, tier and bucket that saw a fill: [market.Top.AppendJSON], up to
//	                 1,000 fills of a second, 100 of a wider bucket. A second's row is at most a second
//	                 behind; a wider one is written when its bucket has ended: with the coin's next
//	                 fill, or two seconds later. Where a row is missing, finer ones tell. Dust
//	                 conversions are no executions and are not ranked.
//	view tickers     {"time","tickers":[{"coin","price","time","seq","tid"}, ...]}, by coin
//	view mids        {"time","mids":{dex:{coin:px}}}
//	view meta        {"time","meta":{dex:description},"spotMeta":description}
//
// There is one writer. A row that is newer than all that was stored when a coin
// was first seen is known to be absent and is not asked for.
package projection
