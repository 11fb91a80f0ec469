package e2e

import (
	"encoding/json"
	"strconv"
	"testing"
)

// Shapes that the venue documents for its own feeds, as far as a reader must
// rely on them.
type (
	publicLevel struct {
		Px string `json:"px"`
		Sz string `json:"sz"`
		N  int    `json:"n"`
	}
	publicBook struct {
		Coin   string           `json:"coin"`
		Time   int64            `json:"time"`
		Levels [2][]publicLevel `json:"levels"`
	}
	publicBest struct {
		Coin string          `json:"coin"`
		Time int64           `json:"time"`
		BBO  [2]*publicLevel `json:"bbo"`
	}
	publicTrade struct {
		Coin  string    `json:"coin"`
		Side  string    `json:"side"`
		Px    string    `json:"px"`
		Sz    string    `json:"sz"`
		Time  int64     `json:"time"`
		Hash  string    `json:"hash"`
		Tid   int64     `json:"tid"`
		Users [2]string `json:"users"`
	}
	publicCandle struct {
		Open   int64  `json:"t"`
		Close  int64  `json:"T"`
		Coin   string `json:"s"`
		Period string `json:"i"`
		O      string `json:"o"`
		C      string `json:"c"`
		H      string `json:"h"`
		L      string `json:"l"`
		V      string `json:"v"`
		N      int    `json:"n"`
	}
	publicAccount struct {
		User  string            `json:"user"`
		Dex   *string           `json:"dex"`
		Fills []json.RawMessage `json:"fills"`

		Updates []json.RawMessage `json:"nonFundingLedgerUpdates"`
		Orders  *[]struct {
			Coin    string `json:"coin"`
			LimitPx string `json:"limitPx"`
			Oid     int64  `json:"oid"`
		} `json:"orders"`
		State *struct {
			MarginSummary struct {
				AccountValue string `json:"accountValue"`
			} `json:"marginSummary"`
			Withdrawable string `json:"withdrawable"`
			Time         int64  `json:"time"`
		} `json:"clearinghouseState"`
	}
)

// checkPublic requires that the data of a channel can be read as what the venue
// documents, and makes sense.
func checkPublic(t *testing.T, channel, user string, data json.RawMessage) {
	t.Helper()
	var sensible bool
	switch channel {
	case "l2Book", "rounded":
		var b publicBook
		sensible = read(t, data, &b) && b.Coin == map[string]string{"l2Book": "BTC", "rounded": "ETH"}[channel] && b.Time > 0 && ordered(b.Levels)
	case "bbo":
		var b publicBest
		sensible = read(t, data, &b) && b.Coin == "BTC" && b.Time > 0 && b.BBO[0] != nil && b.BBO[1] != nil &&
			ordered([2][]publicLevel{{*b.BBO[0]}, {*b.BBO[1]}})
	case "trades":
		var trades []publicTrade
		sensible = read(t, data, &trades) && len(trades) > 0
		for _, one := range trades {
			sensible = sensible && one.Coin == "BTC" && (one.Side == "A" || one.Side == "B") && positive(one.Px) && positive(one.Sz) &&
				one.Time > 0 && one.Tid > 0 && len(one.Hash) == 66 && len(one.Users[0]) == 42 && len(one.Users[1]) == 42
		}
	case "candle":
		var k publicCandle
		sensible = read(t, data, &k) && k.Coin == "BTC" && k.Period == "1m" && k.Open%60_000 == 0 && k.Close == k.Open+59_999 &&
			k.N > 0 && positive(k.V) && value(k.L) <= min(value(k.O), value(k.C)) && value(k.H) >= max(value(k.O), value(k.C)) && positive(k.L)
	default:
		var a publicAccount
		sensible = read(t, data, &a) && a.User == user
		switch channel {
		case "userFills":
			sensible = sensible && len(a.Fills) > 0
		case "userNonFundingLedgerUpdates":
			sensible = sensible && a.Updates != nil
		case "openOrders":
			sensible = sensible && a.Dex != nil && a.Orders != nil
		case "clearinghouseState":
			sensible = sensible && a.Dex != nil && a.State != nil && a.State.Time > 0 && a.State.Withdrawable != "" && a.State.MarginSummary.AccountValue != ""
		}
	}
	if !sensible {
		t.Errorf("%s carries %.600s", channel, data)
	}
}

func read(t *testing.T, data json.RawMessage, into any) bool {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Errorf("%v: %.300s", err, data)
		return false
	}
	return true
}

// ordered reports whether both sides go away from each other.
func ordered(levels [2][]publicLevel) bool {
	last := 0.0
	for side, sign := range [2]float64{-1, 1} {
		for i, l := range levels[side] {
			px := value(l.Px)
			if !positive(l.Px) || !positive(l.Sz) || l.N <= 0 || i > 0 && sign*px <= sign*last {
				return false
			}
			last = px
		}
	}
	return len(levels[0]) > 0 && len(levels[1]) > 0 && value(levels[0][0].Px) < value(levels[1][0].Px)
}

func value(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	return v
}

func positive(text string) bool { return value(text) > 0 }
