package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestTradersHaveTheOtherVenuesOfTheDrop compares the traders that are found with the file that the stack
// began with, and looks for them by a name in it. Of those that do nothing it is known an hour later.
func TestTradersHaveTheOtherVenuesOfTheDrop(t *testing.T) {
	t.Parallel()
	if world.Venue == nil {
		t.Skip("no simulated venue")
	}
	said, first := map[string][]string{}, ""
	var addresses []string
	for line := range bytes.Lines(world.Venue.OtherVenues()) {
		var l struct {
			Address string
			Venues  []string
		}
		must.Do(t, json.Unmarshal(line, &l))
		slices.Sort(l.Venues)
		said[l.Address], addresses = l.Venues, append(addresses, l.Address)
		if first == "" && len(l.Venues) > 0 {
			first = l.Venues[0]
		}
	}
	type row struct {
		Address string
		Names   *[]string `json:"dexNames"`
		Count   *int      `json:"dexCount"`
	}
	find := func(filters ...map[string]any) (rows []row, total int) {
		page := data[struct {
			List  []row
			Total int
		}](t, call(t, http.StatusOK, world.State.Demo.SubKey, "POST", hl+"/traders/discover", map[string]any{
			"pageSize": 25, "sort": map[string]any{"field": "dexCount"}, "selects": []string{"dexNames", "dexCount"}, "filters": filters, "addrs": addresses,
		}))
		return page.List, page.Total
	}
	testenv.Until(t, "other venues are known of traders", func() bool {
		_, total := find(map[string]any{"field": "dexCount", "val": 1})
		_, none := find(map[string]any{"field": "dexCount", "op": "=", "val": 0})
		return total > 0 && none > 0
	})
	has := map[string]any{"field": "dexNames", "val2": first}
	rows, _ := find(has)
	if len(rows) == 0 {
		t.Errorf("nobody is found who trades on %s", first)
	}
	for _, r := range rows {
		if r.Names == nil || r.Count == nil || *r.Count != len(*r.Names) || !slices.Equal(*r.Names, said[r.Address]) || !slices.Contains(*r.Names, first) {
			t.Errorf("%s trades on %v, want %v", r.Address, r.Names, said[r.Address])
		}
	}
	has["op"] = "!="
	rows, _ = find(has)
	for _, r := range rows {
		if r.Names == nil || !slices.Equal(*r.Names, said[r.Address]) || slices.Contains(*r.Names, first) {
			t.Errorf("without %s: %s trades on %v, want %v", first, r.Address, r.Names, said[r.Address])
		}
	}
}
