package venue

import (
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// TwapState is a TWAP order as the venue shows it.
func TwapState(s *market.TwapStatus) catalog.TwapState {
	return catalog.TwapState{
		Coin: s.Coin, User: s.Address, Side: s.Side.String(), Sz: s.Sz, ExecutedSz: s.ExecutedSz, ExecutedNtl: s.ExecutedNtl,
		Minutes: s.Minutes, ReduceOnly: s.ReduceOnly, Randomize: s.Randomize, Timestamp: s.Timestamp,
	}
}
