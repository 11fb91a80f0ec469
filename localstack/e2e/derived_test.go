package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// venueAnswer is what is compared of an answer of the venue's interface: figures by what they are
// of. It is nil where the answer says that it is not known yet.
type venueAnswer map[string]string

// TestThePastOfAccountsIsTheVenues asks the product and the venue the same questions about
// accounts of each mode: their funding, their ledger updates, what they traded today and the points
// of their curves at full hours, the time in which nothing happens to them being waited for.
func TestThePastOfAccountsIsTheVenues(t *testing.T) {
	t.Parallel()
	from := time.Now().Add(-90 * time.Minute).UnixMilli()
	for _, q := range []struct {
		name  string
		since int64
		read  func(t *testing.T, answer []byte) venueAnswer
		least int64 // of figures that are compared, over all accounts
	}{
		{"userFunding", from, readLedger, 1},
		{"userNonFundingLedgerUpdates", 0, readLedger, 1},
		{"userFees", 0, readVolume, 4},
		{"portfolio", 0, readCurves, 100},
	} {
		var compared atomic.Int64
		t.Cleanup(func() { // behind all accounts
			if n := compared.Load(); n < q.least {
				t.Errorf("%d figures of %s are compared", n, q.name)
			}
		})
		for _, address := range tradingAccounts(t) {
			t.Run(q.name+" of "+address, func(t *testing.T) {
				t.Parallel()
				body := map[string]any{"type": q.name, "user": address, "startTime": q.since}
				var ours, theirs venueAnswer
				defer func() {
					if t.Failed() {
						t.Logf("%.3000s", cmp.Diff(theirs, ours))
					}
				}()
				testenv.Until(t, "the product answers as the venue", func() bool {
					ours = q.read(t, ask(t, world.State.Demo.SubKey, "POST", hl+"/venue/info", body).Body)
					theirs = q.read(t, venueInfo(t, body))
					if ours != nil && q.name == "portfolio" { // each has points of its own besides
						maps.DeleteFunc(theirs, func(of, _ string) bool { return ours[of] == "" })
						maps.DeleteFunc(ours, func(of, _ string) bool { return theirs[of] == "" })
					}
					return ours != nil && maps.Equal(ours, theirs)
				})
				compared.Add(int64(len(ours)))
			})
		}
	}
}

// tradingAccounts are two accounts of each mode.
func tradingAccounts(t *testing.T) (list []string) {
	t.Helper()
	const each = 2
	of := map[string]int{} // by mode
	for _, address := range world.Venue.Truth().Addresses {
		if truth := world.Venue.TruthOf(address); truth.Joined && truth.Fills >= 10 && of[truth.Mode] < each {
			of[truth.Mode]++
			list = append(list, address)
		}
	}
	if len(list) < 2*each {
		t.Fatalf("%d accounts are compared", len(list))
	}
	return list
}

// readLedger has the updates of an account, of which those of one moment have no order.
func readLedger(_ *testing.T, answer []byte) venueAnswer {
	var list []map[string]any
	if json.Unmarshal(answer, &list) != nil {
		return nil
	}
	of := venueAnswer{}
	for _, update := range list {
		of[fmt.Sprint(update["time"], update["hash"], update["delta"])] = ""
	}
	return of
}

// readVolume has what an account traded today.
func readVolume(_ *testing.T, answer []byte) venueAnswer {
	var fees struct {
		DailyUserVlm []struct{ Date, UserCross, UserAdd string }
	}
	if json.Unmarshal(answer, &fees) != nil || len(fees.DailyUserVlm) == 0 {
		return nil
	}
	today := fees.DailyUserVlm[len(fees.DailyUserVlm)-1]
	return venueAnswer{today.Date: today.UserCross + " " + today.UserAdd}
}

// readCurves has what an account was worth in the minute of a full hour, and had earned in the
// window by then.
func readCurves(t *testing.T, answer []byte) venueAnswer {
	t.Helper()
	var windows [][2]json.RawMessage
	if json.Unmarshal(answer, &windows) != nil {
		return nil
	}
	figures := venueAnswer{}
	for _, w := range windows {
		var curves struct{ AccountValueHistory, PnlHistory [][2]any }
		must.Do(t, json.Unmarshal(w[1], &curves))
		for i, point := range curves.AccountValueHistory {
			at := time.UnixMilli(int64(point[0].(float64))).UTC()
			if at.Minute() == 0 {
				figures[fmt.Sprint(string(w[0]), " ", at)] = fmt.Sprint(point[1], " ", curves.PnlHistory[i][1])
			}
		}
	}
	return figures
}
