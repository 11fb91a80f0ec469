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
// The rows are the state, and for positions their snapshot. What is in memory is a cache of open buckets that can
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
//	log filled       one row an order that was filled     AppendOrderRows
//	log order        one row every other status of an order, where the operator keeps them
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
//	series funding   one row a perpetual and hour, provisional until the venue has told it
//	view contexts    {"time","perps":{dex:[description,figures]},"spot":[description,figures]}
//	view books       {"time","books":{coin:book}}, the last of each coin
//	series bookdepth     what rested in each book, once a minute: {"time":s,"coin","bidVolume","askVolume"} in base units
//	view openinterest    {"time","coins":[...]}: count and value of the open positions of each perpetual
//	series openinterest  the same, once a minute
//	view positions       [market.Positions.AppendJSON]: read by this package alone, after a restart
//
// Samples (bookdepth, openinterest) are taken by the clock and stored in the
// intervals market.SampleTiers.
//
// Open interest is made of the fills of all accounts, which only a node's files
// tell. Where no node is followed there is none; where one is followed since some
// day, it covers the accounts that have traded since then.
//
// There is one writer. A row that is newer than all that was stored when a coin
// was first seen is known to be absent and is not asked for.
package projection
