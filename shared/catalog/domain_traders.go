package catalog

// TradersDomain is the domain that publishes the trader table, and what is set of it.
var (
	TradersDomain = domain(Domain{Name: "traders"})

	EnvTradersEvery = TradersDomain.setting(Setting{
		Name: "QUOTARY_TRADERS_EVERY", Deploy: "tradersEvery", Deployed: "5m", Default: "5m", Check: span,
		Purpose: "how often the trader table is published",
	})
)
