package wire_test

import (
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

const stateJSON = `{"marginSummary":{"accountValue":"12.5","totalNtlPos":"10.0","totalRawUsd":"2.5","totalMarginUsed":"1.0"},` +
	`"crossMarginSummary":{"accountValue":"11.5","totalNtlPos":"10.0","totalRawUsd":"2.5","totalMarginUsed":"1.0"},"crossMaintenanceMarginUsed":"0.5","withdrawable":"9.0",` +
	`"assetPositions":[{"type":"oneWay","position":{"coin":"BTC","szi":"0.1","leverage":{"type":"isolated","value":10,"rawUsd":"-9.0"},"entryPx":"99.0","positionValue":"10.0",` +
	`"unrealizedPnl":"0.1","returnOnEquity":"0.01","liquidationPx":"80.0","marginUsed":"1.0","maxLeverage":40,"cumFunding":{"allTime":"1.0","sinceOpen":"0.5","sinceChange":"0.25"}}}],"time":1790000000000}`

// TestAStateIsReadWithoutWhatItMayLack spoils a state: what an account is folded from has
// to be there, as half a state is worse than none, and the rest costs nothing.
func TestAStateIsReadWithoutWhatItMayLack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		part, spoiled string
		fails         bool
	}{
		"as it should be":                   {},
		"no liquidation price":              {part: `"80.0"`, spoiled: `null`},
		"no entry price":                    {part: `"entryPx":"99.0",`},
		"a return of another type":          {part: `"returnOnEquity":"0.01"`, spoiled: `"returnOnEquity":{}`},
		"no funding":                        {part: `,"cumFunding":{"allTime":"1.0","sinceOpen":"0.5","sinceChange":"0.25"}`},
		"null funding":                      {part: `{"allTime":"1.0","sinceOpen":"0.5","sinceChange":"0.25"}`, spoiled: `null`},
		"a greatest leverage of its name":   {part: `"maxLeverage":40`, spoiled: `"maxLeverage":"40"`},
		"no maintenance margin":             {part: `"crossMaintenanceMarginUsed":"0.5",`},
		"withdrawable as a number":          {part: `"withdrawable":"9.0"`, spoiled: `"withdrawable":9.0`},
		"no cash":                           {part: `"accountValue":"11.5",`, fails: true},
		"cash that is none":                 {part: `"11.5"`, spoiled: `"much"`, fails: true},
		"no cross margin":                   {part: `"crossMarginSummary"`, spoiled: `"other"`, fails: true},
		"no size":                           {part: `"szi":"0.1",`, fails: true},
		"no value of a position":            {part: `"positionValue":"10.0",`, fails: true},
		"no profit of a position":           {part: `"unrealizedPnl":"0.1"`, spoiled: `"unrealizedPnl":null`, fails: true},
		"no margin of an isolated position": {part: `,"rawUsd":"-9.0"`, fails: true},
		"no leverage":                       {part: `"value":10,`, fails: true},
		"no time":                           {part: `,"time":1790000000000`, fails: true},
	} {
		if !strings.Contains(stateJSON, c.part) {
			t.Fatalf("%s: %q is no part of the state", name, c.part)
		}
		s, err := wire.ParseAccount([]byte(strings.Replace(stateJSON, c.part, c.spoiled, 1)), "")
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (len(s.Positions) != 1 || market.Text(s.CrossMargin.AccountValue) != "11.5" || market.Text(s.Positions[0].Szi) != "0.1" || market.Text(s.Withdrawable) != "9.0") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestBalancesAreReadWithoutWhatTheyMayLack(t *testing.T) {
	t.Parallel()
	list, _, err := wire.ParseSpotBalances([]byte(`{"balances":[{"coin":"USDC","token":0,"total":"5.0","hold":null},{"coin":"+441","total":"7.0","entryNtl":2.5,"token":"x"}],"other":7}`))
	if err != nil || len(list) != 2 || market.Text(list[0].Total) != "5.0" || market.Text(list[1].Total) != "7.0" || market.Text(list[1].EntryNtl) != "2.5" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, wrong := range []string{`{}`, `{"balances":7}`, `{"balances":[{"coin":"USDC"}]}`, `{"balances":[{"total":"1.0"}]}`, `{"balances":[{"coin":"USDC","total":"x"}]}`, `[]`} {
		if list, _, err := wire.ParseSpotBalances([]byte(wrong)); err == nil {
			t.Errorf("%s: %+v", wrong, list)
		}
	}
}

func TestFundingWithoutAPremiumIsFunding(t *testing.T) {
	t.Parallel()
	for _, premium := range []string{`,"premium":null`, ``, `,"premium":{}`} {
		list, malformed, err := wire.ParseFundings([]byte(`[{"coin":"BTC","fundingRate":"0.0000125","premium":"0.0003","time":1790000000000},{"coin":"BTC","fundingRate":"0.0000125"`+premium+`,"time":1790003600000},7]`), "BTC")
		if err != nil || malformed != 1 || len(list) != 2 || list[0].Premium != "0.0003" || list[1].Premium != "" {
			t.Errorf("%s: %+v, %d malformed, %v", premium, list, malformed, err)
		}
	}
}
