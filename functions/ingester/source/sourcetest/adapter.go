package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
	"quotary/shared/upstream"
)

// Market is one of the kinds of markets of an exchange, as its adapter reads them.
type Market interface {
	Info() source.MarketInfo
	UnknownMarkets() int64
	Pairs(context.Context) ([]market.Pair, error)
	KlinesMost() int
	Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error)
	Tickers(context.Context, []market.Pair) ([]market.PairTicker, error)
	Interests(context.Context, []market.Pair) ([]market.PairInterest, error)
	PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error)
	PastInterests(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairInterest, error)
	PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) ([]market.PairRatio, error)
	Follow(ctx context.Context, pairs []market.Pair, stats *source.Stats, sink source.EventSink) error
	FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error
}

// Exchange is a simulated one, which makes faults when it is asked to.
type Exchange interface {
	Handler() http.Handler
	Lose(trades int)
	LoseBooks(updates int)
	Disconnect()
}

// The kinds of markets, in the order in which adapters open them.
const (
	Spot = iota
	Linear
	Inverse
)

// Adapter is what the adapters of exchanges differ in. The rest is what [Adapter.Test] holds all
// of them to. Every simulated exchange has BTC, ETH and SOL as spot and as linear perpetuals, and
// BTC as an inverse one.
type Adapter[M Market, X Exchange] struct {
	Open     func(url string, log *slog.Logger) []M
	OnClock  func(of M, now func() time.Time)
	Hosts    func(of M) []*source.Host // that it asks
	Simulate func(trading.Config) X
	Market   func(x X, of M, symbol string) *trading.Market // that has a symbol

	Pairs     [3]string // keys of the pairs of each kind, in the order of the list
	Contracts bool      // linear perpetuals are counted in contracts, too

	// Answer is a list that has rows, as the exchange answers a request for what is at path.
	Answer   func(path, rows string) string
	Listings []Listing

	// PaidRate is a rate that was paid n ms from the end of the times that are asked for at which
	// the exchange begins, as one row of its answer.
	PaidRate func(query url.Values, n int64) string

	Announcements func(url string) source.Announcer

	Refuse func(X)       // requests, as too many
	Pause  time.Duration // that it asks for

	Takers bool // candles say how many trades there were, and what takers bought

	// Numbers are the id of a trade and that of the one before it; nil of an exchange that does
	// not number them.
	Numbers func(trading.Trade) (id, prev int64)

	// NoSuch is a symbol that cannot be followed, and NoSuchTopics how many topics are refused
	// for it: 0 of an exchange that accepts any.
	NoSuch       string
	NoSuchTopics int64

	Levels int // of books, at most

	Paid             func(day *trading.Kline) int64            // what a ticker of linear perpetuals makes of what was paid; nil: all of it
	InterestDays     int64                                     // for how long open interest is kept, of the five days that are asked for
	Ratios           []market.RatioKind                        // that are told
	Share            func(tenThousandths int64) market.Decimal // what is made of a share, nil: itself
	NoInverseAccount bool                                      // the ratios are those of linear perpetuals only
}

// Listing is a list of markets, of which some are left out as something of them is not known.
type Listing struct {
	Kind    int
	Rows    string
	Keys    []string // of the pairs that are made
	Unknown int64
	Said    []string // what is in the log, each once
}

// Test holds an adapter to what every one guarantees.
func (a Adapter[M, X]) Test(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"pairs are those that trade", a.pairs},
		{"markets of which something is not known are counted and said once", a.listings},
		{"an answer without end is refused", a.endless},
		{"pages without end are refused", a.endlessPages},
		{"too many requests are tried again, and what is refused is not", a.refusals},
		{"candles are paged through until the open one", a.candles},
		{"what is asked of perpetuals is the truth of the exchange", a.perpetuals},
		{"what is asked of spot markets is the truth of the exchange", a.spot},
		{"trades are those of the exchange, and what is missing is counted", a.trades},
		{"funding and liquidations are pushed", a.pushed},
		{"a pair that cannot be followed leaves the others", a.noSuchPair},
		{"books are those of the exchange", a.books},
		{"more levels than are known are an error", a.levels},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

// open runs a simulated exchange and opens its kinds of markets, on its clock.
func (a Adapter[M, X]) open(t *testing.T, c trading.Config) (X, []M) {
	t.Helper()
	x := a.Simulate(c)
	all := a.Open(Serve(t, x), slog.New(slog.DiscardHandler))
	for _, of := range all {
		if c.Clock != nil {
			a.OnClock(of, c.Clock)
		}
	}
	return x, all
}

// pair is that of a coin, and the truth of it.
func (a Adapter[M, X]) pair(t *testing.T, x X, of M, coin string) (market.Pair, *trading.Market) {
	t.Helper()
	info, quote := of.Info(), "USDT"
	if info.Inverse {
		quote = "USD"
	}
	pair := Find(t, of, market.PairKey(coin, quote, info.Platform, info.Swap))
	return pair, a.Market(x, of, pair.Symbol)
}

// kinds runs a test of each kind of markets from one on, each with an exchange of its own.
func (a Adapter[M, X]) kinds(t *testing.T, from int, clock func() time.Time, test func(t *testing.T, x X, of M)) {
	for kind := from; kind <= Inverse; kind++ {
		x, all := a.open(t, trading.Config{Clock: clock})
		t.Run(all[kind].Info().Name, func(t *testing.T) {
			t.Parallel()
			test(t, x, all[kind])
		})
	}
}

func keysOf(pairs []market.Pair) (keys []string) {
	for _, p := range pairs {
		keys = append(keys, p.Key)
	}
	return keys
}

// Pairs say in what they are counted: inverse ones in contracts of US dollars.
func (a Adapter[M, X]) pairs(t *testing.T) {
	x, all := a.open(t, trading.Config{})
	for kind, of := range all {
		pairs := must.Get(of.Pairs(t.Context()))(t)
		if got := strings.Join(keysOf(pairs), " "); got != a.Pairs[kind] {
			t.Errorf("%s: %s, want %s", of.Info().Name, got, a.Pairs[kind])
		}
		for _, p := range pairs {
			m, contract := a.Market(x, of, p.Symbol), market.Decimal{}
			switch {
			case kind == Inverse:
				contract = market.DecimalFromInt(m.Dollars)
			case kind == Linear && a.Contracts:
				contract = Decimal(t, m.Lots(1))
			}
			if p.Platform != of.Info().Platform || p.Base != m.Base || p.Quote != m.Quote || p.Swap != (kind != Spot) || p.Inverse != (kind == Inverse) || !p.Contract.Equal(contract) {
				t.Errorf("%+v, of contracts of %s", p, contract)
			}
		}
	}
}

// A list is asked for twice: each thing that is not known is in the log once.
func (a Adapter[M, X]) listings(t *testing.T) {
	for _, list := range a.Listings {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(a.Answer(r.URL.Path, list.Rows)))
		}))
		t.Cleanup(server.Close)
		log := new(bytes.Buffer)
		of := a.Open(server.URL, slog.New(slog.NewTextHandler(log, nil)))[list.Kind]
		for range 2 {
			pairs, err := of.Pairs(t.Context())
			if got, want := strings.Join(keysOf(pairs), " "), strings.Join(list.Keys, " "); err != nil || got != want || of.UnknownMarkets() != list.Unknown {
				t.Errorf("%v, %s with %d unknown, want %s with %d", err, got, of.UnknownMarkets(), want, list.Unknown)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != len(list.Said) {
			t.Errorf("%d lines, want %d: %s", lines, len(list.Said), log)
		}
		for _, text := range list.Said {
			if !strings.Contains(log.String(), text) {
				t.Errorf("%q is not in %s", text, log)
			}
		}
	}
}

func (a Adapter[M, X]) endless(t *testing.T) {
	pair := market.Pair{Symbol: "A", Swap: true}
	refuses := func(ask func(url string) error) {
		t.Helper()
		refusesEndless(t, func(path string) string {
			begin, _, _ := strings.Cut(a.Answer(path, "\x00"), "\x00")
			return begin
		}, "rows", "bytes", ask)
	}
	for _, ask := range []func(M) error{
		func(of M) error { _, err := of.Pairs(t.Context()); return err },
		func(of M) error { _, err := of.Tickers(t.Context(), nil); return err },
		func(of M) error { _, err := of.Interests(t.Context(), nil); return err },
		func(of M) error { _, err := of.PastFundings(t.Context(), pair, 0, 1); return err },
		func(of M) error { _, err := of.Klines(t.Context(), pair, market.Minute1, 0, 10); return err },
	} {
		refuses(func(url string) error {
			of := a.Open(url, slog.New(slog.DiscardHandler))[Linear]
			for _, host := range a.Hosts(of) {
				host.Timeout = time.Hour // the largest answers take a busy machine more than one try has
			}
			return ask(of)
		})
	}
	refuses(func(url string) error {
		announcer := a.Announcements(url)
		_, err := announcer.Announcements(t.Context(), source.AnnouncedEnglish, announcer.Categories()[0], 1)
		return err
	})
}

// An exchange that tells of a rate in each millisecond would fill the memory page by page.
func (a Adapter[M, X]) endlessPages(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		rows := make([]string, 1000)
		for n := range rows {
			rows[n] = a.PaidRate(r.URL.Query(), int64(n))
		}
		_, _ = io.WriteString(w, a.Answer(r.URL.Path, strings.Join(rows, ",")))
	}))
	t.Cleanup(server.Close)
	of := a.Open(server.URL, slog.New(slog.DiscardHandler))[Linear]
	_, err := of.PastFundings(t.Context(), market.Pair{Symbol: "A", Swap: true}, elevenForty.UnixMilli()-24*hour, elevenForty.UnixMilli())
	if !errors.Is(err, upstream.ErrBounds) || asked != 1 {
		t.Errorf("%v, after %d answers", err, asked)
	}
}

func (a Adapter[M, X]) refusals(t *testing.T) {
	x, all := a.open(t, trading.Config{})
	began := time.Now() // the pause may be over before a busy machine asks
	a.Refuse(x)
	if _, err := all[Spot].Pairs(t.Context()); err != nil || time.Since(began) < a.Pause {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	for _, of := range all {
		_, err := of.Klines(t.Context(), market.Pair{Symbol: "NO-SUCH"}, market.Minute1, time.Now().UnixMilli(), 10)
		if refused := new(upstream.RefusedError); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
			t.Errorf("%s: an unknown symbol: %v", of.Info().Name, err)
		}
	}
}

// Pages from before the exchange began to trade until the open candle are its own, in coins.
func (a Adapter[M, X]) candles(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 30, 20, 0, time.UTC)
	today := now.Truncate(24 * time.Hour)
	since := today.Add(-3 * 24 * time.Hour)
	for _, c := range []struct {
		kind int
		coin string // of which SOL has minutes without a trade
		i    market.Interval
		from time.Time
	}{
		{Spot, "SOL", market.Minute1, today},
		{Linear, "BTC", market.Minute1, now.Add(-28 * time.Hour).Truncate(time.Hour)}, // first of history, where that is asked for elsewhere
		{Linear, "SOL", market.Hour4, since},
		{Spot, "BTC", market.Day1, time.UnixMilli(0)},
		{Inverse, "BTC", market.Minute15, today},
	} {
		x, all := a.open(t, trading.Config{Clock: func() time.Time { return now }, Since: since})
		of := all[c.kind]
		t.Run(of.Info().Name+" "+c.i.String(), func(t *testing.T) {
			t.Parallel()
			pair, m := a.pair(t, x, of, c.coin)
			areCandles(t, of, m, pair, c.i, since.UnixMilli(), c.from.UnixMilli(), now, a.Takers)
		})
	}
}

// elevenForty is when perpetuals are asked about.
var elevenForty = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

const hour = int64(3_600_000) // ms

func (a Adapter[M, X]) perpetuals(t *testing.T) {
	for _, c := range []struct {
		kind         int
		coin         string
		period, paid int64 // ms, and payments in five days
	}{{Linear, "SOL", 4 * hour, 30}, {Linear, "BTC", 8 * hour, 15}, {Inverse, "BTC", 8 * hour, 15}} {
		x, all := a.open(t, trading.Config{Clock: func() time.Time { return elevenForty }})
		of := all[c.kind]
		t.Run(of.Info().Name+" "+c.coin, func(t *testing.T) {
			t.Parallel()
			pair, m := a.pair(t, x, of, c.coin)
			now := elevenForty.UnixMilli()
			interests, err := of.Interests(t.Context(), []market.Pair{pair})
			if size, value := interestOf(t, m, now); err != nil || len(interests) != 1 || !interests[0].Size.Equal(size) || !interests[0].Value.Equal(value) || interests[0].Time != now {
				t.Errorf("open interest is %+v, %v, want %s worth %s", interests, err, size, value)
			}
			isTicker(t, of, m, pair, now, a.Paid)
			from := now - 5*24*hour
			fundings := must.Get(of.PastFundings(t.Context(), pair, from, now))(t)
			arePayments(t, m, pair, from, c.period, fundings)
			past := must.Get(of.PastInterests(t.Context(), pair, from, now))(t)
			areInterests(t, m, pair, from, past)
			if int64(len(fundings)) != c.paid || int64(len(past)) != a.InterestDays*288 {
				t.Errorf("%d payments and %d points in five days", len(fundings), len(past))
			}
			for _, kind := range market.RatioKinds {
				a.ratios(t, of, m, pair, kind, now)
			}
		})
	}
}

// ratios holds half a day of a kind of ratios to what is simulated.
func (a Adapter[M, X]) ratios(t *testing.T, of M, m *trading.Market, pair market.Pair, kind market.RatioKind, now int64) {
	t.Helper()
	ratios := must.Get(of.PastRatios(t.Context(), kind, pair, now-12*hour, now))(t)
	points := 0
	if slices.Contains(a.Ratios, kind) && (!a.NoInverseAccount || !pair.Inverse) {
		points = 144
	}
	if len(ratios) != points {
		t.Errorf("%d ratios of kind %d in half a day, want %d", len(ratios), kind, points)
	}
	for i, r := range ratios {
		var want market.Decimal
		switch kind {
		case market.LongAccounts:
			want = a.share(t, m.Longs(r.Time))
		case market.LongTopAccounts:
			want = a.share(t, m.TopLongs(r.Time))
		case market.LongTopPositions:
			want = a.share(t, m.TopPositions(r.Time))
		case market.MarginLoans:
			want = Decimal(t, trading.Decimal(m.Loans(r.Time), 2))
		}
		if r.Pair != pair.Key || r.Kind != kind || !r.Value.Equal(want) || i > 0 && r.Time != ratios[i-1].Time+300_000 {
			t.Errorf("a ratio is %+v, want %s", r, want)
		}
	}
}

func (a Adapter[M, X]) share(t *testing.T, tenThousandths int64) market.Decimal {
	t.Helper()
	if a.Share != nil {
		return a.Share(tenThousandths)
	}
	return Decimal(t, trading.Decimal(tenThousandths, 4))
}

func (a Adapter[M, X]) spot(t *testing.T) {
	x, all := a.open(t, trading.Config{Clock: func() time.Time { return elevenForty }})
	of, now := all[Spot], elevenForty.UnixMilli()
	pair, m := a.pair(t, x, of, "BTC")
	isTicker(t, of, m, pair, now, nil)
	interests, err := of.Interests(t.Context(), []market.Pair{pair})
	past, err2 := of.PastInterests(t.Context(), pair, now-hour, now)
	ratios, err3 := of.PastRatios(t.Context(), market.LongAccounts, pair, now-hour, now)
	if err := errors.Join(err, err2, err3); err != nil || interests != nil || past != nil || ratios != nil {
		t.Errorf("spot has %v, %v and %v, %v", interests, past, ratios, err)
	}
}

// following is a stream that is followed.
type following struct {
	mu   sync.Mutex
	got  market.PairEvents
	stop func()
}

// follow follows until it is stopped, which must be what ends it.
func follow(t *testing.T, stream func(context.Context, source.EventSink) error) *following {
	t.Helper()
	f := new(following)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- stream(ctx, func(_ context.Context, e *market.PairEvents) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.got.Books = append(f.got.Books, e.Books...) // of which Merge keeps the newest only
			rest := *e
			rest.Books = nil
			f.got.Merge(&rest)
			return nil
		})
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// until waits for what was delivered.
func (f *following) until(t *testing.T, what string, holds func(*market.PairEvents) bool) {
	t.Helper()
	testenv.Until(t, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return holds(&f.got)
	})
}

// untilTrades waits for so many trades more.
func (f *following) untilTrades(t *testing.T, more int) {
	t.Helper()
	had := -1
	f.until(t, "trades come", func(e *market.PairEvents) bool {
		if had < 0 {
			had = len(e.Trades)
		}
		return len(e.Trades) > had+more
	})
}

func (a Adapter[M, X]) trades(t *testing.T) {
	a.kinds(t, Spot, testclock.Running(time.Now(), 60), func(t *testing.T, x X, of M) {
		pair, m := a.pair(t, x, of, "BTC")
		stats := of.Info().Stats
		f := follow(t, func(ctx context.Context, sink source.EventSink) error {
			return of.Follow(ctx, []market.Pair{pair}, stats, sink)
		})
		f.untilTrades(t, 8)
		if a.Numbers != nil {
			x.Lose(3)
			testenv.Until(t, "three trades are missing", func() bool { return stats.Gaps.Load() >= 3 })
		}
		connections := stats.Reconnects.Load()
		x.Disconnect()
		testenv.Until(t, "it has connected again", func() bool { return stats.Reconnects.Load() > connections })
		f.untilTrades(t, 5)
		once := func(all []market.PairTrade) []market.PairTrade { return slices.Compact(slices.Clone(all)) }
		if twice, is := any(x).(interface{ Repeat(on bool) }); is {
			twice.Repeat(true)
			f.until(t, "trades come twice", func(e *market.PairEvents) bool { return len(e.Trades)-len(once(e.Trades)) > 2 })
		}
		f.stop()
		got := once(f.got.Trades)
		missing, runs := a.areTrades(t, m, pair, got)
		if a.Numbers == nil && (runs < 2 || runs > stats.Reconnects.Load()+1) || a.Numbers != nil && missing < 3 {
			t.Errorf("%d trades are missing, in %d runs without a gap", missing, runs)
		}
		if stats.Gaps.Load() != missing || stats.Malformed.Load() != 0 {
			t.Errorf("%d trades are counted as missing, want %d; %d frames could not be read", stats.Gaps.Load(), missing, stats.Malformed.Load())
		}
	})
}

// areTrades holds trades to the truth, and returns how many numbers are missing and how many
// runs without a gap there are. Trades that the adapter numbers are missing none.
func (a Adapter[M, X]) areTrades(t *testing.T, m *trading.Market, pair market.Pair, got []market.PairTrade) (missing, runs int64) {
	t.Helper()
	truth := m.Trades(got[0].Time, got[len(got)-1].Time+1)
	for i, trade := range got {
		if i > 0 && trade.ID <= got[i-1].ID {
			t.Fatalf("%+v comes after %+v", trade, got[i-1])
		}
		if i == 0 || trade.Prev != got[i-1].ID { // what is between was not pushed
			if runs++; i > 0 && a.Numbers != nil {
				missing += trade.Prev - got[i-1].ID
			}
			truth = slices.DeleteFunc(truth, func(one trading.Trade) bool {
				if a.Numbers == nil {
					return one.Time < trade.Time
				}
				id, _ := a.Numbers(one)
				return id < trade.ID
			})
		}
		if len(truth) == 0 {
			t.Fatalf("%+v is no trade", trade)
		}
		want := truth[0]
		truth = truth[1:]
		size, value := sizes(t, m, want.Size, want.Coins, want.Size*want.Price)
		if trade.Pair != pair.Key || trade.Time != want.Time || (trade.Side == market.Sell) != want.BuyerMaker ||
			!trade.Px.Equal(Decimal(t, m.Price(want.Price))) || !trade.Sz.Equal(size) || !trade.Value().Equal(value) {
			t.Fatalf("%+v is not %+v", trade, want)
		}
		if a.Numbers == nil {
			continue
		}
		if id, prev := a.Numbers(want); trade.ID != id || trade.Prev != prev || trade.Count != want.Last-want.First+1 {
			t.Fatalf("%+v, want number %d after %d of %+v", trade, id, prev, want)
		}
	}
	return missing, runs
}

func (a Adapter[M, X]) pushed(t *testing.T) {
	a.kinds(t, Linear, testclock.Running(time.Now(), 20), func(t *testing.T, x X, of M) {
		coin := "ETH"
		if of.Info().Inverse {
			coin = "BTC"
		}
		pair, m := a.pair(t, x, of, coin)
		info := of.Info()
		began := info.Now().UnixMilli()
		f := follow(t, func(ctx context.Context, sink source.EventSink) error {
			return of.Follow(ctx, []market.Pair{pair}, info.Stats, sink)
		})
		f.until(t, "three rates and two liquidations", func(e *market.PairEvents) bool { return len(e.Fundings) > 2 && len(e.Liquidations) > 1 })
		f.stop()
		areRates(t, m, pair, f.got.Fundings)
		areLiquidations(t, m, pair, f.got.Liquidations, m.Liquidations(began-5000, info.Now().UnixMilli()))
		if info.Stats.Malformed.Load() > 0 {
			t.Errorf("%d frames could not be read", info.Stats.Malformed.Load())
		}
	})
}

// A pair that is listed and cannot be followed costs itself alone.
func (a Adapter[M, X]) noSuchPair(t *testing.T) {
	if a.NoSuchTopics == 0 {
		return
	}
	x, all := a.open(t, trading.Config{Clock: testclock.Running(time.Now(), 60)})
	of := all[Linear]
	btc, _ := a.pair(t, x, of, "BTC")
	eth, _ := a.pair(t, x, of, "ETH")
	stats := of.Info().Stats
	f := follow(t, func(ctx context.Context, sink source.EventSink) error {
		return of.Follow(ctx, []market.Pair{btc, {Key: "old", Symbol: a.NoSuch, Swap: true}, eth}, stats, sink)
	})
	f.until(t, "the others are followed", func(e *market.PairEvents) bool {
		seen := map[string]bool{}
		for _, trade := range e.Trades {
			seen[trade.Pair] = true
		}
		for _, l := range e.Liquidations {
			seen["liquidation of "+l.Pair] = true
		}
		return len(seen) == 4 && stats.Dropped.Load() == a.NoSuchTopics
	})
	if stats.Reconnects.Load() != 0 {
		t.Errorf("%d connections", stats.Reconnects.Load())
	}
}

// Books are right also after the exchange has lost an update, which is counted, and a
// connection. Their frames are not counted with those of trades.
func (a Adapter[M, X]) books(t *testing.T) {
	for kind := range Inverse + 1 {
		clock := new(bookClock)
		x, all := a.open(t, trading.Config{Clock: clock.now})
		t.Run(all[kind].Info().Name, func(t *testing.T) {
			t.Parallel()
			a.booksOf(t, x, all[kind], clock)
		})
	}
}

// bookClock is ahead of the machine's clock, further whenever the books have come that have
// changed until then. One that went faster by itself would leave a busy machine so many changes
// behind that a book is asked for again.
type bookClock struct{ ahead atomic.Int64 }

const (
	bookStep   = 2 * time.Second  // in which all books change
	bookBehind = 10 * time.Second // are what was delivered at most where the clock moves on
)

func (c *bookClock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// move moves the clock on if books of all pairs have come.
func (c *bookClock) move(pairs []market.Pair, books []market.PairBook) {
	newest := map[string]int64{}
	for i := range books {
		newest[books[i].Pair] = books[i].Time
	}
	least := c.now().Add(-bookBehind).UnixMilli()
	if !slices.ContainsFunc(pairs, func(p market.Pair) bool { return newest[p.Key] < least }) {
		c.ahead.Add(int64(bookStep))
	}
}

// booksOf is the test of one kind of markets.
func (a Adapter[M, X]) booksOf(t *testing.T, x X, of M, clock *bookClock) {
	const levels = 20
	pairs := must.Get(of.Pairs(t.Context()))(t)
	pairs = slices.Compact([]market.Pair{pairs[0], pairs[len(pairs)-1]})
	var stats source.Stats
	f := follow(t, func(ctx context.Context, sink source.EventSink) error {
		return of.FollowBooks(ctx, pairs, source.Books{Levels: levels, Every: 5 * time.Millisecond}, &stats, sink)
	})
	until := func(what string, holds func(books []market.PairBook) bool) {
		t.Helper()
		f.until(t, what, func(e *market.PairEvents) bool {
			clock.move(pairs, e.Books)
			return holds(e.Books)
		})
	}
	await := func() {
		t.Helper()
		had := -1
		until("books come of all pairs", func(books []market.PairBook) bool {
			if had < 0 {
				had = len(books)
			}
			came := map[string]int{}
			for _, book := range books[had:] {
				if !book.Lost {
					came[book.Pair]++
				}
			}
			return !slices.ContainsFunc(pairs, func(p market.Pair) bool { return came[p.Key] <= 5 })
		})
	}
	await()
	x.LoseBooks(1)
	until("an update is missing", func([]market.PairBook) bool { return stats.Gaps.Load() > 0 })
	await()
	connections := stats.Reconnects.Load()
	if connections > 0 {
		t.Error("it has connected again for one book")
	}
	x.Disconnect()
	until("it has connected again", func([]market.PairBook) bool { return stats.Reconnects.Load() > connections })
	await()
	f.stop()
	if stats.Gaps.Load() != 1 || stats.Malformed.Load() != 0 || of.Info().Stats.Lines.Load() != 0 {
		t.Errorf("%d updates are missing, %d frames could not be read, %d are counted with the trades", stats.Gaps.Load(), stats.Malformed.Load(), of.Info().Stats.Lines.Load())
	}
	for _, pair := range pairs {
		m, last := a.Market(x, of, pair.Symbol), int64(0)
		for _, book := range f.got.Books {
			if book.Pair != pair.Key || book.Lost {
				continue
			}
			if IsBook(t, m, pair, book, levels); book.Time < last {
				t.Errorf("%s: a book of %d after one of %d", pair.Key, book.Time, last)
			}
			last = book.Time
		}
	}
}

func (a Adapter[M, X]) levels(t *testing.T) {
	_, all := a.open(t, trading.Config{})
	err := all[Spot].FollowBooks(t.Context(), nil, source.Books{Levels: a.Levels + 1}, new(source.Stats), nil)
	if err == nil || t.Context().Err() != nil {
		t.Error(err)
	}
}
