package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestAccountsBeyondTheDistributorsPlacesAreCountedAndNamed(t *testing.T) {
	t.Parallel()
	w := newAccountWorld(t)
	var out bytes.Buffer
	w.accounts.Patience, w.accounts.Metrics = time.Hour, metrics.New(&out, "quotary-test", w.Now) // nobody is waited for
	all := make([]string, followrequests.Accounts.Most)
	for i := range all {
		all[i] = fmt.Sprintf("0x%040x", i)
	}
	for some := range slices.Chunk(all, 50) {
		datatest.Want(t, w.wanted, w.Primary.AccessKey, some, w.Now, w.Move)
	}
	answer := w.Call(t, w.SubKey, http.MethodPost, "/upgrade/v2/hl/traders/clearinghouse-state", body{"addresses": []string{alice, carol}})
	if got := apitest.Data[[]catalog.AddressState](t, answer); len(got) != 2 || got[0].State != nil || !strings.Contains(out.String(), `"AccountsNotAsked":2`) {
		t.Errorf("%s, counted %s", answer.Body, out.String())
	}
	must.Do(t, w.series.Put(t.Context(), []store.SeriesRow{accounts.Row(&market.Account{Address: alice, Time: now})})) // from logs alone
	for _, path := range []string{"pnls/" + alice, "max-drawdown/" + alice} {
		w.Get(t, w.SubKey, curvePath+path).Refused(t, http.StatusTooManyRequests, alice, "500")
	}
	w.Get(t, w.SubKey, traders+carol+"/current-position-history/BTC").Refused(t, http.StatusTooManyRequests, carol, "500")
}
