package readunits_test

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/readunits"
	"quotary/shared/data/drop"
	"quotary/shared/data/fills"
	"quotary/shared/data/flashes"
	"quotary/shared/data/liquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// shared is data of which everybody reads the same.
type shared struct {
	storetest.Stores
	now time.Time
}

const (
	whale     = "0xa11ce00000000000000000000000000000000001"
	statsDays = 60
	found     = 10 // flashes that a search finds
)

var tickKey = store.SeriesKey{Name: "ticks", Key: "BTC", Interval: "1s"}

// openShared fills a busy account, the sums of 60 days of liquidations of which each third has
// 319 KB and the others 19, flashes, and rows of 250 KB that are loaded by their keys.
func openShared(t *testing.T) *shared {
	t.Helper()
	s := &shared{storetest.Open(t), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	var trades []market.Fill
	for n := range int64(2000) {
		trades = append(trades, market.Fill{
			Address: whale, Coin: "BTC", Px: "95000.0", Sz: "0.1", Side: market.Buy, Time: s.now.UnixMilli() - n*1000, StartPosition: "0.0",
			Dir: "Open Long", ClosedPnl: "0.0", Oid: n + 1, Tid: n + 1, Fee: "1.0", FeeToken: "USDC", Hash: "0x" + strings.Repeat("ab", 32),
		})
	}
	storetest.PutLog(t, s.Log, "fills", fills.AppendRows, trades...)
	for day := range statsDays + 1 {
		at := s.now.AddDate(0, 0, -day).Truncate(24 * time.Hour)
		addresses := 2400
		if day%3 == 2 {
			addresses = 40_000
		}
		sums := market.LiquidationStats{Time: at.UnixMilli(), Longs: 1}
		for n := range addresses {
			var d market.AddressDigest
			binary.BigEndian.PutUint32(d[:], uint32(n))
			sums.Addresses = append(sums.Addresses, d)
		}
		key := store.SeriesKey{Name: "liquidationstats", Key: "BTC", Interval: "1d"}
		storetest.PutSeries(t, s.Series, liquidations.Stats.Row(store.SeriesAt{SeriesKey: key, Time: at}, pairseries.Pack[market.LiquidationStats]{sums.Time: sums}))
	}
	for n := range int64(found) {
		storetest.PutLog(t, s.Log, flashes.Name, flashes.AppendRows, flashes.Flash{
			Place: drop.Place{Time: s.now.UnixMilli(), File: "a.ndjson", Line: n + 1},
			Entry: flashes.Entry{ID: n + 1, Platform: flashes.Social, Language: "en", Title: "BTC", Content: strings.Repeat("bitcoin ", 100), Time: s.now.Unix() - n},
		})
	}
	for n := range 10 {
		storetest.PutSeries(t, s.Series, store.SeriesRow{SeriesKey: tickKey, Point: store.Point{Time: s.now.Add(time.Duration(n) * time.Second), Body: []byte(strings.Repeat("x", 250_000))}})
	}
	return s
}

// ask is a request of a client.
type ask func(ctx context.Context, log *store.Log, series *store.Series) (answer any, err error)

// trades are the newest of an account, some 6 units.
func trades(ctx context.Context, log *store.Log, _ *store.Series) (any, error) {
	var list []market.Fill
	for f, err := range fills.Newest(ctx, log, whale, "", 100) {
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// search reads what a search has found, a unit of each.
func search(ctx context.Context, log *store.Log, _ *store.Series) (any, error) {
	ids := make([]int64, found)
	for n := range ids {
		ids[n] = int64(n + 1)
	}
	return flashes.ByIDs(ctx, log, ids)
}

// liquidated sums up the liquidations of so many days.
func (s *shared) liquidated(days int) ask {
	return func(ctx context.Context, _ *store.Log, series *store.Series) (any, error) {
		return liquidations.Window(ctx, series, "BTC", s.now.AddDate(0, 0, -days).Truncate(24*time.Hour))
	}
}

// ticks loads so many rows of 31 units by their keys.
func (s *shared) ticks(rows int) ask {
	return func(ctx context.Context, _ *store.Log, series *store.Series) (any, error) {
		keys := make([]store.SeriesAt, rows)
		for n := range keys {
			keys[n] = store.SeriesAt{SeriesKey: tickKey, Time: s.now.Add(time.Duration(n) * time.Second)}
		}
		return series.Load(ctx, keys)
	}
}

// instance is a function's.
type instance struct {
	log    *store.Log
	series *store.Series
	shares *readunits.Shares
}

// instance starts one under some rules.
func (s *shared) instance(rules *awsrules.Rules, own *awsrules.Counts, shares bool) *instance {
	db := dynamodb.New(rules.DynamoDBOf(s.DB, own).Options(), readunits.Meter)
	i := &instance{log: store.NewLog(db, s.Prefix+schema.LogTable), series: store.NewSeries(db, s.Prefix+schema.SeriesTable)}
	i.series.Eventual, i.series.Awaited = true, true
	if shares {
		i.shares = readunits.NewShares(db, s.Prefix+schema.UsageTable, s.Prefix+schema.LogTable, s.Prefix+schema.SeriesTable)
	}
	return i
}

// do makes a request of a distributor as a function does.
func (i *instance) do(ctx context.Context, distributor string, a ask) (answer any, b *readunits.Budget, err error) {
	ctx, b = readunits.WithBudget(ctx, 5000)
	b.Within(i.shares, distributor)
	answer, err = a(ctx, i.log, i.series)
	return answer, b, err
}

// TestOneDistributorIsInNobodysWay sends, by DynamoDB's rules and in virtual time, 1,000 requests
// a second of one distributor for one thing, to instances that have just started. A neighbour asks
// for some of the same five times a second, and once for as much: none of its reads is throttled or
// meets a conflict, and none of its requests is refused.
func TestOneDistributorIsInNobodysWay(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	for name, c := range map[string]struct {
		loud, quiet ask
		seconds     int
	}{
		"the newest trades of an account": {trades, trades, 2},
		"liquidations of 60 days":         {s.liquidated(statsDays), s.liquidated(3), 2},
		"what a search has found":         {search, search, 1},
		"large rows by their keys":        {s.ticks(10), s.ticks(1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			quiet := s.rush(t, c.loud, c.quiet, c.seconds, true)
			if quiet.Throttled > 0 || quiet.Conflicts > 0 {
				t.Errorf("the neighbour is throttled %d times, and meets %d conflicts", quiet.Throttled, quiet.Conflicts)
			}
		})
	}
}

// What a neighbour is kept from is real.
func TestWithoutSharesOneDistributorIsInTheWay(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	if quiet := s.rush(t, trades, trades, 2, false); quiet.Throttled == 0 {
		t.Error("the neighbour is never throttled")
	}
}

// fleet is the instances of a function, of which each serves one request at a time: where none
// is free another one starts.
type fleet struct {
	start func() *instance

	mu      sync.Mutex
	free    []*instance
	started int
}

func (f *fleet) do(ctx context.Context, distributor string, a ask) error {
	f.mu.Lock()
	var i *instance
	if n := len(f.free); n > 0 {
		i, f.free = f.free[n-1], f.free[:n-1]
	} else {
		i = f.start()
		f.started++
	}
	f.mu.Unlock()
	_, _, err := i.do(ctx, distributor, a)
	f.mu.Lock()
	f.free = append(f.free, i)
	f.mu.Unlock()
	return err
}

// rush has a loud distributor and its neighbour ask, and returns what the neighbour meets.
func (s *shared) rush(t *testing.T, a, beside ask, seconds int, shares bool) (ofQuiet awsrules.Counts) {
	t.Helper()
	const perSecond = 1000
	rules := awsrules.New(t)
	synctest.Test(t, func(t *testing.T) {
		var ofLoud awsrules.Counts
		loud := fleet{start: func() *instance { return s.instance(rules, &ofLoud, shares) }}
		quiet := fleet{start: func() *instance { return s.instance(rules, &ofQuiet, shares) }}
		var served, refused atomic.Int64
		var all sync.WaitGroup
		for i := range perSecond * seconds {
			all.Go(func() {
				err := loud.do(t.Context(), "loud", a)
				var beyond *readunits.ShareError
				switch {
				case err == nil:
					served.Add(1)
				case errors.As(err, &beyond):
					refused.Add(1)
				case shares:
					t.Errorf("the loud one: %v", err)
				}
			})
			if i%200 == 100 {
				some := beside
				if i == 500 {
					some = a
				}
				all.Go(func() {
					if err := quiet.do(t.Context(), "quiet", some); shares && err != nil {
						t.Errorf("a neighbour: %v", err)
					}
				})
			}
			time.Sleep(time.Second / perSecond)
		}
		all.Wait()
		c := rules.Take()
		t.Logf("%d instances serve the loud one %d times, and refuse it %d times; it is throttled %d times; %v reads, %v writes, %v",
			loud.started, served.Load(), refused.Load(), ofLoud.Throttled, c.Reads, c.Writes, c.Calls)
		if served.Load() == 0 {
			t.Error("the loud one is never served")
		}
	})
	return ofQuiet
}

// An ordinary client writes nothing and waits for nobody, but once where an instance has just
// started.
func TestOrdinaryUseIsNeverRefused(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	rules := awsrules.New(t)
	synctest.Test(t, func(t *testing.T) {
		one := s.instance(rules, nil, true)
		for name, a := range map[string]ask{"trades": trades, "search": search, "liquidations": s.liquidated(1)} {
			for n := range 30 {
				began := time.Now()
				_, b, err := one.do(t.Context(), "ordinary", a)
				if err != nil {
					t.Fatalf("%s, the request %d: %v", name, n, err)
				}
				if took := time.Since(began); n > 15 && (b.Written() > 0 || took > 50*time.Millisecond) {
					t.Errorf("%s, the request %d writes %v units beside its %v, and takes %s", name, n, b.Written(), b.Spent(), took)
				}
				time.Sleep(time.Second)
			}
		}
		var burst sync.WaitGroup
		for n := range 20 {
			for _, i := range []*instance{one, s.instance(rules, nil, true)} {
				burst.Go(func() {
					if _, _, err := i.do(t.Context(), "bursts", search); err != nil {
						t.Errorf("the search %d of a burst: %v", n, err)
					}
				})
			}
		}
		burst.Wait()
	})
}

// A request that is dear alone is answered as without shares, at the pace of its distributor's.
func TestADearRequestIsPacedAndAnsweredAlike(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	rules := awsrules.New(t)
	synctest.Test(t, func(t *testing.T) {
		plain, shared := s.instance(rules, nil, false), s.instance(rules, nil, true)
		for name, a := range map[string]ask{"trades": trades, "search": search, "liquidations": s.liquidated(statsDays), "ticks": s.ticks(10)} {
			for _, i := range []*instance{plain, shared} { // what has expired is read once
				must.Get2(i.do(t.Context(), "any", a))(t)
			}
			time.Sleep(10 * time.Second)
			want, read := must.Get2(plain.do(t.Context(), "any", a))(t)
			time.Sleep(10 * time.Second)
			for range 2 {
				began := time.Now()
				got, same, err := shared.do(t.Context(), "any", a)
				if err != nil || same.Spent() != read.Spent() || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: another answer, %v; %v units, want %v", name, err, same.Spent(), read.Spent())
				}
				if took, most := time.Since(began), time.Duration(1+2*int(read.Spent())/readunits.Share)*time.Second; took > most {
					t.Errorf("%s takes %s", name, took)
				}
			}
		}
	})
}
