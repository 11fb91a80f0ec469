package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/testing/must"
)

// Without a start the answer reaches back to the beginning of what is stored, so the
// span counts from there.
func TestTheSpanOfCompletedTradesIsChecked(t *testing.T) {
	t.Parallel()
	b := usual(t)
	level := keys.Allow(catalog.Actions()...)
	level.MaxTimeRange = 3600
	must.Do(t, b.Keys.PutLevel(t.Context(), b.Primary.AccessKey, "all", level))
	path := alice + "/completed-trades/by-time"
	b.post(t, path, body{}).Refused(t, http.StatusBadRequest, "time range exceeded")
	b.post(t, path, body{"endTimeFrom": now - 3_600_001}).Refused(t, http.StatusBadRequest, "time range exceeded")
	if page := apitest.Data[catalog.CompletedTradePage](t, b.post(t, path, body{"endTimeFrom": now - 3_600_000})); page.Total != 2 {
		t.Errorf("%d trades within the span, want 2", page.Total)
	}
}

func TestAnEntryThatIsNoAddressIsNamedSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice, "nope"}}).Refused(t, http.StatusBadRequest, "invalid addresses", "a value in it must be an address")
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": alice + ", nope"}).Refused(t, http.StatusBadRequest, "invalid addresses", "a value in it must be an address")
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": body{}}).Refused(t, http.StatusBadRequest, "invalid addresses", "a list of 1 to 2000 entries")
}

// Without a start the answer reaches back to the beginning of what is stored, so the
// span counts from there.
func TestASpanWithoutAStartIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	level := keys.Allow(catalog.Actions()...)
	level.MaxTimeRange = 3600
	must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level))
	w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice}}).Refused(t, http.StatusBadRequest, "time range exceeded")
	inside := w.Call(t, w.SubKey, http.MethodPost, path, body{"addresses": []string{alice}, "startTime": start, "endTime": start + 3_600_000})
	if got := apitest.Data[[]catalog.FundsMovement](t, inside); len(got) != 3 {
		t.Errorf("%d movements within the span, want 3", len(got))
	}
}
