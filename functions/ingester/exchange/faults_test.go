package exchange

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	simulated "quotary/localstack/sim/binance"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// faulty stands before the simulated exchange and does to its answers what a test says.
type faulty struct {
	of http.Handler

	mu      sync.Mutex
	away    bool
	path    string // whose answers are changed: the end of it
	from    string
	to      string
	refused time.Time // when the first request was refused by the exchange
	late    atomic.Int64
	asked   atomic.Int64 // whose answers were changed
}

// is has the exchange be away, or back.
func (f *faulty) is(away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = away
}

// change replaces a text in the answers to a path from now on.
func (f *faulty) change(path, from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.path, f.from, f.to = path, from, to
}

// settled is after how long nobody can be on the way any more who asked before a ban.
const settled = 5 * time.Second

// ServeHTTP implements [http.Handler].
func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	away, changed, from, to, refused := f.away, f.path != "" && strings.HasSuffix(r.URL.Path, f.path), f.from, f.to, f.refused
	f.mu.Unlock()
	switch {
	case away:
		http.Error(w, "bad gateway", http.StatusBadGateway)
		return
	case strings.HasSuffix(r.URL.Path, "/stream"):
		f.of.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	f.of.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	if answer.Code == http.StatusTeapot {
		if refused.IsZero() {
			f.mu.Lock()
			f.refused = time.Now()
			f.mu.Unlock()
		} else if time.Since(refused) > settled {
			f.late.Add(1)
		}
	}
	if changed {
		f.asked.Add(1)
		body = bytes.ReplaceAll(body, []byte(from), []byte(to))
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body) // a client that went away needs no answer
}

// behind puts a faulty one before the exchange of a world.
func (w *world) behind(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{of: w.Handler()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Cleanup(w.Disconnect)
	w.config.URLs = map[string]string{"binance": server.URL}
	return f
}

// perpetuals is the venue of perpetuals of a world.
func (w *world) perpetuals(t *testing.T) venue {
	t.Helper()
	venues := must.Get(w.config.venues())(t)
	return venues[1]
}

// collected runs a source until enough has come, and returns all of it.
func collected(t *testing.T, s engine.Source[*Batch], enough func(*Batch) bool) *Batch {
	t.Helper()
	all := NewBatch()
	var mu sync.Mutex
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Follow(ctx, nil, func(_ context.Context, d engine.Delivery[*Batch]) error {
			mu.Lock()
			defer mu.Unlock()
			all.Merge(d.Batch)
			return nil
		})
	}()
	testenv.Until(t, "enough has come", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return enough(all)
	})
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return all
}

// While an exchange is away every source of it that is watched says nothing, which is what
// health reports; when it is back, everything comes.
func TestAnExchangeThatIsAwayIsMissedAndComesBack(t *testing.T) {
	t.Parallel()
	began := time.Now()
	clock := func() time.Time { return noon.Add(60 * time.Since(began)) }
	w := newWorld(t)
	w.Exchange = simulated.New(simulated.Config{Clock: clock, Since: noon.Add(-4 * day)})
	f := w.behind(t)
	w.config.Coins = []string{"BTC"}
	f.is(true)
	v := onClock(w.perpetuals(t), clock)
	lists := w.config.lister(v)
	lists.pairs, lists.listed = []market.Pair{{Key: "btcswapusdt:binance", Platform: "binance", Base: "BTC", Quote: "USDT", Symbol: "BTCUSDT", Swap: true}}, time.Now()
	sources := w.config.sources(v, lists, nil)[:2]
	watched := map[string]*source.Stats{}
	for i := range sources {
		if sources[i].Group == "" {
			t.Errorf("nobody watches %s", sources[i].Name)
		}
		watched[sources[i].Name] = sources[i].Stats
	}
	sources[1].Follow = (&polls{venue: v, lists: lists, stats: sources[1].Stats, now: clock}).follow
	w.run(t, sources, func() bool {
		away := v.Stats.Reconnects.Load() > 0
		for name, stats := range watched {
			if away && stats.LastSeen.Load() > 0 && f.away {
				t.Errorf("%s has seen something of an exchange that is away", name)
			}
		}
		if away {
			f.is(false)
		}
		return watched[v.Name].LastSeen.Load() > 0 && watched[v.Name+" polls"].LastSeen.Load() > 0
	})
}

// Everything that asks an exchange shares a ban of it: nobody asks before it has ended.
func TestNobodyAsksABanningExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exchange = simulated.New(simulated.Config{})
	f := w.behind(t)
	v := w.perpetuals(t)
	lists := w.config.lister(v)
	sources := w.config.sources(v, lists, nil)[1:]
	of, _ := v.Venue.(Contracts)
	w.config.Depth.Contracts = 1
	past := &contractsPast{pastSpans: w.config.pastSpans(), venue: patient(v, of), lists: lists}
	coins := &coinsPast{pastSpans: w.config.pastSpans(), venues: []listedVenue{{patient(v, of), lists}}}
	sources = append(sources, engine.Source[*Batch]{Name: "past", Follow: past.follow}, engine.Source[*Batch]{Name: "past of coins", Follow: coins.follow})
	banned := false
	ctx, stop := context.WithCancel(t.Context())
	var after atomic.Int64 // deliveries since the ban
	var group sync.WaitGroup
	for _, s := range sources {
		group.Go(func() {
			_ = s.Follow(ctx, nil, func(context.Context, engine.Delivery[*Batch]) error {
				after.Add(1)
				return nil
			})
		})
	}
	var ended time.Time
	testenv.Until(t, "the ban has passed", func() bool {
		if !banned && after.Load() > 20 {
			banned, ended = true, time.Now().Add(settled+3*time.Second)
			w.Ban(http.StatusTeapot, settled+3*time.Second)
			after.Store(0)
		}
		return banned && time.Now().After(ended) && after.Load() > 0
	})
	stop()
	group.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused.IsZero() || f.late.Load() > 0 {
		t.Errorf("asked %d times during the ban, which was met: %t", f.late.Load(), !f.refused.IsZero())
	}
}

// An answer with a field of another name or type is counted, nothing is made of it, and
// what else there is comes.
func TestNothingIsMadeOfAnAnswerWhoseFieldsHaveChanged(t *testing.T) {
	t.Parallel()
	listed := func(b *Batch) bool { return len(b.Listings) > 0 }
	for name, c := range map[string]struct {
		path, from, to string
		source         int // of those of the venue
		enough         func(*Batch) bool
		made           func(*Batch) int
	}{
		"a row of K-lines":  {"/klines", `",`, `,`, 2, listed, func(b *Batch) int { return len(b.Runs) + len(b.Past) }},
		"tickers":           {"/ticker/24hr", `"lastPrice"`, `"last"`, 1, func(b *Batch) bool { return len(b.Interests) > 0 }, func(b *Batch) int { return len(b.Tickers) }},
		"a time of tickers": {"/ticker/24hr", `"closeTime":`, `"closeTime":1000`, 1, func(b *Batch) bool { return len(b.Interests) > 0 }, func(b *Batch) int { return len(b.Tickers) }},
		"one of the tickers": {"/ticker/24hr", `"BTCUSDT"`, `"BTCUSDT","lastPrice":"x"`, 1, func(b *Batch) bool { return len(b.Interests) > 0 }, func(b *Batch) (made int) {
			for i := range b.Tickers {
				if b.Tickers[i].Pair == "btcswapusdt:binance" {
					made++
				}
			}
			return made + max(0, 2-len(b.Tickers)) // the others come
		}},
		"open interest": {"/openInterest", `"openInterest"`, `"open"`, 1, func(b *Batch) bool { return len(b.Tickers) > 0 }, func(b *Batch) int { return len(b.Interests) }},
		"mark prices":   {"/premiumIndex", `"markPrice"`, `"mark"`, 1, func(b *Batch) bool { return len(b.Tickers) > 0 }, func(b *Batch) int { return len(b.Interests) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Exchange = simulated.New(simulated.Config{})
			f := w.behind(t)
			f.change(c.path, c.from, c.to)
			v := w.perpetuals(t)
			s := w.config.sources(v, w.config.lister(v), nil)[c.source]
			got := collected(t, s, func(b *Batch) bool { return c.enough(b) && f.asked.Load() > 0 && s.Stats.Malformed.Load() > 0 })
			if n := c.made(got); n != 0 {
				t.Errorf("%d events were made of it", n)
			}
		})
	}
}

// What an exchange whose clock is ahead of ours says of the future is counted, and nothing
// is made of it; of its minutes only those come that have begun by our clock.
func TestNothingIsMadeOfWhatAnExchangeSaysOfTheFuture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exchange = simulated.New(simulated.Config{Clock: func() time.Time { return w.clock.Now().Add(10 * time.Minute) }, Since: noon.Add(-4 * day)})
	w.behind(t)
	w.config.Coins = []string{"BTC"}
	v := onClock(w.perpetuals(t), w.clock.Now)
	p := &polls{venue: v, lists: w.config.lister(v), stats: new(source.Stats), now: w.clock.Now}
	got := collected(t, engine.Source[*Batch]{Follow: p.follow}, func(*Batch) bool { return p.stats.Malformed.Load() > 1 })
	if len(got.Tickers)+len(got.Interests) != 0 {
		t.Errorf("there are %d tickers and open interest of %d pairs", len(got.Tickers), len(got.Interests))
	}
	h := w.history(t)
	h.sleep = func(context.Context, time.Duration) error { return nil }
	got = collected(t, w.source(h)[0], func(b *Batch) bool { return len(b.Runs) > 0 })
	if last := got.Runs[len(got.Runs)-1].To; last > noon.Add(time.Minute).UnixMilli() {
		t.Errorf("there are minutes until %s", time.UnixMilli(last).UTC())
	}
}

// delisting is a venue that does not let a pair be followed which it lists until it is
// asked again.
type delisting struct {
	Venue
	lists    atomic.Int64
	followed chan []market.Pair
}

func (d *delisting) Pairs(context.Context) ([]market.Pair, error) {
	pairs := []market.Pair{perpetual("BTC", "binance", false), perpetual("SOL", "binance", false)}
	if d.lists.Add(1) > 1 {
		pairs = append(pairs[:1], perpetual("PEPE", "binance", false)) // SOL has another name
	}
	return pairs, nil
}

func (d *delisting) Follow(ctx context.Context, pairs []market.Pair, _ *source.Stats, _ source.EventSink) error {
	if pairs[1].Base == "SOL" {
		return source.ErrSubscription
	}
	select {
	case d.followed <- pairs:
	case <-ctx.Done():
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestWhereAPairCannotBeFollowedPairsAreListedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := &delisting{followed: make(chan []market.Pair)}
	v := venue{d, w.perpetuals(t).MarketInfo}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- pushes{w.config, v, w.config.lister(v), w.config.Coins, v.stream}.follow(ctx, nil, func(context.Context, engine.Delivery[*Batch]) error { return nil })
	}()
	if pairs := <-d.followed; len(pairs) != 2 || pairs[1].Base != "PEPE" || d.lists.Load() != 2 {
		t.Errorf("followed are %v after %d lists", pairs, d.lists.Load())
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A perpetual that is delisted, or has another name, is no longer part of its coin from
// then on, however new its last value is.
func TestADelistedPerpetualLeavesItsCoin(t *testing.T) {
	t.Parallel()
	a, b, renamed := perpetual("BTC", "binance", false), perpetual("BTC", "bybit", false), perpetual("1000BTC", "bybit", false)
	m := newMemory()
	m.listed(a, b)
	interest, rates := m.restored(t, newInterests()), m.restored(t, newFundings())
	tell := func(minute int64, pairs []market.Pair, value int64, listings ...Listing) {
		at := midnight + minute*60_000 + 30_000
		e := market.PairEvents{}
		for _, p := range pairs {
			e.Tickers = append(e.Tickers, market.PairTicker{Pair: p.Key, Time: at, Amount: dec(1)})
			e.Fundings = append(e.Fundings, market.PairFunding{Pair: p.Key, Time: at, Rate: dec(value)})
			e.Interests = append(e.Interests, market.PairInterest{Pair: p.Key, Time: at, Value: dec(value)})
		}
		for _, p := range []Projection{interest, rates} {
			m.apply(t, p, &Batch{PairEvents: e, Listings: listings}, time.UnixMilli(at))
		}
	}
	tell(0, []market.Pair{a}, 10)
	tell(0, []market.Pair{b}, 30)
	tell(1, []market.Pair{a}, 10, Listing{Platform: "bybit", Swap: true, Pairs: []market.Pair{renamed}, Followed: map[string]bool{renamed.Key: true}})
	tell(5, []market.Pair{a}, 10)
	tell(11, []market.Pair{a, renamed}, 20) // until then the new one may still have come
	tell(12, []market.Pair{a}, 20)
	for minute, want := range map[int64][2]int64{0: {40, 20}, 4: {}, 10: {10, 10}, 11: {40, 20}} {
		at := midnight + minute*60_000
		for i, of := range []struct {
			series pairseries.Series[market.Bar]
			key    string
		}{{pairseries.CoinInterest, pairseries.Stable("btc")}, {pairseries.CoinFunding, "btc"}} {
			pack := pairseries.Pack[market.Bar]{}
			if row, ok := m.rows[of.series.At(of.key, pairseries.Tiers[0], at)]; ok {
				var err error
				if pack, err = of.series.Decode(row.Body); err != nil {
					t.Fatal(err)
				}
			}
			if got := pack[at]; !got.Close.Equal(dec(want[i])) {
				t.Errorf("%s of minute %d is %s, want %d", of.series.Name(), minute, got.Close, want[i])
			}
		}
	}
}
