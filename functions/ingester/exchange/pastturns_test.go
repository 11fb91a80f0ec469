package exchange

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

// asked is a request to a scripted exchange.
type asked struct {
	what, pair string
	from, to   int64 // ms
	at         time.Time
}

// scripted is an exchange that says of all its perpetuals that nothing changes, unless answer
// makes it do something else. It notes what it is asked for.
type scripted struct {
	Venue
	pairs  []market.Pair
	answer func(ctx context.Context, what string) error

	mu        sync.Mutex
	asked     []asked
	unbounded int // requests without a deadline
}

func (s *scripted) ask(ctx context.Context, what, pair string, from, to int64) error {
	s.mu.Lock()
	s.asked = append(s.asked, asked{what, pair, from, to, time.Now()})
	if _, ok := ctx.Deadline(); !ok {
		s.unbounded++
	}
	s.mu.Unlock()
	if s.answer == nil {
		return backoff.Sleep(ctx, 50*time.Millisecond)
	}
	return s.answer(ctx, what)
}

func (s *scripted) Pairs(ctx context.Context) ([]market.Pair, error) {
	return s.pairs, s.ask(ctx, "pairs", "", 0, 0)
}

func (s *scripted) PastInterests(ctx context.Context, pair market.Pair, from, to int64) (list []market.PairInterest, _ error) {
	if err := s.ask(ctx, "interest", pair.Key, from, to); err != nil {
		return nil, err
	}
	for at := (from + stepEvery - 1) / stepEvery * stepEvery; at < to; at += stepEvery {
		list = append(list, market.PairInterest{Pair: pair.Key, Time: at, Value: dec(1)})
	}
	return list, nil
}

func (s *scripted) PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error) {
	return nil, s.ask(ctx, "funding", pair.Key, from, to)
}

func (s *scripted) PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) ([]market.PairRatio, error) {
	if kind != market.LongAccounts { // as of an exchange that tells no others
		return nil, nil
	}
	return nil, s.ask(ctx, "accounts", pair.Key, from, to)
}

func (s *scripted) Interests(context.Context, []market.Pair) ([]market.PairInterest, error) {
	return nil, nil
}

// scriptedSources are the sources of the past of perpetuals of exchanges, and what they emit.
type scriptedSources struct {
	config  Config
	emitted Batch
	mu      sync.Mutex
}

// run has the sources follow exchanges, of which clients want what a list says, for a time.
func (s *scriptedSources) run(t *testing.T, during time.Duration, list followrequests.List[string], exchanges ...*scripted) {
	t.Helper()
	s.config.Logger = slog.New(slog.DiscardHandler)
	wanted := &wantedPairs{pairs: list, now: func() time.Time { return time.Time{} }, turn: make(chan struct{}, 1)} // as it was read just now
	sink := func(_ context.Context, d engine.Delivery[*Batch]) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.emitted.Merge(d.Batch)
		if d.Stored != nil {
			close(d.Stored)
		}
		return nil
	}
	ended := errors.New("ended")
	group, ctx := errgroup.WithContext(t.Context())
	coins := &coinsPast{pastSpans: s.config.pastSpans()}
	for _, x := range exchanges {
		v := venue{x, source.NewMarketInfo(x.pairs[0].Platform, x.pairs[0].Platform, true, s.config.Logger)}
		lists := s.config.lister(v)
		past := &contractsPast{pastSpans: s.config.pastSpans(), venue: patient(v, x), lists: lists, wanted: wanted}
		coins.venues = append(coins.venues, listedVenue{patient(v, x), lists})
		group.Go(func() error { return past.follow(ctx, nil, sink) })
	}
	group.Go(func() error { return coins.follow(ctx, nil, sink) })
	group.Go(func() error {
		if err := backoff.Sleep(ctx, during); err != nil {
			return err
		}
		return ended
	})
	if err := group.Wait(); !errors.Is(err, ended) {
		t.Fatal(err)
	}
}

// An exchange that does not list its pairs, does not answer, or refuses everything stops nothing
// of another: neither its own past, nor the sums that are of it alone.
func TestAnExchangeThatDoesNotAnswerStopsThePastOfNoOther(t *testing.T) {
	t.Parallel()
	silent := func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for name, answer := range map[string]func(context.Context, string) error{
		"lists nothing": silent,
		"answers nothing": func(ctx context.Context, what string) error {
			if what == "pairs" {
				return nil
			}
			return silent(ctx, what)
		},
		"refuses everything": func(_ context.Context, what string) error {
			if what == "pairs" {
				return nil
			}
			return &upstream.RefusedError{Status: http.StatusUnavailableForLegalReasons}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dead := &scripted{pairs: []market.Pair{perpetual("BTC", "binance", false)}, answer: answer}
				fine := &scripted{pairs: []market.Pair{perpetual("BTC", "okx", false), perpetual("ETH", "okx", false)}}
				s := &scriptedSources{config: Config{Coins: []string{"BTC", "ETH"}, Depth: Depth{Contracts: 2}}}
				for i := range 60 { // each of which may be waited for
					coin := fmt.Sprintf("A%d", i)
					s.config.Coins = append(s.config.Coins, coin)
					dead.pairs = append(dead.pairs, perpetual(coin, "binance", false))
				}
				began := time.Now()
				s.run(t, 2*time.Hour, nil, dead, fine)

				seen := map[string]map[int64]bool{}
				for _, past := range s.emitted.PastInterests {
					for _, one := range past.Interests {
						of := past.Key
						if of == "" {
							of = one.Pair
						}
						if seen[of] == nil {
							seen[of] = map[int64]bool{}
						}
						seen[of][one.Time] = true
					}
				}
				first := (began.Add(listPatience-2*day).UnixMilli()/stepEvery + 1) * stepEvery
				for _, of := range []string{fine.pairs[0].Key, fine.pairs[1].Key, "eth:stable"} {
					missing := 0
					for at := first; at <= time.Now().Add(-pastLag-time.Minute).UnixMilli(); at += stepEvery {
						if !seen[of][at] {
							missing++
						}
					}
					if missing > 0 {
						t.Errorf("%d steps of %s are missing", missing, of)
					}
				}
				if len(dead.asked) < 3 {
					t.Errorf("the other was asked %d times", len(dead.asked))
				}
				if n := dead.unbounded + fine.unbounded; n > 0 {
					t.Errorf("%d requests have no deadline", n)
				}
			})
		})
	}
}

// A distributor that wants as many perpetuals as it may neither delays the one of another by
// more than a turn, nor the newest of what is followed.
func TestADistributorThatWantsMuchOfThePastWaitsForItsTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const answer = 7 * time.Second // so that what is old takes many rounds
		x := &scripted{pairs: []market.Pair{perpetual("BTC", "okx", false), perpetual("ETH", "okx", false)}, answer: func(ctx context.Context, _ string) error {
			return backoff.Sleep(ctx, answer)
		}}
		followed := map[string]bool{x.pairs[0].Key: true, x.pairs[1].Key: true}
		list := followrequests.List[string]{{Distributor: "loud"}, {Distributor: "quiet"}}
		want := func(n int, coin string) {
			pair := perpetual(coin, "okx", false)
			x.pairs = append(x.pairs, pair)
			list[n].Things = append(list[n].Things, pair.Key)
		}
		for i := range followrequests.Pairs.Most {
			want(0, fmt.Sprintf("LOUD%02d", i))
		}
		want(1, "QUIET")
		quiet := list[1].Things[0]
		s := &scriptedSources{config: Config{Coins: []string{"BTC", "ETH"}, Depth: Depth{Contracts: 10}}}
		s.run(t, time.Hour, list, x)

		const requests = 20 + 20 + 2 // of interest and accounts, in windows of half a day, and of rates
		var waits, most, quiets, rounds, late int
		newest := map[string]int64{} // up to when the followed perpetuals were asked for
		for _, one := range x.asked {
			if one.what == "pairs" {
				continue
			}
			end := one.at.Add(-pastLag).UnixMilli()/stepEvery*stepEvery + 1
			if followed[one.pair] {
				if one.to > newest[one.what+one.pair] {
					newest[one.what+one.pair] = one.to
					rounds++
				}
			} else if one.what != "funding" {
				behind := false
				for key := range followed {
					behind = behind || newest["interest"+key] < end || newest["accounts"+key] < end
				}
				// What was on its way when the round began is not behind.
				if behind && one.at.Add(-pastLag).Truncate(pastEvery).Add(pastLag+answer).Before(one.at) {
					late++
				}
			}
			switch {
			case one.pair == quiet:
				quiets++
				most, waits = max(most, waits), 0
			case strings.HasPrefix(one.pair, "loud") && quiets > 0 && quiets < requests:
				waits++
			}
		}
		if quiets < requests {
			t.Errorf("of the one that is wanted %d windows were asked for, want %d", quiets, requests)
		}
		if most > 1 {
			t.Errorf("another distributor was served %d times between two turns", most)
		}
		if late > 0 || rounds < 2*2*10 {
			t.Errorf("the newest of what is followed was asked for %d times, and waited %d times", rounds, late)
		}
		if !slices.ContainsFunc(s.emitted.Stored, func(one Stored) bool {
			return one.Pair == quiet && one.What == pairpast.Contracts && one.Past == pairpast.AllStored
		}) {
			t.Error("the one that is wanted is not said to be stored")
		}
	})
}

// A checkpoint that holds single perpetuals too goes on with what is of coins. What else it
// holds is said not to be stored before anybody can say that it is: its venue's source begins
// again.
func TestTheSourceOfCoinsGoesOnFromACheckpointWithPerpetuals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := span{From: 1, To: 2}
		from := must.Get(engine.PositionOf(pastPosition{map[string]span{
			"interest btc:stable": s, "interest btc:coin": s, "rates btc": s,
			"interest btcswapusdt:okx": s, "funding btcswapusdt:okx": s, "accounts btcswapusdt:okx": s,
		}}))(t)
		x := &scripted{pairs: []market.Pair{perpetual("BTC", "okx", false)}}
		v := venue{x, source.NewMarketInfo("okx", "okx", true, slog.New(slog.DiscardHandler))}
		config := Config{Coins: []string{"BTC"}, Logger: slog.New(slog.DiscardHandler)}
		coins := &coinsPast{pastSpans: config.pastSpans(), venues: []listedVenue{{patient(v, x), config.lister(v)}}} // which nobody asks
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var emitted Batch
		var position engine.Position
		err := coins.follow(ctx, from, func(_ context.Context, d engine.Delivery[*Batch]) error {
			emitted.Merge(d.Batch)
			position = d.Position
			return nil
		})
		want := []Stored{{Pair: "btcswapusdt:okx", What: pairpast.Contracts, Past: pairpast.Nothing}}
		if !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(emitted.Stored, want) {
			t.Errorf("%v, said is %+v", err, emitted.Stored)
		}
		if got, want := progressOf(t, position), []string{"interest btc:coin", "interest btc:stable", "rates btc"}; !slices.Equal(got, want) {
			t.Errorf("the checkpoint holds %q, want %q", got, want)
		}
	})
}

// A list that never comes is given up, and asked for again.
func TestAListThatNeverComesIsAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &scripted{pairs: []market.Pair{perpetual("BTC", "okx", false)}}
		x.answer = func(ctx context.Context, _ string) error {
			if len(x.asked) > 1 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		lists := Config{Coins: []string{"BTC"}}.lister(venue{x, source.NewMarketInfo("okx", "okx", true, slog.New(slog.DiscardHandler))})
		if lists.lastFollowed() != nil {
			t.Error("something is known before")
		}
		pairs, err := lists.followed(t.Context())
		if err != nil || !slices.Equal(pairs, x.pairs) || len(x.asked) != 2 {
			t.Errorf("listed are %+v after %d requests, %v", pairs, len(x.asked), err)
		}
		<-lists.first
		if known := lists.lastFollowed(); !slices.Equal(known, x.pairs) {
			t.Errorf("known are %+v", known)
		}
	})
}
