package wire_test

import (
	"testing"

	"quotary/shared/market"
	"quotary/shared/source/hyperliquid/wire"
)

// canceled is an order that has every member.
func canceled() market.OrderStatus {
	return market.OrderStatus{
		Address: "0xA11CE00000000000000000000000000000000001", Time: 1755863118217, Status: "canceled",
		Coin: "xyz:GOLD", Side: "B", LimitPx: "3.2502", Sz: "81.7", OrigSz: "100.0", Oid: 141682155424, Timestamp: 1755863117780,
		TriggerCondition: `Price "above" 3`, IsTrigger: true, TriggerPx: "3.0", Children: []byte(`[{"oid":5}]`), IsPositionTpsl: true, ReduceOnly: true,
		OrderType: "Stop Limit", Tif: "Gtc", Cloid: "0xABCDEF00000000000000000000000001",
	}
}

func TestAnOrderStatusIsWrittenAsTheVenueWritesIt(t *testing.T) {
	t.Parallel()
	full, plain := canceled(), market.OrderStatus{
		Address: "0xa11ce00000000000000000000000000000000001", Time: 1755857898644, Status: "filled",
		Coin: "ETH", Side: "B", LimitPx: "4650.4", Sz: "0.0", OrigSz: "0.0025", Oid: 37907159219, Timestamp: 1755857898644,
		TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Market",
	}
	for want, s := range map[string]*market.OrderStatus{
		`{"order":{"coin":"xyz:GOLD","side":"B","limitPx":"3.2502","sz":"81.7","oid":141682155424,"timestamp":1755863117780,` +
			`"triggerCondition":"Price \"above\" 3","isTrigger":true,"triggerPx":"3.0","children":[{"oid":5}],"isPositionTpsl":true,"reduceOnly":true,` +
			`"orderType":"Stop Limit","origSz":"100.0","tif":"Gtc","cloid":"0xabcdef00000000000000000000000001"},"status":"canceled","statusTimestamp":1755863118217}`: &full,
		`{"order":{"coin":"ETH","side":"B","limitPx":"4650.4","sz":"0.0","oid":37907159219,"timestamp":1755857898644,` +
			`"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],"isPositionTpsl":false,"reduceOnly":false,` +
			`"orderType":"Market","origSz":"0.0025","tif":null,"cloid":null},"status":"filled","statusTimestamp":1755857898644}`: &plain,
	} {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if s.Address != "0xa11ce00000000000000000000000000000000001" {
			t.Errorf("the address became %s", s.Address)
		}
		if got := string(wire.AppendOrder(nil, s)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
