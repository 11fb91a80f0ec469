package funding_test

import (
	"testing"
	"time"

	"quotary/shared/data/datatest"
	"quotary/shared/data/funding"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

func TestTheNewestFinalHourIsTheLastThatTheVenueReported(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	if at, err := funding.NewestFinal(t.Context(), series, "BTC"); err != nil || !at.IsZero() {
		t.Errorf("without any it is %v, %v", at, err)
	}
	hour := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i, provisional := range []bool{false, false, true, true} {
		at := hour.Add(time.Duration(i) * time.Hour)
		if !provisional {
			at = at.Add(17 * time.Millisecond)
		}
		h := funding.Hour{Funding: market.Funding{Coin: "BTC", Rate: "0.1", Premium: "0.1", Time: at.UnixMilli()}, Provisional: provisional}
		datatest.PutFunding(t, series, h)
	}
	if at, err := funding.NewestFinal(t.Context(), series, "BTC"); err != nil || !at.Equal(hour.Add(time.Hour+17*time.Millisecond)) {
		t.Errorf("it is %v, %v", at, err)
	}
}
