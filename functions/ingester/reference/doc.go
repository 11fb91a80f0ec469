// Package reference is the domain of reference data: what coins are called and what
// they cost, exchange rates, what indexes and
// shares stood at, what companies have filed, and who trades on which other venues. The package engine runs it.
//
// # What is written, and who reads it
//
//	log coins         one row for each entry of a drop: the view is folded from them; so have
//	                  indices, companies, treasuries and othervenues
//	view coins        the names of coins, from the source of prices and from drops
//	view cointickers  the price of each coin, in US dollars and in yuan
//	view rates        daily exchange rates, by which figures are given in yuan
//	series indices    the days of each index and share, a month in a row
//	view indices      their newest days
//	view companies    shares outstanding, cash and debt of companies, as they filed it or drops say
//	view treasuries   what companies and others bought, sold and held of coins, as drops and filings say
//	view othervenues  who trades on which other venues, as drops say: the domain traders reads it
//
// # Adding a projection
//
// As in the package perp: a package below shared/data, a file here with one type, its
// constructor in [Projections], and a generator of batches in the tests' table.
//
// # Adding a dataset that drops load
//
//  1. A struct with tags in its package below shared/data, as coins.Entry, with its
//     schema file ([drop.Type], droptest).
//  2. Its entries in [Batch], and a line in [Drops].
package reference
