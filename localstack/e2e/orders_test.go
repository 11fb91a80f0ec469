package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// orderStatus is an order with its status as the venue and the product send it; what
// is compared are all its members.
type orderStatus struct {
	Order           map[string]any `json:"order"`
	Status          string         `json:"status"`
	StatusTimestamp float64        `json:"statusTimestamp"`
}

func (o *orderStatus) oid() int64 { return int64(o.Order["oid"].(float64)) }

// TestOrdersAreThoseOfTheVenue asks the venue what became of the orders of
// some accounts, and the product the same, until nothing happened in between:
// then all answers must be those that follow from the venue's own.
func TestOrdersAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	compared, named := map[string]bool{}, false
	testenv.Until(t, "four accounts were compared, with orders that their client named", func() bool {
		top := data[[]struct{ Address string }](t, call(t, 200, world.State.Demo.SubKey, "GET", hl+"/fills/top-trades?coin=BTC&interval=1d&limit=100", nil))
		for _, one := range top {
			if (len(compared) < 4 || !named) && !compared[one.Address] && rests(venueOrders(t, one.Address)) {
				compared[one.Address] = true
				named = compareOrders(t, one.Address) || named
			}
		}
		return len(compared) >= 4 && named
	})
}

// rests reports whether an account places orders that wait, and had some filled.
// The venue leaves the open orders of market makers out of their history.
func rests(history []orderStatus) bool {
	has := func(status string) bool {
		return slices.ContainsFunc(history, func(o orderStatus) bool { return o.Status == status })
	}
	return has("open") && has("filled")
}

// compareOrders waits until all that the product says of an account's orders is as it
// follows from the venue's history of them, and reports whether a client had named
// one.
func compareOrders(t *testing.T, address string) (named bool) {
	t.Helper()
	var history []orderStatus
	var diff string
	defer func() {
		if t.Failed() {
			t.Logf("%s: %s", address, diff)
		}
	}()
	testenv.Until(t, "the orders of "+address+" are those of the venue", func() bool {
		history = venueOrders(t, address)
		diff = differs(t, address, history)
		return diff == "" && cmp.Equal(history, venueOrders(t, address))
	})
	return checkStatus(t, address, history)
}

// venueInfo asks the venue itself.
func venueInfo(t *testing.T, question map[string]any) []byte {
	t.Helper()
	body := must.Get(json.Marshal(question))(t)
	answer := must.Get(http.Post(world.State.VenueURL+"/info", "application/json", strings.NewReader(string(body))))(t)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("the venue answers %d %.200s (%v)", answer.StatusCode, text, err)
	}
	return text
}

func venueOrders(t *testing.T, address string) (list []orderStatus) {
	t.Helper()
	must.Do(t, json.Unmarshal(venueInfo(t, map[string]any{"type": "historicalOrders", "user": address}), &list))
	return list
}

// venueRest is what rests of the open orders of an account, by order id.
func venueRest(t *testing.T, address string) map[int64]string {
	t.Helper()
	var open []struct {
		Oid int64
		Sz  string
	}
	must.Do(t, json.Unmarshal(venueInfo(t, map[string]any{"type": "openOrders", "user": address}), &open))
	rest := map[int64]string{}
	for _, o := range open {
		rest[o.Oid] = o.Sz
	}
	return rest
}

// askOrder returns the order that the venue wraps once more than the product does;
// nil where it knows of none.
func askOrder(t *testing.T, question map[string]any) *orderStatus {
	t.Helper()
	var wrapped struct{ Order *orderStatus }
	must.Do(t, json.Unmarshal(venueInfo(t, question), &wrapped))
	return wrapped.Order
}

// differs returns what is not as it follows from the venue's history of an account,
// which is the newest part of what the product has.
func differs(t *testing.T, address string, history []orderStatus) string {
	t.Helper()
	var latest, filled []orderStatus
	seen, rest := map[int64]bool{}, venueRest(t, address)
	for _, o := range history {
		if !seen[o.oid()] {
			seen[o.oid()] = true
			newest := o
			if sz, ok := rest[o.oid()]; ok && o.Status == "open" {
				newest.Order = maps.Clone(o.Order)
				newest.Order["sz"] = sz
			}
			latest = append(latest, newest)
		}
		if o.Status == "filled" {
			filled = append(filled, o)
		}
	}
	coin := filled[0].Order["coin"].(string)
	ofCoin := func(list []orderStatus) (of []orderStatus) {
		for _, o := range list {
			if o.Order["coin"] == coin {
				of = append(of, o)
			}
		}
		return of
	}
	key := world.State.Demo.SubKey
	got := data[[]orderStatus](t, call(t, 200, key, "POST", hl+"/info", map[string]any{"type": "historicalOrders", "user": address}))
	if diff := cmp.Diff(history, got[:min(len(got), len(history))]); diff != "" {
		return "historicalOrders (-venue +product):\n" + diff
	}
	for path, want := range map[string][]orderStatus{
		"/orders/" + address + "/latest":                                       latest,
		"/orders/" + address + "/latest?coin=" + coin:                          ofCoin(latest),
		"/orders/" + address + "/latest?limit=2":                               latest[:min(2, len(latest))],
		"/filled-orders/" + address + "/latest":                                filled,
		"/filled-orders/" + address + "/latest?coin=" + coin:                   ofCoin(filled),
		"/filled-orders/0X" + strings.ToUpper(address[2:]) + "/latest?limit=1": filled[:1],
	} {
		got := data[[]orderStatus](t, call(t, 200, key, "GET", hl+path, nil))
		if limited := strings.Contains(path, "limit="); limited && len(got) != len(want) {
			return fmt.Sprintf("%s has %d orders, want %d", path, len(got), len(want))
		}
		if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
			return path + " (-venue +product):\n" + diff
		}
	}
	return ""
}

// checkStatus compares single orders that have come to their end, and reports
// whether a client had named one.
func checkStatus(t *testing.T, address string, history []orderStatus) (named bool) {
	t.Helper()
	key := world.State.Demo.SubKey
	ended := map[string]bool{}
	for _, o := range history {
		if o.Status == "open" || o.Status == "triggered" || ended[o.Status] && o.Order["cloid"] == nil || len(ended) > 8 {
			continue
		}
		ended[o.Status] = true
		names := []any{o.oid()}
		if cloid := o.Order["cloid"]; cloid != nil && !named {
			named = true
			names = append(names, cloid)
		}
		for _, name := range names {
			question := map[string]any{"type": "orderStatus", "user": address, "oid": name}
			got := data[*orderStatus](t, call(t, 200, key, "POST", hl+"/info", question))
			if diff := cmp.Diff(askOrder(t, question), got); diff != "" {
				t.Errorf("orderStatus of %v (-venue +product):\n%s", name, diff)
			}
		}
		want, filled := &o, &o
		if o.Status != "filled" {
			filled = nil
		}
		for path, want := range map[string]*orderStatus{"/orders/oid/": want, "/filled-orders/oid/": filled} {
			got := data[*orderStatus](t, call(t, 200, key, "GET", fmt.Sprint(hl, path, o.oid()), nil))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s%d (-venue +product):\n%s", path, o.oid(), diff)
			}
		}
	}
	unknown := map[string]any{"type": "orderStatus", "user": address, "oid": 1}
	if diff := cmp.Diff(askOrder(t, unknown), data[*orderStatus](t, call(t, 200, key, "POST", hl+"/info", unknown))); diff != "" {
		t.Errorf("an unknown order (-venue +product):\n%s", diff)
	}
	return named
}
