package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestATradesClientGoesOnBehindItsCursor compares one that connects again with one that stays.
func TestATradesClientGoesOnBehindItsCursor(t *testing.T) {
	t.Parallel()
	trades := map[string]any{"type": "trades", "coin": "BTC"}
	tids := func(p pushed) (list []int64) {
		var trades []struct{ Tid int64 }
		if p.Channel == "trades" && json.Unmarshal(p.Data, &trades) == nil {
			for _, one := range trades {
				list = append(list, one.Tid)
			}
		}
		return list
	}
	stays, leaves := connect(t, world.State.Demo.SubKey, "/ws"), connect(t, world.State.Demo.SubKey, "/ws")
	var all []int64
	take := func(p pushed) bool { all = append(all, tids(p)...); return len(tids(p)) > 0 }
	stays.send(subscription("subscribe", trades))
	stays.await("trades", soon, take)
	leaves.send(subscription("subscribe", trades))
	var cursor string
	var last int64
	frames := 0
	leaves.await("a trade behind the snapshot", soon, func(p pushed) bool {
		if list := tids(p); len(list) > 0 {
			cursor, last = p.Cursor, list[len(list)-1]
			frames++
		}
		return frames == 2
	})
	leaves.conn.CloseNow()
	stays.await("trades meanwhile", soon, func(p pushed) bool {
		take(p)
		at := slices.Index(all, last)
		return at >= 0 && len(all)-at > 5
	})
	again := connect(t, world.State.Demo.SubKey, "/ws")
	again.send(subscription("subscribe", map[string]any{"type": "trades", "coin": "BTC", "cursor": cursor}))
	missed := slices.Clone(all[slices.Index(all, last)+1:])
	var got []int64
	again.await("what came meanwhile", soon, func(p pushed) bool { got = append(got, tids(p)...); return len(got) >= len(missed) })
	if !slices.Equal(got[:len(missed)], missed) {
		t.Errorf("behind the cursor came %v, want %v", got, missed)
	}
	again.send(subscription("subscribe", map[string]any{"type": "trades", "coin": "ETH", "cursor": cursor}))
	again.await("an error that names the cursor", soon, func(p pushed) bool {
		return p.Channel == "error" && strings.Contains(p.raw, "cursor")
	})
}
