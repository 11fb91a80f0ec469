package market

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const liveHour = 3_600_000

// liveWorld has the truth of what accounts hold beside positions whose fills come late.
type liveWorld struct {
	*rapid.T
	live  *LivePositions
	truth *Positions
	ms    int64
	tid   int64
	late  []Fill // not confirmed, oldest first
	whole map[string]int64
}

func newLiveWorld(t *rapid.T) *liveWorld {
	w := &liveWorld{T: t, live: NewLivePositions(new(Positions)), truth: new(Positions), ms: 1, whole: map[string]int64{}}
	for _, user := range liveUsers {
		for _, coin := range liveCoins {
			w.fill(user, coin, Buy, 5)
		}
	}
	for _, coin := range liveCoins {
		w.whole[coin] = liveHour
		w.live.Whole(coin, liveHour)
	}
	w.ms = liveHour
	w.confirm(len(w.late))
	w.live.Until(liveHour)
	return w
}

var (
	liveUsers = []string{"0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb", "0x00000000000000000000000000000000000000cc"}
	liveCoins = []string{"BTC", "xyz:GOLD"}
)

// fill fills an order of an account, of which the venue's files tell later.
func (w *liveWorld) fill(user, coin string, side Side, size int) *Fill {
	w.tid++
	start := w.truth.sizeOf(user, coin)
	f := Fill{Address: user, Coin: coin, Px: fmt.Sprint(100 + w.tid%7), Sz: fmt.Sprintf("%d.5", size), Side: side, Time: w.ms, Seq: w.tid, Tid: w.tid, StartPosition: Text(start)}
	w.truth.AddStored(&f)
	w.late = append(w.late, f)
	return &w.late[len(w.late)-1]
}

func (w *liveWorld) confirm(n int) {
	for i := range w.late[:n] {
		w.live.Confirmed.AddStored(&w.late[i])
		w.live.Confirm(w.late[i].Address)
	}
	w.late = append([]Fill(nil), w.late[n:]...)
}

func (p *Positions) sizeOf(user, coin string) Decimal {
	id, _ := ParseAccount(user)
	if c := p.coins[coin]; c != nil {
		return c.held[id].size
	}
	return Decimal{}
}

// TestWhatStandsIsTheTruthAsFarAsAllTradesHaveCome and what is confirmed where some were missed, whatever comes when:
// trades twice and out of order, hours in parts, a connection that was lost.
func TestWhatStandsIsTheTruthAsFarAsAllTradesHaveCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newLiveWorld(t)
		var held []Fill // trades that come a little later
		for range 120 {
			w.ms += rapid.Int64Range(0, liveHour/4).Draw(t, "passes")
			user, coin := rapid.SampledFrom(liveUsers).Draw(t, "user"), rapid.SampledFrom(liveCoins).Draw(t, "coin")
			f := w.fill(user, coin, rapid.SampledFrom([]Side{Buy, Sell}).Draw(t, "side"), rapid.IntRange(0, 9).Draw(t, "size"))
			public := f.public()
			public.StartPosition = ""
			switch what := rapid.IntRange(0, 19).Draw(t, "comes"); {
			case what == 0: // it is lost, and the connection that comes next finds out
				w.ms++
				w.whole[coin] = w.ms
				w.live.Whole(coin, w.ms)
				held = slices.DeleteFunc(held, func(f Fill) bool { return f.Coin == coin })
			case what < 3:
				held = append(held, public)
			case what < 5:
				w.live.Trade(&public)
				w.live.Trade(&public)
			default:
				w.live.Trade(&public)
			}
			if len(held) > 2 || rapid.Bool().Draw(t, "late ones come") {
				for i := range held {
					w.live.Trade(&held[i])
				}
				held = nil
			}
			for w.live.until+2*liveHour <= w.ms {
				end, n := w.live.until+liveHour, 0
				for n < len(w.late) && w.late[n].Time < end {
					n++
				}
				part := rapid.IntRange(0, n).Draw(t, "part")
				for part > 0 && part < n && w.late[part].Time == w.late[part-1].Time {
					part++ // a block comes whole
				}
				w.confirm(part)
				w.check(held)
				w.confirm(n - part)
				w.live.Until(end)
			}
			w.check(held)
		}
	})
}

// check compares what stands with the truth; of trades that are held nobody knows yet.
func (w *liveWorld) check(held []Fill) {
	w.live.Settle()
	waits := map[string]bool{}
	for i := range held {
		waits[held[i].Address+held[i].Coin] = true
	}
	for _, user := range liveUsers {
		for _, coin := range liveCoins {
			confirmed, want := w.live.Confirmed.sizeOf(user, coin), w.truth.sizeOf(user, coin)
			id, _ := ParseAccount(user)
			if w.whole[coin] > max(w.live.until, w.live.Confirmed.coins[coin].held[id].order.Time+1) {
				want = confirmed
			} else if waits[user+coin] {
				continue
			}
			if got := w.live.Now.sizeOf(user, coin); !got.Equal(want) {
				w.Fatalf("%d: %s holds %s of %s, want %s; confirmed are %s up to %d, trades are whole since %d", w.ms, user, got, coin, want, confirmed, w.live.until, w.whole[coin])
			}
		}
	}
}

// TestWhatIsKnownOfAPositionThatTradesHaveMoved are its size, leverage and cost, and not what is behind it.
func TestWhatIsKnownOfAPositionThatTradesHaveMoved(t *testing.T) {
	t.Parallel()
	type trade struct {
		side   Side
		sz, px string
	}
	for name, c := range map[string]struct {
		trades           []trade
		size, cost       string
		leverage         uint8
		opened           int64
		costKnown, funds bool
	}{
		"nothing":         {size: "2", cost: "200", leverage: 5, opened: 7, costKnown: true, funds: true},
		"more":            {trades: []trade{{Buy, "1", "130"}}, size: "3", cost: "330", leverage: 5, opened: 7, costKnown: true},
		"a part is sold":  {trades: []trade{{Sell, "0.5", "90"}}, size: "1.5", cost: "150", leverage: 5, opened: 7, costKnown: true},
		"it is turned":    {trades: []trade{{Sell, "3", "90"}}, size: "-1", cost: "-90", leverage: 5, opened: liveHour + 1, costKnown: true},
		"closed, and new": {trades: []trade{{Sell, "2", "90"}, {Sell, "4", "80"}}, size: "-4", cost: "-320", opened: liveHour + 2, costKnown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dec := func(s string) Decimal { return mustDecimal(s) }
			user := liveUsers[0]
			a := &Account{Address: user, Mode: ModeStandard, Anchored: 5, Dexes: []DexFunds{{Cash: dec("1000"), Anchored: 5}},
				Holdings: []Holding{{Coin: "BTC", Leverage: Leverage{Value: 5}, Open: &OpenPosition{Size: dec("2"), Cost: dec("200"), Opened: 7}}}}
			l := NewLivePositions(new(Positions))
			l.Confirmed.SetAccount(a, &Markets{})
			l.Confirm(user)
			l.Whole("BTC", liveHour)
			l.Until(liveHour)
			l.Settle()
			for n, one := range c.trades {
				l.Trade(&Fill{Address: user, Coin: "BTC", Side: one.side, Sz: one.sz, Px: one.px, Time: liveHour + 1 + int64(n), Tid: int64(n + 1)})
			}
			for range 2 { // as they came, and made anew
				table := l.Now.TableOf(user, 0)
				row, pool := table.Rows[0], table.Pools[0]
				size := l.Now.sizeOf(user, "BTC")
				if !size.Equal(dec(c.size)) || row.Cost != MicrosOf(dec(c.cost)) || row.Leverage != c.leverage || row.Opened != c.opened || row.Flags&OpenCostKnown != 0 != c.costKnown || pool.Known != c.funds {
					t.Errorf("it is %s, %+v, of %+v", size, row, pool)
				}
				l.Confirm(user)
				l.Settle()
			}
		})
	}
}

// TestWhoIsNotKnownHasNothing until the fills come; what the venue says of an account is known.
func TestWhoIsNotKnownHasNothing(t *testing.T) {
	t.Parallel()
	l := NewLivePositions(new(Positions))
	l.Whole("BTC", 1)
	user := liveUsers[0]
	trade := func(ms int64, side Side, sz string) (known bool) {
		_, known = l.Trade(&Fill{Address: user, Coin: "BTC", Side: side, Sz: sz, Px: "100", Time: ms, Tid: ms})
		return known
	}
	holds := func(when, want string) {
		t.Helper()
		if got := l.Now.sizeOf(user, "BTC"); !got.Equal(mustDecimal(want)) {
			t.Errorf("%s: it holds %s, want %s", when, got, want)
		}
	}
	if trade(2, Buy, "1"); trade(5, Buy, "2") {
		t.Error("a trade of who is not known is taken")
	}
	holds("nobody knows it", "0")
	said := func(size string) *Account {
		return &Account{Address: user, Anchored: 3, Dexes: []DexFunds{{Anchored: 3}}, Holdings: []Holding{{Coin: "BTC", Open: &OpenPosition{Size: mustDecimal(size), NoCost: true}}}}
	}
	l.Say(user, said("7"), &Markets{})
	holds("the venue has said what it holds, between the trades", "9")
	if trade(3, Buy, "4"); !trade(6, Sell, "1") {
		t.Error("a trade of who is known is not taken")
	}
	holds("one comes that the venue knew, and one behind", "8")
	l.Forget(3, 100)
	holds("what the venue knew is forgotten", "8")
	l.Forget(4, 100)
	holds("what it has said is forgotten", "0")
	l.Say(user, said("7"), &Markets{})
	l.Say(user, nil, &Markets{})
	holds("it has said nothing", "0")
}

// TestTradesOfAMillisecondCountInTheOrderInWhichTheyCome whatever their ids, also those from before all were known to come.
func TestTradesOfAMillisecondCountInTheOrderInWhichTheyCome(t *testing.T) {
	t.Parallel()
	l := NewLivePositions(new(Positions))
	user := liveUsers[0]
	l.Say(user, &Account{Address: user, Anchored: 3, Dexes: []DexFunds{{Anchored: 3}}}, &Markets{})
	trade := func(ms, tid int64, side Side) (Decimal, bool) {
		return l.Trade(&Fill{Address: user, Coin: "BTC", Side: side, Sz: "1", Px: "100", Time: ms, Tid: tid})
	}
	trade(4, 7, Buy)
	l.Whole("BTC", 2)
	if got := l.Now.sizeOf(user, "BTC"); !got.Equal(mustDecimal("1")) {
		t.Errorf("it holds %s: the trade came before it was said that all do", got)
	}
	for n, one := range []struct {
		tid  int64
		side Side
		want string
	}{{50, Buy, "1"}, {40, Buy, "2"}, {45, Sell, "3"}, {45, Buy, "2"}} {
		if before, known := trade(9, one.tid, one.side); !known || !before.Equal(mustDecimal(one.want)) {
			t.Errorf("before trade %d it held %s, %t; want %s", n, before, known, one.want)
		}
	}
	if _, known := trade(9, 40, Buy); known || !l.Now.sizeOf(user, "BTC").Equal(mustDecimal("3")) {
		t.Errorf("it holds %s when one comes again", l.Now.sizeOf(user, "BTC"))
	}
}
