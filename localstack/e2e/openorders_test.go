package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestOpenOrdersOfAnAccountAreWhatTheVenueHasListed asks for the open orders of accounts that
// nobody has asked for, until the answer is one that the venue itself has given meanwhile, which
// changes as they trade.
func TestOpenOrdersOfAnAccountAreWhatTheVenueHasListed(t *testing.T) {
	t.Parallel()
	var accounts []string
	testenv.Until(t, "accounts with open orders trade", func() bool {
		top := data[[]struct{ Address string }](t, call(t, 200, world.State.Demo.SubKey, "GET", hl+"/fills/top-trades?coin=ETH&interval=1d&limit=100", nil))
		accounts = accounts[:0]
		for _, one := range top {
			if !slices.Contains(accounts, one.Address) && len(venueRest(t, one.Address)) > 0 {
				accounts = append(accounts, one.Address)
			}
		}
		return len(accounts) >= 3
	})
	for _, address := range accounts[:3] {
		for _, kind := range []string{"openOrders", "frontendOpenOrders", "webData2"} {
			question := map[string]any{"type": kind, "user": address}
			said, asked := map[string]bool{}, time.Time{} // by the venue; the product, so that its key is not used up
			testenv.Until(t, kind+" of "+address+" is what the venue says", func() bool {
				said[ordersIn(t, kind, venueInfo(t, question))] = true
				if time.Since(asked) < 500*time.Millisecond {
					return false
				}
				asked = time.Now()
				answer := ask(t, world.State.Demo.SubKey, "POST", hl+"/info", question)
				switch answer.Status {
				case http.StatusOK:
				case http.StatusServiceUnavailable:
					if answer.Header.Get("Retry-After") != "2" {
						t.Errorf("%s is not ready, and says no time: %.200s", kind, answer.Body)
					}
					return false
				default:
					t.Fatalf("%s: status %d: %.300s", kind, answer.Status, answer.Body)
				}
				got := ordersIn(t, kind, data[json.RawMessage](t, answer))
				return said[got]
			})
		}
	}
}

// ordersIn are the open orders of an answer, in their order.
func ordersIn(t *testing.T, kind string, answer []byte) string {
	t.Helper()
	var list []map[string]any
	if kind == "webData2" {
		var all struct{ OpenOrders []map[string]any }
		must.Do(t, json.Unmarshal(answer, &all))
		list = all.OpenOrders
	} else {
		must.Do(t, json.Unmarshal(answer, &list))
	}
	return fmt.Sprint(list)
}
