package binance

import (
	"testing"

	"quotary/shared/market"
)

// A period whose beginning was seen has its length from then on, before the list of periods is
// asked for again.
func TestAPeriodIsAsLongAsUntilItsPaymentWhereItsBeginningWasSeen(t *testing.T) {
	t.Parallel()
	running := runningPeriods{}
	for i, c := range []struct {
		minute, due, period int64 // minutes
	}{
		{470, 480, 0}, {479, 480, 0}, // its beginning was not seen
		{480, 540, 60}, {539, 540, 60}, // a change to an hour, as it was seen
		{540, 600, 60}, {550, 600, 60},
		{600, 720, 0}, {610, 720, 0}, // nothing came for a while before it was paid
		{720, 1200, 0}, {1200, 1440, 0}, // nor here
		{1439, 1380, 0}, // the exchange has changed its mind
	} {
		f := market.PairFunding{Pair: "XUSDT", Time: c.minute * 60_000, Due: c.due * 60_000}
		if got := running.of(&f) / 60_000; got != c.period {
			t.Errorf("rate %d, of minute %d: %d minutes, want %d", i, c.minute, got, c.period)
		}
	}
}
