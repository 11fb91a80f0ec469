package venue

import (
	"math/big"
	"testing"
	"time"

	"quotary/shared/testing/testenv"
)

// shaken calls each after every block of a venue whose prices jump often: some hours of
// short and of long blocks.
func shaken(t *testing.T, seed uint64, each func(*engine)) {
	t.Helper()
	e := newEngine(seed, 120, Config{FillsPerSecond: 60, HistoryFills: 600, JumpEvery: time.Hour}.rates(), false)
	step := func(to int64) {
		e.step(to)
		if err := e.audit(); err != nil {
			t.Fatalf("block %d: %v", e.Block, err)
		}
		each(e)
	}
	step(noon.UnixNano())
	for range testenv.Amount(40, 400) { // hours
		for range 20 {
			step(e.nextLive(400 * time.Millisecond))
		}
		for range 12 {
			step(e.nextCoarse())
		}
	}
}

func TestAutoDeleveragingClosesThoseThatOweAgainstTheFirstInRank(t *testing.T) {
	t.Parallel()
	closed, counterparties := 0, 0
	shaken(t, 5, func(e *engine) {
		var owed int64 // what is left of the position under way
		for i := 0; i+1 < len(e.out.fills); i += 2 {
			pair := [2]fill{e.out.fills[i], e.out.fills[i+1]}
			if pair[0].Dir == dustConversion {
				i-- // it has no other side
				continue
			}
			if pair[0].Dir != autoDeleveraging {
				if owed != 0 {
					t.Fatalf("block %d: %d of a position was not deleveraged", e.Block, owed)
				}
				continue
			}
			own, other := pair[0], pair[1]
			if own.User != own.Liq.User {
				own, other = other, own
			}
			if owed == 0 {
				owed = abs(own.Start)
				closed++
			}
			counterparties++
			switch {
			case own.User != own.Liq.User || other.Dir != autoDeleveraging || own.Fee != 0 || other.Fee != 0 || own.Crossed == other.Crossed:
				t.Fatalf("fills %+v and %+v", own, other)
			case abs(own.Start) != owed || own.Sz > owed || sign(own.Start) != -sign(other.Start):
				t.Fatalf("of %d, %+v closes against %+v", owed, own, other)
			case own.Sz < owed && other.Sz != abs(other.Start):
				t.Fatalf("%+v was left a part of a position before the next in rank had to close", other)
			}
			owed -= own.Sz
		}
	})
	if closed < 5 || counterparties <= closed {
		t.Errorf("%d positions were closed against %d others", closed, counterparties)
	}
}

func TestWhoGainsAndRisksMostIsDeleveragedFirst(t *testing.T) {
	t.Parallel()
	e := newEngine(1, 60, rates{Jumps: 1 << 40}, false)
	e.Mk[0].Mark = 100_000_0 // BTC, one decimal
	hold := func(u int, szi, entry, cash int64) {
		e.Acc[u].Pos[0] = position{Szi: szi, Cost: szi * entry, Lev: 10}
		e.Acc[u].Cash[0] = cash
	}
	const coin = 100_000                   // size units of a BTC
	hold(20, -coin, 110_000_0, 20_000*usd) // equity of 30,000
	hold(21, -coin, 110_000_0, 10_000*usd) // less equity behind it
	hold(22, -coin, 130_000_0, 0)          // more profit, the same equity
	hold(23, -coin, 90_000_0, 5_000*usd)   // owes
	usual := e.rank(20, 0)
	if leveraged := e.rank(21, 0); leveraged <= usual {
		t.Errorf("ranks are %d for more leverage, %d for less", leveraged, usual)
	}
	if profitable := e.rank(22, 0); profitable <= usual {
		t.Errorf("ranks are %d for more profit, %d for less", profitable, usual)
	}
	if owing := e.rank(23, 0); owing >= usual {
		t.Errorf("ranks are %d for who owes, %d for who does not", owing, usual)
	}
}

func TestDustIsSoldOnceADayByOneOrderAToken(t *testing.T) {
	t.Parallel()
	days, shares := map[int64]bool{}, 0
	shaken(t, 7, func(e *engine) {
		sold, paid := map[int64]int64{}, map[int64]int64{} // by order, hundred-millionths of a token
		for i := range e.out.fills {
			f := &e.out.fills[i]
			switch {
			case e.prof[f.User].Kind == kindDuster:
				if sold[f.Oid] == 0 {
					sold[f.Oid] = f.Start
				}
			case f.Dir == dustConversion:
				shares++
				days[f.Time/86_400_000] = true
				paid[f.Oid] += f.Sz
				if lot := pow10[8-e.mk[f.Coin].SzDec]; f.Buy || f.Sz != f.Start || f.Sz >= lot || f.Tid != 0 || f.Fee != 0 || f.Closed != 0 || f.Tx != 0 {
					t.Fatalf("share %+v", f)
				}
			}
		}
		for oid, n := range sold {
			if paid[oid] != n {
				t.Fatalf("order %d sold the dust of %d, and %d were paid for", oid, n, paid[oid])
			}
		}
		if len(sold) != len(paid) {
			t.Fatalf("%d orders sold the shares of %d", len(sold), len(paid))
		}
		for _, n := range e.Acc[e.byAddr[dusterAddr]].Tok {
			if n != 0 {
				t.Fatalf("the account that sells dust has %d left", n)
			}
		}
	})
	if len(days) < 2 || shares < 4 {
		t.Errorf("%d shares on %d days", shares, len(days))
	}
}

func TestAdjustmentsMoveNoMoneyInOrOutOfAnAccount(t *testing.T) {
	t.Parallel()
	var done adjustments
	shaken(t, 7, func(e *engine) {
		for u := range e.Acc {
			for c := range e.perps {
				p := &e.Acc[u].Pos[c]
				if p.Szi == 0 || e.Rng.n(200) > 0 {
					continue
				}
				before, cross, was := e.dexEquity(u, e.mk[c].Dex), e.free(u, e.mk[c].Dex), e.Acc[u].Adjusted
				if !e.adjust(u, c) {
					continue
				}
				after := e.dexEquity(u, e.mk[c].Dex)
				if now := e.Acc[u].Adjusted; before != after || now == was || cross >= 0 && e.free(u, e.mk[c].Dex) < 0 {
					t.Fatalf("trader %d: equity %d before, %d after; %d free; %+v after %+v", u, before, after, e.free(u, e.mk[c].Dex), now, was)
				}
			}
		}
		done = adjustments{}
		for u := range e.Acc {
			done.Leverage += e.Acc[u].Adjusted.Leverage
			done.MarginIn += e.Acc[u].Adjusted.MarginIn
			done.MarginOut += e.Acc[u].Adjusted.MarginOut
		}
	})
	if done.Leverage < 20 || done.MarginIn < 10 || done.MarginOut < 5 {
		t.Errorf("adjustments: %+v", done)
	}
}

func TestDustOnTheWireHasTheDecimalsOfItsToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	busy(t, Config{NodeDir: dir, HistoryDays: 8, HistoryFills: 12_000}, 0)
	shares := 0
	for _, f := range nodeFills(t, dir) {
		if f.Dir != "Spot Dust Conversion" {
			continue
		}
		shares++
		if f.Sz != f.StartPosition || rat(t, f.Sz).Cmp(big.NewRat(1, 1)) >= 0 || f.ClosedPnl != "0.0" || f.Fee != "0.0" || f.FeeToken != "USDC" || !f.Crossed || f.Side != "A" {
			t.Errorf("share %+v", f)
		}
	}
	if shares == 0 {
		t.Error("no dust was converted")
	}
}
