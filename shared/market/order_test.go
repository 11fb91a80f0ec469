package market

import (
	"strings"
	"testing"
)

// canceled is an order that has every member.
func canceled() OrderStatus {
	return OrderStatus{
		Address: "0xA11CE00000000000000000000000000000000001", Time: 1755863118217, Status: "canceled",
		Coin: "xyz:GOLD", Side: "B", LimitPx: "3.2502", Sz: "81.7", OrigSz: "100.0", Oid: 141682155424, Timestamp: 1755863117780,
		TriggerCondition: `Price "above" 3`, IsTrigger: true, TriggerPx: "3.0", Children: []byte(`[{"oid":5}]`), IsPositionTpsl: true, ReduceOnly: true,
		OrderType: "Stop Limit", Tif: "Gtc", Cloid: "0xABCDEF00000000000000000000000001",
	}
}

func TestAnOrderStatusIsWrittenAsTheVenueWritesIt(t *testing.T) {
	t.Parallel()
	full, plain := canceled(), OrderStatus{
		Address: "0xa11ce00000000000000000000000000000000001", Time: 1755857898644, Status: "filled",
		Coin: "ETH", Side: "B", LimitPx: "4650.4", Sz: "0.0", OrigSz: "0.0025", Oid: 37907159219, Timestamp: 1755857898644,
		TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Market",
	}
	for want, s := range map[string]*OrderStatus{
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
		if got := string(s.AppendJSON(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// What is stored has keys of a bounded length and a time of 13 digits.
func TestWhatCannotBeStoredIsNoOrderStatus(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*OrderStatus){
		"an address of other letters":  func(s *OrderStatus) { s.Address = strings.Replace(s.Address, "A", "g", 1) },
		"a builder that is no address": func(s *OrderStatus) { s.Builder = "me" },
		"no coin":                      func(s *OrderStatus) { s.Coin = "" },
		"another side":                 func(s *OrderStatus) { s.Side = "C" },
		"no time":                      func(s *OrderStatus) { s.Time = 0 },
		"a time before 1970":           func(s *OrderStatus) { s.Time = -1 },
		"a time of 14 digits":          func(s *OrderStatus) { s.Time = maxTime + 1 },
		"a negative oid":               func(s *OrderStatus) { s.Oid = -1 },
		"no status":                    func(s *OrderStatus) { s.Status = "" },
		"a long status":                func(s *OrderStatus) { s.Status = strings.Repeat("x", 65) },
		"a price that is no number":    func(s *OrderStatus) { s.LimitPx = "1e3" },
		"a size that is no number":     func(s *OrderStatus) { s.Sz = "" },
		"an odd placed size":           func(s *OrderStatus) { s.OrigSz = "1,5" },
		"a short client order id":      func(s *OrderStatus) { s.Cloid = "0x01" },
		"a client order id of letters": func(s *OrderStatus) { s.Cloid = "0x" + strings.Repeat("z", 32) },
		"a long text":                  func(s *OrderStatus) { s.OrderType = strings.Repeat("x", maxText+1) },
		"a text that is no UTF-8":      func(s *OrderStatus) { s.TriggerCondition = "\xff" },
		"children that are no list":    func(s *OrderStatus) { s.Children = []byte(`{}`) },
		"children that are no UTF-8":   func(s *OrderStatus) { s.Children = []byte("[\"\xff\"]") },
		"children beyond all measure":  func(s *OrderStatus) { s.Children = []byte("[" + strings.Repeat(" ", maxChildren) + "]") },
	} {
		s := canceled()
		spoil(&s)
		if s.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
