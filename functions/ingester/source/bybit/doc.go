// Package bybit speaks with the exchange Bybit (interface v5): its spot markets, its linear
// perpetual contracts and the inverse ones, which are paid in their base coins, each a
// [Market]. All have one host, whose limit they share.
//
// # REST
//
// [Market.Pairs] reads the instruments that trade; contracts come in pages, each of which
// names the next. [Market.Klines] pages through candles, which come newest first. Rows do
// not say whether they have ended: the answer's own time does. An answer with status 200
// may be a refusal: its code says so. After status 403 the host wants to be left alone
// for ten minutes.
//
// Prices of a day and open interest come in one answer, so that [Market.Interests] asks only
// where [Market.Tickers] has not lately. Of the past the exchange tells how much interest
// was open and not what it was worth: it is valued at mark prices. Open interest is that
// of one side; where only that of both is told, it is halved.
//
// [Announcements] has a host of its own, in English.
//
// # WebSocket
//
// [Market.Follow] follows the topics publicTrade and, of perpetuals, tickers and
// allLiquidation. Trades have no ids that count up: whatever may have been missed between
// two connections counts as a missing trade. Block trades are agreed elsewhere and left
// out. A ticker begins with a snapshot, and says from then on what has changed: its
// funding rate is given out when that is among it, and every few seconds otherwise.
// Liquidations name the side of the position, not of the order that closed it. The venue
// closes a connection that says nothing for ten minutes.
//
// [Market.FollowBooks] follows the topics orderbook.200 over another connection: the best 200
// levels of an order book, then its changes, which are numbered one by one.
//
// # Units
//
// Sizes are base coins and amounts quote coins; an inverse contract is one US dollar, so
// that its sizes are US dollars and its amounts base coins. Everything this package gives
// out is in base coins and quote coins. Candles count no trades and do not tell takers
// apart. Times are Unix milliseconds, as text or as numbers.
package bybit
