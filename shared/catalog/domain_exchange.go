package catalog

// ExchangeDomain is the domain of the centralised exchanges, and what is set of it.
var (
	ExchangeDomain = domain(Domain{Name: "exchange"})

	EnvExchanges = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGES", Deploy: "exchanges", Deployed: "binance", Free: "binance,bybit,okx", Live: true,
		Purpose: "the centralised exchanges that are followed, of binance, bybit and okx; none if not set",
		Check:   matching(`[a-z]+( *, *[a-z]+)*`, "names of lower-case letters, separated by commas"),
	})
	EnvExchangeCoins = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_COINS", Deploy: "exchangeCoins",
		Purpose: "the coins whose pairs with USDT are followed; the 30 most traded if not set",
		Check:   matching(`[A-Za-z0-9]+( *, *[A-Za-z0-9]+)*`, "names of letters and digits, separated by commas"),
	})
	EnvExchangeBooks = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_BOOKS", Deploy: "exchangeBooks", Default: "BTC,ETH,SOL",
		Purpose: "the coins whose order books are followed and sampled, for some 25 to 45 cents a month for each of their pairs; none follows no book",
		Check:   matching(`[A-Za-z0-9]+( *, *[A-Za-z0-9]+)*`, "names of letters and digits, separated by commas"),
	})
	EnvExchangeMinutes = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_MINUTES", Deploy: "exchangeMinutes", Default: "7", Check: wholeNumber(1),
		Purpose: "how many days of K-lines of a minute are filled back when a pair is first followed",
	})
	EnvExchangeHours = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_HOURS", Deploy: "exchangeHours", Default: "365", Check: wholeNumber(1),
		Purpose: "how many days of K-lines of an hour are filled back",
	})
	EnvExchangeContracts = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_CONTRACTS", Deploy: "exchangeContracts", Default: "30", Check: wholeNumber(1),
		Purpose: "how many days of funding, open interest and accounts of perpetuals are filled back",
	})
	// Half of it is twice the cost.
	EnvExchangeRefresh = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_EXCHANGE_REFRESH", Deploy: "exchangeRefresh", Default: "10s", Check: span,
		Purpose: "how often the rows of open K-lines are written",
	})
	EnvBinanceURL = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_BINANCE_URL", Purpose: "where all of Binance is simulated; Binance itself if not set",
	})
	EnvOKXURL = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_OKX_URL", Purpose: "where all of OKX is simulated; OKX itself if not set",
	})
	EnvBybitURL = ExchangeDomain.setting(Setting{
		Name: "QUOTARY_BYBIT_URL", Purpose: "where all of Bybit is simulated; Bybit itself if not set",
	})
)
