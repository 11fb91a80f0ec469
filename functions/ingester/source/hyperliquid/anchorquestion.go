package hyperliquid

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"quotary/shared/market"
	"quotary/shared/upstream"
	"quotary/shared/venue/wire"
)

// question is all that the venue says of an account. A dex that does not answer is left out, and
// said to be silent.
func (f *anchorFollower) question(ctx context.Context, one WantedAnchor) (answer market.Anchor, err error) {
	dexs, all, err := f.ofAccount(ctx, one)
	if err != nil {
		return answer, err
	}
	answer.Address = one.Address
	mode := f.mode(ctx, one)
	if answer.Leverages, err = f.leverages(ctx, one); err != nil {
		return answer, err
	}
	states, err := f.states(ctx, one.Address, dexs)
	if err != nil {
		return answer, err
	}
	joint, err := f.spot(ctx, &answer, states, mode)
	if err != nil {
		return answer, err
	}
	if mode == market.ModeUnknown && f.doubts(one.Address, joint) {
		return f.question(ctx, one)
	}
	for _, dex := range dexs {
		if !slices.ContainsFunc(answer.Dexes, func(s market.AccountState) bool { return s.Dex == dex }) {
			answer.Silent = append(answer.Silent, dex)
		}
	}
	used := used(&answer)
	if err := f.orders(ctx, &answer, used); err != nil {
		return answer, err
	}
	answer.Past = f.past(ctx, one)
	f.note(&answer, used, all, mode)
	return answer, nil
}

// past is what an account was worth, nil where it is not asked for or refused.
func (f *anchorFollower) past(ctx context.Context, one WantedAnchor) *market.VenueCurve {
	if !one.Past {
		return nil
	}
	past, err := f.Info.Portfolio(ctx, one.Address)
	if err != nil {
		if ctx.Err() == nil {
			f.Stats.Malformed.Add(1)
			f.Log.Warn("cannot learn what an account was worth", "address", one.Address, "error", err.Error())
		}
		return nil
	}
	return &past
}

// doubts reports whether the balances of an account look as in another mode than the one that is
// known. If so, the mode and all dexs are to be asked for now; not again for an hour, if it is
// the same.
func (f *anchorFollower) doubts(address string, joint bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[address]
	if !k.mode.Explained() || joint == k.mode.Joint() || time.Since(k.doubted) < anchorsAll {
		return false
	}
	k.doubted, k.moded, k.all = time.Now(), time.Time{}, time.Time{}
	return true
}

// leverages are those in the coins that are asked for; without those of a builder's dex that does
// not say them.
func (f *anchorFollower) leverages(ctx context.Context, one WantedAnchor) (by map[string]market.Leverage, err error) {
	by = map[string]market.Leverage{}
	for _, coin := range one.Coins {
		dex := market.DexOf(coin)
		if f.silent.has(dex, time.Now()) {
			continue
		}
		leverage, err := f.Info.Leverage(ctx, one.Address, coin)
		switch {
		case err == nil:
			by[coin] = leverage
		case dex == "" || ctx.Err() != nil:
			return nil, err
		default:
			f.left(one.Address, dex, err)
		}
	}
	return by, nil
}

// left notes that a builder's dex is left out of an answer.
func (f *anchorFollower) left(address, dex string, err error) {
	f.Stats.Malformed.Add(1)
	f.Log.Warn("a dex does not say what an account has in it", "address", address, "dex", dex, "error", err.Error())
}

// used are the dexs that an account uses, the main one included, and those of which it is not
// known.
func used(answer *market.Anchor) []string {
	used := []string{""}
	for i := range answer.Dexes {
		if s := &answer.Dexes[i]; s.Dex != "" && (len(s.Positions) > 0 || !s.Margin.AccountValue.IsZero()) {
			used = append(used, s.Dex)
		}
	}
	return append(used, answer.Silent...)
}

// mode is the mode of an account: [market.ModeUnknown] where it is not asked for now, or
// refused. Where Info does not know the question, Public is asked from then on.
func (f *anchorFollower) mode(ctx context.Context, one WantedAnchor) market.Mode {
	f.mu.Lock()
	wanted, public := one.wantsAgain(f.known[one.Address].moded, time.Now()), f.publicModes
	f.mu.Unlock()
	if !wanted {
		return market.ModeUnknown
	}
	var mode market.Mode
	var err error
	if !public {
		mode, err = f.Info.Mode(ctx, one.Address)
		var refused *upstream.RefusedError
		if errors.As(err, &refused) && refused.Status/100 == 4 && refused.Status != http.StatusTooManyRequests && f.Public != nil {
			public = true
			f.mu.Lock()
			f.publicModes = true
			f.mu.Unlock()
		}
	}
	if public {
		if !f.PublicBudget.TrySpend(weightMode) {
			return market.ModeUnknown
		}
		mode, err = f.Public.Mode(ctx, one.Address)
	}
	if err != nil && ctx.Err() == nil {
		f.Stats.Malformed.Add(1)
		f.Log.Warn("cannot learn the mode of an account", "address", one.Address, "error", err.Error())
	}
	return mode
}

// states are those of dexs that answer, the main one last: without it there is none.
func (f *anchorFollower) states(ctx context.Context, address string, dexs []string) (states []market.AccountState, err error) {
	for _, dex := range dexs {
		if dex == "" || f.silent.has(dex, time.Now()) {
			continue
		}
		var state market.AccountState
		raw, err := f.Info.ClearinghouseState(ctx, address, dex)
		if err == nil {
			state, err = wire.ParseAccount(raw, dex)
		} else {
			f.silent.note(dex, time.Now())
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			f.left(address, dex, err)
		default:
			states = append(states, state)
		}
	}
	main, err := f.state(ctx, address, "")
	return append(states, main), err
}

// spot asks for the balances, which have no time, and completes the answer. They are those of
// between the state of the main dex before, whose time they get, and the one after.
//
// Where they stand behind positions, they have the unrealized PnL of these in them, at marks that
// are told with the positions alone. So all positions have to be the same before and after they
// are asked for; where they move each time, the balances are left out, and the mode with them.
//
// It also says whether they look as balances that stand behind positions do.
func (f *anchorFollower) spot(ctx context.Context, answer *market.Anchor, states []market.AccountState, mode market.Mode) (joint bool, err error) {
	f.mu.Lock()
	known := cmp.Or(mode, f.known[answer.Address].mode)
	f.mu.Unlock()
	maybe := known.Joint() || known == market.ModeUnknown
	held := []string{""}
	for i := range states {
		if s := &states[i]; maybe && s.Dex != "" && len(s.Positions) > 0 {
			held = append(held, s.Dex)
		}
	}
	answer.Mode = mode
	for range spotTries {
		before := states[len(states)-1].Time
		if answer.Spot, joint, err = f.Info.SpotBalances(ctx, answer.Address); err != nil {
			return false, err
		}
		again, err := f.states(ctx, answer.Address, held)
		if err != nil {
			return false, err
		}
		same := !maybe || samePositions(states, again)
		states = newer(states, again)
		if same {
			answer.SpotTime = before
			break
		}
	}
	answer.Dexes = states
	if answer.SpotTime == 0 {
		answer.Spot, answer.Mode = nil, market.ModeUnknown
	}
	return joint, nil
}

// samePositions reports whether all positions and what they have made are as they were.
func samePositions(before, after []market.AccountState) bool {
	for i := range before {
		b := &before[i]
		at := slices.IndexFunc(after, func(s market.AccountState) bool { return s.Dex == b.Dex })
		if at < 0 && len(b.Positions) == 0 {
			continue
		}
		if at < 0 || !slices.EqualFunc(b.Positions, after[at].Positions, func(x, y market.PositionState) bool {
			return x.Coin == y.Coin && x.Szi.Equal(y.Szi) && x.UnrealizedPnl.Equal(y.UnrealizedPnl) && x.FundingAllTime.Equal(y.FundingAllTime)
		}) {
			return false
		}
	}
	return true
}

// newer are states, those that were asked for again in the place of those before, the main one last.
func newer(states, again []market.AccountState) []market.AccountState {
	list := slices.DeleteFunc(slices.Clone(states), func(s market.AccountState) bool {
		return slices.ContainsFunc(again, func(n market.AccountState) bool { return n.Dex == s.Dex })
	})
	return append(list, again...)
}

// ofAccount are the dexs to ask about an account.
func (f *anchorFollower) ofAccount(ctx context.Context, one WantedAnchor) (dexs []string, all bool, err error) {
	f.mu.Lock()
	known, listed, used := f.dexs, f.listed, f.known[one.Address].used
	all = one.wantsAgain(f.known[one.Address].all, time.Now())
	f.mu.Unlock()
	if !all {
		return used, false, nil
	}
	if time.Since(listed) < dexsEvery {
		return known, true, nil
	}
	if dexs, err = f.Info.PerpDexs(ctx); err != nil {
		return nil, true, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dexs, f.listed = dexs, time.Now()
	return dexs, true, nil
}

func (f *anchorFollower) note(answer *market.Anchor, used []string, all bool, mode market.Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.known[answer.Address] // not forgotten while it is asked about
	k.empty = answer.IsEmpty() && len(answer.Silent) == 0
	if k.used = used; all {
		k.all = k.asked // when it began: an account that is asked about every hour is asked for all each time
	}
	if k.mode = cmp.Or(mode, k.mode); answer.Mode != market.ModeUnknown {
		k.moded = k.asked
	}
}

func (f *anchorFollower) state(ctx context.Context, address, dex string) (market.AccountState, error) {
	raw, err := f.Info.ClearinghouseState(ctx, address, dex)
	if err != nil {
		return market.AccountState{}, err
	}
	return wire.ParseAccount(raw, dex)
}

// orders adds the open orders in the dexs that an account uses, but for builders' that do not
// answer. One that cannot be read is left out: then the list of its dex is not of all.
func (f *anchorFollower) orders(ctx context.Context, answer *market.Anchor, dexs []string) error {
	answer.Listed = map[string]int64{}
	for _, dex := range dexs {
		if slices.Contains(answer.Silent, dex) {
			continue
		}
		now := time.Now().UnixMilli()
		raws, err := f.Info.OpenOrders(ctx, answer.Address, dex)
		if err != nil && dex != "" && ctx.Err() == nil {
			f.left(answer.Address, dex, err)
			continue
		}
		if err != nil {
			return err
		}
		var wrong error
		for _, raw := range raws {
			order, err := wire.ParseOpenOrder(raw, answer.Address, now)
			if err != nil {
				f.Stats.Malformed.Add(1)
				wrong = cmp.Or(wrong, err) // one is enough to say, of however many
				continue
			}
			answer.Orders = append(answer.Orders, order)
		}
		if wrong != nil {
			f.Log.Warn("skipped open orders that cannot be read", "address", answer.Address, "dex", dex, "error", excerpt(wrong.Error()))
			continue
		}
		answer.Listed[dex] = now
	}
	return nil
}
