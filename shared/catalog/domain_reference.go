package catalog

// ReferenceDomain is the domain of coins, exchange rates and indexes, and what is set of it.
var (
	ReferenceDomain = domain(Domain{Name: "reference"})

	// https://api.coingecko.com/api/v3 is CoinGecko's public API, whose terms of use say
	// who may show its prices to others.
	EnvCoinGeckoURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_COINGECKO_URL", Deploy: "coinGeckoURL", Deployed: "off", Free: "https://api.coingecko.com/api/v3",
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
		Name: "QUOTARY_RATES_URL", Deploy: "ratesURL", Deployed: "https://www.ecb.europa.eu/stats/eurofxref", Free: "https://www.ecb.europa.eu/stats/eurofxref",
		Purpose: "the folder of the European Central Bank's files of exchange rates; none are asked for if not set",
	})
	EnvRatesEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_RATES_EVERY", Check: span,
		Purpose: "how often exchange rates of the last day are asked for; every 30 minutes if not set",
	})

	// Each of these has terms of use that say who may show its figures to others.
	EnvFearGreedURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_FEAR_GREED_URL", Deploy: "fearGreedURL", Deployed: "off", Free: "https://api.alternative.me/fng", Check: webAddress,
		Purpose: "the address of alternative.me's Fear and Greed index; it is not asked for if not set",
	})
	EnvVIXURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_VIX_URL", Deploy: "vixURL", Deployed: "off", Free: "https://cdn.cboe.com/api/global/us_indices/daily_prices", Check: webAddress,
		Purpose: "the folder of Cboe's file of the VIX; it is not asked for if not set",
	})
	EnvStooqURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_STOOQ_URL", Deploy: "stooqURL", Deployed: "off", Check: webAddress,
		Purpose: "the address of Stooq's files of daily prices, or of whoever writes the same; none are asked for if not set",
	})
	EnvStooqSymbols = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_STOOQ_SYMBOLS", Deploy: "stooqSymbols", Check: objectList("{key, symbol, unit}"), // what they hold, the domain checks
		Purpose: "the shares and indexes whose daily prices are asked for",
	})
	EnvStooqKey     = ReferenceDomain.setting(Setting{Name: "QUOTARY_STOOQ_KEY", Purpose: "the key of an account there"})
	EnvIndicesEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_INDICES_EVERY", Default: "1h", Check: span,
		Purpose: "how often each index and each daily price is asked for",
	})

	// What companies have filed is in the public domain; who asks must say whom to write to.
	EnvSECURL = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_SEC_URL", Deploy: "secURL", Deployed: "off", Check: webAddress,
		Purpose: "the address of EDGAR's data; no filings are asked for if not set",
	})
	EnvSECContact = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_SEC_CONTACT", Deploy: "secContact", Check: matching(`[ -~]{1,200}`, "a line of up to 200 characters of ASCII"),
		Purpose: "who asks for filings, with an address of mail, as EDGAR demands",
	})
	EnvSECCompanies = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_SEC_COMPANIES", Deploy: "secCompanies", Check: objectList("{key, cik}"), // what they hold, the domain checks
		Purpose: "the companies whose filings are asked for",
	})
	EnvSECEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_SEC_EVERY", Default: "6h", Check: span,
		Purpose: "how often the filings of each company are asked for",
	})

	// A month of looks every minute costs less than half a dollar.
	EnvDropsEvery = ReferenceDomain.setting(Setting{
		Name: "QUOTARY_DROPS_EVERY", Default: "1m", Check: span,
		Purpose: "how often the bucket is asked for drops",
	})
)
