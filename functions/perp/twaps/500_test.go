package main

import (
	"net/http"
	"testing"
	"time"

	"quotary/shared/data/twaps"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestWhatCannotBeReadIsAnInternalErrorThatRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := began(1, alice, "HYPE", market.Buy, "secret", 0)
	storetest.PutLog(t, w.log, twaps.StatusesName, twaps.AppendRows, broken)
	w.Get(t, w.SubKey, root+"/twap-states/"+alice+"/latest").Refused(t, http.StatusInternalServerError, "internal error")
	w.Move(time.Minute)
	must.Do(t, w.views.Publish(t.Context(), twaps.RunningName, []byte(`{"twaps":[{"coin":"secret"}]}`)))
	for _, target := range []string{"/twaps/execution-wall", "/twaps/top-impact"} {
		w.Get(t, w.SubKey, root+target).Refused(t, http.StatusInternalServerError, "internal error")
	}
}
