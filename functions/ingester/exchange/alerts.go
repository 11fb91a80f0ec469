package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/alerts"
	"quotary/shared/data/pairklines"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Keys says whether sub-keys of a distributor may be used; those that do not exist are absent. A
// [*keys.Store] does.
type Keys interface {
	Statuses(ctx context.Context, distributor string, accessKeys []string) (map[string]keys.Status, error)
}

const (
	// alertsLag is how long after a candle has closed alerts are evaluated on it: its row is the
	// exchange's own by then.
	alertsLag = 8 * time.Second

	alertsEvery   = time.Second      // between two looks at what has closed
	alertsRelist  = 10 * time.Second // between two looks at which alerts there are
	alertsAtOnce  = 8                // candles of pairs that are read at a time
	alertsMissed  = 3                // candles of a period that are evaluated late, at most: what is older is not news
	alertsTries   = 5                // to read what a candle's alerts are evaluated on
	alertsTimeout = 10 * time.Second // of a read: what many alerts of one distributor take besides ends those of no other

	// alertsOfCandle is how many alerts go off with a candle, at most: each is a row, and all that the
	// exchanges say waits behind those.
	alertsOfCandle = 10_000

	// alertsOfDistributor is how many alerts of one distributor are in force, over all its sub-keys:
	// each is in memory, and is looked at with each candle.
	alertsOfDistributor = 20_000

	deletedEvery  = time.Hour // between two looks at which sub-keys with alerts there still are
	deletedAtOnce = 100       // sub-keys that are looked up in one look at what there is
)

// alertWatch evaluates the alerts of sub-keys when candles close, and emits what goes off. It knows
// up to which candle of each period it has, so that each is looked at once, and what goes off is
// named by its candle: a crash between makes it again.
type alertWatch struct {
	alerts *alerts.Store
	keys   Keys
	series *store.Series
	stats  *source.Stats
	log    *slog.Logger
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	evaluated map[int64]int64 // by minutes of the period: when the last candle closed that was looked at, ms
	tries     map[int64]int   // by minutes: how often the candle that is looked at could not be read
	listed    time.Time
	turns     source.Turns[string, string] // of distributors, whose keys' alerts are read
	owners    map[string]alerts.Owner
	byOwner   map[string][]keyAlert // those in force
	inForce   map[string]int        // by distributor
	cut       map[string]int        // by sub-key: alerts for which there was no room
	beyond    *atomic.Int64         // the sum of cut

	unchecked map[string][]string // by distributor: sub-keys that are still to be looked up
	checked   time.Time           // when that began
}

// keyAlert is an alert of a sub-key.
type keyAlert struct {
	alerts.Alert
	of    market.AlertType
	owner string
}

func (c Config) alertWatch() *alertWatch {
	stats := new(source.Stats)
	return &alertWatch{
		alerts: c.Alerts, keys: c.Keys, series: c.Stores.Series, stats: stats, log: source.Watched(c.Logger, stats), now: time.Now, sleep: backoff.Sleep,
		byOwner: map[string][]keyAlert{}, inForce: map[string]int{}, cut: map[string]int{}, beyond: new(atomic.Int64), tries: map[int64]int{},
	}
}

// alertPosition is where the watch stands, as its checkpoint holds it.
type alertPosition struct {
	Evaluated map[int64]int64 `json:"evaluated"`
}

// follow emits until ctx ends or the sink fails.
func (w *alertWatch) follow(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
	position := alertPosition{Evaluated: map[int64]int64{}}
	if err := from.Decode(&position); err != nil {
		return err
	}
	w.evaluated = position.Evaluated
	for {
		if err := w.sleep(ctx, alertsEvery); err != nil {
			return err
		}
		if err := w.relist(ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			w.log.Warn("cannot read which alerts there are; those of before stay", "error", fmt.Sprintf("%.200s", err))
		}
		for _, minutes := range market.AlertMinutes {
			if err := w.due(ctx, minutes, sink); err != nil {
				return err
			}
		}
	}
}

// due evaluates the alerts of a period on the candles that have closed since the last look. Where
// not all can be read that is tried again with the next look, and then those that can are not
// held up any longer.
func (w *alertWatch) due(ctx context.Context, minutes int64, sink engine.Sink[*Batch]) error {
	period := market.AlertPeriod(minutes)
	latest := period.StartMs(w.now().Add(-alertsLag).UnixMilli())
	width := minutes * 60_000
	last, before := w.evaluated[minutes]
	if !before {
		last = latest // what closed before there was anybody to look is not news
	}
	for closed := max(last+width, latest-(alertsMissed-1)*width); closed <= latest; closed += width {
		fired, err := w.evaluate(ctx, minutes, closed)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			w.stats.Malformed.Add(1)
			w.tries[minutes]++
			w.log.Warn("cannot evaluate all alerts", "minutes", minutes, "try", w.tries[minutes], "error", fmt.Sprintf("%.200s", err))
			if w.tries[minutes] < alertsTries {
				return nil
			}
		}
		w.tries[minutes] = 0
		if err := w.emit(ctx, minutes, closed, fired, sink); err != nil {
			return err
		}
	}
	if !before {
		return w.emit(ctx, minutes, latest, nil, sink)
	}
	return nil
}

func (w *alertWatch) emit(ctx context.Context, minutes, closed int64, fired []alerts.Fired, sink engine.Sink[*Batch]) error {
	w.evaluated[minutes] = closed
	position, err := engine.PositionOf(alertPosition{w.evaluated})
	if err != nil {
		return err
	}
	w.stats.Lines.Add(int64(len(fired)))
	w.stats.Seen(w.now(), closed)
	return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Fired: fired}, Position: position})
}

// relist reads once in a while which alerts there are: of those sub-keys whose alerts have changed,
// in turns by distributor, as many as there is time for.
func (w *alertWatch) relist(ctx context.Context) error {
	now := w.now()
	if now.Sub(w.listed) < alertsRelist {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, alertsTimeout)
	defer cancel()
	owners, err := w.alerts.Owners(ctx)
	if err != nil {
		return err
	}
	for key, owner := range w.owners {
		if _, listed := owners[key]; !listed {
			w.put(key, owner.Distributor, nil)
		}
	}
	changed := map[string][]string{} // by distributor
	for key, owner := range owners {
		if w.owners[key].Revision != owner.Revision || w.cut[key] > 0 && w.inForce[owner.Distributor] < alertsOfDistributor {
			changed[owner.Distributor] = append(changed[owner.Distributor], key)
		}
	}
	unread, fault := 0, error(nil)
	again := func(key, distributor string) { // with the next look; until then those of before stay
		owners[key] = alerts.Owner{Distributor: distributor}
		unread++
	}
	w.turns.Serve(changed, strings.Compare, func(key, distributor string) (cost int, ok bool) {
		if ctx.Err() != nil {
			return 0, false
		}
		list, err := w.alerts.List(ctx, key)
		if err != nil {
			fault = cmp.Or(fault, err)
			again(key, distributor)
			return 1, true
		}
		w.put(key, distributor, w.readable(key, list))
		return 1, true
	})
	for distributor, list := range changed {
		for _, key := range list {
			again(key, distributor)
		}
	}
	if unread > 0 {
		w.log.Warn("cannot read the alerts of all keys; trying again", "keys", unread, "error", fmt.Sprintf("%.200s", cmp.Or(fault, ctx.Err())))
	}
	w.owners, w.listed = owners, now
	return w.forgetDeleted(ctx, now)
}

// put puts the alerts of a sub-key in force in the place of those that were, as far as its
// distributor has room for them: those that were set up first.
func (w *alertWatch) put(key, distributor string, list []keyAlert) {
	w.inForce[distributor] -= len(w.byOwner[key])
	w.beyond.Add(-int64(w.cut[key]))
	delete(w.byOwner, key)
	delete(w.cut, key)
	if room := alertsOfDistributor - w.inForce[distributor]; len(list) > room {
		slices.SortFunc(list, func(a, b keyAlert) int { return cmp.Compare(a.Time, b.Time) })
		w.cut[key] = len(list) - room
		w.beyond.Add(int64(w.cut[key]))
		list = slices.Clone(list[:room])
	}
	if len(list) > 0 {
		w.byOwner[key] = list
	}
	if w.inForce[distributor] += len(list); w.inForce[distributor] == 0 {
		delete(w.inForce, distributor)
	}
}

// forgetDeleted removes the alerts of sub-keys that were deleted: nobody else can, and they would
// take the room of others. It looks up some sub-keys of one distributor, and each once an hour.
func (w *alertWatch) forgetDeleted(ctx context.Context, now time.Time) error {
	if len(w.unchecked) == 0 && now.Sub(w.checked) >= deletedEvery {
		w.unchecked, w.checked = map[string][]string{}, now
		for key, owner := range w.owners {
			w.unchecked[owner.Distributor] = append(w.unchecked[owner.Distributor], key)
		}
	}
	for distributor, list := range w.unchecked {
		some := list[:min(len(list), deletedAtOnce)]
		if w.unchecked[distributor] = list[len(some):]; len(some) == len(list) {
			delete(w.unchecked, distributor)
		}
		there, err := w.keys.Statuses(ctx, distributor, some)
		if err != nil {
			return fmt.Errorf("look up keys with alerts: %w", err)
		}
		for _, key := range some {
			owner, listed := w.owners[key]
			if _, found := there[key]; found || !listed {
				continue
			}
			if err := w.alerts.Forget(ctx, key, owner); err != nil {
				return fmt.Errorf("forget the alerts of a deleted key: %w", err)
			}
		}
		break
	}
	return nil
}

// readable are the alerts of a sub-key whose type can be read.
func (w *alertWatch) readable(key string, list []alerts.Alert) (all []keyAlert) {
	for _, a := range list {
		of, err := market.ParseAlertType(a.Type)
		if err != nil {
			w.stats.Malformed.Add(1)
			continue
		}
		all = append(all, keyAlert{a, of, key})
	}
	return all
}

// evaluate returns what goes off with the candles of a period that closed at a time, ms: with an
// error, what goes off of those pairs and distributors that can be read.
func (w *alertWatch) evaluate(ctx context.Context, minutes, closed int64) ([]alerts.Fired, error) {
	byPair := map[string][]keyAlert{}
	for _, list := range w.byOwner {
		for _, a := range list {
			if a.of.Minutes == minutes && a.Time < closed {
				byPair[a.Pair] = append(byPair[a.Pair], a)
			}
		}
	}
	var mu sync.Mutex
	var fired []alerts.Fired
	var failed []error
	var group guard.Group
	group.SetLimit(alertsAtOnce)
	for pair, list := range byPair {
		group.Go(func() error {
			some, err := w.evaluatePair(ctx, pair, list, closed)
			mu.Lock()
			defer mu.Unlock()
			fired, failed = append(fired, some...), append(failed, err)
			return nil
		})
	}
	failed = append(failed, group.Wait()) // a crash: the others are in it
	fired, err := w.awake(ctx, fired)
	return w.most(fired), errors.Join(append(failed, err)...)
}

// evaluatePair returns what goes off of alerts of one pair and period. A pair without a trade in the
// candle has none.
func (w *alertWatch) evaluatePair(ctx context.Context, pair string, list []keyAlert, closed int64) (fired []alerts.Fired, err error) {
	minutes := list[0].of.Minutes
	reading, cancel := context.WithTimeout(ctx, alertsTimeout)
	defer cancel()
	candles, err := pairklines.Newest(reading, w.series, pair, market.AlertPeriod(minutes), time.UnixMilli(closed-1).UTC(), market.AlertCandles)
	if err != nil || len(candles) == 0 || candles[len(candles)-1].OpenTime != closed-minutes*60_000 {
		return nil, err
	}
	of := market.NewClosed(candles)
	for i := range list {
		a := &list[i]
		if side, ok := of.Fires(&a.of); ok {
			fired = append(fired, alerts.Fired{
				Key: a.owner, ID: a.ID, Pair: pair, Type: a.of.String(), Side: side, Px: candles[len(candles)-1].Close.String(), Time: closed,
			})
		}
	}
	return fired, nil
}

// awake leaves out what is of sub-keys that may not be used now: their alerts rest. With an error,
// those of distributors whose keys cannot be read are left out too.
func (w *alertWatch) awake(ctx context.Context, fired []alerts.Fired) ([]alerts.Fired, error) {
	used := map[string]map[string]bool{} // keys by distributor
	for i := range fired {
		distributor := w.owners[fired[i].Key].Distributor
		if used[distributor] == nil {
			used[distributor] = map[string]bool{}
		}
		used[distributor][fired[i].Key] = true
	}
	awake := map[string]bool{}
	var failed []error
	for distributor, names := range used {
		var list []string
		for key := range names {
			list = append(list, key)
		}
		reading, cancel := context.WithTimeout(ctx, alertsTimeout)
		statuses, err := w.keys.Statuses(reading, distributor, list)
		cancel()
		if err != nil {
			failed = append(failed, fmt.Errorf("read keys with alerts: %w", err))
			continue
		}
		for key, s := range statuses {
			awake[key] = !s.Disabled && !s.DistributorDisabled && s.Level != nil && (s.ExpiresAt.IsZero() || w.now().Before(s.ExpiresAt))
		}
	}
	var left []alerts.Fired
	for _, f := range fired {
		if awake[f.Key] {
			left = append(left, f)
		}
	}
	return left, errors.Join(failed...)
}

// most leaves of what goes off with a candle as many as are written, in turns by distributor.
func (w *alertWatch) most(fired []alerts.Fired) []alerts.Fired {
	left := len(fired) - alertsOfCandle
	if left <= 0 {
		return fired
	}
	lines := map[string][]alerts.Fired{}
	for _, f := range fired {
		distributor := w.owners[f.Key].Distributor
		lines[distributor] = append(lines[distributor], f)
	}
	kept := make([]alerts.Fired, 0, alertsOfCandle)
	new(source.Turns[string, alerts.Fired]).Serve(lines, strings.Compare, func(f alerts.Fired, _ string) (cost int, ok bool) {
		if len(kept) == alertsOfCandle {
			return 0, false
		}
		kept = append(kept, f)
		return 1, true
	})
	w.stats.Malformed.Add(int64(left))
	w.log.Warn("more alerts go off with a candle than are written", "most", alertsOfCandle, "left out", left)
	return kept
}
