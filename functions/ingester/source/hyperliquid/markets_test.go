package hyperliquid

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"quotary/shared/market"
)

// describe is the description of a dex's coins, or of spot's.
func describe(prefix string, coins int) json.RawMessage {
	list := make([]string, coins)
	for n := range list {
		list[n] = fmt.Sprintf(`{"name":"%s%d"}`, prefix, n)
	}
	return json.RawMessage(`{"universe":[` + strings.Join(list, ",") + `]}`)
}

// Of the 900 subscriptions the main dex gets all that it wants, then spot, and what is left is shared
// by the coins of the other dexs in turn.
func TestADexOfAStrangerTakesNoSubscriptionOfTheMainOne(t *testing.T) {
	t.Parallel()
	meta := &market.Meta{Perps: map[string]json.RawMessage{"": describe("C", 200), "abc": describe("abc:", 780), "xyz": describe("xyz:", 30)}, Spot: describe("@", 5)}
	all := func(coins, mids int, trades bool) map[string]int {
		want := map[string]int{"l2Book": coins, "l2Book fast": coins, "bbo": coins}
		if mids > 0 {
			want["allMids"] = mids
		}
		if trades {
			want["trades"] = coins
		}
		return want
	}
	for _, tt := range []struct {
		trades bool
		abc    map[string]int
		xyz    map[string]int
	}{
		{trades: true, abc: map[string]int{"allMids": 1, "trades": 31}, xyz: map[string]int{"allMids": 1, "trades": 30}},
		{trades: false, abc: map[string]int{"allMids": 1, "l2Book": 240}, xyz: map[string]int{"allMids": 1, "l2Book": 30}},
	} {
		f := &Feed{Trades: tt.trades, Books: true, Stats: new(Stats), Log: quiet, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
		f.wantAll(meta)
		got := map[string]map[string]int{"main": {}, "spot": {}, "abc": {}, "xyz": {}}
		var order []string // of whose coins they are
		for _, s := range f.wanted {
			whose := s.Dex + market.DexOf(s.Coin)
			switch {
			case strings.HasPrefix(s.Coin, "@"):
				whose = "spot"
			case whose == "":
				whose = "main"
			}
			kind := s.Type
			if s.Fast {
				kind += " fast"
			}
			got[whose][kind]++
			if kind != "allMids" {
				order = append(order, whose)
			}
		}
		for whose, want := range map[string]map[string]int{"main": all(200, 1, tt.trades), "spot": all(5, 0, tt.trades), "abc": tt.abc, "xyz": tt.xyz} {
			if !maps.Equal(got[whose], want) {
				t.Errorf("trades %t: %s has %v, want %v", tt.trades, whose, got[whose], want)
			}
		}
		if order = slices.Compact(order); !slices.Equal(order[:4], []string{"main", "spot", "abc", "xyz"}) {
			t.Errorf("trades %t: they are wanted in the order %v", tt.trades, order[:4])
		}
	}
}
