// Package venue is a simulated perpetual exchange for tests and for the local
// stack. It speaks the public protocols of Hyperliquid over loopback (POST
// /info, the /ws feed) and writes the hourly output files of a Hyperliquid
// node, so that everything that reads those can be run without the network.
//
// # How it works
//
// An engine advances in blocks. A block is a pure function of the state before
// it and of its time: it moves the oracle prices, around those of package prices, lets market makers quote and
// several hundred seeded traders act, matches orders by price and time in real
// books, pays funding on the hour, fires triggers, liquidates (into the book, to the
// vault, or by auto-deleveraging), sells dust at the beginning of a UTC day, and leaves one
// line for each node stream that has events. [Venue.Advance] makes blocks at
// once (tests), [Venue.Run] makes them as the clock goes. Time that passed
// before the first start, or while the venue was down, is filled by the same
// engine with long blocks and few, larger trades.
//
// The venue keeps exact books of its own in scaled integers and shares no code
// with the product: what it answers on /info and /truth is the independent
// truth that derived figures are compared with.
//
// # Exactness
//
// A perp's price has 6-szDecimals decimals and its size szDecimals, so that
// price times size is a whole number of millionths of a USDC; spot uses 8 in
// the place of 6. Only divisions round: the average entry cost that a partial
// close takes out, fees and funding payments (half away from zero). What
// rounding of funding leaves over is kept in [TruthBooks.FundingResidue], so that
// money is conserved to the last unit.
//
// # Liquidations
//
// Prices that move little liquidate few. With [Config.LiquidateEvery] the venue takes from an account
// now and then what backs a position, so that a liquidation of a given kind follows in the same
// block; [Venue.Liquidations] says who was liquidated, how, and for how much.
//
// # Modes
//
// With [Config.Modes] accounts have modes. A standard one has cash in each dex, in the dex's
// collateral. A unified one has one balance per token in spot, which backs the cross positions
// of all dexes with that collateral; what an isolated position has set aside is part of the
// balance. A token's total on /info is the booked balance and the unrealized PnL of what it
// backs; the summaries of the dexes are a sub-ledger whose value is what is used and a 2701st
// of it. Under portfolio margin tokens back each other by a table of the venue's own, and what
// an account lacks is borrowed at the end of the block. Interest grows from one borrowLend
// update of a token to the next, which books it: first interestAmount, then amount. A third of
// all but these change between standard and unified some twelve times a day, which no stream
// tells of; [Venue.ChangeMode] does it at once. What accounts own at cost follows from the
// streams in every mode. Updates of type simulatedGrant stand for a type that nobody knows:
// their amount comes into spot.
//
// # Vaults
//
// The liquidator and some of the traders are vaults that other traders lead, and one vault is closed and
// has no account. They are told of by vaultSummaries, vaultDetails, leadingVaults and userRole alone:
// they were made before the history of the venue, and nobody deposits into them.
//
// # TWAPs
//
// Some traders execute large orders as TWAPs, of perpetuals and of spot: a slice each half
// minute, up to 24 of them at one time, a third of which vary the sizes of their slices. They end finished, or
// terminated by their account; those that ask for more than it can pay end in an error,
// at once or after some slices. [Venue.TruthTwaps] says what was executed of each.
//
// # What is remembered
//
// /info answers from rings: per trader the newest 500 fills, 500 funding
// payments, 300 ended orders, 200 ledger updates, 50 TWAPs and 90 days of hourly
// account values; per market 200 trades, 5,000 candles each of a minute and of
// an hour (other intervals are joined from those) and 90 days of funding. Buckets
// without a trade are left out. The node files forget nothing, unless
// [Config.Retain] says so for the bulky ones.
//
// # Everything is simulated
//
// Coins have familiar names but no relation to a market. Every HTTP response
// carries X-Simulated: true, and the texts which the protocol has room for say
// so (the full name of the builder dex). Block numbers start at 1 and order ids
// at 1,000,001: far below those of the real venue.
package venue
