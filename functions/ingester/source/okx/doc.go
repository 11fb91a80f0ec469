// Package okx speaks with the exchange OKX (interface v5): its spot markets, its perpetual
// contracts that are priced and settled in one coin (linear swaps) and those that are
// settled in their base coin (inverse swaps), each a [Market]. Clients know them under two
// platforms, okex and okcoinfutures. All have one host, whose limits they share.
//
// # REST
//
// [Market.Pairs] reads the instruments that trade. [Market.Klines] pages through
// candles, which come newest first: the newest 1440 of an interval from one path, older
// ones in smaller pages from another. A candle has ended when its row says so (confirm).
// An answer with status 200 may be a refusal: its code says so. Limits are of requests in
// two seconds for each path; the budget keeps the sum below the smallest of them, and what
// is asked of the past of perpetuals has budgets of its own. Accounts are told of a coin
// alone: they are those of its linear swap.
//
// [Announcements] has a host of its own, in English: announcements come without texts.
//
// # WebSocket
//
// [Market.Follow] follows the channel trades: fills of one taker at one price are one
// trade, with the id of its last fill and their count, so that a missing one shows. The
// channel begins with the newest trade. Of swaps it follows funding-rate too, and
// liquidation-orders, which is that of all swaps. The venue closes a connection that says nothing
// for 30 seconds: the text ping is answered with the text pong.
//
// [Market.FollowBooks] follows the channel books over another connection: the best 400 levels
// of an order book, then its changes, each of which names the one before it.
//
// # Units
//
// Swaps count contracts, of ctVal x ctMult base coins each or, of an inverse one, US dollars:
// [market.Pair] carries that, and everything this package gives out is in base coins and
// quote coins. Candles count
// no trades and do not tell takers apart. Times are Unix milliseconds, in text. A day
// opens at midnight UTC where the interval is named 1Dutc; 1D is that of Hong Kong.
package okx
