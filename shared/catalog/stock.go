package catalog

// The planned endpoints of the family Stock: specified, without a handler yet.
var (
	_ = planned("GET", "/upgrade/v2/crypto_stock/quotes", Stock, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/crypto_stock/company/{symbol}", Stock, anyLevel, EnvelopeB)
	_ = planned("GET", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB)
	_ = planned("POST", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB)
)
