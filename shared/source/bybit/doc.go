// Package bybit speaks with the exchange Bybit (interface v5): its spot markets and its
// linear perpetual contracts, each a [Market]. Both have one host, whose limit they share.
//
// # REST
//
// [Market.Pairs] reads the instruments that trade; contracts come in pages, each of which
// names the next. [Market.Klines] pages through candles, which come newest first. Rows do
// not say whether they have ended: the answer's own time does. An answer with status 200
// may be a refusal: its code says so. After status 403 the host wants to be left alone
// for ten minutes.
//
// # WebSocket
//
// [Market.Follow] follows the topics publicTrade. Trades have no ids that count up:
// whatever may have been missed between two connections counts as a missing trade. Block
// trades are agreed elsewhere and left out. The venue closes a connection that says
// nothing for ten minutes.
//
// # Units
//
// Sizes are base coins and amounts quote coins, on both markets. Candles count no trades
// and do not tell takers apart. Times are Unix milliseconds, as text or as numbers.
package bybit
