package market_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/market"
)

func TestMoneyComesAndGoesByEveryRoute(t *testing.T) {
	t.Parallel()
	const usdcAddress, hypeAddress, wallet = "0x2000000000000000000000000000000000000000", "0x2222222222222222222222222222222222222222", "0x6b9e773128f453f5c2c60935ee2de2cbc5390a24"
	for name, c := range map[string]struct {
		kind, from, to, token, more string
		of                          string // whose ledger it is; "" is the account's
		funds, usdc, fee, value     string
	}{
		"a deposit into spot":                    {kind: "spotTransfer", from: usdcAddress, to: alice, token: "USDC", funds: "deposit", usdc: "12.5"},
		"one by send":                            {kind: "send", from: usdcAddress, to: alice, token: "USDC", funds: "deposit", usdc: "12.5"},
		"one of another token":                   {kind: "send", from: "0x2000000000000000000000000000000000000168", to: alice, token: "USDH", more: `,"usdcValue":"12.25"`, funds: "deposit", value: "12.25"},
		"one of another token without its value": {kind: "send", from: "0x2000000000000000000000000000000000000168", to: alice, token: "USDH", funds: "deposit"},
		"one of HYPE":                            {kind: "spotTransfer", from: hypeAddress, to: alice, token: "HYPE", more: `,"usdcValue":"400.0"`, funds: "deposit", value: "400.0"},
		"one by the wallet":                      {kind: "send", from: wallet, to: alice, token: "USDC", funds: "deposit", usdc: "12.5"},
		"addresses in capitals":                  {kind: "send", from: strings.ToUpper(wallet), to: strings.ToUpper(alice), token: "USDC", funds: "deposit", usdc: "12.5"},
		"a withdrawal":                           {kind: "spotTransfer", from: alice, to: usdcAddress, token: "USDC", more: `,"fee":"1.0"`, funds: "withdraw", usdc: "12.5", fee: "1.0"},
		"one with a fee in another token":        {kind: "send", from: alice, to: usdcAddress, token: "USDC", more: `,"fee":"1.0","feeToken":"HYPE"`, funds: "withdraw", usdc: "12.5"},
		"one whose gas is HYPE":                  {kind: "send", from: alice, to: usdcAddress, token: "USDC", more: `,"nativeTokenFee":"0.001"`, funds: "withdraw", usdc: "12.5"},
		"one of HYPE that leaves":                {kind: "send", from: alice, to: hypeAddress, token: "HYPE", more: `,"usdcValue":"400.0"`, funds: "withdraw", value: "400.0"},
		"a transfer between accounts":            {kind: "send", from: alice, to: "0xb0b0000000000000000000000000000000000002", token: "USDC"},
		"one within the account":                 {kind: "send", from: alice, to: alice, token: "USDC"},
		"what the other side's ledger says":      {kind: "send", from: usdcAddress, to: alice, token: "USDC", of: usdcAddress},
		"what the wallet's ledger says":          {kind: "send", from: wallet, to: alice, token: "USDC", of: wallet},
		"another type of update":                 {kind: "internalTransfer", from: usdcAddress, to: alice, token: "USDC"},
		"an address that only begins like one":   {kind: "send", from: "0x2000000000000000100000000000000000000000", to: alice, token: "USDC"},
	} {
		if c.of == "" {
			c.of = alice
		}
		l := market.Ledger{Address: c.of, Type: c.kind, Delta: json.RawMessage(fmt.Sprintf(`{"type":%q,"user":%q,"destination":%q,"token":%q,"amount":"12.5"%s}`, c.kind, c.from, c.to, c.token, c.more))}
		if l.Route(); l.Funds != c.funds || l.USDC != c.usdc || l.Fee != c.fee || l.Value != c.value {
			t.Errorf("%s: funds %q, USDC %q, fee %q, value %q", name, l.Funds, l.USDC, l.Fee, l.Value)
		}
	}
	broken := market.Ledger{Address: alice, Type: "send", Delta: json.RawMessage(`{"type":"send","user":"` + usdcAddress + `","destination":"` + alice + `","token":"USDC","amount":"x"}`)}
	if broken.Route(); broken.Funds != "" {
		t.Errorf("an amount that is none is a %s", broken.Funds)
	}
}
