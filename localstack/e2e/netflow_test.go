package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"testing"

	"quotary/localstack/sim/venue"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestNetFlowsAreTheVenuesTruth compares what came into the perpetuals of accounts with the
// venue's own books. These have beside it what a change of mode moves, and what moves inside an
// account whose balances stand behind positions: such accounts are left out.
func TestNetFlowsAreTheVenuesTruth(t *testing.T) {
	t.Parallel()
	var addresses []string
	for _, address := range world.Venue.Truth().Addresses {
		if truth := world.Venue.TruthOf(address); truth.Mode == "default" && truth.Modes == 0 {
			addresses = append(addresses, address)
		}
	}
	flowed := 0
	testenv.Until(t, "net flows are those of the venue", func() bool {
		var rows []struct{ Address, NetPerpIn, Since string }
		answer := call(t, http.StatusOK, world.State.Demo.SubKey, http.MethodPost, hl+"/ledger-updates/batch-net-flow", map[string]any{"addresses": addresses, "days": 0})
		must.Do(t, answer.Data(&rows))
		var differ []string
		flowed = 0
		for i, row := range rows {
			truth := world.Venue.TruthOf(row.Address)
			if truth.Modes > 0 {
				continue
			}
			got, ok := new(big.Rat).SetString(row.NetPerpIn)
			if want := netIn(&truth); row.Address != addresses[i] || row.Since == "" || !ok || got.Cmp(want) != 0 {
				differ = append(differ, fmt.Sprintf("%s: %q since %q, the venue says %s", row.Address, row.NetPerpIn, row.Since, want.FloatString(6)))
			} else if got.Sign() != 0 {
				flowed++
			}
		}
		if len(differ) > 0 {
			t.Log(len(differ), "of", len(rows), differ[:min(3, len(differ))])
		}
		return len(rows) == len(addresses) && len(differ) == 0
	})
	if flowed < 20 {
		t.Errorf("%d accounts with a net flow are compared", flowed)
	}
}

// netIn is what came into the perpetuals of an account, USDC.
func netIn(truth *venue.Truth) *big.Rat { return big.NewRat(truth.NetPerp, 1_000_000) }
