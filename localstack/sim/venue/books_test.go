package venue

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

var noon = time.Date(2026, 3, 1, 12, 34, 56, 0, time.UTC)

// still is a clock that stands.
func still(at time.Time) func() time.Time { return func() time.Time { return at } }

// busy opens a venue with a little history and makes some live minutes.
func busy(t testing.TB, cfg Config, live time.Duration) *Venue {
	t.Helper()
	if cfg.Clock == nil {
		cfg.Clock = still(noon)
	}
	if cfg.Traders == 0 {
		cfg.Traders = 120
	}
	v := must.Get(Open(cfg))(t)
	t.Cleanup(func() { v.Close() })
	must.Do(t, v.Advance(noon.Add(live)))
	return v
}

func TestMoneyAndPositionsAreConservedExactlyAfterEveryBlock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		e := newEngine(rapid.Uint64Range(1, 1<<60).Draw(rt, "seed"), 90,
			rates{Live: 60_000, Coarse: rapid.Int64Range(50, 3000).Draw(rt, "coarse") * 1000}, false)
		now := noon.UnixNano()
		e.step(now)
		for range rapid.IntRange(5, testenv.Amount(20, 200)).Draw(rt, "blocks") {
			gap := rapid.SampledFrom([]time.Duration{300 * time.Millisecond, 400 * time.Millisecond, 25 * time.Second,
				31 * time.Second, 5 * time.Minute, 55 * time.Minute}).Draw(rt, "gap")
			now += int64(gap)
			e.step(now)
			if err := e.audit(); err != nil {
				rt.Fatalf("block %d: %v", e.Block, err)
			}
		}
	})
}

// audit checks the identities that must hold between blocks.
func (e *engine) audit() error {
	money := -100*(e.Deposited-e.Withdrawn) + e.SpotFees[0] + 100*(e.PerpFees+e.FundingResidue)
	for _, f := range e.BuilderFees {
		money += 100 * f
	}
	held, claims := make([]int64, len(e.tokens)), make([]int64, len(e.tokens))
	szi := make([]int64, e.perps)
	for u := range e.Acc {
		a := &e.Acc[u]
		for d := range e.dexes {
			held[e.dexes[d].token] += 100 * *a.cash(d)
		}
		for c := range a.Pos {
			p := &a.Pos[c]
			szi[c] += p.Szi
			held[e.collateral(c)] += 100 * (p.Margin - p.Cost)
			if p.Szi == 0 && (p.Margin != 0 || p.Cost != 0) {
				return fmt.Errorf("trader %d is flat in %s but has margin %d and cost %d", u, e.mk[c].Name, p.Margin, p.Cost)
			}
		}
		for i, n := range a.Tok {
			held[i] += n
			claims[i] += a.lent(i)
			if n < 0 && a.Mode != modeUnified { // whose profits may stand against what it owes
				return fmt.Errorf("trader %d owns %d of %s", u, n, e.tokens[i].name)
			}
		}
	}
	for c, sum := range szi {
		if sum != 0 {
			return fmt.Errorf("positions in %s sum to %d", e.mk[c].Name, sum)
		}
	}
	if money += held[0] + e.Pool[0]; money != 0 {
		return fmt.Errorf("money is off by %d hundred-millionths of a USDC", money)
	}
	for i := range e.tokens {
		if i > 0 && held[i]+e.SpotFees[i]+100*e.DexFees[i]+e.Pool[i] != e.Genesis[i] {
			return fmt.Errorf("%s: %d owned, %d in fees, %d created", e.tokens[i].name, held[i], e.SpotFees[i], e.Genesis[i])
		}
		if claims[i] != e.Pool[i]+e.Interest[i] {
			return fmt.Errorf("%s: %d is lent, the pool has %d and interest is %d", e.tokens[i].name, claims[i], e.Pool[i], e.Interest[i])
		}
	}
	for _, f := range e.out.forced {
		if f.Equity >= f.Maint {
			return fmt.Errorf("trader %d was liquidated with equity %d and maintenance margin %d", f.User, f.Equity, f.Maint)
		}
	}
	return e.auditBooks()
}

func (e *engine) auditBooks() error {
	resting := 0
	for c := range e.books {
		b := &e.books[c]
		if bid, ask := b.bestPx(true), b.bestPx(false); bid > 0 && ask > 0 && bid >= ask {
			return fmt.Errorf("%s is crossed: bid %d, ask %d", e.mk[c].Name, bid, ask)
		}
		for _, side := range [][]level{b.bids, b.asks} {
			for _, l := range side {
				var before int64
				for _, o := range l.orders {
					resting++
					switch {
					case o.Sz <= 0 || o.Px != l.px || e.live[o.Oid] != o:
						return fmt.Errorf("%s: order %d is misplaced", e.mk[c].Name, o.Oid)
					case o.Oid < before:
						return fmt.Errorf("%s: order %d stands behind a later one", e.mk[c].Name, o.Oid)
					case l.px%tickOf(l.px, e.mk[c].PxDec) != 0:
						return fmt.Errorf("%s: price %d is not a tick", e.mk[c].Name, l.px)
					}
					before = o.Oid
				}
			}
		}
		resting += len(e.trig[c])
	}
	if resting != len(e.live) {
		return fmt.Errorf("%d orders in books and triggers, %d live", resting, len(e.live))
	}
	return nil
}

func TestNodeFillsAloneReproduceEveryPosition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 4, HistoryFills: 6000, FillsPerSecond: 40}, 2*time.Minute)
	fills := nodeFills(t, dir)
	if len(fills) < 6000 {
		t.Fatalf("only %d fills", len(fills))
	}
	checkPairs(t, withoutDust(fills))
	sum := map[string]*big.Rat{}
	for _, f := range fills {
		if f.user == dusterAddr {
			continue // what it takes over is in the fills of others
		}
		key := f.user + " " + f.Coin
		have := sum[key]
		if have == nil {
			have = new(big.Rat)
			if f.Dir == "Buy" || f.Dir == "Sell" {
				have = rat(t, f.StartPosition) // tokens also come from outside the book
			}
		}
		if have.Cmp(rat(t, f.StartPosition)) != 0 {
			t.Fatalf("%s: fill %d starts at %s, the ones before it end at %s", key, f.Tid, f.StartPosition, have.FloatString(8))
		}
		d := rat(t, f.Sz)
		if f.Side == "A" {
			d.Neg(d)
		}
		have = new(big.Rat).Add(have, d)
		if f.FeeToken != "USDC" {
			have.Sub(have, rat(t, f.Fee))
		}
		sum[key] = have
	}
	for _, addr := range v.Truth().Addresses {
		for _, p := range v.TruthOf(addr).Positions {
			if got := sum[addr+" "+p.Coin]; got == nil || got.Cmp(rat(t, p.Szi)) != 0 {
				t.Errorf("%s %s: position is %s, fills add up to %v", addr, p.Coin, p.Szi, got)
			}
		}
	}
}

// checkPairs checks that each trade is two opposite fills, one of them crossed.
func checkPairs(t *testing.T, fills []userFill) {
	t.Helper()
	if len(fills)%2 != 0 {
		t.Fatalf("%d fills", len(fills))
	}
	seen := map[int64]bool{}
	for i := 0; i < len(fills); i += 2 {
		a, b := fills[i], fills[i+1]
		if a.Tid != b.Tid || a.Coin != b.Coin || a.Px != b.Px || a.Sz != b.Sz || a.Time != b.Time || a.Hash != b.Hash {
			t.Fatalf("fills %+v and %+v are not one trade", a, b)
		}
		if a.Side != "B" || b.Side != "A" || a.Crossed == b.Crossed || a.user == b.user {
			t.Fatalf("trade %d has sides %s/%s and crossed %t/%t", a.Tid, a.Side, b.Side, a.Crossed, b.Crossed)
		}
		if seen[a.Tid] {
			t.Fatalf("trade id %d comes twice", a.Tid)
		}
		seen[a.Tid] = true
	}
}

func TestClosedPnlIsThatOfTheAverageEntry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 3, HistoryFills: 5000, FillsPerSecond: 40}, time.Minute)
	type book struct{ size, cost *big.Rat }
	books := map[string]*book{}
	closed := map[string]*big.Rat{}
	for _, f := range nodeFills(t, dir) {
		if f.Dir == "Buy" || f.Dir == "Sell" || f.Dir == dirNames[dustConversion] {
			continue
		}
		key := f.user + " " + f.Coin
		b := books[key]
		if b == nil {
			b = &book{new(big.Rat), new(big.Rat)}
			books[key], closed[key] = b, new(big.Rat)
		}
		d := rat(t, f.Sz)
		if f.Side == "A" {
			d.Neg(d)
		}
		px := rat(t, f.Px)
		want := new(big.Rat)
		if b.size.Sign()*d.Sign() < 0 {
			closing := new(big.Rat).Set(d)
			if new(big.Rat).Abs(d).Cmp(new(big.Rat).Abs(b.size)) > 0 {
				closing.Neg(b.size)
			}
			// part < 0 is the share of the position that goes
			part := new(big.Rat).Quo(closing, b.size)
			out := new(big.Rat).Mul(b.cost, part)
			if part.Cmp(big.NewRat(-1, 1)) != 0 {
				out = roundMicro(out)
			}
			want.Neg(new(big.Rat).Mul(closing, px))
			want.Add(want, out)
			b.cost.Add(b.cost, out)
			b.size.Add(b.size, closing)
			d.Sub(d, closing)
		}
		b.size.Add(b.size, d)
		b.cost.Add(b.cost, new(big.Rat).Mul(d, px))
		if got := rat(t, f.ClosedPnl); got.Cmp(want) != 0 {
			t.Fatalf("%s trade %d: closedPnl %s, average entry gives %s", key, f.Tid, f.ClosedPnl, want.FloatString(9))
		}
		closed[key].Add(closed[key], want)
	}
	for _, addr := range v.Truth().Addresses {
		for _, p := range v.TruthOf(addr).Positions {
			if got := closed[addr+" "+p.Coin]; got.Cmp(big.NewRat(p.Realized, usd)) != 0 {
				t.Errorf("%s %s: realized %d, fills add up to %s", addr, p.Coin, p.Realized, got.FloatString(6))
			}
		}
	}
}

// roundMicro rounds to millionths, half away from zero.
func roundMicro(r *big.Rat) *big.Rat {
	out, _ := new(big.Rat).SetString(r.FloatString(6))
	return out
}

func TestFundingNetsToZeroUpToRounding(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, HistoryDays: 3}, 0)
	var residue int64
	hours := 0
	for _, l := range lines(t, dir, streamMisc) {
		for _, ev := range l.Events {
			var x struct {
				Inner struct {
					Funding *struct {
						Deltas []struct {
							User, Coin, Szi string
							FundingAmount   string `json:"funding_amount"`
							FundingRate     string `json:"funding_rate"`
						}
					}
				}
			}
			must.Do(t, json.Unmarshal(ev, &x))
			if x.Inner.Funding == nil {
				continue
			}
			hours++
			sum, count := map[string]*big.Rat{}, map[string]int64{}
			for _, d := range x.Inner.Funding.Deltas {
				if sum[d.Coin] == nil {
					sum[d.Coin] = new(big.Rat)
				}
				sum[d.Coin].Add(sum[d.Coin], rat(t, d.FundingAmount))
				count[d.Coin]++
				paid := rat(t, d.Szi).Sign() * rat(t, d.FundingRate).Sign()
				if got := rat(t, d.FundingAmount).Sign(); got != 0 && got != -paid {
					t.Fatalf("%+v has the wrong sign", d)
				}
			}
			for coin, s := range sum {
				micro := new(big.Rat).Mul(s, big.NewRat(usd, 1))
				if new(big.Rat).Abs(micro).Cmp(big.NewRat(count[coin], 2)) > 0 {
					t.Errorf("%s: %d payments net to %s", coin, count[coin], s.FloatString(6))
				}
				residue -= micro.Num().Int64()
			}
		}
	}
	if hours < 70 {
		t.Errorf("funding was paid in %d of 72 hours", hours)
	}
	if got := v.Truth().FundingResidue; got != residue {
		t.Errorf("residue is %d, payments leave %d", got, residue)
	}
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	first := busy(t, Config{Seed: 7, NodeDir: a, HistoryDays: 2}, time.Minute)
	second := busy(t, Config{Seed: 7, NodeDir: b, HistoryDays: 2}, time.Minute)
	if diff := cmp.Diff(first.Truth(), second.Truth()); diff != "" {
		t.Error(diff)
	}
	busy(t, Config{Seed: 8, NodeDir: c, HistoryDays: 2}, 30*time.Second)
	same(t, tree(t, a), tree(t, b))
	if fmt.Sprint(tree(t, a)) == fmt.Sprint(tree(t, c)) {
		t.Error("another seed gives the same bytes")
	}
}

func TestBlockNumbersGrowAndTimesNeverGoBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	busy(t, Config{NodeDir: dir, HistoryDays: 2}, 30*time.Second)
	for s := range streamCount {
		number, at := int64(0), ""
		all := lines(t, dir, s)
		if len(all) == 0 {
			t.Errorf("%s is empty", streamDirs[s])
		}
		for _, l := range all {
			if l.BlockNumber <= number || l.BlockTime <= at || len(l.Events) == 0 && s != streamFills || s == streamFills && l.BlockNumber != number+1 {
				t.Fatalf("%s: block %d at %s follows %d at %s", streamDirs[s], l.BlockNumber, l.BlockTime, number, at)
			}
			number, at = l.BlockNumber, l.BlockTime
		}
	}
}

func TestHistoryIsSmallAndHasEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	days := testenv.Amount(12, 30)
	v := must.Get(Open(Config{Seed: 3, NodeDir: dir, HistoryDays: days, Clock: still(noon)}))(t)
	defer v.Close()
	fills := nodeFills(t, dir)
	if len(fills) < 400*days || len(fills) > 800*days {
		t.Errorf("%d fills in %d days", len(fills), days)
	}
	dirs, methods, twaps, builderFees := map[string]int{}, map[string]int{}, 0, 0
	for _, f := range fills {
		dirs[f.Dir]++
		if f.Liquidation != nil {
			methods[f.Liquidation.Method]++
		}
		if f.TwapID != nil {
			twaps++
		}
		if f.BuilderFee != "" {
			builderFees++
		}
	}
	for _, d := range []string{"Open Long", "Open Short", "Close Long", "Close Short", "Long > Short", "Short > Long", "Buy", "Sell"} {
		if dirs[d] == 0 {
			t.Errorf("no fill with dir %q", d)
		}
	}
	for _, d := range []direction{autoDeleveraging, dustConversion} {
		if dirs[dirNames[d]] == 0 {
			t.Errorf("no fill with dir %q", dirNames[d])
		}
	}
	if methods["market"] == 0 || methods["backstop"] == 0 || twaps == 0 || builderFees == 0 {
		t.Errorf("liquidations %v, TWAP fills %d, fills with builder fee %d", methods, twaps, builderFees)
	}
	want := noon.Truncate(time.Hour).AddDate(0, 0, -days).UnixMilli()
	if first := fills[0].Time; first < want || first > want+6*3_600_000 {
		t.Errorf("history begins at %s", time.UnixMilli(first).UTC())
	}
}
