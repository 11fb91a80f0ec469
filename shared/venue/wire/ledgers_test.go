package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
)

func TestALedgerUpdateHasATypeAndFundsAnAmount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delta string
		want  market.Ledger // without its delta
		fails bool
	}{
		"a deposit":                        {delta: `{"type":"deposit","usdc":"100.5"}`, want: market.Ledger{Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "100.5"}},
		"a withdrawal":                     {delta: `{"type":"withdraw","usdc":"7.0","nonce":1,"fee":"1.0"}`, want: market.Ledger{Type: market.LedgerWithdraw, Funds: market.LedgerWithdraw, USDC: "7.0", Fee: "1.0"}},
		"a transfer":                       {delta: `{"type":"spotTransfer","token":"PURR","amount":"3.0","usdc":5}`, want: market.Ledger{Type: "spotTransfer"}},
		"no type":                          {delta: `{"usdc":"1.0"}`, fails: true},
		"a deposit of no amount":           {delta: `{"type":"deposit"}`, fails: true},
		"a deposit of a number":            {delta: `{"type":"deposit","usdc":1.50}`, want: market.Ledger{Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "1.50"}},
		"a withdrawal of no fee":           {delta: `{"type":"withdraw","usdc":"7.0","fee":null}`, want: market.Ledger{Type: market.LedgerWithdraw, Funds: market.LedgerWithdraw, USDC: "7.0"}},
		"a deposit of something else":      {delta: `{"type":"deposit","usdc":"x"}`, fails: true},
		"a withdrawal with such a fee":     {delta: `{"type":"withdraw","usdc":"1.0","fee":"x"}`, want: market.Ledger{Type: market.LedgerWithdraw, Funds: market.LedgerWithdraw, USDC: "1.0"}},
		"a type that is none":              {delta: `{"type":5,"usdc":"1.0"}`, fails: true},
		"a type that is too long":          {delta: `{"type":"` + strings.Repeat("x", market.MaxName+1) + `"}`, fails: true},
		"a type that is hidden":            {delta: `{"type":"send\u202e"}`, fails: true},
		"a long delta":                     {delta: `{"type":"send","to":"` + strings.Repeat("x", 4000) + `"}`, want: market.Ledger{Type: "send"}},
		"a delta that is too long":         {delta: `{"type":"send","to":"` + strings.Repeat("x", 4<<10) + `"}`, fails: true},
		"a long liquidation":               {delta: `{"type":"liquidation","of":"` + strings.Repeat("x", 60<<10) + `"}`, want: market.Ledger{Type: "liquidation"}},
		"a liquidation too long":           {delta: `{"type":"liquidation","of":"` + strings.Repeat("x", 64<<10) + `"}`, fails: true},
		"a delta with hidden text":         {delta: "{\"type\":\"send\",\"to\":\"\u202e\"}", fails: true},
		"a delta with escaped hidden text": {delta: `{"type":"send","to":"\u202e"}`, fails: true},
		"a control character escaped":      {delta: `{"type":"deposit","usdc":"1.0","to":"\u001b[2J"}`, fails: true},
		"a list":                           {delta: `[]`, fails: true},
		"nothing":                          {delta: ``, fails: true},
	} {
		got, err := ParseLedger([]byte(c.delta))
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v", name, err)
		}
		if got.Delta = nil; !c.fails && !cmp.Equal(c.want, got) {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
}
