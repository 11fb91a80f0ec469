package market

import (
	"reflect"
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

// What is stored has keys of a bounded length and a time of 13 digits.
func TestWhatCannotBeStoredIsNoOrderStatus(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*OrderStatus){
		"an address of other letters": func(s *OrderStatus) { s.Address = strings.Replace(s.Address, "A", "g", 1) },
		"no coin":                     func(s *OrderStatus) { s.Coin = "" },
		"a coin that reads backwards": func(s *OrderStatus) { s.Coin = "\u202eCTB" },
		"no character of a coin":      func(s *OrderStatus) { s.Coin = "BTC\ufffd" },
		"a control character":         func(s *OrderStatus) { s.Coin = "BTC\u0085" },
		"another side":                func(s *OrderStatus) { s.Side = "C" },
		"no time":                     func(s *OrderStatus) { s.Time = 0 },
		"a time before 1970":          func(s *OrderStatus) { s.Time = -1 },
		"a time of 14 digits":         func(s *OrderStatus) { s.Time = MaxTime + 1 },
		"a negative oid":              func(s *OrderStatus) { s.Oid = -1 },
		"no status":                   func(s *OrderStatus) { s.Status = "" },
		"a hidden status":             func(s *OrderStatus) { s.Status = "\u202e" },
		"a status of a line break":    func(s *OrderStatus) { s.Status = " \n" },
		"a long status":               func(s *OrderStatus) { s.Status = strings.Repeat("x", 65) },
		"a price that is no number":   func(s *OrderStatus) { s.LimitPx = "1e3" },
		"a size that is no number":    func(s *OrderStatus) { s.Sz = "" },
		"an odd placed size":          func(s *OrderStatus) { s.OrigSz = "1,5" },
		"a long text":                 func(s *OrderStatus) { s.OrderType = strings.Repeat("x", maxText+1) },
		"a text that is no UTF-8":     func(s *OrderStatus) { s.TriggerCondition = "\xff" },
	} {
		s := canceled()
		spoil(&s)
		if s.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestWhatAnOrderMayLackIsLeftOutWhereItIsImpossible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spoil, without func(*OrderStatus) }{
		"a builder that is no address": {func(s *OrderStatus) { s.Builder = "me" }, func(s *OrderStatus) { s.Builder = "" }},
		"a short client order id":      {func(s *OrderStatus) { s.Cloid = "0x01" }, func(s *OrderStatus) { s.Cloid = "" }},
		"a client order id of letters": {func(s *OrderStatus) { s.Cloid = "0x" + strings.Repeat("z", 32) }, func(s *OrderStatus) { s.Cloid = "" }},
		"a long hash":                  {func(s *OrderStatus) { s.Hash = strings.Repeat("x", maxText+1) }, func(s *OrderStatus) { s.Hash = "" }},
		"children that are no list":    {func(s *OrderStatus) { s.Children = []byte(`{}`) }, func(s *OrderStatus) { s.Children = nil }},
		"children that are no UTF-8":   {func(s *OrderStatus) { s.Children = []byte("[\"\xff\"]") }, func(s *OrderStatus) { s.Children = nil }},
		"children that are no JSON":    {func(s *OrderStatus) { s.Children = []byte(`[}`) }, func(s *OrderStatus) { s.Children = nil }},
		"a child with hidden text": {
			func(s *OrderStatus) { s.Children = []byte(`[{"coin":"\u202e","x":"` + "\u2066" + `"}]`) },
			func(s *OrderStatus) { s.Children = []byte(`[{"coin":"` + "\ufffd" + `","x":"` + "\ufffd" + `"}]`) },
		},
		"children beyond all measure": {func(s *OrderStatus) { s.Children = []byte("[" + strings.Repeat(" ", maxChildren) + "]") }, func(s *OrderStatus) { s.Children = nil }},
	} {
		got, want := canceled(), canceled()
		c.spoil(&got)
		c.without(&want)
		if got.Check() != nil || want.Check() != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v: %+v, want %+v", name, got.Check(), got, want)
		}
	}
}
