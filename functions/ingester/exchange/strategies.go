package exchange

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/strategysignals"
	"quotary/shared/market"
	"quotary/shared/store"
)

const (
	strategiesLag   = 30 * time.Second // after an hour has closed, until it is looked at: its row is the exchange's own by then
	strategiesEvery = 10 * time.Second // between two looks at whether one has
	strategiesPast  = 14 * 24          // hours of the past that are looked at first
	strategiesWait  = time.Hour        // for the past of all pairs, at the first start
	strategyStep    = 24               // hours of one delivery, at most

	// strategyPairs is how many pairs of a platform are looked at, at most, and strategyOpen how many
	// signals of them are open: several times what there are, and so many that the checkpoint fits
	// into an item. Whoever lists others and has them turn each hour has further ones left out.
	strategyPairs = 300
	strategyOpen  = 600
)

// strategyWatch has the strategies look at each hour of the followed pairs when it has closed,
// and at the signals that are open. Hours are looked at one after another, those of all
// pairs together, so that what a signal says of the success of those before is of that time.
type strategyWatch struct {
	series *store.Series
	listed *store.View[pairs.View]
	stats  *source.Stats
	log    *slog.Logger
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	began time.Time
	at    strategyPosition
}

// strategyPosition is where the watch stands, as its checkpoint holds it.
type strategyPosition struct {
	Closed int64                   `json:"closed"` // when the last hour closed that was looked at, ms
	Open   []openSignal            `json:"open"`
	Ended  map[string]endedSignals `json:"ended"` // by strategy
}

// openSignal is a signal of which it is not known what becomes of it.
type openSignal struct {
	Strategy string         `json:"strategy"`
	Pair     string         `json:"pair"`
	Coin     string         `json:"coin"`
	Time     int64          `json:"time"`
	Buy      bool           `json:"buy"`
	Px       market.Decimal `json:"px"`
	endedSignals
}

// signal is the signal.
func (o *openSignal) signal() strategysignals.Signal {
	s := strategysignals.Signal{Coin: o.Coin, StrategySignal: market.StrategySignal{
		Strategy: o.Strategy, Pair: o.Pair, Time: o.Time, Side: market.Sell, Px: o.Px, Won: o.Won, Lost: o.Lost,
	}}
	if o.Buy {
		s.Side = market.Buy
	}
	return s
}

// endedSignals is how many signals were won and lost.
type endedSignals struct {
	Won  int64 `json:"won"`
	Lost int64 `json:"lost"`
}

func (c Config) strategyWatch() *strategyWatch {
	stats := new(source.Stats)
	return &strategyWatch{
		series: c.Stores.Series, listed: pairs.Published.Open(c.Stores.Views, time.Now), stats: stats, log: source.Watched(c.Logger, stats), now: time.Now, sleep: backoff.Sleep,
	}
}

// follow emits until ctx ends or the sink fails.
func (w *strategyWatch) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	w.began, w.at = w.now(), strategyPosition{}
	if err := from.Decode(&w.at); err != nil {
		return err
	}
	if w.at.Ended == nil {
		w.at.Ended = map[string]endedSignals{}
	}
	for {
		more, err := w.look(ctx, sink)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case source.SinkError(err) != nil:
			return source.SinkError(err)
		case err != nil:
			w.stats.Malformed.Add(1)
			w.log.Warn("strategies cannot look at the last hours; trying again", "error", fmt.Sprintf("%.200s", err))
		}
		if more && err == nil {
			continue
		}
		if err := w.sleep(ctx, strategiesEvery); err != nil {
			return err
		}
	}
}

// hourlyPair is a pair with its hours, as they were read.
type hourlyPair struct {
	market.Pair
	hours []market.Candle
	longs map[int64]market.Decimal
}

// look has the strategies look at hours that have closed, and reports whether there are more.
func (w *strategyWatch) look(ctx context.Context, sink engine.Sink[*Batch]) (more bool, err error) {
	latest := market.Hour1.StartMs(w.now().Add(-strategiesLag).UnixMilli())
	const hour = int64(time.Hour / time.Millisecond)
	first := w.at.Closed == 0
	if first {
		w.at.Closed = latest - strategiesPast*hour
	}
	if latest <= w.at.Closed {
		return false, nil
	}
	to := min(latest, w.at.Closed+strategyStep*hour)
	all, whole, err := w.pairs(ctx, to)
	if err != nil || first && !whole && w.now().Sub(w.began) < strategiesWait {
		if first {
			w.at.Closed = 0
		}
		return false, err
	}
	var changed []strategysignals.Signal
	for closed := w.at.Closed + hour; closed <= to; closed += hour {
		for _, s := range w.hour(all, closed) {
			// One that is new and has ended is one row.
			changed = slices.DeleteFunc(changed, func(c strategysignals.Signal) bool {
				return c.Strategy == s.Strategy && c.Pair == s.Pair && c.Time == s.Time
			})
			changed = append(changed, s)
		}
	}
	w.at.Closed = to
	position, err := engine.PositionOf(w.at)
	if err != nil {
		return false, err
	}
	w.stats.Lines.Add(int64(len(changed)))
	w.stats.Seen(w.now(), to)
	if err := sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Strategies: changed}, Position: position}); err != nil {
		return false, source.OfSink(err)
	}
	return to < latest, nil
}

// pairs are those that are followed, with their hours up to a time; whole is whether the hours that
// are looked at of all of them are stored, and there are any.
func (w *strategyWatch) pairs(ctx context.Context, to int64) (all []hourlyPair, whole bool, err error) {
	view, err := store.OrZero(w.listed.Get(ctx))
	if err != nil {
		return nil, false, err
	}
	period := market.AlertPeriod(60)
	until := time.UnixMilli(to - 1).UTC()
	const back = market.StrategyHoursBack + strategyStep
	from := to - back*time.Hour.Milliseconds()
	whole = true
	ofPlatform, left := map[string]int{}, int64(0)
	defer func() { w.stats.Dropped.Store(left) }()
	for _, p := range view.Pairs {
		if !p.Followed || p.Inverse {
			continue
		}
		if ofPlatform[p.Platform]++; ofPlatform[p.Platform] > strategyPairs {
			left++
			continue
		}
		one := hourlyPair{Pair: p.Pair, longs: map[int64]market.Decimal{}}
		past, err := pairpast.Read(ctx, w.series, p.Key, pairpast.Klines)
		if err != nil {
			return nil, false, err
		}
		whole = whole && past.Hours <= from
		if one.hours, err = pairklines.Newest(ctx, w.series, p.Key, period, until, back); err != nil {
			return nil, false, err
		}
		if p.Swap {
			if past, err = pairpast.Read(ctx, w.series, p.Key, pairpast.Contracts); err != nil {
				return nil, false, err
			}
			whole = whole && past.Hours <= from
			bars, err := pairseries.Ratios.Newest(ctx, w.series, p.Key, period, until, back)
			if err != nil {
				return nil, false, err
			}
			for i := range bars {
				one.longs[bars[i].Time] = bars[i].Close
			}
		}
		all = append(all, one)
	}
	return all, whole && len(all) > 0, nil
}

// hour has the strategies look at an hour that closed at a time, and returns the signals that ended
// with it and those that are new.
func (w *strategyWatch) hour(all []hourlyPair, closed int64) (changed []strategysignals.Signal) {
	var open []openSignal
	for _, one := range w.at.Open {
		s := one.signal()
		i := slices.IndexFunc(all, func(p hourlyPair) bool { return p.Key == s.Pair })
		if i >= 0 {
			s.Follow(until(all[i].hours, closed))
		}
		if s.State == market.SignalOpen && closed < s.Time+2*market.StrategyHorizon*int64(time.Hour/time.Millisecond) {
			open = append(open, one)
			continue
		}
		if s.State == market.SignalOpen { // nothing is known of its pair any more
			s.State, s.Ended = market.SignalExpired, closed
		}
		ended := w.at.Ended[s.Strategy]
		switch s.State {
		case market.SignalWon:
			ended.Won++
		case market.SignalLost:
			ended.Lost++
		case market.SignalOpen, market.SignalExpired:
		}
		w.at.Ended[s.Strategy] = ended
		changed = append(changed, s)
	}
	ofPlatform := map[string]int{}
	for i := range open {
		ofPlatform[platformOf(open[i].Pair)]++
	}
	for i := range all {
		hours := until(all[i].hours, closed)
		if len(hours) == 0 || hours[len(hours)-1].OpenTime != closed-int64(time.Hour/time.Millisecond) {
			continue // nothing was traded
		}
		for strategy, side := range market.NewStrategyHours(hours, all[i].longs).Signals() {
			if !pairs.HasStrategy(strategy, &all[i].Pair) {
				continue
			}
			if ofPlatform[all[i].Platform] == strategyOpen {
				w.stats.Malformed.Add(1)
				continue
			}
			ofPlatform[all[i].Platform]++
			one := openSignal{strategy, all[i].Key, all[i].Coin(), closed, side == market.Buy, hours[len(hours)-1].Close, w.at.Ended[strategy]}
			open, changed = append(open, one), append(changed, one.signal())
		}
	}
	w.at.Open = open
	return changed
}

// until are the hours that have closed by a time, ms.
func until(hours []market.Candle, closed int64) []market.Candle {
	n, _ := slices.BinarySearchFunc(hours, closed, func(c market.Candle, at int64) int {
		if c.OpenTime < at {
			return -1
		}
		return 1
	})
	return hours[:n]
}
