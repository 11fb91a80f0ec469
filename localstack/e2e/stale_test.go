package e2e

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// TestABookOfASilentSourceIsSentAgainAsStale has the venue send nothing of one
// coin's book for a while.
func TestABookOfASilentSourceIsSentAgainAsStale(t *testing.T) {
	t.Parallel()
	const coin = "DOGE"
	type book struct {
		Time   int64
		Levels [2][]map[string]any
		Stale  bool
	}
	next := func(s *socket, what string, stale bool) (b book) {
		t.Helper()
		s.send(`{"method":"ping"}`) // or it would be disconnected
		s.await(what, feedSilence+soon, func(p pushed) bool {
			b = book{}
			if p.Channel != "l2Book" {
				return false
			}
			must.Do(t, json.Unmarshal(p.Data, &b))
			return b.Stale == stale
		})
		return b
	}
	first := connect(t, world.State.Demo.SubKey, "/ws")
	first.send(subscription("subscribe", map[string]any{"type": "l2Book", "coin": coin}))
	next(first, "a book", false)
	world.Venue.Mute(coin, true)
	t.Cleanup(func() { world.Venue.Mute(coin, false) })
	stale := next(first, "the last book again", true)
	if age := time.Since(time.UnixMilli(stale.Time)); age < feedSilence {
		t.Errorf("a book is stale after %s", age)
	}
	if again := next(first, "the last book once more", true); !reflect.DeepEqual(again, stale) {
		t.Errorf("another book than the last: %+v, %+v", again, stale)
	}
	second := connect(t, world.State.Demo.SubKey, "/ws")
	second.send(subscription("subscribe", map[string]any{"type": "l2Book", "coin": coin}))
	if snapshot := next(second, "a snapshot", true); !reflect.DeepEqual(snapshot, stale) {
		t.Errorf("the snapshot is another book than the last: %+v, %+v", snapshot, stale)
	}
	world.Venue.Mute(coin, false)
	for _, s := range []*socket{first, second} {
		if fresh := next(s, "a new book", false); fresh.Time <= stale.Time {
			t.Errorf("a book of %d follows one of %d", fresh.Time, stale.Time)
		}
	}
}
