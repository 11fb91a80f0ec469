// Package bybit is a simulated exchange for tests and for the local stack. It speaks the
// public protocols of Bybit (v5) over loopback, of spot markets and of linear and inverse
// perpetuals: instruments, K-lines, tickers, funding, open interest and accounts over REST;
// the topics publicTrade, tickers, allLiquidation and orderbook.200 over a WebSocket of each
// category. What is traded is made up by package trading, whose sums are the truth that tests
// compare with. The package shares no code with the product.
//
// # As the exchange does
//
// Numbers are text, and times are text or numbers. Rows come newest first, K-lines with
// the open one. An inverse contract is one US dollar: its volume is in dollars and its
// turnover in coins. Open interest is told of both sides, and of one beside it. Lists of
// contracts come in pages, here of two, so that there are some. Trades have ids that do not
// count up. A ticker begins with a snapshot, and then has what changed, once a second. So does
// an order book, as often as it changes; its updates are numbered one by one.
// Errors are codes of answers with status 200; who asks more than 600 times in five seconds
// is answered 403. A connection that is silent for ten minutes is closed.
//
// # Faults
//
// [Exchange.Refuse], [Exchange.Disconnect] and [Exchange.LoseBooks] make the faults that a
// client must bear.
//
// # Everything is simulated
//
// Coins have familiar names but no relation to a market. Every HTTP response carries
// X-Simulated: true.
package bybit
