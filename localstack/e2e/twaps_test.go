package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"testing"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// twapImpact is a row of GET /twaps/top-impact.
type twapImpact struct {
	TwapID                                                 int64
	Address, Coin, Side                                    string
	ExpectedVal, RemainVal, RateValPerMin, MarketValPerMin *string
	RemainMinutes                                          int64
	ImpactRatio                                            *float64
}

// twapWall is the answer of GET /twaps/execution-wall.
type twapWall struct {
	Horizon                                                      string
	HorizonMinutes, TwapCount                                    int64
	MarketValPerMin                                              *string
	ExpectedVal, BuyExpectedVal, SellExpectedVal, NetExpectedVal string
	RateValPerMin                                                string
	ImpactRatio                                                  *float64
	TopContributors                                              []twapImpact
}

// twapState is a row of GET /twap-states/{address}/latest.
type twapState struct {
	TwapID, Time int64
	Status       string
	State        struct{ Coin, User, Side, Sz, ExecutedSz string }
}

// TestTheTwapsOfTheStackAreThoseOfTheVenue asks for all TWAP orders that run until they are those
// that the venue keeps, and holds what is expected of them against each other.
func TestTheTwapsOfTheStackAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	var list []twapImpact
	testenv.Until(t, "the TWAPs that run are the venue's", func() bool {
		want, got := map[int64]string{}, map[int64]string{}
		for _, one := range world.Venue.TruthTwaps() {
			side := "sell"
			if one.Buy {
				side = "buy"
			}
			want[one.ID] = one.Address + one.Coin + side
		}
		list = data[[]twapImpact](t, call(t, 200, key, "GET", hl+"/twaps/top-impact?limit=100&horizon=30m", nil))
		for _, one := range list {
			got[one.TwapID] = one.Address + one.Coin + one.Side
		}
		return len(got) > 0 && fmt.Sprint(got) == fmt.Sprint(want)
	})
	for i, one := range list {
		if one.RemainVal == nil || one.ImpactRatio == nil || one.RemainMinutes < 1 {
			t.Errorf("%+v", one)
			continue
		}
		if i > 0 && *one.ImpactRatio > *list[i-1].ImpactRatio {
			t.Errorf("TWAP %d has more impact than the one before it", one.TwapID)
		}
		rate := new(big.Rat).Quo(exactly(t, *one.RemainVal), big.NewRat(one.RemainMinutes, 1))
		if off := new(big.Rat).Sub(rate, exactly(t, *one.RateValPerMin)); off.Sign() < 0 || off.Cmp(big.NewRat(1, 1_000_000)) >= 0 {
			t.Errorf("%s a minute are not %s in %d minutes", *one.RateValPerMin, *one.RemainVal, one.RemainMinutes)
		}
	}

	wall := data[twapWall](t, call(t, 200, key, "GET", hl+"/twaps/execution-wall?topContributors=100&horizon=4h", nil))
	sum := map[string]*big.Rat{"buy": new(big.Rat), "sell": new(big.Rat)}
	for _, one := range wall.TopContributors {
		sum[one.Side].Add(sum[one.Side], exactly(t, *one.ExpectedVal))
	}
	if wall.HorizonMinutes != 240 || wall.TwapCount != int64(len(wall.TopContributors)) || wall.ImpactRatio == nil || sum["buy"].Cmp(exactly(t, wall.BuyExpectedVal)) != 0 ||
		sum["sell"].Cmp(exactly(t, wall.SellExpectedVal)) != 0 || new(big.Rat).Sub(sum["buy"], sum["sell"]).Cmp(exactly(t, wall.NetExpectedVal)) != 0 {
		t.Errorf("%v of buys and sells are %+v", sum, wall)
	}

	one := list[0]
	states := data[[]twapState](t, call(t, 200, key, "GET", hl+"/twap-states/"+one.Address+"/latest?coin="+url.QueryEscape(one.Coin), nil))
	if len(states) == 0 || states[0].State.Coin != one.Coin || states[0].State.User != one.Address {
		t.Errorf("the account of TWAP %d has the states %+v", one.TwapID, states)
	}
	call(t, 400, key, "GET", hl+"/twaps/top-impact?horizon=2h", nil)
	testenv.Until(t, "the venue's own answer of its history is the product's", func() bool {
		var venues, ours []json.RawMessage
		_, body := askTheVenue(t, map[string]any{"type": "twapHistory", "user": one.Address})
		must.Do(t, json.Unmarshal(body, &venues))
		must.Do(t, json.Unmarshal(ask(t, key, http.MethodPost, hl+"/venue/info", map[string]any{"type": "twapHistory", "user": one.Address}).Body, &ours))
		return len(venues) > 0 && len(ours) >= len(venues) && sameAnswer(must.Get(json.Marshal(venues))(t), must.Get(json.Marshal(ours[:len(venues)]))(t))
	})
}
