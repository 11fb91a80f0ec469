package perp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/localstack/sim/venue"
	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

var twapStream = nodeStream{hyperliquid.TwapStreams[0], hyperliquid.ReadTwaps}

// TestTheTwapsThatRunAreThoseOfTheVenue compares what remains of each with what the venue itself
// keeps, to the last digit, minute by minute: whichever stream is read first, with blocks that
// come again, and after restarts.
func TestTheTwapsThatRunAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	s := openSimVenue(t, time.Date(2026, 3, 15, 10, 58, 0, 0, time.UTC), venue.Config{Seed: 12, Traders: 300, FillsPerSecond: 30, Log: quiet})
	r := rand.New(rand.NewPCG(1, 2))
	p, views := newTwapOrders(), map[string][]byte{}
	p.Joined()
	seen := map[string]int{}
	for minute := range 40 {
		must.Do(t, s.venue.Advance(s.venue.Now().Add(time.Minute)))
		var batches []*Batch
		for _, stream := range []nodeStream{twapStream, fillStream} {
			s.readOn(stream, func() *market.Events {
				batches = append(batches, NewBatch())
				return &batches[len(batches)-1].Events
			})
		}
		for _, b := range batches {
			for i := range b.Twaps {
				seen[b.Twaps[i].Status]++
			}
		}
		batches = append(batches, batches[:r.IntN(len(batches))]...)
		r.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
		for _, b := range batches {
			must.Do(t, p.Apply(b, nil, s.venue.Now()))
		}
		for _, v := range p.Changes(s.venue.Now(), true).Views {
			views[v.Name] = v.Body
		}
		running := must.Get(twaps.PublishedRunning.Decode(views[twaps.RunningName]))(t)
		want, got := map[int64]string{}, map[int64]string{}
		for _, one := range s.venue.TruthTwaps() {
			side := market.Sell
			if one.Buy {
				side = market.Buy
			}
			state := market.Twap{Coin: one.Coin, Side: side, Sz: one.Sz, ExecutedSz: one.ExecutedSz, ExecutedNtl: one.ExecutedNtl, Minutes: one.Minutes, Randomize: one.Randomize, Timestamp: one.Start}
			want[one.ID] = shown(one.Address, &state)
			if strings.ContainsAny(one.Coin, "@/") {
				seen["spot"]++
			}
			seen[fmt.Sprint("randomized ", one.Randomize)]++
		}
		for i := range running.Twaps {
			got[*running.Twaps[i].TwapID] = shown(running.Twaps[i].Address, &running.Twaps[i].Twap)
		}
		check.Equalf(t, want, got, "after minute %d", minute)
		if minute%7 == 6 {
			p = newTwapOrders()
			must.Do(t, p.Restore(views))
			p.Joined()
		}
	}
	for _, kind := range []string{"spot", "randomized true", "randomized false", market.TwapActivated, market.TwapFinished, market.TwapTerminated, market.TwapError} {
		if seen[kind] == 0 {
			t.Errorf("of the kind %q there was none: %v", kind, seen)
		}
	}
}

// shown is a TWAP with what remains of it.
func shown(address string, s *market.Twap) string {
	return fmt.Sprint(address, " ", s.Coin, " ", s.Side, " ", s.Sz, " ", s.ExecutedSz, " ", s.ExecutedNtl, " ", market.Text(s.Remaining()), " ", s.Minutes, s.Randomize, s.Timestamp)
}
