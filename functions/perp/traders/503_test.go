package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
)

// TestAnAccountThatIsNotKnownHasNotDoneNothing: it is asked for at the venue.
func TestAnAccountThatIsNotKnownHasNotDoneNothing(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for n, path := range []string{"addr-stat", "completed-trades", "best-trades", "performance-by-coin", "detailed-trading-statistics"} {
		b.get(t, fmt.Sprintf("0x%040x/%s", n, path)).Refused(t, http.StatusServiceUnavailable, "for the first time")
	}
	b.post(t, fmt.Sprintf("0x%040x/completed-trades/by-time", 9), body{}).Refused(t, http.StatusServiceUnavailable, "for the first time")
	if wanted, err := b.wanted.List(t.Context(), b.Now()); err != nil || len(wanted.Things()) != 6 {
		t.Errorf("%v are wanted (%v), want 6", wanted.Things(), err)
	}
}

func TestAnAccountThatNobodyAnswersForIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.patience = 0
	for range 2 {
		w.Get(t, w.SubKey, traders+carol+"/current-position-history/BTC").Refused(t, http.StatusServiceUnavailable, carol, "asked for", "2 seconds")
		w.accounts.patience = time.Hour
	}
}

// TestWhoAsksForOneAccountThatIsNotKnownIsToldWhenToAskAgain, also where fills of it are
// stored already: what it holds besides is not known.
func TestWhoAsksForOneAccountThatIsNotKnownIsToldWhenToAskAgain(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.patience = 0
	w.fill(t, 20, "BTC", 1, "1", "100", "0.0")
	for _, kind := range []string{"history", "pnl", "executions"} {
		for _, target := range []string{ofAlice, traders + carol} {
			answer := w.Get(t, w.SubKey, target+"/current-position-"+kind+"/BTC")
			answer.Refused(t, http.StatusServiceUnavailable, "asked for at the exchange")
			if answer.Header["Retry-After"] != "2" {
				t.Errorf("%s of %s: again after %q", kind, target, answer.Header["Retry-After"])
			}
		}
	}
	if used, err := w.Counters.Distributor(t.Context(), w.Primary.AccessKey, w.Now()); err != nil || used != 0 {
		t.Errorf("%d are charged, %v", used, err)
	}
	w.store(t)
	if got := apitest.Data[*catalog.PositionHistory](t, w.Get(t, w.SubKey, ofAlice+"/current-position-history/BTC")); got == nil {
		t.Error("once it is known it has no position")
	}
}
