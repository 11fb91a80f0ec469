package venue

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

// ownedByStreams adds up, by address and token, all that the node's files tell of money: what
// an account owns at cost over its dexes, its spot side and what it lends.
func ownedByStreams(t *testing.T, v *Venue, dir string) map[string]map[string]*big.Rat {
	t.Helper()
	owned := map[string]map[string]*big.Rat{}
	add := func(user, token, amount string, signs int64) {
		if owned[user] == nil {
			owned[user] = map[string]*big.Rat{}
		}
		if owned[user][token] == nil {
			owned[user][token] = new(big.Rat)
		}
		owned[user][token].Add(owned[user][token], new(big.Rat).Mul(rat(t, amount), big.NewRat(signs, 1)))
	}
	collateral := func(coin string) string {
		if strings.HasPrefix(coin, "simh:") {
			return "USDH"
		}
		return "USDC"
	}
	for _, f := range nodeFills(t, dir) {
		base := ""
		if c := v.eng.byName[f.Coin]; v.eng.mk[c].Spot {
			base = v.eng.tokens[v.eng.mk[c].Token].name
		}
		if f.user == dusterAddr {
			continue
		}
		quote := new(big.Rat).Mul(rat(t, f.Px), rat(t, f.Sz)).FloatString(12)
		switch {
		case f.Dir == "Spot Dust Conversion":
			add(f.user, base, f.Sz, -1)
			cut, _, _ := strings.Cut(quote, ".")
			add(f.user, "USDC", quote[:len(cut)+9], 1) // cut to a hundred-millionth
		case base == "":
			add(f.user, collateral(f.Coin), f.ClosedPnl, 1)
			add(f.user, f.FeeToken, f.Fee, -1)
		case f.Side == "B":
			add(f.user, base, f.Sz, 1)
			add(f.user, "USDC", quote, -1)
			add(f.user, f.FeeToken, f.Fee, -1)
		default:
			add(f.user, base, f.Sz, -1)
			add(f.user, "USDC", quote, 1)
			add(f.user, f.FeeToken, f.Fee, -1)
		}
	}
	for _, l := range lines(t, dir, streamMisc) {
		for _, ev := range l.Events {
			var x struct {
				Inner struct {
					Funding *struct {
						Deltas []struct {
							User, Coin    string
							FundingAmount string `json:"funding_amount"`
						}
					}
					LedgerUpdate *struct {
						Users []string
						Delta struct {
							Type, USDC, Fee, FeeToken, NativeTokenFee, User, Destination, Token, Amount, Operation, InterestAmount string
						}
					}
				}
			}
			must.Do(t, json.Unmarshal(ev, &x))
			if x.Inner.Funding != nil {
				for _, d := range x.Inner.Funding.Deltas {
					add(d.User, collateral(d.Coin), d.FundingAmount, 1)
				}
				continue
			}
			d := x.Inner.LedgerUpdate.Delta
			user := x.Inner.LedgerUpdate.Users[0]
			switch d.Type {
			case "deposit":
				add(user, "USDC", d.USDC, 1)
			case "withdraw":
				add(user, "USDC", d.USDC, -1)
				add(user, "USDC", d.Fee, -1)
			case "internalTransfer":
				add(d.User, "USDC", d.USDC, -1)
				add(d.Destination, "USDC", d.USDC, 1)
			case "send", "spotTransfer":
				add(d.User, d.Token, d.Amount, -1)
				add(d.User, "USDC", d.Fee, -1)
				add(d.User, "HYPE", d.NativeTokenFee, -1)
				add(d.Destination, d.Token, d.Amount, 1)
			case "spotGenesis", "simulatedGrant":
				add(user, d.Token, d.Amount, 1)
			case "borrowLend":
				if d.Operation == "borrow" || d.Operation == "repay" {
					add(user, d.Token, d.InterestAmount, -1)
				} else {
					add(user, d.Token, d.InterestAmount, 1)
				}
			case "accountClassTransfer", "liquidation", "activateDexAbstraction":
			default:
				t.Fatalf("ledger update %+v", d)
			}
		}
	}
	return owned
}

func TestTheStreamsTellAllThatAccountsOwnInEveryMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{Modes: true, NodeDir: dir, HistoryDays: 6, HistoryFills: 15_000, FillsPerSecond: 40}, time.Minute)
	owned := ownedByStreams(t, v, dir)
	everywhere, foreign := map[string]int{}, map[string]int{} // accounts by mode
	for _, addr := range v.Truth().Addresses {
		truth, u := v.TruthOf(addr), v.eng.byAddr[addr]
		have := map[string]int64{}
		for i, tok := range v.eng.tokens {
			have[tok.name] = v.eng.Acc[u].Tok[i] + truth.Supplied[tok.name] - truth.Borrowed[tok.name]
		}
		dexes := map[string]bool{}
		for d := range v.eng.dexes {
			have[v.eng.tokens[v.eng.dexes[d].token].name] += 100 * truth.Cash[v.eng.dexes[d].name]
		}
		for _, p := range truth.Positions {
			have[p.Collateral] += 100 * p.Margin
			dexes[p.Dex] = true
		}
		for token, n := range have {
			if want := owned[addr][token]; want == nil && n != 0 || want != nil && want.Cmp(big.NewRat(n, spotUnit)) != 0 {
				t.Errorf("%s (%s) owns %s of %s, the streams tell %v", addr, truth.Mode, dec(n, 8), token, want)
			}
		}
		if len(dexes) == 3 {
			everywhere[truth.Mode]++
		}
		if dexes["simh"] {
			foreign[truth.Mode]++
		}
	}
	for _, name := range modeNames[:4] {
		if everywhere[name] == 0 || foreign[name] == 0 {
			t.Errorf("%d accounts that are %s trade on all dexes, %d on that of another collateral", everywhere[name], name, foreign[name])
		}
	}
}

type spotAnswer struct {
	Balances []struct {
		Coin, Total, Hold  string
		Token              int
		Supplied, Borrowed string
	}
	TokenToAvailableAfterMaintenance [][2]any
	PortfolioMarginEnabled           bool
}

func TestAStateIsAnsweredAsItsModeHasIt(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Modes: true, HistoryDays: 6, FillsPerSecond: 60}, time.Minute)
	checked := map[string]int{} // positions by mode
	for _, addr := range v.Truth().Addresses {
		truth := v.TruthOf(addr)
		spot := ask[spotAnswer](t, v, `{"type":"spotClearinghouseState","user":%q}`, addr)
		for _, b := range spot.Balances {
			want := truth.Tokens[b.Coin]
			if unified := truth.Mode == "unifiedAccount" || truth.Mode == "portfolioMargin"; unified {
				want += 100 * truth.Unrealized[b.Coin]
			}
			if b.Total != dec(want, 8) || b.Total != dec(truth.Totals[b.Coin], 8) {
				t.Errorf("%s (%s) has %s of %s, truth says %s", addr, truth.Mode, b.Total, b.Coin, dec(want, 8))
			}
			if hold := rat(t, b.Hold); hold.Sign() < 0 || hold.Sign() > 0 && hold.Cmp(rat(t, b.Total)) > 0 {
				t.Errorf("%s holds %s of %s", addr, b.Hold, b.Total)
			}
		}
		pooled := truth.Mode == "unifiedAccount" || truth.Mode == "portfolioMargin"
		if got := spot.TokenToAvailableAfterMaintenance != nil; got != pooled || spot.PortfolioMarginEnabled != (truth.Mode == "portfolioMargin") {
			t.Errorf("%s (%s): %+v", addr, truth.Mode, spot)
		}
		for _, pair := range spot.TokenToAvailableAfterMaintenance {
			name := v.eng.tokens[int(pair[0].(float64))].name
			if want := truth.Totals[name] - 100*(truth.Isolated[name]+truth.Maintenance[name]); pair[1] != dec(want, 8) {
				t.Errorf("%s has %s of %s after maintenance, truth says %s", addr, pair[1], name, dec(want, 8))
			}
		}
		for _, d := range v.eng.dexes {
			s := ask[stateAnswer](t, v, `{"type":"clearinghouseState","user":%q,"dex":%q}`, addr, d.name)
			checked[truth.Mode] += len(s.AssetPositions)
			value, used := rat(t, s.MarginSummary.AccountValue), rat(t, s.MarginSummary.TotalMarginUsed)
			if pooled && (len(s.AssetPositions) == 0 && value.Sign() != 0 || value.Cmp(used) < 0 ||
				new(big.Rat).Mul(used, big.NewRat(101, 100)).Cmp(value) < 0) {
				t.Errorf("%s: the sub-ledger of %q is %+v", addr, d.name, s.MarginSummary)
			}
		}
	}
	for _, name := range modeNames[:4] {
		if checked[name] == 0 {
			t.Errorf("no positions of accounts that are %s", name)
		}
	}
}

func TestAUnifiedAccountIsLiquidatedByTheRatioOfItsToken(t *testing.T) {
	t.Parallel()
	e := newEngine(1, 60, rates{Jumps: 1 << 40}, true)
	const u = 20
	btc, gold, oil := e.byName["BTC"], e.byName["sim:GOLD"], e.byName["simh:OIL"]
	e.Mk[btc].Mark, e.Mk[gold].Mark, e.Mk[oil].Mark = 22_000_0, 2700_00, 78_0000
	a := &e.Acc[u]
	a.Mode = modeUnified
	a.Tok[0] = 100_000 * spotUnit
	a.Pos[btc] = position{Szi: 100_000, Cost: 100_000 * 22_000_0, Lev: 10}
	if v := e.perpEquity(u) + e.spotValue(u); v != 100_000*usd {
		t.Errorf("it is worth %d", v)
	}
	if _, ok := e.liquidationPx(u, btc); ok {
		t.Error("a position of a fifth of the balance has a liquidation price")
	}
	a.Tok[0], a.Tok[usdh] = 3_000*spotUnit, 500*spotUnit
	a.Pos[gold] = position{Szi: -20_000, Cost: -20_000 * 2700_00, Lev: 20}
	a.Pos[oil] = position{Szi: 1000, Cost: 1000 * 78_0000, Lev: 20}
	for _, c := range []int{btc, gold, oil} {
		px, ok := e.liquidationPx(u, c)
		if !ok {
			t.Fatalf("%s has no liquidation price", e.mk[c].Name)
		}
		token, mark := e.collateral(c), e.Mk[c].Mark
		ratio := func(mark int64) *big.Rat {
			e.Mk[c].Mark = mark
			balance := e.total(u, token) - 100*e.isolatedMargin(u, token)
			return big.NewRat(100*e.maintOfToken(u, token), balance)
		}
		away := sign(a.Pos[c].Szi)
		before, after := ratio(px/pow10[liqExtra]+away*2), ratio(px/pow10[liqExtra]-away*2)
		e.Mk[c].Mark = mark
		if one := big.NewRat(1, 1); before.Cmp(one) >= 0 || after.Cmp(one) <= 0 {
			t.Errorf("%s: the ratio is %s before %d and %s behind it", e.mk[c].Name, before.FloatString(6), px, after.FloatString(6))
		}
	}
}

func TestAChangeOfModeKeepsWhatAnAccountIsWorthAndIsToldByNoStream(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Modes: true, HistoryDays: 4}, time.Minute)
	changed := 0
	for _, addr := range v.Truth().Addresses {
		if v.eng.byAddr[addr] <= makers {
			continue
		}
		before := v.TruthOf(addr)
		to := "unifiedAccount"
		if before.Mode == to {
			to = "disabled"
		}
		if !must.Get(v.ChangeMode(addr, to))(t) {
			continue
		}
		changed++
		after := v.TruthOf(addr)
		apart := before.PerpValue + before.SpotValue - after.PerpValue - after.SpotValue
		if after.Mode != to || after.Modes != before.Modes+1 || abs(apart) > 3 { // each part is cut to a millionth
			t.Errorf("%s becomes %s: %+v, then %+v", addr, to, before, after)
		}
		if got := ask[string](t, v, `{"type":"userAbstraction","user":%q}`, addr); got != to {
			t.Errorf("%s is %s", addr, got)
		}
	}
	must.Do(t, v.eng.audit())
	if changed < 10 {
		t.Errorf("%d accounts changed their mode", changed)
	}
	if _, err := v.ChangeMode(v.eng.prof[20].Addr, "portfolioMargin"); err == nil {
		t.Error("an account becomes portfolioMargin")
	}
}

func TestARestartKeepsAllOfEveryMode(t *testing.T) {
	t.Parallel()
	intact := t.TempDir()
	want := busy(t, Config{Modes: true, NodeDir: intact, HistoryDays: 4}, 90*time.Second)
	dir := t.TempDir()
	cfg := Config{Modes: true, NodeDir: dir + "/a/node", StateDir: dir + "/a/state", HistoryDays: 4, Traders: 120, Clock: still(noon)}
	v := busy(t, cfg, 41*time.Second)
	copyTree(t, dir+"/a", dir+"/b") // v is still running: a kill
	cfg.Modes = false               // the state directory keeps the choice
	cfg.NodeDir, cfg.StateDir, cfg.Clock = dir+"/b/node", dir+"/b/state", still(v.Now())
	v = reopen(t, cfg)
	must.Do(t, v.Advance(noon.Add(90*time.Second)))
	same(t, tree(t, intact), tree(t, cfg.NodeDir))
	text := func(v *Venue) string {
		all := []any{v.Truth()}
		for _, addr := range v.Truth().Addresses {
			all = append(all, v.TruthOf(addr))
		}
		return string(must.Get(json.Marshal(all))(t))
	}
	if text(v) != text(want) {
		t.Error("the truth is another one after a restart")
	}
}

func TestADexThatFailsCostsNoOther(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Modes: true}, time.Second)
	failing := func() (dexes []string) {
		for _, d := range v.eng.dexes {
			codes := map[int]bool{}
			for _, kind := range []string{"meta", "metaAndAssetCtxs", "clearinghouseState", "frontendOpenOrders", "allMids"} {
				code, _, _ := post(t, v.Handler(), `{"type":"`+kind+`","dex":"`+d.name+`","user":"`+v.eng.prof[20].Addr+`"}`)
				codes[code] = true
			}
			switch {
			case len(codes) != 1:
				t.Fatalf("%s answers %v", d.name, codes)
			case codes[http.StatusInternalServerError]:
				dexes = append(dexes, d.name)
			}
		}
		return dexes
	}
	v.FailDex("sim", true)
	if got := failing(); len(got) != 1 || got[0] != "sim" {
		t.Errorf("%v fail", got)
	}
	v.FailDex("sim", false)
	if got := failing(); got != nil {
		t.Errorf("%v fail", got)
	}
	v.cfg.DexFails = time.Hour
	if got := failing(); len(got) != 1 || got[0] != "simh" {
		t.Errorf("%v fail", got)
	}
}
