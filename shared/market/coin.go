package market

import "strings"

// CoinMarket is how a coin stands over all its markets. Money is in US dollars.
// Figures are plain decimals; an empty one is not known.
type CoinMarket struct {
	Key    string // coin key: see ValidCoinKey; upper and lower case differ, e.g. bitcoin
	Symbol string // short name in capitals, e.g. BTC
	Name   string // in English
	Rank   int64  // by market value, from 1; 0 where it is not known
	Time   int64  // when the figures were made, ms

	Image  string // address of its logo
	Supply string // coins in circulation
	Issued string // coins that there will ever be, else those that there are

	Price       string // of one coin
	Degree24h   string // change of the price in 24 hours, percent
	Degree7d    string // change of the price in seven days, percent
	MarketCap   string // price x circulating supply
	Turnover24h string // what was traded in 24 hours
}

// CoinTheme is the coins of a theme, of which clients ask for the coins: the largest first.
type CoinTheme struct {
	Key   string // e.g. defi
	Time  int64  // when it was asked for, ms
	Coins []string
}

// DayRates are the reference rates of one day: units of a currency for one euro.
type DayRates struct {
	Date     string // yyyy-mm-dd
	USD, CNY Decimal
	Others   map[string]Decimal // by the code of the currency, in lower case
}

// maxCoinKey bounds a coin key, in bytes.
const maxCoinKey = 64

// ValidCoinKey reports whether clients can send a text as a coin key.
func ValidCoinKey(key string) bool {
	const accepted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:._/@+-"
	return key != "" && len(key) <= maxCoinKey && strings.Trim(key, accepted) == ""
}
