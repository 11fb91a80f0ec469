package exchange

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/functions/ingester/engine"
	"quotary/shared/backoff"
	"quotary/shared/data/alerts"
	"quotary/shared/data/datatest"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const alertPair = "btcusdt:binance"

// begun is when the last candle closed that a process looks at which begins at noon.
var begun = market.Minute1.Start(noon.Add(-alertsLag))

// statuses are those of the keys of every distributor.
type statuses map[string]keys.Status

func (s statuses) Statuses(context.Context, string, []string) (map[string]keys.Status, error) {
	if s == nil {
		return nil, errors.New("no keys today")
	}
	return s, nil
}

// alertWorld is a world with alerts, of whose pair the close of each minute is on the other side of
// 100 than that of the minute before. Requests to its tables go through around.
func alertWorld(t *testing.T, around ...func(in any, send func() (any, error)) (any, error)) *world {
	t.Helper()
	w := newWorld(t)
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	for _, one := range around {
		db = storetest.Intercept(db, one)
	}
	w.config.Stores.Log = store.NewLog(db, prefix+schema.LogTable)
	w.config.Alerts = alerts.Open(func(kind string, limits store.DocumentLimits) *store.Documents {
		return store.NewDocuments(db, prefix+schema.DocumentsTable, kind, limits)
	})
	w.config.Keys = statuses{"awake": {Level: new(keys.Level)}, "disabled": {Level: new(keys.Level), Disabled: true}, "withoutlevel": {}}
	var minutes []market.Candle
	for n := range 60 {
		px := dec(int64(90 + 20*(n%2)))
		minutes = append(minutes, market.Candle{OpenTime: begun.Add(time.Duration(n-20) * time.Minute).UnixMilli(), Trades: 1, Size: dec(1), Amount: px, Open: px, High: px, Low: px, Close: px})
	}
	datatest.PutPairKlines(t, w.config.Stores.Series, alertPair, market.Minute1, minutes...)
	return w
}

func (w *world) alert(t *testing.T, key, subType string) {
	t.Helper()
	w.alertOf(t, "reseller", key, subType)
}

func (w *world) alertOf(t *testing.T, distributor, key, subType string) {
	t.Helper()
	of := must.Get(market.ParseAlertType(subType))(t)
	a := alerts.Alert{ID: alerts.IDOf(alertPair, of), Pair: alertPair, Type: of.String(), Time: noon.Add(-time.Hour).UnixMilli()}
	must.Do(t, w.config.Alerts.Add(t.Context(), distributor, key, &a))
}

// watch is a process that evaluates alerts.
func (w *world) watch() []engine.Source[*Batch] {
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	watch.sleep = func(ctx context.Context, _ time.Duration) error { return backoff.Sleep(ctx, time.Millisecond) }
	return []engine.Source[*Batch]{{Name: "alerts", Stats: watch.stats, Follow: watch.follow}}
}

func (w *world) fired(t *testing.T, key string) []alerts.Fired {
	t.Helper()
	return must.Get(alerts.Newest(t.Context(), w.config.Stores.Log, key, w.clock.Now()))(t)
}

// seen reports whether a watch that now runs has looked at the candle that closed at a time.
func (w *world) seen(t *testing.T, closed time.Time) bool {
	t.Helper()
	name := engine.Checkpoint(Name, "alerts", "")
	position := must.Get(w.config.Stores.Series.Checkpoint(t.Context(), name))(t)
	var p alertPosition
	must.Do(t, engine.Position(position).Decode(&p))
	return p.Evaluated[1] >= closed.UnixMilli()
}

// However often the process ends, an alert fires once for each candle that brings it about, and
// those of keys that may not be used rest.
func TestAnAlertFiresOnceForACandle(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	w.alert(t, "awake", "price:1:price_cross:100")
	w.alert(t, "awake", "td:1:td_nine")
	w.alert(t, "disabled", "price:1:price_cross:100")
	w.alert(t, "withoutlevel", "price:1:price_cross:100")
	w.alert(t, "deleted", "price:1:price_cross:100")
	w.run(t, w.watch(), func() bool { return w.seen(t, begun) })
	const minutes = 6
	for n := range minutes {
		w.clock.Move(time.Minute)
		for range 1 + n%2 { // another process looks at the candle again
			w.run(t, w.watch(), func() bool { return w.seen(t, begun.Add(time.Duration(n+1)*time.Minute)) })
		}
	}
	got := w.fired(t, "awake")
	if len(got) != minutes {
		t.Fatalf("it fired %d times in %d minutes", len(got), minutes)
	}
	for n, f := range got {
		closed := begun.Add(time.Duration(minutes-n) * time.Minute)
		side, px := market.Buy, "110"
		if (minutes-n)%2 == 1 {
			side, px = market.Sell, "90"
		}
		if f.Time != closed.UnixMilli() || f.Type != "price:1:price_cross:100" || f.Pair != alertPair || f.Side != side || f.Px != px {
			t.Errorf("%d is %+v, want %s at %s of %s", n, f, side, px, closed)
		}
	}
	for _, key := range []string{"disabled", "withoutlevel", "deleted"} {
		if got := w.fired(t, key); len(got) > 0 {
			t.Errorf("alerts of a key that is %s fired: %+v", key, got)
		}
	}
}

// What closed while nobody looked is late, and of the last candles only.
func TestAlertsOfCandlesThatClosedWhileNobodyLookedAreEvaluatedLate(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	w.alert(t, "awake", "price:1:price_cross:100")
	w.run(t, w.watch(), func() bool { return w.seen(t, begun) })
	w.clock.Move(10 * time.Minute)
	w.run(t, w.watch(), func() bool { return w.seen(t, begun.Add(10*time.Minute)) })
	if got := w.fired(t, "awake"); len(got) != alertsMissed {
		t.Errorf("%d fired: %+v", len(got), got)
	}
}

// An alert that is set up or removed counts from the next look on, and where keys cannot be read
// the candle is looked at again.
func TestAlertsAreThoseThatAreSetUp(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	watch.evaluated = map[int64]int64{}
	evaluate := func(closed time.Time) (n int, err error) {
		must.Do(t, watch.relist(t.Context()))
		fired, err := watch.evaluate(t.Context(), 1, closed.UnixMilli())
		return len(fired), err
	}
	if n, err := evaluate(begun); n != 0 || err != nil {
		t.Errorf("without alerts %d fire, %v", n, err)
	}
	w.alert(t, "awake", "price:1:price_cross:100")
	w.clock.Move(alertsRelist)
	if n, err := evaluate(begun); n != 1 || err != nil {
		t.Errorf("once it is set up %d fire, %v", n, err)
	}
	watch.keys = statuses(nil)
	if n, err := evaluate(begun); n != 0 || err == nil {
		t.Errorf("while keys cannot be read %d fire, %v", n, err)
	}
	said := 0
	sink := func(_ context.Context, d engine.Delivery[*Batch]) error { said += 1 + len(d.Batch.Fired); return nil }
	watch.evaluated[1] = begun.Add(-time.Minute).UnixMilli()
	for try := range alertsTries {
		if said > 0 {
			t.Errorf("it went on at try %d", try)
		}
		must.Do(t, watch.due(t.Context(), 1, sink))
	}
	if said == 0 {
		t.Error("who cannot be read holds up all others")
	}
	watch.keys = w.config.Keys
	must.Do(t, w.config.Alerts.Remove(t.Context(), "reseller", "awake", alerts.IDOf(alertPair, must.Get(market.ParseAlertType("price:1:price_cross:100"))(t))))
	w.clock.Move(alertsRelist)
	if n, err := evaluate(begun); n != 0 || err != nil {
		t.Errorf("once it is removed %d fire, %v", n, err)
	}
}

// untils are until when each distributor's keys may be asked for.
type untils struct {
	statuses

	by map[string]time.Time
}

func (u untils) Statuses(ctx context.Context, distributor string, list []string) (map[string]keys.Status, error) {
	until, _ := ctx.Deadline()
	u.by[distributor] = until
	return u.statuses.Statuses(ctx, distributor, list)
}

// What alerts of one distributor take leaves those of another their whole time: they are not given up
// with it, to be evaluated again every second.
func TestAlertsOfADistributorHaveATimeOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	asked := untils{statuses{"awake": {Level: new(keys.Level)}, "loud": {Level: new(keys.Level)}}, map[string]time.Time{}}
	w.config.Keys = asked
	w.alertOf(t, "quiet", "awake", "price:1:price_cross:100")
	w.alertOf(t, "loud", "loud", "price:1:price_cross:100")
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	must.Do(t, watch.relist(t.Context()))
	fired := must.Get(watch.evaluate(t.Context(), 1, begun.UnixMilli()))(t)
	if len(fired) != 2 || len(asked.by) != 2 || asked.by["quiet"].Equal(asked.by["loud"]) {
		t.Errorf("%d went off; the keys are asked for until %v", len(fired), asked.by)
	}
}

// Alerts of one distributor that change all the time leave those of another their turn, and those of
// before in force.
func TestAlertsOfADistributorAreReadInItsTurn(t *testing.T) {
	t.Parallel()
	var queried func(partition string)
	w := alertWorld(t, func(in any, send func() (any, error)) (any, error) {
		out, err := send()
		if q, ok := in.(*dynamodb.QueryInput); ok && queried != nil {
			queried(q.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value)
		}
		return out, err
	})
	const subType = "price:1:price_cross:100"
	w.alertOf(t, "loud", "early", subType)
	w.alertOf(t, "quiet", "awake", subType)
	w.config.Keys = statuses{"awake": {Level: new(keys.Level)}, "early": {Level: new(keys.Level)}}
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	must.Do(t, watch.relist(t.Context()))
	w.alertOf(t, "loud", "early", "td:1:td_nine")
	for n := range 20 {
		w.alertOf(t, "loud", fmt.Sprint("key", n), subType)
	}
	w.alertOf(t, "quiet", "late", subType)
	w.clock.Move(alertsRelist)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := 0
	queried = func(partition string) {
		if !strings.HasPrefix(partition, "alerts#") {
			return
		}
		if read++; partition == "alerts#late" {
			cancel() // as when the time is over
		}
	}
	must.Do(t, watch.relist(ctx))
	if read > 2 || len(watch.byOwner["late"]) != 1 {
		t.Errorf("%d keys were read; of the other distributor's %d alerts", read, len(watch.byOwner["late"]))
	}
	if fired := must.Get(watch.evaluate(t.Context(), 1, begun.UnixMilli()))(t); len(fired) < 2 {
		t.Errorf("%d went off of two alerts of before", len(fired))
	}
	queried = nil
	w.clock.Move(alertsRelist)
	must.Do(t, watch.relist(t.Context()))
	if len(watch.byOwner) != 23 || len(watch.byOwner["early"]) != 2 {
		t.Errorf("of %d keys alerts are known in the end, %d of early", len(watch.byOwner), len(watch.byOwner["early"]))
	}
}

// What goes off with a candle is written in the time of that, whatever the keys of one distributor
// wait for.
func TestSoManyAlertsGoOffWithACandle(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	of := must.Get(market.ParseAlertType("price:1:price_cross:100"))(t)
	known := statuses{}
	w.config.Keys = known
	watch := w.config.alertWatch()
	watch.owners = map[string]alerts.Owner{}
	add := func(distributor, key string) {
		known[key] = keys.Status{Level: new(keys.Level)}
		watch.owners[key] = alerts.Owner{Distributor: distributor}
		watch.byOwner[key] = []keyAlert{{alerts.Alert{ID: 1, Pair: alertPair, Type: of.String()}, of, key}}
	}
	for n := range 2 * alertsOfCandle {
		add("loud", fmt.Sprint("loud", n))
	}
	for n := range 10 {
		add("quiet", fmt.Sprint("quiet", n))
	}
	fired := must.Get(watch.evaluate(t.Context(), 1, begun.UnixMilli()))(t)
	quiet := 0
	for i := range fired {
		if watch.owners[fired[i].Key].Distributor == "quiet" {
			quiet++
		}
	}
	if len(fired) != alertsOfCandle || quiet != 10 || watch.stats.Malformed.Load() != alertsOfCandle+10 {
		t.Errorf("%d went off, %d of them of the other distributor, and %d were left out", len(fired), quiet, watch.stats.Malformed.Load())
	}
}

// Of one distributor so many alerts are in force, whatever others have, and as some are removed those
// that waited take their place.
func TestSoManyAlertsOfADistributorAreInForce(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	const subType = "price:1:price_cross:100"
	w.alertOf(t, "quiet", "awake", subType)
	w.alertOf(t, "loud", "late", subType)
	w.alertOf(t, "loud", "late", "td:1:td_nine")
	w.config.Keys = statuses{"awake": {Level: new(keys.Level)}, "late": {Level: new(keys.Level)}}
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	watch.put("early", "loud", make([]keyAlert, alertsOfDistributor-1))
	watch.owners = map[string]alerts.Owner{"early": {Distributor: "loud"}}
	watch.put("early", "loud", make([]keyAlert, alertsOfDistributor-1))
	check := func(what string, late, beyond int) {
		t.Helper()
		if len(watch.byOwner["late"]) != late || watch.beyond.Load() != int64(beyond) || len(watch.byOwner["awake"]) != 1 {
			t.Errorf("%s: %d of late are in force, %d of quiet, and %d are not", what, len(watch.byOwner["late"]), len(watch.byOwner["awake"]), watch.beyond.Load())
		}
	}
	watch.put("late", "loud", watch.readable("late", must.Get(w.config.Alerts.List(t.Context(), "late"))(t)))
	watch.put("awake", "quiet", watch.readable("awake", must.Get(w.config.Alerts.List(t.Context(), "awake"))(t)))
	check("beside many", 1, 1)
	must.Do(t, watch.relist(t.Context())) // early is listed no longer
	check("once there is room", 2, 0)
	if len(watch.byOwner["early"]) != 0 || watch.inForce["loud"] != 2 {
		t.Errorf("of a key that is gone %d are in force, %d of its distributor", len(watch.byOwner["early"]), watch.inForce["loud"])
	}
}

// A sub-key whose alerts are all removed is listed no longer, nor is one that is deleted, whose alerts
// nobody else can remove.
func TestWhoHasNoAlertsIsListedNoLonger(t *testing.T) {
	t.Parallel()
	w := alertWorld(t)
	of := must.Get(market.ParseAlertType("price:1:price_cross:100"))(t)
	for _, key := range []string{"awake", "disabled", "deleted"} {
		w.alert(t, key, of.String())
	}
	w.alert(t, "disabled", "td:1:td_nine")
	watch := w.config.alertWatch()
	watch.now = w.clock.Now
	must.Do(t, watch.relist(t.Context()))
	must.Do(t, w.config.Alerts.Remove(t.Context(), "reseller", "awake", alerts.IDOf(alertPair, of)))
	must.Do(t, w.config.Alerts.Remove(t.Context(), "reseller", "disabled", alerts.IDOf(alertPair, of)))
	if owners := must.Get(w.config.Alerts.Owners(t.Context()))(t); len(owners) != 1 || owners["disabled"].Distributor != "reseller" {
		t.Errorf("listed are %v", owners)
	}
	if list := must.Get(w.config.Alerts.List(t.Context(), "deleted"))(t); len(list) > 0 {
		t.Errorf("a deleted key has %d alerts", len(list))
	}
	w.clock.Move(alertsRelist)
	must.Do(t, watch.relist(t.Context()))
	if len(watch.byOwner) != 1 || len(watch.byOwner["disabled"]) != 1 || watch.inForce["reseller"] != 1 {
		t.Errorf("in force are %v", watch.byOwner)
	}
	w.alert(t, "awake", of.String())
	w.clock.Move(alertsRelist)
	must.Do(t, watch.relist(t.Context()))
	if len(watch.byOwner["awake"]) != 1 {
		t.Error("an alert that is set up again is not in force")
	}
}
