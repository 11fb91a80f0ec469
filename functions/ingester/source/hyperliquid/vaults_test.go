package hyperliquid

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"quotary/shared/market"
)

const (
	listedVault  = "0x00000000000000000000000000000000000000a1"
	askedVault   = "0x00000000000000000000000000000000000000a2"
	refusedVault = "0x00000000000000000000000000000000000000a3"
	vaultLeader  = "0x00000000000000000000000000000000000000b1"
)

// The list comes again and again, what cannot be read of it left out, and between two of them single
// vaults are asked for; one that is refused holds up nobody.
func TestVaultsAreListedAndAskedForOneByOne(t *testing.T) {
	t.Parallel()
	v := &infoVenue{answer: func(kind, name string, _ int64) string {
		switch kind + " " + name {
		case "vaultSummaries ":
			return `[{"name":"A","vaultAddress":"` + listedVault + `","leader":"` + vaultLeader + `","createTimeMillis":5},{"name":"no address"}]`
		case "vaultDetails " + askedVault:
			return `{"name":"B","vaultAddress":"` + askedVault + `","leader":"` + vaultLeader + `","isClosed":true}`
		}
		return ""
	}}
	waiting := []string{refusedVault, askedVault}
	next := func(time.Time) (string, bool) {
		if len(waiting) == 0 {
			return "", false
		}
		defer func() { waiting = waiting[1:] }()
		return waiting[0], true
	}
	s := &Vaults{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Next: next, Every: time.Millisecond, Pause: time.Millisecond}
	lists, asked := 0, false
	err := s.Follow(t.Context(), func(_ context.Context, d Delivery) error {
		for _, told := range d.Events.Vaults {
			want := market.Vault{Address: listedVault, Leader: vaultLeader, Name: "A", Created: 5}
			if len(told.Vaults) == 1 && told.Vaults[0].Address == askedVault {
				want, asked = market.Vault{Address: askedVault, Leader: vaultLeader, Name: "B", Closed: true}, true
			} else {
				lists++
			}
			if !slices.Equal(told.Vaults, []market.Vault{want}) || told.Time == 0 {
				t.Errorf("%+v is delivered", told)
			}
		}
		if lists > 1 && asked {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || s.Stats.Malformed.Load() < 3 {
		t.Errorf("%v, %d malformed", err, s.Stats.Malformed.Load())
	}
}
