package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/delivered"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestAnAccountThatIsNotKnownHasNotDoneNothing: it is asked for at the venue.
func TestAnAccountThatIsNotKnownHasNotDoneNothing(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	testenv.Until(t, "all six are wanted: where a busy machine could not write one in time, the next request does", func() bool {
		for n, path := range []string{"addr-stat", "completed-trades", "best-trades", "performance-by-coin", "detailed-trading-statistics"} {
			b.get(t, fmt.Sprintf("0x%040x/%s", n, path)).Refused(t, http.StatusServiceUnavailable, "for the first time")
		}
		b.post(t, fmt.Sprintf("0x%040x/completed-trades/by-time", 9), body{}).Refused(t, http.StatusServiceUnavailable, "for the first time")
		defer b.Move(2 * time.Second)
		return len(must.Get(b.wanted.List(t.Context(), b.Now()))(t).Things()) == 6
	})
}

func TestAnAccountThatNobodyAnswersForIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.Patience = 0
	for range 2 {
		w.Get(t, w.SubKey, traders+carol+"/current-position-history/BTC").Refused(t, http.StatusServiceUnavailable, carol, "asked for", "2 seconds")
		w.accounts.Patience = time.Hour
		w.Move(w.wanted.Wait)
	}
}

// TestUnknownAccountsOfADistributorHoldFewRequests: the others are answered at once.
func TestUnknownAccountsOfADistributorHoldFewRequests(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.Patience = time.Hour
	n := w.wanted.Waits + 15
	var answered atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", body{"addresses": []string{fmt.Sprintf("0x%040x", i+1)}})
			answered.Add(1)
		})
	}
	defer all.Wait()
	defer func() { // they are known at last
		var rows []store.SeriesRow
		for i := range n {
			rows = append(rows, accounts.Row(&market.Account{Address: fmt.Sprintf("0x%040x", i+1), Anchored: w.Now().UnixMilli()}))
		}
		must.Do(t, w.series.Put(t.Context(), rows))
	}()
	testenv.Until(t, "all but some are answered", func() bool { return answered.Load() >= int64(n-w.wanted.Waits) })
}

// TestWhoAsksForOneAccountThatIsNotKnownIsToldWhenToAskAgain, also where fills of it are
// stored already: what it holds besides is not known.
func TestWhoAsksForOneAccountThatIsNotKnownIsToldWhenToAskAgain(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.accounts.Patience = 0
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

// TestACurveThatIsAwaitedIsNotEmpty: nothing is known of it before the venue was asked about the
// account, and has said what it was worth before.
func TestACurveThatIsAwaitedIsNotEmpty(t *testing.T) {
	t.Parallel()
	moment := &market.Worth{Perp: decimal(t, "5"), PerpKnown: true}
	for name, c := range map[string]struct {
		account market.Account
		worth   *market.Worth // a minute ago
		asked   int
	}{
		"known from logs alone": {market.Account{Updates: []market.LedgerUpdate{{Time: now - dayMs}}}, nil, 1},
		"asked about just now":  {market.Account{Anchored: now - 1000, Updates: []market.LedgerUpdate{{Time: now - dayMs}}}, moment, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openBook(t)
			c.account.Address = alice
			b.hold(t, &c.account)
			s := b.of(alice)
			s.Volume = decimal(t, "100")
			if c.worth != nil {
				s.AddPoint(now-60_000, c.worth)
			}
			b.write(t)
			for _, path := range []string{"pnls/" + alice, "portfolio/" + alice + "/week", "max-drawdown/" + alice} {
				answer := b.curveOf(t, path)
				if answer.Refused(t, http.StatusServiceUnavailable, alice, "is being asked for at the exchange"); answer.Header["Retry-After"] != "2" {
					t.Errorf("%s: again after %q", path, answer.Header["Retry-After"])
				}
				if wanted := must.Get(b.wanted.List(t.Context(), b.Now()))(t); len(wanted.Things()) != c.asked {
					t.Errorf("%s: %v are wanted", path, wanted.Things())
				}
			}
			in := body{"addresses": []string{alice}}
			if rows := apitest.Data[[]catalog.PnlsRow](t, b.Call(t, b.SubKey, http.MethodPost, curvePath+"batch-pnls", in)); rows[0].Pnls != nil {
				t.Errorf("among many it earned %v", *rows[0].Pnls)
			}
			if rows := apitest.Data[[]catalog.DrawdownRow](t, b.Call(t, b.SubKey, http.MethodPost, curvePath+"batch-max-drawdown", in)); rows[0].Drawdown != (catalog.Drawdown{}) {
				t.Errorf("among many it fell by %v", rows[0].Drawdown)
			}
		})
	}
}

// A position that was closed behind what is known may be there: it is not found only where all is known.
func TestAClosedPositionIsNotFoundOnlyWhereAllIsKnown(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	w.fill(t, 300, "BTC", 1, "1", "100", "0.0")
	trade := w.fill(t, 240, "BTC", 2, "-1", "110", "10.0")
	views, until := w.Views(t), w.Now().Add(-2*time.Hour)
	storetest.Publish(t, views, delivered.Published(catalog.PerpDomain.Name), delivered.View{"fills": {Since: 1, Sources: []string{"hours"}, Until: until.UnixMilli()}})
	w.Family.Delivered = delivered.Open(views, w.Now)
	known := fmt.Sprintf("startTime=%d&endTime=%d", trade.Start, trade.End)
	before, behind := until.Add(-time.Minute).UnixMilli(), until.Add(time.Minute).UnixMilli()
	for _, kind := range []string{"history", "pnl", "executions"} {
		path := ofAlice + "/completed-position-" + kind + "/BTC"
		if a := w.Get(t, w.SubKey, path+"?"+known); !strings.Contains(string(a.Body), `"code":"0"`) {
			t.Errorf("%s of one that is known: %s", kind, a.Body)
		}
		absent(t, w.Get(t, w.SubKey, path), "startTime or endTime must say")
		absent(t, w.Get(t, w.SubKey, path+fmt.Sprintf("?endTime=%d", before)), "has closed none")
		for _, query := range []string{fmt.Sprintf("?endTime=%d", behind), fmt.Sprintf("?startTime=%d", before), fmt.Sprintf("?startTime=%d&endTime=%d", before, behind)} {
			w.Get(t, w.SubKey, path+query).Refused(t, http.StatusServiceUnavailable, "are known until "+until.UTC().Format(time.RFC3339))
		}
	}
}
