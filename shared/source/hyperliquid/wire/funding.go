package wire

import (
	"encoding/json"
	"fmt"

	"quotary/shared/market"
)

// ParseFundings reads what the venue answers to fundingHistory of a coin,
//
//	[{"coin","fundingRate","premium","time":ms}, ...]
//
// and counts what cannot be one of its payments.
func ParseFundings(data []byte, coin string) (fundings []market.Funding, malformed int, err error) {
	var wire []struct {
		Coin        string `json:"coin"`
		FundingRate string `json:"fundingRate"`
		Premium     string `json:"premium"`
		Time        int64  `json:"time"`
	}
	if err := json.Unmarshal(data, &wire); err != nil {
		return nil, 0, fmt.Errorf("read fundings: %w", err)
	}
	for _, w := range wire {
		f := market.Funding{Coin: w.Coin, Rate: w.FundingRate, Premium: w.Premium, Time: w.Time}
		if f.Coin != coin || f.Premium == "" || f.Check() != nil {
			malformed++
			continue
		}
		fundings = append(fundings, f)
	}
	return fundings, malformed, nil
}
