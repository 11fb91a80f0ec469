package venue

import "strings"

// vaultOf is a vault: an account that another one leads. It trades as every account does; none of its
// money is told to be that of others.
type vaultOf struct {
	address, leader, name string
	created               int64 // ms
	closed                bool
}

// vaults are the liquidator and some of the traders, and one that was closed before anything was
// traded.
func (e *engine) vaults() (all []vaultOf) {
	const week = 7 * 86_400_000
	first := makers + 1 // of the traders
	for _, v := range []struct {
		account, leader int
		name            string
	}{{vault, first, "Liquidator (simulated)"}, {first + 2, first + 3, "Slow and steady (simulated)"}, {first + 8, first + 3, "Momentum (simulated)"}, {first + 14, first + 9, "Basis (simulated)"}} {
		all = append(all, vaultOf{address: e.prof[v.account].Addr, leader: e.prof[v.leader].Addr, name: v.name, created: firstVault + int64(len(all))*week})
	}
	closed := vaultOf{address: address(e.Seed, 1<<41), leader: e.prof[first+3].Addr, name: "Closed (simulated)", created: firstVault, closed: true}
	return append(all, closed)
}

// firstVault is when the first vault was made, ms: before the history of the venue begins.
const firstVault = 1_700_000_000_000

// isVault reports whether a trader is a vault.
func (e *engine) isVault(u int) bool {
	for _, v := range e.vaults() {
		if u >= 0 && v.address == e.prof[u].Addr {
			return true
		}
	}
	return false
}

// equityText is what a vault is worth.
func (e *engine) equityText(v *vaultOf) []byte {
	u := e.userIndex(v.address)
	if u < 0 || !e.Acc[u].Joined {
		return []byte(`"0.0"`)
	}
	now := e.equityNow(u)
	return append(appendDec([]byte{'"'}, now.Perp+now.Spot, 6), '"')
}

var plainRelationship = []byte(`{"type":"normal"}`)

func infoVaultSummaries(e *engine, _ *infoRequest) ([]byte, error) {
	return list(nil, e.vaults(), func(b []byte, v *vaultOf) []byte {
		return append(b, object(nil).text("name", v.name).text("vaultAddress", v.address).text("leader", v.leader).raw("tvl", e.equityText(v)).
			bool("isClosed", v.closed).raw("relationship", plainRelationship).int("createTimeMillis", v.created).end()...)
	}), nil
}

func infoVaultDetails(e *engine, r *infoRequest) ([]byte, error) {
	if !addressForm.MatchString(r.VaultAddress) {
		return nil, errShape
	}
	for _, v := range e.vaults() {
		if v.address != strings.ToLower(r.VaultAddress) {
			continue
		}
		portfolio, err := infoPortfolio(e, r, e.userIndex(v.address))
		if err != nil {
			return nil, err
		}
		nobody := []byte("null")
		return object(nil).text("name", v.name).text("vaultAddress", v.address).text("leader", v.leader).text("description", "A simulated vault.").
			raw("portfolio", portfolio).int("apr", 0).raw("followerState", nobody).int("leaderFraction", 1).int("leaderCommission", 0).
			raw("followers", []byte("[]")).int("maxDistributable", 0).int("maxWithdrawable", 0).bool("isClosed", v.closed).
			raw("relationship", plainRelationship).bool("allowDeposits", !v.closed).bool("alwaysCloseOnWithdraw", false).end(), nil
	}
	return []byte("null"), nil
}

func infoLeadingVaults(e *engine, r *infoRequest, _ int) ([]byte, error) {
	return e.appendLeading(nil, r.User), nil
}

// appendLeading appends the vaults that an account leads.
func (e *engine) appendLeading(b []byte, leader string) []byte {
	var led []vaultOf
	for _, v := range e.vaults() {
		if v.leader == leader && !v.closed {
			led = append(led, v)
		}
	}
	return list(b, led, func(b []byte, v *vaultOf) []byte {
		return append(b, object(nil).text("address", v.address).text("name", v.name).end()...)
	})
}
