package catalog

// The planned endpoints of the family Treasury: specified, without a handler yet.
var (
	// Lists companies and other entities by the coins they hold.
	_ = planned("POST", "/upgrade/v2/coin-treasuries/entities", Treasury, grant("coin_treasury_COIN_TREASURY_ENTITIES"), EnvelopeB)
	// Lists what entities bought and sold of a coin.
	_ = planned("POST", "/upgrade/v2/coin-treasuries/history", Treasury, grant("coin_treasury_COIN_TREASURY_HISTORY"), EnvelopeB)
	// Lists the holdings of an entity over time, oldest first.
	_ = planned("POST", "/upgrade/v2/coin-treasuries/history/accumulated", Treasury, grant("coin_treasury_COIN_TREASURY_HISTORY_ACCUMULATED"), EnvelopeB)
)
