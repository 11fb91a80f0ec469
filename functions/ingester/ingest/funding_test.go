package ingest

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/store"
)

func TestTheNewestFundingIsTheLastThatTheVenueTold(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	if at, err := stores.NewestFunding(t.Context(), "BTC"); err != nil || !at.IsZero() {
		t.Errorf("without any it is %v, %v", at, err)
	}
	hour := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var rows []store.SeriesRow
	for i, provisional := range []bool{false, false, true, true} {
		at := hour.Add(time.Duration(i) * time.Hour)
		body := fmt.Sprintf(`{"coin":"BTC","fundingRate":"0.1","premium":"0.1","time":%d}`, at.UnixMilli()+17)
		if provisional {
			body = fmt.Sprintf(`{"coin":"BTC","fundingRate":"0.1","premium":"0.1","time":%d,"provisional":true}`, at.UnixMilli())
		}
		rows = append(rows, store.SeriesRow{SeriesKey: store.SeriesKey{Name: store.FundingSeries, Key: "BTC", Interval: "1h"}, Point: store.Point{Time: at, Body: []byte(body)}})
	}
	if err := stores.Series.Put(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if at, err := stores.NewestFunding(t.Context(), "BTC"); err != nil || !at.Equal(hour.Add(time.Hour+17*time.Millisecond)) {
		t.Errorf("it is %v, %v", at, err)
	}
}
