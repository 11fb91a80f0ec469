package e2e

import (
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"testing"

	"quotary/shared/testing/testenv"
)

// openOrder is a row of GET /orders/top-open-orders.
type openOrder struct {
	Time         int64
	Address      string
	Oid          int64
	Coin, Side   string
	Sz, OrigSz   string
	LimitPx, Val string
	ReduceOnly   bool
	Tif          *string
	DistPct      *float64
}

// activeStats is the answer of GET /orders/active-stats.
type activeStats struct {
	TotalCount, BidCount, AskCount int64
	BidValue, AskValue             string
	BidValueRatio                  float64
	WhaleBidCount, WhaleAskCount   int64
	WhaleBidValue, WhaleAskValue   string
	WhaleBidValueRatio             float64
}

// TestTheLargestOpenOrdersAreOrdersOfTheVenue asks the venue for each order that the
// product lists, by its id, and holds the statistics against the list: of all orders
// from a value on, both say the same once they are of one moment.
func TestTheLargestOpenOrdersAreOrdersOfTheVenue(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	var list []openOrder
	apart := func(o openOrder) bool { return o.DistPct == nil } // until its coin has traded
	testenv.Until(t, "a hundred orders rest, of coins that have traded", func() bool {
		list = data[[]openOrder](t, call(t, 200, key, "GET", hl+"/orders/top-open-orders?limit=100", nil))
		return len(list) == 100 && !slices.ContainsFunc(list, apart)
	})
	known := 0
	for i, o := range list {
		val := exactly(t, o.Val)
		if val.Cmp(new(big.Rat).Mul(exactly(t, o.LimitPx), exactly(t, o.Sz))) != 0 || exactly(t, o.Sz).Cmp(exactly(t, o.OrigSz)) > 0 {
			t.Errorf("order %d has a value of %s: %+v", o.Oid, o.Val, o)
		}
		if i > 0 && val.Cmp(exactly(t, list[i-1].Val)) > 0 {
			t.Errorf("order %d is larger than the one before it", o.Oid)
		}
		s := askOrder(t, map[string]any{"type": "orderStatus", "user": o.Address, "oid": o.Oid})
		if s == nil {
			continue // the venue forgets the quotes of makers that nobody took
		}
		known++
		var tif any
		if o.Tif != nil {
			tif = *o.Tif
		}
		want := fmt.Sprint(s.Order["coin"], s.Order["side"], s.Order["limitPx"], s.Order["origSz"], s.Order["reduceOnly"], s.Order["tif"], int64(s.Order["timestamp"].(float64)))
		if got := fmt.Sprint(o.Coin, o.Side, o.LimitPx, o.OrigSz, o.ReduceOnly, tif, o.Time); got != want {
			t.Errorf("order %d is %s, the venue has %s", o.Oid, got, want)
		}
	}
	if known == 0 {
		t.Error("the venue knows none of these orders")
	}
	testenv.Until(t, "list and statistics are of one moment", func() bool {
		list = data[[]openOrder](t, call(t, 200, key, "GET", hl+"/orders/top-open-orders?limit=100", nil))
		least := list[49].Val
		bids, asks, value := int64(0), int64(0), new(big.Rat)
		for _, o := range list {
			if exactly(t, o.Val).Cmp(exactly(t, least)) < 0 {
				break
			}
			value.Add(value, exactly(t, o.Val))
			if o.Side == "B" {
				bids++
			} else {
				asks++
			}
		}
		s := data[activeStats](t, call(t, 200, key, "GET", hl+"/orders/active-stats?whaleThreshold="+url.QueryEscape(least), nil))
		sum := new(big.Rat).Add(exactly(t, s.WhaleBidValue), exactly(t, s.WhaleAskValue))
		return s.WhaleBidCount == bids && s.WhaleAskCount == asks && sum.Cmp(value) == 0 && s.TotalCount == s.BidCount+s.AskCount && s.TotalCount >= 100
	})
}

// exactly is the decimal of an answer.
func exactly(t *testing.T, text string) *big.Rat {
	t.Helper()
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no decimal", text)
	}
	return n
}
