package channel

import "testing"

func TestASubscriptionHasOneKeyHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`{"type":"trades","coin":"xyz:GOLD"}`:                                                              "trades#xyz:GOLD",
		`{"type":"trades","coin":"#12"}`:                                                                   "trades##12",
		`{"coin":"PURR/USDC","type":"bbo"}`:                                                                "bbo#PURR/USDC",
		`{"type":"candle","coin":"BTC","interval":"15s"}`:                                                  "candle#BTC#15s",
		`{"type":"l2Book","coin":"BTC"}`:                                                                   "l2Book#BTC",
		`{"type":"l2Book","coin":"BTC","nSigFigs":null,"mantissa":null}`:                                   "l2Book#BTC",
		`{"type":"l2Book","coin":"BTC","nSigFigs":5}`:                                                      "l2Book#BTC#5",
		`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":1}`:                                         "l2Book#BTC#5",
		`{"type":"l2Book","coin":"BTC","fast":true}`:                                                       "l2Book#BTC#fast",
		`{"type":"l2Book","coin":"BTC","fast":false,"id":1}`:                                               "l2Book#BTC",
		`{"type":"l2Book","coin":"BTC","fast":true,"nSigFigs":5,"mantissa":5}`:                             "l2Book#BTC#5#5#fast",
		`{"type":"l2Book","coin":"BTC","mantissa":2,"nSigFigs":5}`:                                         "l2Book#BTC#5#2",
		`{"type":"liquidations"}`:                                                                          "liquidations",
		`{"type":"liquidations","coin":null,"minValue":0}`:                                                 "liquidations",
		`{"type":"liquidations","coin":"BTC","minValue":"1000.50"}`:                                        "liquidations#BTC#minValue=1000.5",
		`{"type":"liquidations","minValue":1000}`:                                                          "liquidations#minValue=1000",
		`{"type":"userFills","user":"0xA11CE00000000000000000000000000000000001"}`:                         "userFills",
		`{"type":"openOrders","user":"0xA11CE00000000000000000000000000000000001","dex":"xyz"}`:            "openOrders",
		`{"type":"userFills","user":"0xB0B0000000000000000000000000000000000002","aggregateByTime":false}`: "userFills",
	} {
		s, err := Decode([]byte(message))
		if err != nil {
			t.Errorf("%s: %v", message, err)
		}
		if got := s.Key(); got != want {
			t.Errorf("%s: key %q, want %q", message, got, want)
		}
	}
}
