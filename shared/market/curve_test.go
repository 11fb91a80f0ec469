package market_test

import (
	"testing"

	"quotary/shared/market"
)

// A curve has every hour of 7 days, one of six of 31, one a day of 61, one a week before.
func TestACurveIsKeptThinnerTheOlderItIs(t *testing.T) {
	t.Parallel()
	var c market.Curve
	first := noon / (7 * day) * (7 * day)
	for h := int64(1); h <= 400*24; h++ {
		c = c.Merge(market.Curve{{Time: first + h*hour}})
		if h%1000 == 0 {
			c = c.Thin() // again and again it is the same
		}
	}
	c = c.Thin()
	end := first + 400*day
	for name, of := range map[string]struct{ from, to, step int64 }{
		"7 days": {end - 7*day + hour, end, hour}, "31 days": {end - 31*day + 6*hour, end - 7*day, 6 * hour},
		"61 days": {end - 61*day + day, end - 31*day, day}, "before": {first, end - 61*day, 7 * day},
	} {
		points := c.Between(of.from, of.to)
		if want := (of.to - of.from) / of.step; int64(len(points)) < want-1 || int64(len(points)) > want+2 {
			t.Errorf("%s: %d points, want %d", name, len(points), want)
		}
		for i := range points {
			if within := points[i].Time < of.to-of.step; within && points[i].Time%of.step != 0 {
				t.Errorf("%s: a point at %d, which is no end of a bucket", name, points[i].Time)
				break
			}
		}
	}
	if c[len(c)-1].Time != end {
		t.Errorf("it ends at %d, want %d", c[len(c)-1].Time, end)
	}
}
