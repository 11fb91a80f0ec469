package hyperliquid

import (
	"context"
	"slices"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/check"
)

// TestHoursThatAreAskedForAreReadOnceTheyAreWhole: others are not, and one that lacks blocks itself is taken as it is six
// hours behind its end.
func TestHoursThatAreAskedForAreReadOnceTheyAreWhole(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		torn := &h.hours[0]
		whole := torn.fills
		torn.fills = slices.Delete(slices.Clone(whole), 5, 6)
		h.publish(0, 2)
		asked := []string{h.hours[0].at.String(), h.hours[1].at.String()}
		var read []string
		var got market.Events
		old, fails := false, true
		h.source = &Hours{Bucket: h.bucket, Stats: new(Stats), Log: quiet}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		h.stop = func() {
			cancel()
			<-ended
		}
		go func() {
			ended <- h.source.Fill(ctx, func(context.Context) ([]string, error) {
				h.turn.Lock()
				defer h.turn.Unlock()
				return slices.Clone(asked), nil
			}, func(_ context.Context, d HoursDelivery) error {
				h.turn.Lock()
				defer h.turn.Unlock()
				if fails { // what is there of it could not be found out
					fails = false
					return errKilled
				}
				got.Merge(&d.Events)
				old = d.Old
				return nil
			}, func(_ context.Context, hour string) error {
				h.turn.Lock()
				defer h.turn.Unlock()
				read = append(read, hour)
				asked = slices.DeleteFunc(asked, func(one string) bool { return one == hour })
				return nil
			})
		}()
		wants := func(hours []int, wantOld bool) {
			t.Helper()
			var names []string
			var want market.Events
			for _, i := range hours {
				e := h.hours[i].events(t)
				names = append(names, h.hours[i].at.String())
				want.Merge(&e)
			}
			check.Equal(t, names, read)
			check.Equal(t, want.Fills, got.Fills)
			check.Equal(t, want.Payments, got.Payments)
			check.Equal(t, wantOld, old)
		}
		h.pass(20 * time.Minute)
		wants(nil, false)
		if n := h.bucket.gets[torn.fillsKey()]; n != 1 {
			t.Errorf("the one that lacks blocks is fetched %d times", n)
		}
		h.publish(1)
		h.pass(20 * time.Minute)
		wants([]int{1}, false)
		h.pass(4 * time.Hour)
		wants([]int{1, 0}, true)
		if n := h.bucket.gets[h.hours[2].fillsKey()]; n != 0 {
			t.Errorf("an hour that nobody asked for is fetched %d times", n)
		}
	})
}
