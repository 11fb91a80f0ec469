package wire

import (
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// ParseFundings reads what the venue answers to fundingHistory of a coin,
//
//	[{"coin","fundingRate","premium","time":ms}, ...]
//
// and counts what cannot be one of its payments. One without a premium is one.
func ParseFundings(data []byte, coin string) (fundings []market.Funding, malformed int, err error) {
	var wire []struct {
		Coin        string       `json:"coin"`
		FundingRate lenient.Text `json:"fundingRate"`
		Premium     lenient.Text `json:"premium"`
		Time        int64        `json:"time"`
	}
	if err := lenient.List(data, &wire); err != nil {
		return nil, 0, fmt.Errorf("read fundings: %w", err)
	}
	for _, w := range wire {
		f := market.Funding{Coin: w.Coin, Rate: string(w.FundingRate), Time: w.Time}
		if _, err := market.ParseDecimal(string(w.Premium)); err == nil {
			f.Premium = string(w.Premium)
		}
		if f.Coin != coin || f.Check() != nil {
			malformed++
			continue
		}
		fundings = append(fundings, f)
	}
	return fundings, malformed, nil
}
