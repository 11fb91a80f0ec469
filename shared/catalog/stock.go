package catalog

// The planned endpoints of the family Stock: specified, without a handler yet.
var (
	// Shows prices of stocks of companies in the crypto business.
	_ = planned("GET", "/upgrade/v2/crypto_stock/quotes", Stock, anyLevel, EnvelopeB)
	// Describes a listed company.
	_ = planned("GET", "/upgrade/v2/crypto_stock/company/{symbol}", Stock, anyLevel, EnvelopeB)
	// Ranks stocks by their gain.
	_ = planned("GET", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB)
	// Ranks stocks by their gain, with the parameters in the body.
	_ = planned("POST", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB)
)
