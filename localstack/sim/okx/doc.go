// Package okx is a simulated exchange for tests and for the local stack. It speaks the
// public protocols of OKX (v5) over loopback, of spot markets and of swaps:
// instruments, candles and history-candles over REST, the channels trades and books over a
// WebSocket.
// What is traded is made up by package trading, whose sums are the truth that tests
// compare with. The package shares no code with the product.
//
// # As the exchange does
//
// Numbers and times are text. Rows of candles come newest first and say whether they have
// ended; candles reach 1440 rows back, older ones are history, in pages of 100. Swaps
// count contracts, each of as many coins as the smallest size of their market or, of an
// inverse one, of so many US dollars. Requests
// are counted by path in two seconds; too many are answered with code 50011. A connection
// that is silent for 30 seconds is closed; the text ping is answered with the text pong.
// The channel trades begins with the newest trade, and books with all of an order book, the
// updates of which name the one before them.
//
// # Faults
//
// [Exchange.Refuse], [Exchange.Disconnect], [Exchange.Lose] and [Exchange.LoseBooks] make the
// faults that a client must bear.
//
// # Everything is simulated
//
// Coins have familiar names but no relation to a market. Every HTTP response carries
// X-Simulated: true.
package okx
