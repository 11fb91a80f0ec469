package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

const askedAccount = "0xa11ce00000000000000000000000000000000001"

// accountAnswers are what a venue with the dexs "" and xyz says of an account that uses
// both; what is in broken is answered otherwise.
func accountAnswers(broken map[string]string) func(kind, about string, _ int64) string {
	const cash = `"marginSummary":{"accountValue":"100.5"},"crossMarginSummary":{"accountValue":"100.5"},"time":1795262430000`
	return func(kind, about string, _ int64) string {
		if answer, ok := broken[kind]; ok {
			return answer
		}
		switch kind {
		case "perpDexs":
			return `[null,{"name":"xyz"},{"name":"abc"}]`
		case "clearinghouseState":
			switch about {
			case "abc":
				return `{"marginSummary":{"accountValue":"0.0"},"crossMarginSummary":{"accountValue":"0.0"},"assetPositions":[],"time":1795262430000}`
			case "":
				return `{` + cash + `,"assetPositions":[{"type":"oneWay","position":{"coin":"BTC","szi":"-0.5","leverage":{"type":"isolated","value":10,"rawUsd":"60.25"},` +
					`"entryPx":"99.5","positionValue":"50.0","unrealizedPnl":"-0.25","liquidationPx":null,"marginUsed":"10.25","cumFunding":{"allTime":"1.5","sinceOpen":"0.5","sinceChange":"0.25"}}}]}`
			}
			return `{` + cash + `,"assetPositions":[]}`
		case "userAbstraction":
			return `"default"`
		case "spotClearinghouseState":
			return `{"balances":[{"coin":"USDC","token":0,"total":"5.5","hold":"0.0","entryNtl":"0.0"}]}`
		case "activeAssetData":
			return `{"user":"` + askedAccount + `","coin":"ETH","leverage":{"type":"cross","value":20}}`
		case "frontendOpenOrders":
			if about == "xyz" {
				return `[]`
			}
			return `[{"coin":"BTC","side":"B","limitPx":"90.0","sz":"1.0","oid":7,"timestamp":5,"triggerCondition":"N/A","isTrigger":false,"triggerPx":"0.0",` +
				`"children":[],"isPositionTpsl":false,"reduceOnly":false,"orderType":"Limit","origSz":"1.0","tif":"Gtc","cloid":null},{"coin":""}]`
		}
		return ""
	}
}

// followAnchors runs the source until it has delivered so many anchors.
func followAnchors(t *testing.T, a *Anchors, n int) (got []market.Anchor) {
	t.Helper()
	done := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	var mu sync.Mutex
	requested := map[string]bool{}
	err := a.Follow(ctx, func(_ context.Context, d Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		for _, address := range d.Events.AnchorRequests {
			requested[address] = true
		}
		for _, one := range d.Events.Anchors {
			if !requested[one.Address] {
				t.Errorf("the answer about %s comes before its request", one.Address)
			}
			got = append(got, one)
		}
		if len(got) >= n {
			stop(done)
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	return got[:n]
}

func wantAnchors(list ...WantedAnchor) func(context.Context) ([]WantedAnchor, error) {
	return func(context.Context) ([]WantedAnchor, error) { return list, nil }
}

func TestAnAccountIsAnnouncedAndThenAnchored(t *testing.T) {
	t.Parallel()
	v := infoVenue{answer: accountAnswers(nil)}
	a := &Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond,
		Wanted: wantAnchors(WantedAnchor{Address: askedAccount, Every: time.Hour, Coins: []string{"ETH"}})}
	got := followAnchors(t, a, 1)
	said := got[0]
	if len(said.Dexes) != 3 || said.SpotTime != 1795262430000 || len(said.Spot) != 1 || said.Leverages["ETH"] != (market.Leverage{Value: 20}) || len(said.Orders) != 1 || said.Orders[0].Oid != 7 {
		t.Fatalf("it is anchored by %+v", said)
	}
	main := said.Dexes[len(said.Dexes)-1]
	if main.Dex != "" || len(main.Positions) != 1 {
		t.Fatalf("the main dex is %+v", main)
	}
	p := main.Positions[0]
	if p.Coin != "BTC" || p.Szi.String() != "-0.5" || p.Leverage != (market.Leverage{Isolated: true, Value: 10}) || p.RawUsd.String() != "60.25" || p.FundingAllTime.String() != "1.5" {
		t.Errorf("the position is %+v", p)
	}
	if a.Stats.Malformed.Load() == 0 {
		t.Error("an order without a coin is not counted")
	}
	if len(said.Listed) != 1 || said.Listed["xyz"] == 0 {
		t.Errorf("all orders are listed of %v, want xyz: one of the main dex cannot be read", said.Listed)
	}
	if n := v.count("frontendOpenOrders"); n != 1 {
		t.Errorf("asked %d times for the orders of the main dex", n)
	}
	if n := v.count("frontendOpenOrders abc"); n != 0 {
		t.Error("asked for the orders of a dex that the account does not use")
	}
}

func TestTheModeAndAllDexsAreAskedForAtFirstEveryHourAndWhenSomethingIsLost(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	for _, c := range []struct {
		after time.Duration
		lost  time.Time
		want  bool
	}{{after: anchorsAll - time.Second}, {after: anchorsAll, want: true}, {after: time.Minute, lost: now}, {after: time.Minute, lost: now.Add(time.Second), want: true}} {
		if got := (&WantedAnchor{After: c.lost}).wantsAgain(now, now.Add(c.after)); got != c.want {
			t.Errorf("after %s, with what is lost since %s, it is wanted: %t", c.after, c.lost, got)
		}
	}
	if !new(WantedAnchor).wantsAgain(time.Time{}, now) {
		t.Error("at first it is not wanted")
	}
	// Of an account that is asked about every hour it is asked for each time, however long an
	// answer takes.
	f := newAnchorFollower(new(Anchors), nil)
	f.known[askedAccount] = &anchored{asked: now}
	f.note(&market.Anchor{Address: askedAccount, Mode: market.ModeStandard}, nil, true, market.ModeStandard)
	if k, one := f.known[askedAccount], new(WantedAnchor); !one.wantsAgain(k.all, now.Add(anchorsAll)) || !one.wantsAgain(k.moded, now.Add(anchorsAll)) {
		t.Errorf("all dexs were asked at %s, the mode at %s", k.all, k.moded)
	}
}

func TestARefusedModeCostsTheModeAndIsAskedForAgain(t *testing.T) {
	t.Parallel()
	v := infoVenue{answer: accountAnswers(map[string]string{"userAbstraction": ""})}
	a := &Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond, Wanted: wantAnchors(WantedAnchor{Address: askedAccount})}
	for _, one := range followAnchors(t, a, 2) {
		if one.Mode != market.ModeUnknown || len(one.Dexes) < 2 || one.SpotTime == 0 {
			t.Errorf("it is anchored by %+v", one)
		}
	}
	if n := v.count("userAbstraction"); n < 2 || a.Stats.Malformed.Load() == 0 {
		t.Errorf("asked %d times, %d malformed", n, a.Stats.Malformed.Load())
	}
}

func TestThePublicEndpointIsAskedForModesThatANodeDoesNotTell(t *testing.T) {
	t.Parallel()
	node := infoVenue{answer: accountAnswers(map[string]string{"userAbstraction": ""})}
	public := infoVenue{answer: accountAnswers(map[string]string{"userAbstraction": `"dexAbstraction"`})}
	a := &Anchors{Info: node.serve(t), Public: public.serve(t), PublicBudget: source.NewBudget(2*weightMode, time.Now), Stats: new(Stats), Log: slog.New(slog.DiscardHandler),
		Poll: time.Millisecond, Wanted: wantAnchors(WantedAnchor{Address: askedAccount, Every: time.Hour}, WantedAnchor{Address: "0x2", Every: time.Hour}, WantedAnchor{Address: "0x3", Every: time.Hour})}
	told := 0
	for _, one := range followAnchors(t, a, 3) {
		if len(one.Dexes) != 3 {
			t.Errorf("it is anchored by %+v", one)
		}
		if one.Mode == market.ModeOther {
			told++
		}
	}
	if told != 2 || public.count("userAbstraction") != 2 || len(public.asked) != 2 {
		t.Errorf("%d modes are told, the public endpoint was asked %v, for two at most", told, public.asked)
	}
}

// Balances that stand behind positions have their PnL in them, at marks that only the positions
// tell: they are those of between two answers with the same.
func TestBalancesBehindPositionsAreThoseOfMarksThatStayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		moves int // how often the PnL differs from the answer before
		asked int // for the balances
		known bool
	}{
		"no mark moves":                 {asked: 1, known: true},
		"one moves, then none":          {moves: 1, asked: 2, known: true},
		"they move as often as we look": {moves: 100, asked: spotTries},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers, states := accountAnswers(map[string]string{"userAbstraction": `"unifiedAccount"`}), 0
			v := infoVenue{answer: func(kind, about string, start int64) string {
				answer := answers(kind, about, start)
				if kind == "clearinghouseState" && about == "" {
					states++
					answer = strings.Replace(answer, `"unrealizedPnl":"-0.25"`, fmt.Sprintf(`"unrealizedPnl":"%d.5"`, min(states, c.moves+1)), 1)
				}
				return answer
			}}
			a := &Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond, Wanted: wantAnchors(WantedAnchor{Address: askedAccount, Every: time.Hour})}
			said := followAnchors(t, a, 1)[0]
			if n := v.count("spotClearinghouseState"); n != c.asked {
				t.Errorf("asked %d times for the balances, want %d", n, c.asked)
			}
			if len(said.Dexes) != 3 || (said.Mode == market.ModeUnified) != c.known || (said.SpotTime > 0) != c.known || (len(said.Spot) > 0) != c.known {
				t.Errorf("it is anchored by %+v", said)
			}
		})
	}
}

// A builder's dex that refuses everything costs nothing else, whether it has been used or not. It
// is said to be silent, and asked again once it was left in peace.
func TestADexThatDoesNotAnswerCostsNoOther(t *testing.T) {
	t.Parallel()
	down := map[string]bool{"xyz": true, "abc": true}
	answers := accountAnswers(nil)
	v := infoVenue{answer: func(kind, about string, start int64) string {
		if dex, _, _ := strings.Cut(about, ":"); down[dex] {
			return ""
		}
		return answers(kind, about, start)
	}}
	f := newAnchorFollower(&Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler)}, nil)
	f.known[askedAccount] = &anchored{asked: time.Now()}
	one := WantedAnchor{Address: askedAccount, Every: time.Hour, Coins: []string{"xyz:GOLD", "BTC"}}
	for n, step := range []struct {
		down     []string
		calm     bool // they may be asked again
		asked    int  // xyz, in all
		silent   []string
		leverage int
	}{
		{down: []string{"xyz", "abc"}, asked: 1, silent: []string{"xyz", "abc"}, leverage: 1},
		{down: []string{"xyz", "abc"}, asked: 1, silent: []string{"xyz", "abc"}, leverage: 1},
		{down: nil, asked: 1, silent: []string{"xyz", "abc"}, leverage: 1},
		{down: nil, calm: true, asked: 2, leverage: 2},
		{down: []string{"xyz"}, asked: 3, silent: []string{"xyz"}, leverage: 1},
		{down: nil, calm: true, asked: 4, leverage: 2},
	} {
		clear(down)
		for _, dex := range step.down {
			down[dex] = true
		}
		if step.calm {
			clear(f.silent.until)
		}
		said, err := f.question(t.Context(), one)
		if err != nil || said.Dexes[len(said.Dexes)-1].Dex != "" || said.SpotTime == 0 || said.Listed["xyz"] > 0 != !slices.Contains(step.silent, "xyz") {
			t.Fatalf("question %d: %v, %+v", n+1, err, said)
		}
		if slices.Sort(said.Silent); !slices.Equal(said.Silent, slices.Sorted(slices.Values(step.silent))) || len(said.Leverages) != step.leverage {
			t.Errorf("question %d: %v are silent, the leverages are %v", n+1, said.Silent, said.Leverages)
		}
		if got := v.count("clearinghouseState xyz"); got != step.asked {
			t.Errorf("after question %d xyz was asked %d times, want %d", n+1, got, step.asked)
		}
	}
}

// An account of which a dex has not told is not one that the venue knows nothing of.
func TestAnAccountIsNotEmptyWhileADexIsSilent(t *testing.T) {
	t.Parallel()
	for silent, want := range map[string]bool{"": true, "xyz": false} {
		f := newAnchorFollower(new(Anchors), nil)
		f.known[askedAccount] = &anchored{}
		answer := market.Anchor{Address: askedAccount, Dexes: []market.AccountState{{}}}
		if silent != "" {
			answer.Silent = []string{silent}
		}
		f.note(&answer, used(&answer), true, market.ModeStandard)
		if got := f.known[askedAccount].empty; got != want {
			t.Errorf("with %q silent it is empty: %t", silent, got)
		}
	}
}

// Balances that look as in another mode than the one that is known have the mode and all dexs
// asked for at once; not again before the hour is over, where it is the same.
func TestBalancesThatLookAsInAnotherModeHaveItAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode, joint string
		want        []market.Mode
		dexes       []int // that have answered
		asked       int   // for the mode
	}{
		"unified to standard": {`"default"`, `{"balances":[]}`, []market.Mode{market.ModeStandard, market.ModeUnknown}, []int{3, 2}, 1},
		"still unified":       {`"unifiedAccount"`, `{"balances":[]}`, []market.Mode{market.ModeUnified, market.ModeUnknown}, []int{3, 2}, 1},
		"as it is known":      {`"default"`, `{"balances":[],"tokenToAvailableAfterMaintenance":[]}`, []market.Mode{market.ModeUnknown, market.ModeUnknown}, []int{1, 1}, 0},
	} {
		v := infoVenue{answer: accountAnswers(map[string]string{"userAbstraction": c.mode, "spotClearinghouseState": c.joint})}
		f := newAnchorFollower(&Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler)}, nil)
		now := time.Now()
		f.known[askedAccount] = &anchored{asked: now, all: now, moded: now, mode: market.ModeUnified, used: []string{""}}
		for n, want := range c.want {
			said, err := f.question(t.Context(), WantedAnchor{Address: askedAccount})
			if err != nil || said.Mode != want || len(said.Dexes) != c.dexes[n] {
				t.Errorf("%s: question %d: %v, %+v", name, n+1, err, said)
			}
		}
		if got := v.count("userAbstraction"); got != c.asked {
			t.Errorf("%s: the mode was asked for %d times", name, got)
		}
	}
}

// TestAnAnswerThatIsWrongIsNoAnchor: the account is let go on, and asked about again.
func TestAnAnswerThatIsWrongIsNoAnchor(t *testing.T) {
	t.Parallel()
	for kind, answer := range map[string]string{
		"clearinghouseState":     `{"assetPositions":[],"time":5}`,
		"spotClearinghouseState": `{"balances":null}`,
		"activeAssetData":        `{"leverage":{"type":"none","value":0}}`,
		"perpDexs":               `{"error":"x"}`,
		"frontendOpenOrders":     "", // refused
	} {
		v := infoVenue{answer: accountAnswers(map[string]string{kind: answer})}
		a := &Anchors{Info: v.serve(t), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond,
			Wanted: wantAnchors(WantedAnchor{Address: askedAccount, Every: time.Hour, Coins: []string{"ETH"}})}
		got := followAnchors(t, a, 1)
		if len(got[0].Dexes) > 0 || got[0].SpotTime > 0 || a.Stats.Malformed.Load() == 0 {
			t.Errorf("%s: %+v, %d malformed", kind, got[0], a.Stats.Malformed.Load())
		}
	}
}

func TestWhoIsFollowedGoesFirstAndTheBudgetIsKept(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	f := anchorFollower{Anchors: &Anchors{Budget: source.NewBudget(2*50, func() time.Time { return now })}, known: map[string]*anchored{}}
	var wanted []WantedAnchor
	for i := range 4 {
		wanted = append(wanted, WantedAnchor{Address: fmt.Sprint(i), Followed: i == 2, Every: time.Minute})
	}
	addresses := func(list []WantedAnchor) string {
		var names []string
		for _, one := range list {
			names = append(names, one.Address)
		}
		return strings.Join(names, " ")
	}
	first := f.due(wanted, now)
	if len(first) != 2 || first[0].Address != "2" {
		t.Errorf("the first are %s", addresses(first))
	}
	if again := f.due(wanted, now); len(again) != 0 {
		t.Errorf("beyond the budget, and asked about already, are %s", addresses(again))
	}
	for _, one := range first {
		f.known[one.Address].busy = false
	}
	f.busy = 0
	now = now.Add(30 * time.Second)
	if next := f.due(wanted, now); len(next) != 1 || next[0].Address == "2" || next[0].Address == first[1].Address {
		t.Errorf("the next are %s", addresses(next))
	}
	now = now.Add(time.Minute)
	wanted = wanted[2:3]
	wanted[0].After = now
	if next := f.due(wanted, now); addresses(next) != "2" {
		t.Errorf("wanted again is %s", addresses(next))
	}
	for _, k := range f.known {
		k.busy = false
	}
	if f.due(wanted, now.Add(anchorsAll)); len(f.known) != 1 {
		t.Errorf("%d are known an hour later", len(f.known))
	}
}

// TestAnAccountThatCostsMoreThanTheBudgetStopsNobody: it waits until all of the budget is
// there, and the others go on when its debt is paid.
func TestAnAccountThatCostsMoreThanTheBudgetStopsNobody(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	f := anchorFollower{Anchors: &Anchors{Budget: source.NewBudget(300, func() time.Time { return now })}, known: map[string]*anchored{}}
	wanted := []WantedAnchor{{Address: "dear", Followed: true, Every: time.Hour, Coins: make([]string, 16)}, {Address: "other", Every: time.Hour}}
	if due := f.due(wanted, now); len(due) != 1 || due[0].Address != "dear" {
		t.Fatalf("first are asked %+v", due)
	}
	now = now.Add(time.Minute)
	if due := f.due(wanted, now); len(due) != 1 || due[0].Address != "other" {
		t.Errorf("then are asked %+v", due)
	}
}

// askAll asks about accounts one at a time, a second each, and returns who came when.
func askAll(f *anchorFollower, wanted []WantedAnchor, now *time.Time, n int) (order []string) {
	f.busy = anchorsAtOnce - 1
	for range n {
		for _, one := range f.due(wanted, *now) {
			order = append(order, one.Address)
			f.known[one.Address].busy = false
			f.busy--
		}
		*now = now.Add(time.Second)
	}
	return order
}

// TestNobodysAccountsKeepThoseOfAnotherWaiting: who wants few accounts waits for no more
// than one of each other's, and those that were asked about before have every second turn.
func TestNobodysAccountsKeepThoseOfAnotherWaiting(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	var oldest atomic.Int64
	f := newAnchorFollower(&Anchors{OldestWait: &oldest}, nil)
	old := []WantedAnchor{{Address: "old", Followed: true, By: []string{"many"}, Every: time.Minute}, {Address: "large", Every: time.Minute}}
	askAll(f, old, &now, 2)
	now = now.Add(2 * time.Minute)
	wanted := old
	for i := range 200 {
		wanted = append(wanted, WantedAnchor{Address: fmt.Sprintf("new %03d", i), Followed: true, By: []string{"many"}, Every: time.Hour})
	}
	askAll(f, wanted, &now, 20)
	if f.known["old"].asked.Before(now.Add(-20*time.Second)) || f.known["large"].asked.Before(now.Add(-20*time.Second)) {
		t.Error("who was asked about before waits for all first questions")
	}
	if oldest.Load() != 19_000 {
		t.Errorf("the oldest waits for %d ms, want 19 s", oldest.Load())
	}
	wanted = append(wanted, WantedAnchor{Address: "only", Followed: true, By: []string{"few"}, Every: time.Hour},
		WantedAnchor{Address: "new 199", Followed: true, By: []string{"both", "few"}, Every: time.Hour})
	if next := askAll(f, wanted, &now, 6); !slices.Contains(next, "only") || !slices.Contains(next, "new 199") {
		t.Errorf("the next are %q", next)
	}
}

// TestTurnsAreByWeight: who wants accounts that cost much has as much of the venue as who wants
// others, and accounts that nobody waits for have a fourth of that.
func TestTurnsAreByWeight(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	f := newAnchorFollower(new(Anchors), nil)
	var wanted []WantedAnchor
	for i := range 300 {
		for _, one := range []WantedAnchor{
			{Address: "dear", Followed: true, By: []string{"dear"}, Coins: make([]string, 16)},
			{Address: "cheap", Followed: true, By: []string{"cheap"}},
			{Address: "unfollowed"},
		} {
			one.Address, one.Every = fmt.Sprint(one.Address, " ", i), time.Hour
			wanted = append(wanted, one)
		}
	}
	weights, had := map[string]int{}, map[string]int{}
	for _, one := range wanted[:3] {
		name, _, _ := strings.Cut(one.Address, " ")
		weights[name] = f.weight(new(anchored), one, now)
	}
	for _, address := range askAll(f, wanted, &now, 300) {
		name, _, _ := strings.Cut(address, " ")
		had[name] += weights[name]
	}
	dearest := weights["dear"]
	if d := had["cheap"] - had["dear"]; d < -dearest || d > dearest {
		t.Errorf("accounts that weigh %d and %d had %d and %d", dearest, weights["cheap"], had["dear"], had["cheap"])
	}
	if d := had["cheap"] - 4*had["unfollowed"]; d < -dearest || d > dearest {
		t.Errorf("accounts of somebody had %d, and those of nobody %d", had["cheap"], had["unfollowed"])
	}
}

// TestWantedAccountsAreListedEverySecondAtLeast: a millisecond an account lies between two lists,
// but no more than that, so that who is new waits no longer however many there are.
func TestWantedAccountsAreListedEverySecondAtLeast(t *testing.T) {
	t.Parallel()
	for accounts, pause := range map[int]time.Duration{300: 300 * time.Millisecond, 1000: time.Second, 5000: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			list := make([]WantedAnchor, accounts)
			for i := range list {
				list[i] = WantedAnchor{Address: fmt.Sprint(i), Every: time.Hour}
			}
			spent := source.NewBudget(100, func() time.Time { return time.UnixMilli(1_800_000_000_000) })
			spent.TrySpend(100)
			ctx, stop := context.WithTimeout(t.Context(), 12*time.Second-1)
			defer stop()
			lists := 0
			a := &Anchors{Budget: spent, Poll: 100 * time.Millisecond, Wanted: func(context.Context) ([]WantedAnchor, error) {
				lists++
				return list, nil
			}}
			if err := a.Follow(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if want := int(12 * time.Second / pause); lists != want {
				t.Errorf("%d accounts are listed %d times in 12 s, want %d", accounts, lists, want)
			}
		})
	}
}

func TestAnAccountThatTheVenueDoesNotKnowIsAskedAboutHourly(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	f := newAnchorFollower(new(Anchors), nil)
	wanted := []WantedAnchor{{Address: "nobody", Followed: true, Every: time.Minute}}
	asked := func(want int) {
		t.Helper()
		if n := len(askAll(f, wanted, &now, 1)); n != want {
			t.Errorf("asked %d times, want %d", n, want)
		}
	}
	asked(1)
	f.note(&market.Anchor{Address: "nobody"}, nil, true, market.ModeUnknown)
	now = now.Add(10 * time.Minute)
	asked(0)
	wanted = nil // for a while nobody asks for it, which does not make it new
	asked(0)
	wanted = []WantedAnchor{{Address: "nobody", Followed: true, Every: time.Minute}}
	asked(0)
	now = now.Add(time.Hour)
	asked(1)
}

// TestThoseWhomNobodyFollowsAreAskedAboutAsListed though others have waited longer: who holds most comes first.
func TestThoseWhomNobodyFollowsAreAskedAboutAsListed(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	f := newAnchorFollower(&Anchors{Budget: source.NewBudget(60, func() time.Time { return now })}, nil)
	wanted := []WantedAnchor{{Address: "small", Every: time.Hour}, {Address: "smaller", Every: time.Hour}}
	for f.Budget.TrySpend(1) { // nothing is left to ask with
	}
	if due := f.due(wanted, now); len(due) > 0 {
		t.Fatalf("%v are asked about", due)
	}
	wanted = append([]WantedAnchor{{Address: "large", Every: time.Hour}}, wanted...)
	now = now.Add(time.Minute)
	if due := f.due(wanted, now); len(due) == 0 || due[0].Address != "large" {
		t.Errorf("asked about first are %v", due)
	}
}
