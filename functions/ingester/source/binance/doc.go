// Package binance speaks with the exchange Binance: its spot markets, its perpetual contracts
// in USDT (USD-M) and those that are paid in their base coins (COIN-M), each a [Market] with
// hosts, limits and paths of its own.
//
// # REST
//
// [Market.Pairs] reads what trades, and from the same answer how much weight a minute
// the host allows; four fifths of that are spent. [Market.Klines] pages through
// candles. The last candle of an answer may still be open and is given out as such only:
// that needs no clock.
//
// [Announcements] asks the website, at an address that the exchange does not document.
//
// # WebSocket
//
// [Market.Follow] follows aggregated trades (aggTrade): fills of one taker at one
// price. Their ids count up by one, which shows a missing one. Perpetuals are followed
// on the route /market, where the venue has put trades since 2026-04: on another route
// a stream is silently empty. Liquidations of insurance fund and auto-deleveraging are
// in no aggregated trade.
//
// [Market.FollowBooks] follows order books by their changes, which have numbers that show a
// missing one; a snapshot is asked of REST. Those of USD-M are on the route /public.
//
// A connection lives 24 hours at most. It is made again before that, and whenever it is
// lost or silent, after a pause with jitter; what was missed meanwhile is asked of the
// K-lines by who keeps them.
//
// # Units
//
// Prices are quote coins per base coin and sizes base coins, as exact decimals. COIN-M counts
// contracts of so many US dollars: its sizes are turned into base coins, at the price of a
// trade, and where it tells the coins itself these are taken. Times are Unix milliseconds.
package binance
