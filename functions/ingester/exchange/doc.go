// Package exchange is the domain of the centralised exchanges: what its sources emit
// ([Batch]), the projections that are made of it, and the wiring of its sources
// ([Config]). The package engine runs it.
//
// # What is written, and who reads it
//
//	series pairklines  candles of the followed pairs, from a minute to a day
//	view pairs         every pair that trades on an exchange, and whether it is followed
//	view pairtickers   the last 24 hours of every pair
//	view platformflows what takers bought less what they sold in 24 hours, by exchange
//	view contracts     funding and open interest of the followed perpetuals, now
//	series pairfunding, coinfunding, pairinterest, coininterest, pairratios
//	                   funding, open interest and shares of accounts over time (see pairseries)
//	                   (the domain perp keeps the interest of its own pairs, which is read for sums)
//	series pairliquidations, liquidationorders, view pairliquidations
//	                   what was liquidated: sums, single orders, the last 24 hours
//	view pairbooks     the order books that are followed, all levels that are known
//	series pairdepth   samples of them every ten seconds (see pairbooks)
//	view, log largeorders  large orders in the order books that are followed
//	view takerruns     large runs of takers of the followed pairs
//	log pairchanges    sudden changes of the followed pairs
//
// # How K-lines come about
//
// Each market of an exchange has two sources. The live one emits trades as they happen.
// The other, in the background, emits what the exchange itself says: once a minute the
// minutes that have ended since, which replace what was made of trades, and the open one,
// which stands in for trades at the beginning. Between these it emits the past: all days
// first, then from the newest day on minutes, before them hours, before these four hours
// ([Depth]). So a row is the exchange's own a few seconds after its bucket has ended, and
// whatever is lost of the stream is right a minute later. Rows of open buckets are written
// every few seconds only, as each write costs. Both sources list the pairs again once an
// hour.
//
// # How the past of perpetuals comes about
//
// Each market of perpetuals has a source of what it tells of each of its pairs
// ([contractsPast]), so that one that does not answer stops no other, and in it distributors
// whose clients want other pairs have their turns. What is made of all exchanges together, sums
// and rates of coins, comes from one source more ([coinsPast]), which waits for all of them.
//
// # Adding an exchange
//
//  1. Its package under functions/ingester/source, whose Open returns a [Venue] for each kind of its
//     markets. What all venues share is there: the stream of events
//     ([source.Stream]), hosts with their budgets and bans ([source.Host]), windows
//     of K-lines that come newest first ([source.KlineWindow]).
//  2. A line in the list exchanges, in venues.go, and the setting of where it is
//     simulated, in shared/catalog/domain_exchange.go.
package exchange
