// Package perp is the domain of the perpetual venue: what its sources emit
// ([Batch]), the logs and projections that are made of it, and the wiring of its
// sources ([Config]). The package engine runs it.
//
// # What is written, and who reads it
//
//	log fills        one row a fill
//	log filledorders one row an order that was filled
//	log orders       one row every other status of an order, where the operator keeps them
//	log ledgers      one row a ledger update that is no funding
//	log payments     one row what an account paid and received as funding at an hour
//	log twapstatuses one row a status of a TWAP order
//	log completedtrades one row a position that was closed
//	log accountchanges  which accounts have changed, once also all that are stored, for the domain traders; it expires
//	series accounts     the state of each account
//	series accountstats how each account trades, and what it was worth at full hours
//	series traderfacts  what each account did, by day and hour, and how many orders it placed
//	view hourmarks      the mark prices of full hours, at which accounts are valued
//	view brokenaccounts accounts that are to be made again: read by this package alone, after a restart
//	series klines    candles with taker volume; a one-second row has its trades as Extra
//	series topfills  the largest fills of each bucket
//	view tickers     the last trade of each coin
//	view mids        mid prices, by dex
//	view meta        the venue's description of its markets
//	series funding   one row a perpetual and hour, provisional until the venue has confirmed it
//	view contexts    the venue's contexts of all coins: mark price, funding rate, volume
//	view books       the last book of each coin
//	series bookdepth     what rested in each book, once a minute
//	view openinterest    count and value of the open positions of each perpetual
//	series openinterest  the same, once a minute
//	series pairinterest, pairfunding
//	                     what the venue reports of it and of funding, by pair (see pairseries)
//	series pairliquidations, liquidationorders, view perpliquidations
//	                     what was liquidated, by pair, and its last 24 hours
//	series liquidations, liquidationstats, topliquidations
//	                     what was liquidated account by account, its sums, and the largest
//	view positions       the positions of all accounts: read by this package alone, after a restart
//	view openpositions   the open positions of all accounts, with what is behind them
//	view openorders      the largest orders that rest, of each coin and of all
//	view openordervalues the values of all orders that rest, by coin and side
//	view spotreserves    what the orders that rest in spot markets reserve, by account
//	view accountorders0 to accountordersf
//	                     the open orders of the accounts that somebody follows
//	view openordertable  all orders that rest: read by this package alone, after a restart
//	view vaults          the venue's vaults, with their leaders
//	view runningtwaps    the TWAP orders that run
//	view twaptable       what is known of them: read by this package alone, after a restart
//
// Samples (bookdepth, openinterest) are taken by the clock and stored in the
// intervals market.SampleTiers.
//
// # Adding a projection
//
//  1. Its dataset gets a package below shared/data, which composes the keys and
//     bodies that are stored.
//  2. Its file here has one type that implements [Projection] (embed
//     engine.Defaults for what it does not need), or, where it keeps one view and
//     nothing else, the state of [engine.KeepView]. Where it can be folded from a
//     stored log, Folds says so; then it is caught up when it is deployed.
//  3. Its constructor goes into the list in [Projections].
//  4. Its test file has a generator of batches, registered under its name in the
//     tests' table: the properties of crashes and of any order run over it, and a
//     projection without one fails them.
//
// A log has one row for each event of a kind and no state: it is an engine.Log in
// a file of its own and in the list [Logs]. Its Archive names the columns of its rows, a
// struct in the dataset's archive.go; without it they are kept for ever. A source is wired in sources.go.
package perp
