package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
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
		must.Do(t, s.Check())
		if s.Address != "0xa11ce00000000000000000000000000000000001" {
			t.Errorf("the address became %s", s.Address)
		}
		if got := string(s.AppendJSON(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// nodeStatus is a status as a node writes it, by encoding/json.
func nodeStatus(t testing.TB, s *market.OrderStatus) string {
	t.Helper()
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	children := s.Children
	if len(children) == 0 {
		children = json.RawMessage("[]")
	}
	line := must.Get(json.Marshal(map[string]any{
		"time": s.When().Format(wire.NodeTime), "user": s.Address, "hash": orNull(s.Hash), "status": s.Status,
		"builder": map[string]any{"b": orNull(s.Builder), "f": s.BuilderFee},
		"order": map[string]any{"coin": s.Coin, "side": s.Side, "limitPx": s.LimitPx, "sz": s.Sz, "origSz": s.OrigSz, "oid": s.Oid, "timestamp": s.Timestamp,
			"triggerCondition": s.TriggerCondition, "isTrigger": s.IsTrigger, "triggerPx": s.TriggerPx, "children": children,
			"isPositionTpsl": s.IsPositionTpsl, "reduceOnly": s.ReduceOnly, "orderType": s.OrderType, "tif": orNull(s.Tif), "cloid": orNull(s.Cloid)},
	}))(t)
	return string(line)
}

// FuzzParseOrders wants what is read as a status to be read again as the same when
// encoding/json has written it, and never a panic.
func FuzzParseOrders(f *testing.F) {
	full := canceled()
	f.Add(nodeStatus(f, &full))
	f.Add(`{"block_number":7,"events":[` + nodeStatus(f, &full) + `,7,{"status":null}]}`)
	f.Add(`{"time":"2026-03-15T00:00:00","user":"0xa11ce00000000000000000000000000000000001","status":"open","hash":5,"builder":[],"order":{"coin":"BTC","side":"A","limitPx":"1","sz":"1","origSz":"1","cloid":7,"children":{}}}`)
	f.Add(`{"time":"2026-03-15T00:00:00","user":5,"order":{"oid":1e3,"isTrigger":null,"children":null}}`)
	f.Fuzz(func(t *testing.T, line string) {
		list, skipped, err := wire.ParseOrders(nil, line, 7)
		if skipped > 0 && err == nil {
			t.Fatalf("%d skipped, %v", skipped, err)
		}
		for i := range list {
			again, skipped, err := wire.ParseOrders(nil, nodeStatus(t, &list[i]), list[i].Seq)
			if err != nil || skipped > 0 || len(again) != 1 {
				t.Fatalf("%+v is not read again: %v", list[i], err)
			}
			if len(list[i].Children) == 0 || !json.Valid(list[i].Children) || string(list[i].Children) != string(again[0].Children) {
				list[i].Children, again[0].Children = nil, nil // written without its spaces
			}
			if diff := cmp.Diff(list[i], again[0]); diff != "" {
				t.Fatalf("(-read +again):\n%s", diff)
			}
		}
	})
}

func TestWhatAnOrderMayLackNeverCostsItsStatus(t *testing.T) {
	t.Parallel()
	full := canceled()
	full.Hash, full.Builder, full.BuilderFee = "0x5a", "0xb0b0000000000000000000000000000000000002", 10
	line := nodeStatus(t, &full)
	for name, c := range map[string]struct {
		part, spoiled string
		noticed       bool
	}{
		"as it should be":    {},
		"a null hash":        {part: `"hash":"0x5a"`, spoiled: `"hash":null`},
		"a hash of numbers":  {part: `"hash":"0x5a"`, spoiled: `"hash":[5]`, noticed: true},
		"no builder":         {part: `"builder":{"b":"0xb0b0000000000000000000000000000000000002","f":10},`},
		"a null builder":     {part: `{"b":"0xb0b0000000000000000000000000000000000002","f":10}`, spoiled: `null`},
		"a builder by name":  {part: `{"b":"0xb0b0000000000000000000000000000000000002","f":10}`, spoiled: `{"b":"me","f":10}`},
		"a builder's share":  {part: `"f":10`, spoiled: `"f":0.5`, noticed: true},
		"no tif":             {part: `"tif":"Gtc",`},
		"a tif of numbers":   {part: `"tif":"Gtc"`, spoiled: `"tif":3`, noticed: true},
		"a null cloid":       {part: `"cloid":"0xABCDEF00000000000000000000000001"`, spoiled: `"cloid":null`},
		"a short cloid":      {part: `"cloid":"0xABCDEF00000000000000000000000001"`, spoiled: `"cloid":"0x1"`},
		"a cloid of numbers": {part: `"cloid":"0xABCDEF00000000000000000000000001"`, spoiled: `"cloid":1`, noticed: true},
		"null children":      {part: `"children":[{"oid":5}]`, spoiled: `"children":null`},
		"children by name":   {part: `"children":[{"oid":5}]`, spoiled: `"children":"none"`},
	} {
		if !strings.Contains(line, c.part) {
			t.Fatalf("%s: %q is not in %s", name, c.part, line)
		}
		list, skipped, err := wire.ParseOrders(nil, strings.Replace(line, c.part, c.spoiled, 1), 0)
		if skipped != 0 || len(list) != 1 || (err != nil) != c.noticed {
			t.Errorf("%s: %d statuses, %d skipped, %v", name, len(list), skipped, err)
		}
	}
}
