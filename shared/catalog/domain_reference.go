package catalog

// ReferenceDomain is the domain of coins and exchange rates, and what is set of it.
var (
	ReferenceDomain = domain(Domain{Name: "reference"})

	// https://api.coingecko.com/api/v3 is CoinGecko's public API, whose terms of use say
	// who may show its prices to others.
	EnvCoinGeckoURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_COINGECKO_URL", Deploy: "coinGeckoURL", Deployed: "off",
		Purpose: "the address of CoinGecko, or of whoever speaks its protocol; no prices of coins are asked for if not set",
	})
	EnvCoinGeckoKey = ReferenceDomain.setting(Setting{Name: "QUOTARY_COINGECKO_KEY", Purpose: "the key of a demo account there"})
	// A demo account has 10,000 calls a month, of which one every five minutes are 8,928.
	EnvCoinGeckoPages = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_COINGECKO_PAGES", Default: "1", Check: wholeNumber(1),
		Purpose: "how many pages of 250 coins are asked for, from the largest on",
	})
	EnvCoinGeckoEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_COINGECKO_EVERY", Default: "5m", Check: span,
		Purpose: "how often the prices of coins are asked for",
	})
	EnvRatesURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_RATES_URL", Deploy: "ratesURL", Deployed: "https://www.ecb.europa.eu/stats/eurofxref",
		Purpose: "the folder of the European Central Bank's files of exchange rates; none are asked for if not set",
	})
	EnvRatesEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_RATES_EVERY", Check: span,
		Purpose: "how often exchange rates of the last day are asked for; every 30 minutes if not set",
	})
	// A month of looks every minute costs less than half a dollar.
	EnvDropsEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_DROPS_EVERY", Default: "1m", Check: span,
		Purpose: "how often the bucket is asked for drops",
	})
)
