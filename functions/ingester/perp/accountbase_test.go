package perp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/aws/attr"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/traderfacts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestUnderARetentionNothingIsLost draws weeks of accounts of whose logs only a day is
// stored, of which some events come late, in lives that crash between any two writes: the
// rows and the completed trades are those of all events in their order.
func TestUnderARetentionNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawAccounts(t)
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		late := shortlyLate(r, drawn)
		d, now := newDisk(), time.UnixMilli(base).UTC()
		for {
			d.writes = rapid.IntRange(0, 200).Draw(t, "writes before the crash")
			err := retainedLife(d, late, r, &now)
			if err == nil {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
		}
		rows, trades := foldedAccounts(drawn)
		for at, want := range rows {
			got, ok := d.rows[at]
			if !ok {
				t.Fatalf("%v is not stored", at)
			}
			if !bytes.Equal(want.Extra, got.Extra) {
				t.Fatalf("%v (-want +got):\n%s", at, cmp.Diff(decoded(t, at, want.Extra), decoded(t, at, got.Extra), cmp.Comparer(market.Decimal.Equal)))
			}
		}
		for i, want := range completedtrades.AppendRows(nil, trades) {
			key := fmt.Sprintf("%s %q %d %q", completedtrades.Name, want.Subject, want.Time.UnixMilli(), want.ID)
			if diff := cmp.Diff(string(want.Body), string(d.log[key].Body)); diff != "" {
				t.Fatalf("trade %d of %d, %s (-want +got):\n%s", i, len(trades), key, diff)
			}
		}
	})
}

func decoded(t rapid.TB, at store.SeriesAt, row []byte) any {
	t.Helper()
	switch at.Name {
	case accounts.Name:
		return must.Get(accounts.Decode("", store.Point{Extra: row}))(t)
	case traderfacts.Name:
		if at == traderfacts.OpenAt(at.Key) {
			return must.Get(traderfacts.DecodeOpen(row))(t)
		}
		return must.Get(traderfacts.Decode(store.Point{Time: at.Time, Extra: row}))(t)
	}
	return must.Get(accountstats.Decode(row))(t)
}

// shortlyLate has some batches come behind later ones, as those of a source that is read
// beside others.
func shortlyLate(r *rand.Rand, drawn []*Batch) (all []*Batch) {
	for i := 0; i < len(drawn); i++ {
		if i+1 < len(drawn) && r.IntN(3) == 0 && timeOf(drawn[i+1])-timeOf(drawn[i]) < time.Hour.Milliseconds() {
			past := *drawn[i]
			past.Past = true
			all = append(all, drawn[i+1], &past)
			i++
			continue
		}
		all = append(all, drawn[i])
	}
	return all
}

// timeOf is that of the events of a batch, ms; 0 without any.
func timeOf(b *Batch) (ms int64) {
	for i := range b.Fills {
		ms = b.Fills[i].Time
	}
	for i := range b.Payments {
		ms = b.Payments[i].Time
	}
	for i := range b.Ledgers {
		ms = b.Ledgers[i].Time
	}
	return ms
}

// retainedLife is a life of the projection of accounts over logs that are kept for a day.
// It goes on with the clock of the one before.
func retainedLife(d *disk, batches []*Batch, r *rand.Rand, now *time.Time) error {
	day := retention.Setting{"fills": 1, "payments": 1, "ledgers": 1}
	set := only(accounts.Name)
	of[*accountStates](set).baseEvery = baseEvery(day)
	of[*accountStates](set).most = r.IntN(3) // accounts that stay in the cache
	p, err := begin(d, set, r, *now)
	if err != nil {
		return err
	}
	p.set.join()
	for i := d.position; i < len(batches); i++ {
		at := time.UnixMilli(timeOf(batches[i])).Add(time.Second)
		if at.Sub(*now) > time.Minute { // in which all is written that came
			if err := rest(p, i); err != nil {
				return err
			}
		}
		if at.After(*now) {
			*now = at.UTC()
		}
		p.now, d.since = *now, day.Since("fills", *now).UnixMilli()
		if err := p.apply(batches[i]); err != nil {
			return err
		}
		if err := p.flush(i+1, r.IntN(2) == 0); err != nil {
			return err
		}
	}
	return rest(p, len(batches))
}

// rest lets time pass until nothing waits, nor is made again.
func rest(p *process, position int) error {
	for quiet := 0; quiet < 15; quiet++ {
		if err := p.settle(position); err != nil {
			return err
		}
		if len(of[*accountStates](p.set).broken) > 0 {
			quiet = 0
		}
	}
	return nil
}

// TestARebuildUnderARetentionMakesNothingPoorer has two accounts do the same before and
// after the edge of the retention, behind which the rows are archived and gone from the
// table. Of one of them the events come out of order: in the end both are the same.
func TestARebuildUnderARetentionMakesNothingPoorer(t *testing.T) {
	t.Parallel()
	on := storetest.Open(t)
	stores := engine.Stores{
		Log: on.Log, Series: on.Series, Views: on.Views,
		Quarantine: engine.Quarantine{Objects: on.Objects, Bucket: on.Bucket}, Archive: archive.Files{Objects: on.Objects, Bucket: on.Bucket},
	}
	const ordered, broken = "0xa11ce00000000000000000000000000000000001", "0xb0b0000000000000000000000000000000000002"
	long, now := time.Now().Add(-5*24*time.Hour), time.Now().Add(-time.Hour)

	w := &retainedWorld{t: t, stores: stores}
	stop := w.begin(nil)
	for _, address := range []string{ordered, broken} {
		w.emit(traded(address, long, 1, market.Buy, "2.0", "100.0", "0.0", "0.0"))
		w.emit(
			&Batch{Events: market.Events{AnchorRequests: []string{address}, Anchors: []market.Anchor{anchorOf(address, long.Add(1500*time.Millisecond), "2.0", "200")}}},
			traded(address, long, 2, market.Sell, "2.0", "110.0", "2.0", "20.0"),
			&Batch{Events: market.Events{Ledgers: []market.Ledger{{Address: address, Time: long.UnixMilli() + 3000, Hash: "0x3", Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "1000.0", Delta: []byte(`{"type":"deposit","usdc":"1000.0"}`)}}}},
			traded(address, long, 4, market.Buy, "3.0", "100.0", "0.0", "0.0"),
			&Batch{Events: market.Events{Payments: []market.FundingPayment{{Address: address, Coin: "BTC", Time: long.UnixMilli() + 5000, USDC: "-0.5", Szi: "3.0", Rate: "0.0001", Seq: 5}}}},
			traded(address, long, 6, market.Buy, "1.0", "101.0", "3.0", "0.0"),
		)
		testenv.Until(t, "the first days are stored", func() bool { return w.account(address).Time == long.UnixMilli()+6000 })
	}
	must.Do(t, stop())
	w.expire(on.DB, on.Prefix+schema.LogTable)

	stop = w.begin(twoDays)
	reduce, closing := traded(ordered, now, 1, market.Sell, "1.0", "120.0", "4.0", "20.0"), traded(ordered, now, 2, market.Sell, "3.0", "121.0", "3.0", "62.75")
	w.emit(reduce, closing)
	reduce, closing = traded(broken, now, 1, market.Sell, "1.0", "120.0", "4.0", "20.0"), traded(broken, now, 2, market.Sell, "3.0", "121.0", "3.0", "62.75")
	reduce.Past = true
	w.emit(closing)
	testenv.Until(t, "the gap is seen", func() bool { return w.p.figures.gaps.Load() > 0 })
	w.emit(reduce)
	want := w.account(ordered)
	testenv.Until(t, "both are stored", func() bool {
		want = w.account(ordered)
		return want.Time == now.UnixMilli()+2000 && w.p.figures.rebuilt.Load() > 0 && w.account(broken).Time == want.Time
	})
	must.Do(t, stop())
	exact := cmp.Comparer(market.Decimal.Equal)
	got := w.account(broken)
	want.Address = got.Address
	if diff := cmp.Diff(want, got, exact); diff != "" {
		t.Errorf("the account (-in order +broken):\n%s", diff)
	}
	if diff := cmp.Diff(w.figuresOf(ordered), w.figuresOf(broken), exact); diff != "" {
		t.Errorf("its statistics (-in order +broken):\n%s", diff)
	}
	trades := w.trades(ordered)
	for i := range trades {
		trades[i].Address = broken
	}
	if diff := cmp.Diff(trades, w.trades(broken), exact); diff != "" {
		t.Errorf("its trades (-in order +broken):\n%s", diff)
	}
	if len(trades) != 2 || trades[1].Start != long.UnixMilli()+4000 || trades[1].Partial || trades[1].Leverage != 7 || !w.figuresOf(broken).NetIn.Equal(mustParse("1000")) {
		t.Errorf("the trades are %+v", trades)
	}
}

// traded is a fill of an account in BTC, so many seconds after a time.
func traded(address string, at time.Time, second int64, side market.Side, size, px, start, pnl string) *Batch {
	ms := at.UnixMilli() + 1000*second
	return &Batch{Events: market.Events{Fills: []market.Fill{{
		Address: address, Coin: "BTC", Px: px, Sz: size, Side: side, Time: ms, StartPosition: start, ClosedPnl: pnl,
		Fee: "0.1", FeeToken: "USDC", Dir: "-", Hash: "0x0", Oid: ms, Tid: ms, Crossed: true, Seq: ms,
	}}}}
}

// anchorOf is what the venue says of an account that holds so much at a leverage of 7.
func anchorOf(address string, at time.Time, size, cost string) market.Anchor {
	a := said(0, size, cost)
	a.Address, a.SpotTime, a.Dexes[0].Time = address, at.UnixMilli(), at.UnixMilli()
	return a
}

// retainedWorld is the projection of accounts over tables of its own.
type retainedWorld struct {
	t      *testing.T
	stores engine.Stores
	p      *accountStates // of the life
	events chan *Batch
	stats  *engine.Stats
}

var twoDays = retention.Setting{"fills": 2, "payments": 2, "ledgers": 2, "filledorders": 2}

// begin starts a life under a retention, and returns what ends it.
func (w *retainedWorld) begin(s retention.Setting) (stop func() error) {
	w.events = make(chan *Batch)
	p := newPipeline(w.stores, engine.Source[*Batch]{Name: "test", Stats: new(hyperliquid.Stats), NoCheckpoint: true, Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
		for {
			select {
			case b := <-w.events:
				if err := sink(ctx, engine.Delivery[*Batch]{Batch: b}); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}})
	p.Retention, p.ArchiveEvery = s, 10*time.Millisecond
	w.p = newAccountStates(nil, quiet)
	w.p.baseEvery = baseEvery(p.Retention)
	p.Projections = []Projection{w.p}
	w.stats = &p.Stats
	stop = run(w.t, p)
	<-p.PastRead()
	return stop
}

func (w *retainedWorld) emit(list ...*Batch) {
	for _, b := range list {
		w.events <- b
	}
}

// expire has a life archive what is old, and removes it as the table does an hour later.
func (w *retainedWorld) expire(db *dynamodb.Client, table string) {
	w.t.Helper()
	stop := w.begin(twoDays)
	testenv.Until(w.t, "the old rows are archived", func() bool { return w.stats.ArchivedUntil.Load() > 0 })
	must.Do(w.t, stop())
	gone := 0
	for _, log := range Logs {
		page := must.Get(w.stores.Log.Scan(w.t.Context(), []string{log.Dataset}, "", 0))(w.t)
		for _, r := range page.Rows[log.Dataset] {
			if r.Expires.IsZero() {
				continue
			}
			gone++
			must.Get(db.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: attr.Item{
				schema.PK: attr.S(log.Dataset + "#" + r.Subject), schema.SK: attr.S(fmt.Sprintf("%013d#%s", r.Time.UnixMilli(), r.ID)),
			}}))(w.t)
		}
	}
	if gone != 2*6 {
		w.t.Fatalf("%d rows have expired", gone)
	}
}

func (w *retainedWorld) account(address string) *market.Account {
	w.t.Helper()
	all := must.Get(accounts.Load(w.t.Context(), w.stores.Series, address))(w.t)
	if all[address] == nil {
		return &market.Account{}
	}
	return all[address]
}

func (w *retainedWorld) figuresOf(address string) (s market.TraderStats) {
	w.t.Helper()
	for one := range must.All(w.t, accountstats.Read(w.t.Context(), w.stores.Series, []string{address})) {
		if one != nil {
			s = *one
		}
	}
	return s
}

func (w *retainedWorld) trades(address string) (list []market.CompletedTrade) {
	w.t.Helper()
	list = slices.AppendSeq(list, must.All(w.t, completedtrades.Oldest(w.t.Context(), w.stores.Log, completedtrades.Selection{Address: address})))
	return list
}
