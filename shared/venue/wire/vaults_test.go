package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

const (
	aVault  = "0x00000000000000000000000000000000000000a1"
	aLeader = "0x00000000000000000000000000000000000000b1"
)

func TestVaultsAreReadWhateverTheyAreCalled(t *testing.T) {
	t.Parallel()
	list, malformed, err := wire.ParseVaults(json.RawMessage(`[
		{"name":"Slow and steady","vaultAddress":"0x00000000000000000000000000000000000000A1","leader":"` + aLeader + `","tvl":"5.5","isClosed":false,"relationship":{"type":"normal"},"createTimeMillis":1700000000000},
		{"name":"a\u202eb\u0000\nc","vaultAddress":"` + aVault + `","leader":"` + aLeader + `","isClosed":true,"createTimeMillis":-1},
		{"name":7,"vaultAddress":"` + aVault + `","leader":"` + aLeader + `","isClosed":"yes","createTimeMillis":"soon"},
		{"name":"` + strings.Repeat("ü", 500) + `","vaultAddress":"` + aVault + `","leader":"` + aLeader + `","createTimeMillis":1e300},
		{"name":"no leader","vaultAddress":"` + aVault + `"}, {"vaultAddress":"0x12","leader":"` + aLeader + `"}, null, 5, {"vaultAddress":{}}]`))
	want := []market.Vault{
		{Address: aVault, Leader: aLeader, Name: "Slow and steady", Created: 1_700_000_000_000},
		{Address: aVault, Leader: aLeader, Name: "ab c", Closed: true},
		{Address: aVault, Leader: aLeader},
		{Address: aVault, Leader: aLeader, Name: strings.Repeat("ü", market.MostVaultName)},
	}
	if err != nil || malformed != 5 || !slices.Equal(list, want) {
		t.Errorf("%v, %d malformed, %+v", err, malformed, list)
	}
	if _, _, err := wire.ParseVaults(json.RawMessage(`{"vaults":[]}`)); err == nil {
		t.Error("an object is read as a list")
	}
}

func TestTheDetailsOfAVaultAreOfThatOne(t *testing.T) {
	t.Parallel()
	details := json.RawMessage(`{"name":"A","vaultAddress":"` + aVault + `","leader":"` + aLeader + `","isClosed":true,"portfolio":[]}`)
	if v := must.Get(wire.ParseVault(details, aVault))(t); v != (market.Vault{Address: aVault, Leader: aLeader, Name: "A", Closed: true}) {
		t.Errorf("it is %+v", v)
	}
	if v := must.Get(wire.ParseVault(json.RawMessage("null"), aVault))(t); v != (market.Vault{Address: aVault}) {
		t.Errorf("what is no vault is %+v", v)
	}
	for _, raw := range []string{`[]`, `{}`, `{"vaultAddress":"` + aVault + `"}`} {
		if v, err := wire.ParseVault(json.RawMessage(raw), aVault); err == nil {
			t.Errorf("%s is read as %+v", raw, v)
		}
	}
	if _, err := wire.ParseVault(details, aLeader); err == nil {
		t.Error("another vault than was asked for is taken")
	}
}
