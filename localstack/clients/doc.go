// Package clients runs genuine clients of the venue against the product: the Hyperliquid Python
// SDK, @nktkas/hyperliquid and ccxt, as they come from their registries, with another address and
// a hook that signs it. Their read methods are found by reflection, called on the product and on
// the venue itself, and compared. make test-clients runs it; the result is a table of the
// documentation.
package clients
