package hyperliquid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// Anchors asks the venue for the state of accounts, each again after a while for as long
// as it is wanted. It delivers that an account is about to be asked about, and then the
// answer; one without anything says that the venue has refused: see [market.Anchor].
type Anchors struct {
	Info  *Info
	Stats *Stats
	Log   *slog.Logger

	// Public is asked for the modes of accounts where Info refuses them, as an endpoint of
	// one's own may, within PublicBudget; nil is none.
	Public       *Info
	PublicBudget *source.Budget

	// Wanted lists the accounts that are wanted now. It is asked every Poll, and less
	// often where there are many; questions begin every Poll. 0 means 250 ms.
	Wanted func(context.Context) ([]WantedAnchor, error)
	Poll   time.Duration

	// Budget is the part of the venue's budget that may be spent, in weight; nil is for
	// an endpoint of one's own, without limits.
	Budget *source.Budget

	// OldestWait is set to the ms for which the followed account has waited that has waited
	// longest to be asked about, 0 where none waits; nil is for nobody.
	OldestWait *atomic.Int64

	// Behind is how far the endpoint may be behind the events that are folded: it is
	// asked so long after it was said that it would be. An endpoint of the node whose
	// files are followed is not.
	Behind time.Duration
}

// WantedAnchor is an account that is wanted.
type WantedAnchor struct {
	Address  string
	Followed bool          // somebody waits for it: such accounts have most of the turns
	By       []string      // who wants it: each has turns of their own, as many as every other
	Every    time.Duration // how old its anchor may get
	After    time.Time     // a question of before this time does not do; zero is any
	Coins    []string      // in which its leverage is asked for
}

const (
	anchorsPoll = 250 * time.Millisecond
	// anchorsAtOnce is how many accounts are asked about at a time.
	anchorsAtOnce = 8
	// anchorAgain is the least time between two questions about an account.
	anchorAgain = 10 * time.Second
	// anchorsAll is how often all dexs are asked about an account, and its mode: in between
	// only those dexs that it uses.
	anchorsAll = time.Hour
	// dexSilentFor is for how long a builder's dex is not asked after it did not answer.
	dexSilentFor = 5 * time.Minute
	// spotTries is how often balances that stand behind positions are asked for, until no mark
	// moves meanwhile: see [anchorFollower.spot].
	spotTries = 5
	// listEvery is how often the accounts that are wanted are listed at least, however many
	// there are: a new one of somebody waits for it.
	listEvery = time.Second
	// dexsEvery is how often the venue is asked which dexs there are.
	dexsEvery = 10 * time.Minute

	// knownMost bounds the accounts that are known though they are not wanted now.
	knownMost = 20_000

	weightLeverage = 20 // activeAssetData
	weightMode     = 20 // userAbstraction
)

// anchored is what is known of an account that was asked about.
type anchored struct {
	asked  time.Time // when it was last
	busy   bool
	all    time.Time // when all dexs were asked about
	moded  time.Time // when the mode was said
	mode   market.Mode
	used   []string // dexs that it uses, the main one included
	empty  bool     // the venue knew nothing of it
	wanted bool     // in the newest list

	followed bool      // there
	due      time.Time // since when it waits to be asked about; zero while it does not
}

// line is one in which accounts wait to be asked about.
type line struct {
	unfollowed bool   // nobody waits for them
	by         string // who wants them
	again      bool   // they were asked about before
}

// compare says which of two lines goes first whose turn comes at once.
func (l line) compare(other line) int {
	return cmp.Or(compareBool(l.unfollowed, other.unfollowed), compareBool(l.again, other.again), cmp.Compare(l.by, other.by))
}

// apart is the distance between turns of a line: accounts that nobody waits for have a fourth
// of the turns of others.
func (l line) apart() int {
	if l.unfollowed {
		return 4
	}
	return 1
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Follow asks until ctx ends or the sink fails. It owns a goroutine for each question,
// all of which have ended when it returns.
func (a *Anchors) Follow(ctx context.Context, sink Sink) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f := newAnchorFollower(a, sink)
	var questions sync.WaitGroup
	defer questions.Wait()
	defer stop(nil)
	var wanted []WantedAnchor
	var listAt time.Time
	for try := 0; ; {
		if !time.Now().Before(listAt) {
			list, err := a.Wanted(ctx)
			pause := min(time.Duration(len(list))*time.Millisecond, listEvery)
			if err != nil && ctx.Err() == nil {
				a.Log.Warn("cannot list the accounts that are wanted; trying again", "error", err.Error())
				pause = max(pause, pauses.Delay(try))
				try++
			} else {
				wanted, try = list, 0
			}
			listAt = time.Now().Add(pause)
		}
		for _, one := range f.due(wanted, time.Now()) {
			questions.Go(func() {
				if err := f.ask(ctx, one); source.SinkError(err) != nil {
					stop(source.SinkError(err))
				}
			})
		}
		if err := backoff.Sleep(ctx, cmp.Or(a.Poll, anchorsPoll)); err != nil {
			return err
		}
	}
}

// anchorFollower is a run of [Anchors.Follow].
type anchorFollower struct {
	*Anchors
	sink Sink

	mu     sync.Mutex
	known  map[string]*anchored
	turns  source.Turns[line, WantedAnchor]
	busy   int
	dexs   []string
	listed time.Time // when dexs were

	publicModes bool                 // modes are asked of Public
	silent      map[string]time.Time // until when dexs that did not answer are not asked
}

func newAnchorFollower(a *Anchors, sink Sink) *anchorFollower {
	return &anchorFollower{Anchors: a, sink: sink, known: map[string]*anchored{}, silent: map[string]time.Time{}}
}

// due are the accounts to ask about now, which count as being asked about. Accounts wait
// in lines: each of those who want accounts has one for those that were never asked about,
// in the order in which they were wanted, and one for those that were, the longest ago
// first. The lines have turns, so that nobody's accounts keep another's waiting, nor first
// questions the other ones.
func (f *anchorFollower) due(wanted []WantedAnchor, now time.Time) (due []WantedAnchor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turns.Serve(f.lines(wanted, now), line.compare, func(one WantedAnchor, of line) (cost int, ok bool) {
		k := f.known[one.Address]
		switch {
		case f.busy == anchorsAtOnce:
			return 0, false
		case k.busy:
			return 0, true // it was in another line too
		}
		weight := f.weight(k, one, now)
		if f.Budget != nil && !f.Budget.TrySpend(weight) {
			return 0, false
		}
		k.busy, k.asked, k.due = true, now, time.Time{}
		f.busy++
		due = append(due, one)
		return of.apart() * weight, true
	})
	f.noteWait(now)
	return due
}

// lines are the accounts that wait.
func (f *anchorFollower) lines(wanted []WantedAnchor, now time.Time) map[line][]WantedAnchor {
	for _, k := range f.known {
		k.wanted = false
	}
	lines := map[line][]WantedAnchor{}
	for _, one := range wanted {
		k := f.known[one.Address]
		if k == nil {
			k = &anchored{}
			f.known[one.Address] = k
		}
		k.wanted, k.followed = true, one.Followed
		every, old := one.Every, now.Sub(k.asked)
		if k.empty {
			every = max(every, anchorsAll)
		}
		if k.busy || old < every && (!k.asked.Before(one.After) || old < anchorAgain) {
			k.due = time.Time{}
			continue
		}
		if k.due.IsZero() {
			k.due = now
		}
		of := line{unfollowed: !one.Followed, again: !k.asked.IsZero()}
		if len(one.By) == 0 {
			lines[of] = append(lines[of], one)
		}
		for _, of.by = range one.By {
			lines[of] = append(lines[of], one)
		}
	}
	for address, k := range f.known {
		if !k.wanted && !k.busy && (now.Sub(k.asked) >= anchorsAll || len(f.known) > knownMost) {
			delete(f.known, address)
		}
	}
	for of, list := range lines {
		slices.SortFunc(list, func(a, b WantedAnchor) int {
			x, y := f.known[a.Address], f.known[b.Address]
			if of.again {
				return x.asked.Compare(y.asked)
			}
			return x.due.Compare(y.due)
		})
	}
	return lines
}

// noteWait reports how long the account has waited that somebody waits for and that has
// waited longest.
func (f *anchorFollower) noteWait(now time.Time) {
	if f.OldestWait == nil {
		return
	}
	oldest := time.Duration(0)
	for _, k := range f.known {
		if k.wanted && k.followed && !k.due.IsZero() {
			oldest = max(oldest, now.Sub(k.due))
		}
	}
	f.OldestWait.Store(oldest.Milliseconds())
}

// weight is about what it costs to ask about an account.
func (f *anchorFollower) weight(k *anchored, one WantedAnchor, now time.Time) int {
	dexs := len(k.used)
	if one.wantsAgain(k.all, now) {
		dexs = max(1, len(f.dexs))
	}
	weight := weightState*(dexs+2) + weightOrders*max(1, len(k.used)) + weightLeverage*len(one.Coins)
	if one.wantsAgain(k.moded, now) {
		weight += weightMode
	}
	return weight
}

// wantsAgain reports whether what seldom changes, and was asked for at a time, is to be asked
// for again: after an hour, and when something was lost.
func (w *WantedAnchor) wantsAgain(asked, now time.Time) bool {
	return now.Sub(asked) >= anchorsAll || asked.Before(w.After)
}

// ask asks about an account. The error is of the sink.
func (f *anchorFollower) ask(ctx context.Context, one WantedAnchor) error {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.known[one.Address].busy = false
		f.busy--
	}()
	if err := f.deliver(ctx, market.Events{AnchorRequests: []string{one.Address}}); err != nil {
		return err
	}
	if err := backoff.Sleep(ctx, f.Behind); err != nil {
		return err
	}
	answer, err := f.question(ctx, one)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		f.Stats.Malformed.Add(1)
		f.Log.Warn("cannot anchor an account", "address", one.Address, "error", err.Error())
		answer = market.Anchor{Address: one.Address}
	}
	return f.deliver(ctx, market.Events{Anchors: []market.Anchor{answer}})
}

func (f *anchorFollower) deliver(ctx context.Context, e market.Events) error {
	f.Stats.Lines.Add(1)
	d := Delivery{Events: e}
	return source.OfSink(emit(ctx, time.Now(), &d, f.Stats, f.Log, f.sink))
}

// question is all that the venue says of an account. A dex that does not answer is left out.
func (f *anchorFollower) question(ctx context.Context, one WantedAnchor) (answer market.Anchor, err error) {
	dexs, all, err := f.ofAccount(ctx, one)
	if err != nil {
		return answer, err
	}
	answer.Address = one.Address
	mode := f.mode(ctx, one)
	for _, coin := range one.Coins {
		leverage, err := f.Info.Leverage(ctx, one.Address, coin)
		if err != nil {
			return answer, err
		}
		if answer.Leverages == nil {
			answer.Leverages = map[string]market.Leverage{}
		}
		answer.Leverages[coin] = leverage
	}
	states, err := f.states(ctx, one.Address, dexs)
	if err != nil {
		return answer, err
	}
	if err := f.spot(ctx, &answer, states, mode); err != nil {
		return answer, err
	}
	used := f.used(one.Address, answer.Dexes)
	if err := f.orders(ctx, &answer, used); err != nil {
		return answer, err
	}
	f.note(&answer, used, all, mode)
	return answer, nil
}

// used are the dexs that an account uses, the main one included; one that did not answer is
// used if it was before.
func (f *anchorFollower) used(address string, states []market.AccountState) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	used := []string{""}
	for i := range states {
		if s := &states[i]; s.Dex != "" && (len(s.Positions) > 0 || !s.Margin.AccountValue.IsZero()) {
			used = append(used, s.Dex)
		}
	}
	for _, dex := range f.known[address].used {
		if !slices.ContainsFunc(states, func(s market.AccountState) bool { return s.Dex == dex }) {
			used = append(used, dex)
		}
	}
	return used
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
		var refused *source.RefusedError
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
		if dex == "" {
			continue
		}
		if f.isSilent(dex, time.Now()) {
			continue
		}
		var state market.AccountState
		raw, err := f.Info.ClearinghouseState(ctx, address, dex)
		if err == nil {
			state, err = wire.ParseAccount(raw, dex)
		} else {
			f.noteSilent(dex, time.Now())
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			f.Stats.Malformed.Add(1)
			f.Log.Warn("a dex does not say what an account has in it", "address", address, "dex", dex, "error", err.Error())
		default:
			states = append(states, state)
		}
	}
	main, err := f.state(ctx, address, "")
	return append(states, main), err
}

// isSilent reports whether a dex is not asked now.
func (f *anchorFollower) isSilent(dex string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return now.Before(f.silent[dex])
}

// noteSilent has a dex that does not answer left in peace for a while: to wait for it with every
// account would keep all of them waiting.
func (f *anchorFollower) noteSilent(dex string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent[dex] = now.Add(dexSilentFor)
}

// spot asks for the balances, which have no time, and completes the answer. They are those of
// between the state of the main dex before, whose time they get, and the one after.
//
// Where they stand behind positions, they have the unrealized PnL of these in them, at marks that
// are told with the positions alone. So they are asked for between the same states twice; where
// marks or positions move each time, they are left out, and the mode with them.
func (f *anchorFollower) spot(ctx context.Context, answer *market.Anchor, states []market.AccountState, mode market.Mode) (err error) {
	f.mu.Lock()
	known := cmp.Or(mode, f.known[answer.Address].mode)
	f.mu.Unlock()
	joint := known.Joint() || known == market.ModeUnknown // it may be
	held := []string{""}
	for i := range states {
		if s := &states[i]; joint && s.Dex != "" && len(s.Positions) > 0 {
			held = append(held, s.Dex)
		}
	}
	answer.Mode = mode
	for range spotTries {
		before := states[len(states)-1].Time
		if answer.Spot, err = f.Info.SpotBalances(ctx, answer.Address); err != nil {
			return err
		}
		again, err := f.states(ctx, answer.Address, held)
		if err != nil {
			return err
		}
		same := !joint || samePositions(states, again)
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
	return nil
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
	k.empty = answer.IsEmpty()
	if k.used = used; all {
		k.all = time.Now()
	}
	if k.mode = cmp.Or(mode, k.mode); answer.Mode != market.ModeUnknown {
		k.moded = time.Now()
	}
}

func (f *anchorFollower) state(ctx context.Context, address, dex string) (market.AccountState, error) {
	raw, err := f.Info.ClearinghouseState(ctx, address, dex)
	if err != nil {
		return market.AccountState{}, err
	}
	return wire.ParseAccount(raw, dex)
}

// orders adds the open orders in the dexs that an account uses. One that cannot be read
// is left out: then the list of its dex is not of all.
func (f *anchorFollower) orders(ctx context.Context, answer *market.Anchor, dexs []string) error {
	answer.Listed = map[string]int64{}
	for _, dex := range dexs {
		now := time.Now().UnixMilli()
		raws, err := f.Info.OpenOrders(ctx, answer.Address, dex)
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

// SpotBalances returns the spot balances of an account.
func (i *Info) SpotBalances(ctx context.Context, user string) ([]market.SpotBalance, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightState, infoRequest{Type: "spotClearinghouseState", User: user}, &raw); err != nil {
		return nil, err
	}
	return wire.ParseSpotBalances(raw)
}

// Mode returns how the money of an account stands behind its positions.
func (i *Info) Mode(ctx context.Context, user string) (market.Mode, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightMode, infoRequest{Type: "userAbstraction", User: user}, &raw); err != nil {
		return market.ModeUnknown, err
	}
	return wire.ParseMode(raw)
}

// Leverage returns how an account borrows in a coin, whether it holds any of it or not.
func (i *Info) Leverage(ctx context.Context, user, coin string) (market.Leverage, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightLeverage, infoRequest{Type: "activeAssetData", User: user, Coin: coin}, &raw); err != nil {
		return market.Leverage{}, err
	}
	leverage, err := wire.ParseLeverage(raw)
	if err != nil {
		return leverage, fmt.Errorf("%s: %w", coin, err)
	}
	return leverage, nil
}
