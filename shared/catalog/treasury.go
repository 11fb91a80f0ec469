package catalog

// The planned endpoints of the family Treasury: specified, without a handler yet.
var (
	_ = planned("POST", "/upgrade/v2/coin-treasuries/entities", Treasury, grant("coin_treasury_COIN_TREASURY_ENTITIES"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/coin-treasuries/history", Treasury, grant("coin_treasury_COIN_TREASURY_HISTORY"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/coin-treasuries/history/accumulated", Treasury, grant("coin_treasury_COIN_TREASURY_HISTORY_ACCUMULATED"), EnvelopeB)
)
