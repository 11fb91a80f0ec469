package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/sim/venue"
)

// liquidatedCoin sums up the liquidations of a coin as stat-by-coin does.
type liquidatedCoin struct {
	Coin                                           string
	Addresses, ShortLiquidations, LongLiquidations int
	TotalFilled, TotalPnl                          string
}

// liquidated are the sums of the venue's own truth by coin.
func liquidated(truth []venue.TruthLiquidation) map[string]liquidatedCoin {
	sums, filled, pnl, addresses := map[string]liquidatedCoin{}, map[string]int64{}, map[string]int64{}, map[string]map[string]bool{}
	for i := range truth {
		l := &truth[i]
		sum := sums[l.Coin]
		if sum.Coin = l.Coin; l.Long {
			sum.LongLiquidations++
		} else {
			sum.ShortLiquidations++
		}
		filled[l.Coin], pnl[l.Coin] = filled[l.Coin]+l.Value, pnl[l.Coin]+l.Pnl
		if addresses[l.Coin] == nil {
			addresses[l.Coin] = map[string]bool{}
		}
		addresses[l.Coin][l.Address] = true
		sum.Addresses, sum.TotalFilled, sum.TotalPnl = len(addresses[l.Coin]), dollars(filled[l.Coin]), dollars(pnl[l.Coin])
		sums[l.Coin] = sum
	}
	return sums
}

// dollars writes millionths as the service does.
func dollars(millionths int64) string {
	text := strings.TrimRight(big.NewRat(millionths, 1_000_000).FloatString(6), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

// liquidationRow is a row of top-positions and of the feed.
type liquidationRow struct {
	Time                               int64
	Oid                                int64
	Address, Coin, Direction, LiqPrice string
	LiquidatedVal, Pnl, StartPosition  string
	EndPosition, Sz                    string
	MarkPx, Method                     *string
}

// is compares a row with the venue's own truth.
func (r *liquidationRow) is(l *venue.TruthLiquidation) bool {
	direction := "short"
	if l.Long {
		direction = "long"
	}
	return r.Time == l.Time && r.Address == l.Address && r.Coin == l.Coin && r.Direction == direction && r.LiquidatedVal == dollars(l.Value) && r.Pnl == dollars(l.Pnl) &&
		same(json.Number(r.StartPosition), l.Start) && same(json.Number(r.EndPosition), l.End)
}

func truthOf(oid int64) (venue.TruthLiquidation, bool) {
	truth := world.Venue.Liquidations()
	i := slices.IndexFunc(truth, func(l venue.TruthLiquidation) bool { return l.Oid == oid })
	if i < 0 {
		return venue.TruthLiquidation{}, false
	}
	return truth[i], true
}

// TestLiquidationsAreTheVenuesTruth compares what is shown of the past with what the venue did, and
// follows the feed until the venue liquidates somebody.
func TestLiquidationsAreTheVenuesTruth(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	get := func(path string) func() client.Answer {
		return func() client.Answer { return ask(t, key, "GET", hl+"/liquidations/"+path, nil) }
	}
	eventually(t, "stat-by-coin", get("stat-by-coin?interval=60d"), func(list []liquidatedCoin) bool {
		got := map[string]liquidatedCoin{}
		for _, one := range list {
			got[one.Coin] = one
		}
		return len(list) > 3 && maps.Equal(got, liquidated(world.Venue.Liquidations()))
	})
	eventually(t, "stat", get("stat?interval=60d"), func(all liquidatedCoin) bool {
		return all.LongLiquidations+all.ShortLiquidations == len(world.Venue.Liquidations())
	})
	eventually(t, "history", get("history?interval=1h&limit=100"), func(list []liquidatedCoin) bool {
		sum := 0
		for _, one := range list {
			sum += one.LongLiquidations + one.ShortLiquidations
		}
		return len(list) > 20 && sum == len(world.Venue.Liquidations())
	})
	past := world.Venue.Liquidations() // whose coins are not the same each time
	if len(past) == 0 {
		t.Fatal("the venue has liquidated nobody")
	}
	eventually(t, "top-positions", get("top-positions?coin="+url.QueryEscape(past[0].Coin)+"&interval=60d&limit=100"), func(list []liquidationRow) bool {
		for i := range list {
			if l, ok := truthOf(list[i].Oid); !ok || !list[i].is(&l) {
				return false
			}
		}
		return len(list) > 0
	})
	eventually(t, "estimated-heatmap", get("estimated-heatmap?coin=BTC&interval=1m&limit=5"), func(h struct {
		TimePoints []struct {
			LongLiquidations []struct{ LowerPx string } `json:"long_liquidations"`
		} `json:"time_points"`
		Meta struct{ Coverage *string }
	}) bool {
		return len(h.TimePoints) > 0 && h.Meta.Coverage != nil && len(h.TimePoints[len(h.TimePoints)-1].LongLiquidations) > 0
	})

	s := connect(t, key, "/ws")
	s.send(subscription("subscribe", map[string]any{"type": "liquidations", "minValue": 1}))
	snapshot := false
	s.await("a liquidation of now", 3*time.Minute, func(p pushed) bool {
		if p.Channel != "liquidations" {
			return false
		}
		var rows []liquidationRow
		if err := json.Unmarshal(p.Data, &rows); err != nil || p.Cursor == "" {
			t.Fatalf("%v: %s", err, p.raw)
		}
		for i := range rows {
			l, ok := truthOf(rows[i].Oid)
			if !ok || !rows[i].is(&l) || rows[i].Method == nil || *rows[i].Method != l.Method || !same(json.Number(rows[i].Sz), l.Sz) || rows[i].MarkPx == nil {
				t.Errorf("pushed was %s, the venue says %+v", p.raw, l)
			}
		}
		if !snapshot {
			snapshot = true
			if !strings.Contains(p.raw, `"isSnapshot":true`) || len(rows) > 10 {
				t.Errorf("the first frame is %s", fmt.Sprintf("%.300s", p.raw))
			}
			return false
		}
		return len(rows) > 0
	})
}
