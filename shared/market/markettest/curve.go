package markettest

import (
	"pgregory.net/rapid"

	"quotary/shared/market"
)

// Curve draws a curve of full hours within some days.
func Curve() *rapid.Generator[market.Curve] {
	return rapid.Custom(func(t *rapid.T) (c market.Curve) {
		at, amount := int64(Base), rapid.Int64Range(-1e12, 1e12)
		part := rapid.Custom(func(t *rapid.T) market.CurvePart {
			return market.CurvePart{
				Value: market.Micros(amount.Draw(t, "value")), NetIn: market.Micros(amount.Draw(t, "net in")),
				Volume: market.Micros(amount.Draw(t, "volume")), Unknown: rapid.IntRange(0, 5).Draw(t, "unknown") == 0,
			}
		})
		for range rapid.IntRange(0, 30).Draw(t, "points") {
			at += 3_600_000 * rapid.SampledFrom([]int64{1, 1, 1, 2, 30}).Draw(t, "hours")
			c = append(c, market.CurvePoint{Time: at, Perp: part.Draw(t, "perp"), Spot: part.Draw(t, "spot")})
		}
		return c
	})
}

// Valued takes in what the perpetuals of an account are worth at the full hour of a time, ms,
// unless that hour has a point.
func Valued(s *market.TraderStats, ms int64, perp market.Decimal) {
	at := market.Hour1.StartMs(ms)
	if at > s.Sampled {
		s.AddPoint(at, &market.Worth{Perp: perp, PerpKnown: true})
		s.Sampled = at
	}
}
