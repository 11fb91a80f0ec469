package hyperliquid

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
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

	// Wanted lists the accounts that are wanted now, those first of whom most is to be gained. It is asked every Poll, and less
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
	Past     bool          // what it was worth is asked for
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

	weightPortfolio = 20
)

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
				var crash *guard.Crash
				err := guard.Do(func() error { return f.ask(ctx, one) })
				if sunk := source.SinkError(err); sunk != nil {
					stop(sunk)
				} else if errors.As(err, &crash) {
					stop(crash)
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

	publicModes bool // modes are asked of Public
	silent      silentDexs
}

func newAnchorFollower(a *Anchors, sink Sink) *anchorFollower {
	return &anchorFollower{Anchors: a, sink: sink, known: map[string]*anchored{}}
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
