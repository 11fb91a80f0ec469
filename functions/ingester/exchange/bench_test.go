package exchange

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// BenchmarkExchanges measures how much of a core it takes to follow 30 coins on three
// exchanges, spot and perpetuals in both margins: frames come over WebSockets from another
// process as fast as exchanges push them, go through the adapters and all projections, and
// rows and views are written to real stores, which are processes of their own. What
// exchanges are asked for (tickers of everything, minutes, open interest) comes as batches at
// its real rate, as reading 2 MB of JSON each ten seconds is little.
//
// "burst" is ten times as much of everything that is pushed.
func BenchmarkExchanges(b *testing.B) {
	for name, factor := range map[string]float64{"real": 1, "burst": 10} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				exchangesFor(b, 15*time.Second, factor)
			}
		})
	}
}

// BenchmarkBooks measures how much of a core it takes to follow the order books of 30 coins on
// three exchanges, spot and perpetuals in both margins, 270 books: from the WebSocket to the view
// with all levels, the samples and the lives of large orders. Each book is as busy as bitcoin's.
// Frames are made up, or those of the recorded session (QUOTARY_TESTDATA), at the rates at which
// the exchanges push.
func BenchmarkBooks(b *testing.B) {
	for range b.N {
		booksFor(b, 20*time.Second)
	}
}

// booksFor reports what books cost for a time.
func booksFor(b *testing.B, long time.Duration) {
	bench := newBenching(b, 1)
	bench.config.Books = bench.config.Coins
	pairs := 0
	for _, v := range bench.venues {
		lists := bench.listed(v)
		pairs += len(lists.pairs)
		all := bench.config.sources(v, lists, nil)
		bench.pipeline.Sources = append(bench.pipeline.Sources, all[len(all)-1])
	}
	view := pairbooks.Published.Open(bench.stores.Views, time.Now)
	known := func() (n int) {
		v, _ := view.Get(b.Context()) // none before the first
		for _, one := range v.Books {
			if len(one.Levels) > 0 {
				n++
			}
		}
		return n
	}
	bench.run(b, long, func() { testenv.Until(b, "all books are known", func() bool { return known() == pairs }) })
	if gaps := bookGaps(bench.pipeline.Sources); gaps > 0 || known() != pairs {
		b.Errorf("%d gaps, %d of %d books are known", gaps, known(), pairs)
	}
}

// exchangesFor reports what following costs for a time.
func exchangesFor(b *testing.B, long time.Duration, factor float64) {
	bench := newBenching(b, factor)
	asked := asking{stats: new(source.Stats)}
	for _, v := range bench.venues {
		lists := bench.listed(v)
		asked.listings = append(asked.listings, listing(bench.config, v, lists.pairs))
		asked.pairs = append(asked.pairs, lists.pairs...)
		bench.pipeline.Sources = append(bench.pipeline.Sources, bench.config.sources(v, lists, nil)[0])
	}
	bench.pipeline.Sources = append(bench.pipeline.Sources, engine.Source[*Batch]{Name: "asked", Stats: asked.stats, NoCheckpoint: true, Follow: asked.follow})
	bench.run(b, long, func() { <-time.After(5 * time.Second) }) // everything is subscribed to
}

// benching is a pipeline that is measured, of which a benchmark adds the sources.
type benching struct {
	config   Config
	venues   []venue
	stores   storetest.Stores
	pipeline *engine.Pipeline[*Batch]
}

// newBenching has a process push so many times as fast as exchanges do.
func newBenching(b *testing.B, factor float64) *benching {
	b.Helper()
	s, url := storetest.Open(b), feedProcess(b, factor)
	c := Config{
		Logger: slog.New(slog.DiscardHandler), Exchanges: []string{"binance", "okx", "bybit"}, Coins: names(mostTraded), Refresh: 10 * time.Second,
		URLs:   map[string]string{"binance": url, "okx": url, "bybit": url},
		Stores: engine.Stores{Log: s.Log, Series: s.Series, Views: s.Views, Quarantine: engine.Quarantine{Objects: s.Objects, Bucket: s.Bucket}},
	}
	p := &engine.Pipeline[*Batch]{Domain: Name, Stores: c.Stores, NewBatch: NewBatch, Projections: Projections(c.Refresh), Logger: c.Logger}
	return &benching{config: c, venues: must.Get(c.venues())(b), stores: s, pipeline: p}
}

// listed knows the pairs of a venue.
func (bench *benching) listed(v venue) *lister {
	lists := bench.config.lister(v)
	lists.pairs, lists.listed = benchPairs(v), time.Now()
	return lists
}

// run runs the pipeline, and reports what it costs for a time from when all has begun.
func (bench *benching) run(b *testing.B, long time.Duration, begun func()) {
	p := bench.pipeline
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	begun()
	before, cpu, began := p.Status(), cpuTime(b), time.Now()
	frames := linesOf(before)
	<-time.After(long)
	after, spent, lasted := p.Status(), cpuTime(b)-cpu, time.Since(began).Seconds()
	frames = linesOf(after) - frames
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(spent.Seconds()/lasted, "cores")
	b.ReportMetric(float64(frames)/lasted, "frames/s")
	b.ReportMetric(float64(after.Events-before.Events)/lasted, "events/s")
	b.ReportMetric(float64(after.Rows-before.Rows)/lasted, "rows/s")
	b.ReportMetric(float64(spent.Microseconds())/float64(frames), "us/frame")
	b.ReportMetric(0, "ns/op")
	for _, one := range after.Sources {
		if bad := one.Stats.Malformed.Load() + one.Stats.Reconnects.Load(); bad > 0 || one.Stats.LastSeen.Load() == 0 {
			b.Errorf("%s: %d malformed, %d reconnects, last seen %d", one.Name, one.Stats.Malformed.Load(), one.Stats.Reconnects.Load(), one.Stats.LastSeen.Load())
		}
	}
	if after.Queued > before.Queued+1000 {
		b.Errorf("%d deliveries wait: it does not keep up", after.Queued)
	}
}

func linesOf(s engine.Status) (lines int64) {
	for _, one := range s.Sources {
		lines += one.Stats.Lines.Load()
	}
	return lines
}

// cpuTime is what this process has taken of all cores.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// feedProcess runs [TestFeedProcess] in a process of its own until the benchmark ends.
func feedProcess(b *testing.B, factor float64) (url string) {
	b.Helper()
	program := must.Get(os.Executable())(b)
	child := exec.Command(program, "-test.run=^TestFeedProcess$") //nolint:gosec // itself
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%g", feedFactor, factor))
	in, err1 := child.StdinPipe()
	out, err2 := child.StdoutPipe()
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	must.Do(b, child.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			return url
		}
	}
	b.Fatal("the process that pushes frames has not begun")
	return ""
}

// benchPairs are the pairs of the 30 coins on a venue.
func benchPairs(v venue) (list []market.Pair) {
	for _, coin := range names(mostTraded) {
		p := market.Pair{Platform: v.Platform, Base: coin, Quote: "USDT", Symbol: coin + "USDT", Swap: v.Swap, Inverse: v.Inverse}
		if v.Inverse {
			p.Quote, p.Symbol, p.Contract = "USD", coin+"USD", market.DecimalFromInt(10)
		}
		switch {
		case strings.HasPrefix(v.Name, "okx"):
			p.Symbol = coin + "-" + p.Quote
			if v.Swap {
				p.Symbol, p.Contract = p.Symbol+"-SWAP", market.DecimalFromInt(10)
			}
		case strings.HasPrefix(v.Name, "binance") && v.Inverse:
			p.Symbol += "_PERP"
		}
		p.Key = market.PairKey(p.Base, p.Quote, p.Platform, p.Swap)
		list = append(list, p)
	}
	return list
}

func listing(c Config, v venue, all []market.Pair) Listing {
	l := Listing{Time: time.Now().UnixMilli(), Platform: v.Platform, Swap: v.Swap, Inverse: v.Inverse, Pairs: all, Followed: map[string]bool{}}
	for _, p := range pairsOf(c.Coins, all) {
		l.Followed[p.Key] = true
	}
	return l
}

// asking is what exchanges are asked for, as it would come: the lists, the minutes of the
// day so far of each pair, and then each second a tenth of 4,500 tickers, and a sixtieth of
// the pairs' minutes and of their open interest.
type asking struct {
	stats    *source.Stats
	listings []Listing
	pairs    []market.Pair
}

const allTickers = 4500

func (a *asking) follow(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
	first := &Batch{Listings: a.listings}
	opened := time.Now().Truncate(time.Minute)
	for _, p := range a.pairs {
		first.Runs = append(first.Runs, minutes(p.Key, opened.Truncate(day), opened))
	}
	if err := sink(ctx, engine.Delivery[*Batch]{Batch: first}); err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		now := time.Now()
		b := new(Batch)
		px := market.DecimalFromInt(int64(60_000 + n%100))
		for i := range allTickers / 10 {
			key := fmt.Sprintf("c%dusdt:binance", i*10+n%10)
			if k := i*10 + n%10; k < len(a.pairs) {
				key = a.pairs[k].Key
			}
			b.Tickers = append(b.Tickers, market.PairTicker{Pair: key, Time: now.UnixMilli(), Last: px, Open: px, High: px, Low: px, Size: px, Amount: px})
		}
		ended := now.Truncate(time.Minute)
		for i := n % 60; i < len(a.pairs); i += 60 {
			p := &a.pairs[i]
			if ended.After(opened) {
				b.Runs = append(b.Runs, minutes(p.Key, ended.Add(-time.Minute), ended))
			}
			if p.Swap {
				b.Interests = append(b.Interests, market.PairInterest{Pair: p.Key, Time: now.UnixMilli(), Size: px, Value: px})
			}
		}
		a.stats.Seen(now, now.UnixMilli())
		if err := sink(ctx, engine.Delivery[*Batch]{Batch: b}); err != nil {
			return err
		}
	}
}

// minutes is a run in whose last minute there was a trade.
func minutes(pair string, from, to time.Time) Run {
	one, px := market.DecimalFromInt(1), market.DecimalFromInt(60_000)
	c := market.Candle{OpenTime: to.Add(-time.Minute).UnixMilli(), Trades: 1, Size: one, Amount: px, Open: px, High: px, Low: px, Close: px}
	return Run{CandleRun: market.CandleRun{Pair: pair, Interval: market.Minute1, From: from.UnixMilli(), To: to.UnixMilli(), Candles: []market.Candle{c}}}
}
