package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// whalePosition is a row of GET /whales/open-positions.
type whalePosition struct {
	User, Symbol, PositionSize, PositionValueUsd       string
	EntryPrice, LiqPrice, MarginBalance, UnrealizedPnL *string
	Leverage                                           *int64
	MarginMode                                         *string
}

// venuePosition is a position as the venue itself says it.
type venuePosition struct {
	Coin, Szi, EntryPx, PositionValue string
	Leverage                          struct {
		Type  string
		Value int64
	}
}

// leastWhales is how many positions must be all known: of an account that has just become a whale
// the venue may not have been asked yet.
const leastWhales = 10

// TestPositionsOfWhalesAreTheVenues wants each position of a whale of which all is known to be, at some
// moment, what the venue itself says of it.
func TestPositionsOfWhalesAreTheVenues(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	awaitWhales(t, key)
	matched, missing := map[string]bool{}, map[string]string{}
	defer func() {
		if t.Failed() {
			t.Logf("these never were as the venue has them: %v", missing)
		}
	}()
	testenv.Until(t, "the positions of whales were once as the venue has them", func() bool {
		rows := data[[]whalePosition](t, call(t, 200, key, "GET", hl+"/whales/open-positions?take=200", nil))
		done := true
		for _, row := range rows {
			name := row.User + " " + row.Symbol
			if matched[name] || !row.known() {
				continue
			}
			if why := differsFromVenue(t, row); why != "" {
				missing[name], done = why, false
				continue
			}
			matched[name] = true
			delete(missing, name)
		}
		return done && len(matched) >= leastWhales
	})
}

// known reports whether nothing of a row is null.
func (w *whalePosition) known() bool {
	return w.EntryPrice != nil && w.Leverage != nil && w.MarginMode != nil && w.MarginBalance != nil && w.UnrealizedPnL != nil
}

// awaitWhales waits for whales: the ingester has asked the venue about them.
func awaitWhales(t *testing.T, key client.Key) {
	t.Helper()
	testenv.Until(t, "there are whales", func() bool {
		answer := ask(t, key, "GET", hl+"/whales/open-positions", nil)
		return answer.Status == 200 && len(data[[]whalePosition](t, answer)) > 0
	})
}

// differsFromVenue returns what of a row the venue says otherwise, "" for nothing.
func differsFromVenue(t *testing.T, row whalePosition) string {
	t.Helper()
	for _, p := range venuePositions(t, row.User, row.Symbol) {
		if p.Coin == row.Symbol {
			if p.Szi != row.PositionSize || p.EntryPx != *row.EntryPrice || p.Leverage.Type != *row.MarginMode || p.Leverage.Value != *row.Leverage {
				return fmt.Sprintf("%+v, the venue says %+v", row, p)
			}
			return ""
		}
	}
	return fmt.Sprintf("%+v, of which the venue says nothing", row)
}

// Events of whales come as they trade, and their sides are sampled.
func TestWhatWhalesDoIsListedAndTheirSidesAreSampled(t *testing.T) {
	t.Parallel()
	key := world.State.Demo.SubKey
	awaitWhales(t, key)
	type event struct {
		User, Symbol, Coin, PositionSize, PositionValueUsd, CreateTime string
		PositionAction                                                 int
	}
	var events []event
	testenv.Until(t, "whales did something", func() bool {
		answer := ask(t, key, "GET", hl+"/whales/latest-events?limit=100", nil)
		if answer.Status != 200 {
			return false
		}
		events = data[[]event](t, answer)
		return len(events) > 0
	})
	for i, e := range events {
		at, err := time.Parse(time.RFC3339, e.CreateTime)
		size, ok := new(big.Rat).SetString(e.PositionSize)
		if err != nil || time.Since(at).Abs() > time.Hour || !ok || size.Sign() == 0 || e.PositionAction < 1 || e.PositionAction > 5 || e.Coin != e.Symbol {
			t.Errorf("event %d is %+v", i, e)
		}
		if i > 0 && events[i-1].CreateTime < e.CreateTime {
			t.Errorf("event %d is newer than the one before", i)
		}
	}
	counts := data[struct{ LongCount, ShortCount int64 }](t, call(t, 200, key, "GET", hl+"/whales/directions", nil))
	if counts.LongCount+counts.ShortCount == 0 {
		t.Error("no position of a whale is counted")
	}
	testenv.Until(t, "their sides are sampled", func() bool {
		return len(data[[]map[string]any](t, call(t, 200, key, "GET", hl+"/whales/history-long-ratio?interval=10m", nil))) > 0
	})
}

// venuePositions are those of an account in the dex of a coin, as the venue says them.
func venuePositions(t *testing.T, user, coin string) (list []venuePosition) {
	t.Helper()
	dex, _, of := strings.Cut(coin, ":")
	if !of {
		dex = ""
	}
	var state struct {
		AssetPositions []struct{ Position venuePosition }
	}
	must.Do(t, json.Unmarshal(venueInfo(t, map[string]any{"type": "clearinghouseState", "user": user, "dex": dex}), &state))
	for _, p := range state.AssetPositions {
		list = append(list, p.Position)
	}
	return list
}
