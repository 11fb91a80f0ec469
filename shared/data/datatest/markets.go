package datatest

import (
	"encoding/json"
	"fmt"

	"quotary/shared/data/meta"
)

// TwoPerps describes the venue's markets as of a time, ms: the perpetuals BTC and ETH, whose
// collateral is USDC, with the most leverage of each.
func TwoPerps(ms int64, btc, eth int) meta.View {
	perps := fmt.Sprintf(`{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":%d},{"name":"ETH","szDecimals":4,"maxLeverage":%d}],"marginTables":[],"collateralToken":0}`, btc, eth)
	return meta.View{Time: ms, Perps: map[string]json.RawMessage{"": json.RawMessage(perps)}, Spot: json.RawMessage(`{"tokens":[{"name":"USDC","index":0}],"universe":[]}`)}
}
