// Package binance is a simulated exchange for tests and for the local stack. It speaks
// the public protocols of Binance over loopback, of the spot markets and of the
// perpetual contracts in USDT (USD-M) and in base coins (COIN-M): markets, K-lines, tickers,
// order books, funding, open interest and accounts over REST; aggregated trades, changes of
// order books, mark prices and forced orders over combined streams.
//
// # How it works
//
// Nothing is remembered: every trade is a function of the seed, its market and its
// time, so that any minute of the past can be told at any moment, and a restart
// changes nothing. Prices walk around those of package prices, as the simulated venue's
// do; each minute has the same number of trades, but for markets that are
// quiet every seventh minute. Ids of trades count up by one from 1970 on.
//
// K-lines are the sums of the trades, in scaled integers: they are the truth that
// derived figures are compared with. The package shares no code with the product.
//
// Order books change every half a second. Their changes have numbers, which are a function
// of the time: a connection continues with those of the one before.
//
// # Limits and faults
//
// Weights are counted as the exchange does, and too much of them is answered 429 with
// Retry-After. [Exchange.Ban], [Exchange.Disconnect], [Exchange.Lose], [Exchange.LoseBooks]
// and [Exchange.Repeat] make the faults that a client must bear.
//
// # Everything is simulated
//
// Coins have familiar names but no relation to a market. Every HTTP response carries
// X-Simulated: true.
package binance
