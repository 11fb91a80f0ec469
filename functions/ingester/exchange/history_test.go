package exchange

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/bybit"
	"quotary/functions/ingester/source/okx"
	simulated "quotary/localstack/sim/binance"
	"quotary/shared/backoff"
	"quotary/shared/data/followrequests"
	candles "quotary/shared/data/klines"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
)

// noon is at a time at which an open bucket of every width is open.
var noon = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

// world is a simulated exchange that has traded for four days, and stores.
type world struct {
	*simulated.Exchange
	config Config
	clock  *testclock.Clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clock := testclock.At(noon)
	w := &world{clock: clock, Exchange: simulated.New(simulated.Config{Clock: clock.Now, Since: noon.Add(-4 * day)})}
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(w.Disconnect)
	s := storetest.Open(t)
	w.config = Config{
		Logger: slog.New(slog.DiscardHandler), Exchanges: []string{"binance"}, Coins: []string{"BTC", "SOL", "PEPE"},
		Depth: Depth{Minutes: 1, Hours: 2}, Refresh: time.Millisecond, URLs: map[string]string{"binance": server.URL},
		Stores: engine.Stores{Log: s.Log, Series: s.Series, Views: s.Views, Quarantine: engine.Quarantine{Objects: s.Objects, Bucket: s.Bucket}},
	}
	return w
}

// history of the perpetuals, on the world's clock.
func (w *world) history(t *testing.T) *history {
	t.Helper()
	venues := must.Get(w.config.venues())(t)
	lists := w.config.lister(venues[1])
	lists.now = w.clock.Now
	return &history{venue: venues[1], config: w.config, lists: lists, stats: new(source.Stats), now: w.clock.Now, sleep: backoff.Sleep}
}

// onClock has a venue hold what it is told against a simulated clock.
func onClock(v venue, clock func() time.Time) venue {
	switch m := v.Venue.(type) {
	case *binance.Market:
		m.Now = clock
	case *bybit.Market:
		m.Now = clock
	case *okx.Market:
		m.Now = clock
	}
	return v
}

// stored reads every row of a pair.
func (w *world) stored(t *testing.T, pair string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for _, tier := range market.PairTiers {
		points := must.Get(w.config.Stores.Series.Range(t.Context(), pairklines.Key(pair, tier), time.Time{}, time.Time{}, 0, false))(t)
		for _, p := range points {
			rows[fmt.Sprint(tier, " ", p.Time.Format(time.RFC3339))] = string(p.Body)
		}
	}
	return rows
}

// truth is what the rows of a pair of the exchange are to be: minutes from the day
// before, hours from two days before, the rest from the beginning, and what is
// open as far as it is at upTo.
func (w *world) truth(t *testing.T, m *simulated.Market, upTo time.Time) map[string]string {
	t.Helper()
	rows := map[string]string{}
	today := noon.Truncate(day)
	for _, tier := range market.PairTiers {
		from := w.Since()
		switch {
		case tier <= market.Minute15:
			from = today.Add(-day)
		case tier <= market.Hour1:
			from = today.Add(-2 * day)
		}
		for open := from; open.Before(upTo); open = tier.Next(open) {
			k := m.Kline(open.UnixMilli(), tier.Next(open).UnixMilli(), upTo)
			if k.Fills == 0 {
				continue
			}
			c := market.Candle{OpenTime: open.UnixMilli(), Trades: k.Fills}
			for text, to := range map[string]*market.Decimal{
				m.Price(k.First) + " open": &c.Open, m.Price(k.High) + " high": &c.High, m.Price(k.Low) + " low": &c.Low, m.Price(k.Last) + " close": &c.Close,
				m.Lots(k.Size) + " size": &c.Size, m.Amount(k.Quote) + " amount": &c.Amount, m.Lots(k.SizeBought) + " bought": &c.SizeBuyer, m.Amount(k.QuoteBought) + " paid": &c.AmountBuyer,
			} {
				var number, name string
				fmt.Sscan(text, &number, &name)
				d := must.Get(market.ParseDecimal(number))(t)
				*to = d
			}
			rows[fmt.Sprint(tier, " ", open.Format(time.RFC3339))] = string(candles.Append(nil, &c))
		}
	}
	return rows
}

// unlike says how two sets of rows differ.
func unlike(t *testing.T, got, want map[string]string) string {
	t.Helper()
	if len(got) != len(want) {
		var extra []string
		for key := range got {
			if _, is := want[key]; !is {
				extra = append(extra, key)
			}
		}
		slices.Sort(extra)
		return fmt.Sprintf("%d rows, want %d; not wanted are %v", len(got), len(want), extra[:min(5, len(extra))])
	}
	for key, body := range want {
		if got[key] == body {
			continue
		}
		w := must.Get(candles.Decode([]byte(body)))(t)
		g, err := candles.Decode([]byte(got[key]))
		if err != nil {
			return fmt.Sprintf("%s: %v in %q", key, err, got[key])
		}
		if !g.Equal(&w) {
			return fmt.Sprintf("%s is %s, want %s", key, got[key], body)
		}
	}
	return ""
}

// run runs the pipeline of a history until its stored rows are as wanted.
func (w *world) run(t *testing.T, sources []engine.Source[*Batch], until func() bool) {
	t.Helper()
	p := &engine.Pipeline[*Batch]{Domain: Name, Stores: w.config.Stores, NewBatch: NewBatch, Projections: Projections(w.config.Refresh), Logger: w.config.Logger, Sources: sources, StopWithin: 5 * time.Minute}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	testenv.Until(t, "the rows are stored", until)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func (w *world) source(h *history) []engine.Source[*Batch] {
	return []engine.Source[*Batch]{{Name: h.venue.Name + " history", Stats: h.stats, Background: true, Follow: h.follow}}
}

func TestThePastIsFilledBackAndGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, key := w.Market("SOLUSDT", true), "solswapusdt:binance"
	want := w.truth(t, m, noon)
	w.run(t, w.source(w.history(t)), func() bool { return unlike(t, w.stored(t, key), want) == "" })
	// An hour later another process goes on: nothing is missing, and nothing double.
	w.clock.Move(time.Hour)
	want = w.truth(t, m, noon.Add(time.Hour))
	w.run(t, w.source(w.history(t)), func() bool { return unlike(t, w.stored(t, key), want) == "" })
	view := must.Get(pairs.Published.Open(w.config.Stores.Views, w.clock.Now).Get(t.Context()))(t)
	if p, ok := view.Lookup("btcswapusdt:binance"); !ok || !p.Followed || p.Symbol != "BTCUSDT" {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := view.Lookup("ethswapusdt:binance"); !ok || p.Followed {
		t.Errorf("%+v, %v", p, ok)
	}
	if p, ok := view.Lookup("1000pepeswapusdt:binance"); !ok || !p.Followed {
		t.Errorf("%+v, %v", p, ok)
	}
}

// Each delivery may be the last before a crash: what follows from its position makes
// the rest.
func TestACrashAnywhereWhileThePastIsFilledLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins = []string{"SOL"}
	m := w.Market("SOLUSDT", true)
	errCrash, want := errors.New("crash"), w.truth(t, m, noon)
	for crash := 1; ; crash++ {
		rows := map[string]string{}
		take := func(batches ...*Batch) {
			p := newKlines(0)
			for _, b := range batches {
				must.Do(t, p.Apply(b, nil, noon))
			}
			for _, row := range p.Changes(noon, true).Coarse {
				rows[fmt.Sprint(row.Interval, " ", row.Time.Format(time.RFC3339))] = string(row.Body)
			}
		}
		var position engine.Position
		var term []*Batch
		deliveries, crashed := 0, false
		whole := func() bool { return unlike(t, rows, want) == "" }
		for !whole() {
			term = nil
			h := w.history(t)
			ctx, stop := context.WithCancel(t.Context())
			err := h.follow(ctx, position, func(_ context.Context, d engine.Delivery[*Batch]) error {
				if deliveries++; deliveries == crash {
					crashed = true
					return errCrash
				}
				term, position = append(term, d.Batch), d.Position
				take(term...)
				if whole() {
					stop()
				}
				return nil
			})
			stop()
			if !errors.Is(err, errCrash) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if !crashed {
			if crash < 5 {
				t.Errorf("there were only %d deliveries", crash-1)
			}
			return
		}
	}
}

// Trades and what the exchange says of itself run side by side, on a clock of which
// each second is a minute at first, with a lost connection, a gap, repeated frames and a ban.
func TestTradesAndKlinesBecomeTheExchangesOwnWhateverIsLost(t *testing.T) {
	t.Parallel()
	began := time.Now()
	clock := func() time.Time { // a busy machine would be ever further behind one that goes on so fast
		since := time.Since(began)
		return noon.Add(min(60*since, 15*time.Minute) + since)
	}
	w := newWorld(t)
	w.Exchange = simulated.New(simulated.Config{Clock: clock, Since: noon.Add(-4 * day)})
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(w.Disconnect)
	w.config.URLs, w.config.Coins = map[string]string{"binance": server.URL}, []string{"BTC"}
	venues := must.Get(w.config.venues())(t)
	var faults sync.Once
	m, key := w.Market("BTCUSDT", true), "btcswapusdt:binance"
	h := w.history(t)
	h.now = clock
	h.sleep = func(ctx context.Context, d time.Duration) error { return backoff.Sleep(ctx, d/60) }
	sources := append(w.config.sources(onClock(venues[1], clock), w.config.lister(venues[1]), nil)[:1], w.source(h)...)
	upTo := noon.Truncate(time.Minute).Add(4 * time.Minute)
	p := fmt.Sprint(market.Minute1, " ", upTo.Format(time.RFC3339))
	w.run(t, sources, func() bool {
		rows := w.stored(t, key)
		faults.Do(func() {
			w.Lose(5)
			w.Repeat(true)
			w.Disconnect()
			w.Ban(http.StatusTooManyRequests, time.Second)
		})
		if _, later := rows[p]; !later {
			return false
		}
		// Only what opened before is compared, and of wide buckets what has ended.
		want := map[string]string{}
		for name, body := range w.truth(t, m, upTo) {
			var width, open string
			fmt.Sscan(name, &width, &open)
			i, _ := market.ParseInterval(width)
			at, _ := time.Parse(time.RFC3339, open)
			if !i.Next(at).After(upTo) {
				want[name] = body
			}
		}
		got := map[string]string{}
		for name := range want {
			if body, ok := rows[name]; ok {
				got[name] = body
			}
		}
		return unlike(t, got, want) == ""
	})
}

// shortPages is a venue that answers fewer K-lines at once.
type shortPages struct{ Venue }

func (shortPages) KlinesMost() int { return 300 }

// epoch is a venue that says of each day since 1970 that a pair was traded.
type epoch struct{ Venue }

func (epoch) Klines(_ context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error) {
	run := market.CandleRun{Pair: pair.Key, Interval: i, From: from, To: from}
	one := market.DecimalFromInt(1)
	for range most {
		run.Candles = append(run.Candles, market.Candle{OpenTime: run.To, Trades: 1, Size: one, Amount: one, Open: one, High: one, Low: one, Close: one})
		run.To = i.NextMs(run.To)
	}
	return run, nil
}

// The days of a pair are some twenty thousand rows then.
func TestTheDaysOfAPairAreWrittenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.history(t)
	h.venue.Venue = epoch{h.venue.Venue}
	pair, days := market.Pair{Key: "btcswapusdt:binance"}, 0
	h.filled = map[string]progress{pair.Key: {Since: noon.UnixMilli(), Until: noon.UnixMilli(), Back: noon.Truncate(day).UnixMilli()}}
	h.sink = func(_ context.Context, d engine.Delivery[*Batch]) error {
		for _, run := range d.Batch.Past {
			if run.Interval == market.Day1 {
				days++
			}
		}
		return nil
	}
	for range 3 {
		must.Do(t, h.fillBack(t.Context(), pair))
	}
	if days != 1 {
		t.Errorf("all days are emitted %d times", days)
	}
}

// What is stored of a new pair first has its newest minute: a client may wait for it.
func TestTheDayOfANewPairIsEmittedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.history(t)
	h.venue.Venue = shortPages{h.venue.Venue}
	h.filled, h.folded = map[string]progress{}, map[string]int64{}
	var runs []Run
	h.sink = func(_ context.Context, d engine.Delivery[*Batch]) error {
		runs = append(runs, d.Batch.Runs...)
		return nil
	}
	must.Do(t, h.list(t.Context()))
	pair := h.pairs[slices.IndexFunc(h.pairs, func(p market.Pair) bool { return p.Key == "btcswapusdt:binance" })]
	must.Do(t, h.confirm(t.Context(), pair))
	if len(runs) != 1 || runs[0].From != noon.Truncate(day).UnixMilli() || runs[0].To != noon.Truncate(time.Minute).UnixMilli() || len(runs[0].Candles) != 700 || runs[0].Open.Empty() {
		t.Errorf("of a new pair %d runs are emitted", len(runs))
	}
	// After an outage of a known one pages are emitted one by one.
	runs = nil
	w.clock.Move(8 * time.Hour)
	if err := h.confirm(t.Context(), pair); err != nil || len(runs) != 2 {
		t.Errorf("of a known pair %d runs are emitted, %v", len(runs), err)
	}
}

// TestWhoWantsManyPairsHasNoMoreTurnsThanOthers: another distributor's pair, and the past of what
// is followed, wait for one step of who wants many.
func TestWhoWantsManyPairsHasNoMoreTurnsThanOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config.Coins = []string{"BTC"}
	h := w.history(t)
	h.filled, h.folded, h.asked, h.stuck = map[string]progress{}, map[string]int64{}, map[string]bool{}, map[string]bool{}
	var emitted []string // the pair of each batch
	h.sink = func(_ context.Context, d engine.Delivery[*Batch]) error {
		for _, run := range d.Batch.Runs {
			emitted = append(emitted, run.Pair)
		}
		for _, run := range d.Batch.Past {
			if len(d.Batch.Runs) == 0 {
				emitted = append(emitted, run.Pair)
			}
		}
		return nil
	}
	must.Do(t, h.list(t.Context()))
	for _, pair := range h.pairs {
		must.Do(t, h.confirm(t.Context(), pair))
	}
	other := h.others["ethswapusdt:binance"]
	quiet, loud := []string{"quiet"}, []string{}
	for i := range 6 {
		loud = append(loud, fmt.Sprint("loud", i))
	}
	for _, key := range slices.Concat(quiet, loud) { // under other names
		other.Key = key
		h.others[key] = other
	}
	h.wanted = &wantedPairs{pairs: followrequests.ListOf(map[string][]string{"loud": loud, "quiet": quiet}), read: w.clock.Now(), now: w.clock.Now, turn: make(chan struct{}, 1)}
	emitted = nil
	turns := 0
	for ; turns < 3*len(loud); turns++ {
		must.Do(t, h.want(t.Context()))
		if some, err := h.turn(t.Context()); err != nil || !some {
			t.Fatalf("nothing is left to do: %v", err)
		}
	}
	of := map[string]int{}
	for i, key := range emitted {
		line := "loud"
		switch key {
		case quiet[0]:
			line = "quiet"
		case h.pairs[0].Key:
			line = "followed"
		}
		if of[line]++; i == 5 && len(of) != 3 {
			t.Errorf("served first are %v", emitted[:i+1])
		}
	}
	if of["quiet"] < 3 || of["followed"] < 3 {
		t.Errorf("in %d turns %v were served", turns, of)
	}
}

func TestRunsAreSplitAtWhatIsStored(t *testing.T) {
	t.Parallel()
	run := market.CandleRun{From: 0, To: 240_000, Candles: []market.Candle{{OpenTime: 0}, {OpenTime: 60_000}, {OpenTime: 180_000}}}
	for stored, want := range map[int64]string{
		0: "0-240000 3 false;", 120_000: "0-120000 2 true;120000-240000 1 false;", 240_000: "0-240000 3 true;", 900_000: "0-240000 3 true;",
	} {
		run.Open = market.Candle{}
		got := ""
		for _, part := range split(run, stored) {
			got += fmt.Sprintf("%d-%d %d %t;", part.From, part.To, len(part.Candles), part.Stored)
		}
		if got != want {
			t.Errorf("stored until %d: %s, want %s", stored, got, want)
		}
		run.Open = market.Candle{OpenTime: 240_000, Trades: 1}
		parts := split(run, stored)
		if last := parts[len(parts)-1]; stored <= run.To && (last.Stored || last.To != run.To || last.Open != run.Open) || stored > run.To && !last.Stored {
			t.Errorf("stored until %d: the open minute is in %+v", stored, last)
		}
	}
}
