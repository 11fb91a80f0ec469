package perp

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/localstack/sim/venue"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/delivered"
	filldata "quotary/shared/data/fills"
	ledgerdata "quotary/shared/data/ledgers"
	paymentdata "quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// hourBucket is the bucket of the venue's hours, in memory.
type hourBucket struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (b *hourBucket) put(key string, body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[key] = bytes.Clone(body)
	return nil
}

func etagOf(body []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)) }

func (b *hourBucket) List(_ context.Context, prefix string) (map[string]hyperliquid.HourFile, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	listed := map[string]hyperliquid.HourFile{}
	for key, body := range b.files {
		if strings.HasPrefix(key, prefix) {
			listed[key] = hyperliquid.HourFile{ETag: etagOf(body), Size: int64(len(body))}
		}
	}
	return listed, nil
}

func (b *hourBucket) Get(_ context.Context, key, etag string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body, ok := b.files[key]; ok && etagOf(body) == etag {
		return io.NopCloser(bytes.NewReader(body)), nil
	}
	return nil, hyperliquid.ErrHourReplaced
}

// publishedVenue is a venue that has run for some hours up to now, its bucket, and what its node has
// written of the hours that have ended.
func publishedVenue(t *testing.T, hours int) (bucket *hourBucket, nodeDir string, wrote market.Events, first time.Time) {
	t.Helper()
	bucket = &hourBucket{files: map[string][]byte{}}
	first = time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour)
	s := openSimVenue(t, first, venue.Config{Seed: 11, Traders: 40, FillsPerSecond: 20, JumpEvery: time.Hour, Modes: true, Publish: bucket.put})
	for range hours {
		to := s.venue.Now().Truncate(time.Hour).Add(time.Hour)
		must.Do(t, s.venue.Advance(s.venue.Now().Add(20*time.Second))) // short blocks, and then long ones
		must.Do(t, s.venue.Skip(to.Add(time.Second)))
		must.Do(t, s.venue.Advance(to.Add(2*time.Second)))
	}
	now := first.Add(time.Duration(hours) * time.Hour)
	for _, stream := range []nodeStream{fillStream, {"misc_events_by_block", hyperliquid.ReadMisc}} {
		must.Do(t, os.RemoveAll(filepath.Join(s.dir, stream.dir, "hourly", now.Format("20060102"), fmt.Sprint(now.Hour()))))
		s.readOn(stream, func() *market.Events { return &wrote })
	}
	return bucket, s.dir, wrote, first
}

// addressesOf are those of all accounts, sorted.
func addressesOf(e *market.Events) []string {
	of := map[string]bool{}
	for i := range e.Fills {
		of[e.Fills[i].Address] = true
	}
	for i := range e.Ledgers {
		of[e.Ledgers[i].Address] = true
	}
	for i := range e.Payments {
		of[e.Payments[i].Address] = true
	}
	return slices.Sorted(maps.Keys(of))
}

// rowsOf are all rows of some accounts, as text.
func rowsOf(t *testing.T, s engine.Stores, e *market.Events) map[string][]string {
	t.Helper()
	all := contents(t, s, e.Fills)
	for _, address := range addressesOf(e) {
		for l := range must.All(t, ledgerdata.Newest(t.Context(), s.Log, address, time.Time{}, 0)) {
			all["ledgers "+address] = append(all["ledgers "+address], fmt.Sprintf("%+v", l))
		}
		for p := range must.All(t, paymentdata.Newest(t.Context(), s.Log, address)) {
			all["payments "+address] = append(all["payments "+address], fmt.Sprintf("%+v", p))
		}
		for _, a := range must.Get(accounts.Load(t.Context(), s.Series, address))(t) {
			all["state "+address] = append(all["state "+address], string(accounts.Append(nil, a)))
		}
	}
	return all
}

// TestHoursGiveTheRowsOfANodesFiles: a venue runs for some hours; what is stored of its node's files equals what is
// stored of the hours that it publishes, whatever happened to them on the way: read at once, by a process that is
// killed often, or with an hour that came when it had been passed over.
func TestHoursGiveTheRowsOfANodesFiles(t *testing.T) {
	t.Parallel()
	const hours = 3
	bucket, nodeDir, wrote, first := publishedVenue(t, hours)
	if len(wrote.Fills) < 300 || len(wrote.Ledgers) < 20 || len(wrote.Payments) < 100 {
		t.Fatalf("the venue made %d fills, %d ledger updates, %d payments", len(wrote.Fills), len(wrote.Ledgers), len(wrote.Payments))
	}
	all := func(p *engine.Pipeline[*Batch]) func() bool {
		return func() bool {
			missing, err := filldata.Missing(t.Context(), p.Stores.Log, wrote.Fills)
			return err == nil && missing == 0 && p.Stats.Events.Load() >= int64(wrote.Len()) && p.Stats.CatchingUp.Load() == 0
		}
	}
	hoursOf := func(stores engine.Stores) *engine.Pipeline[*Batch] {
		c := Config{Stores: stores, Logger: quiet, Hours: bucket, HoursOf: HoursSettings{Since: time.Since(first)}, hoursPoll: 20 * time.Millisecond}
		return newPipeline(stores, hoursSource(c.venueHours(), nil))
	}
	atOnce := newStores(t)
	p := hoursOf(atOnce)
	stop := run(t, p)
	testenv.Until(t, "all hours are stored", all(p))
	testenv.Until(t, "readers learn up to when", func() bool {
		v := must.Get(store.OrZero(delivered.Published(Name).Open(atOnce.Views, time.Now).Get(t.Context())))(t)
		until := first.Add(hours * time.Hour).UnixMilli()
		return v["fills"].Until == until && v["ledgers"].Until == until && v["payments"].Until == until
	})
	must.Do(t, stop())
	want := rowsOf(t, atOnce, &wrote)

	node := newStores(t)
	of := Config{Stores: node, Logger: quiet, NodeDir: nodeDir}
	var sources []engine.Source[*Batch] // those of which hours are published
	for _, s := range of.nodeSources(nil) {
		if strings.HasPrefix(s.Name, "node_fills_by_block") || strings.HasPrefix(s.Name, "misc_events_by_block") {
			sources = append(sources, s)
		}
	}
	p = newPipeline(node, sources...)
	stop = run(t, p)
	testenv.Until(t, "all of the node's files is stored", all(p))
	testenv.Until(t, "the states of all accounts are made again from the logs", func() bool {
		got := must.Get(accounts.Load(t.Context(), node.Series, addressesOf(&wrote)...))(t)
		return len(got) == len(addressesOf(&wrote))
	})
	must.Do(t, stop())
	check := func(what string, stores engine.Stores) {
		t.Helper()
		if diff := cmp.Diff(want, rowsOf(t, stores, &wrote)); diff != "" {
			t.Errorf("%s (-hours +%s):\n%.3000s", what, what, diff)
		}
	}
	check("node", node)

	// Trades were fills of their accounts before: nothing is folded of them, and the hours replace them all.
	public := newStores(t)
	trades := market.AppendTrades(nil, wrote.Fills)
	live := func(h *hyperliquid.Hours) engine.Source[*Batch] {
		return engine.Source[*Batch]{Name: "hyperliquid", NoCheckpoint: true, Stats: new(source.Stats), Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			to := Config{Stores: public, Logger: quiet}.withProvisional(h, toBatches(sink, false))
			if err := to(ctx, hyperliquid.Delivery{Events: market.Events{Trades: trades}}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}}
	}
	p = newPipeline(public, live(nil))
	stop = run(t, p)
	provisional := market.AppendProvisional(nil, trades)
	testenv.Until(t, "the public trades are fills", func() bool {
		missing, err := filldata.Missing(t.Context(), public.Log, provisional)
		return err == nil && missing == 0 && p.Stats.CatchingUp.Load() == 0
	})
	must.Do(t, stop())
	if known := must.Get(accounts.Load(t.Context(), public.Series, addressesOf(&wrote)...))(t); len(known) > 0 || len(provisional) != 2*len(trades) {
		t.Errorf("%d trades give %d fills, of which %d accounts are folded", len(trades), len(provisional), len(known))
	}
	both := Config{Stores: public, Logger: quiet, Hours: bucket, HoursOf: HoursSettings{Since: time.Since(first)}, hoursPoll: 20 * time.Millisecond}
	venueHours := both.venueHours()
	p = newPipeline(public, live(venueHours), hoursSource(venueHours, nil))
	stop = run(t, p)
	testenv.Until(t, "all hours are stored", hoursRead(t, public, p, first.Add(hours*time.Hour)))
	must.Do(t, stop())
	check("public trades first", public)
	for _, one := range p.Projections {
		if states, ok := one.(*accountStates); ok {
			if n := states.figures.rebuilt.Load(); n > 0 {
				t.Errorf("%d accounts were made again as their hours came", n)
			}
		}
	}

	killed := newStores(t)
	for lives := 0; ; lives++ {
		p = hoursOf(killed)
		p.StopWithin = time.Nanosecond
		ctx, kill := context.WithCancel(t.Context())
		taken := 0
		p.Applied = func(b *Batch) {
			if taken += b.Len(); lives < 4 && taken > wrote.Len()/6 {
				kill()
			}
		}
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		if lives < 4 {
			<-ended
			kill()
			continue
		}
		testenv.Until(t, "all hours are stored", hoursRead(t, killed, p, first.Add(hours*time.Hour)))
		kill()
		<-ended
		break
	}
	check("killed often", killed)
}

// hoursRead reports whether all hours before one are stored.
func hoursRead(t *testing.T, stores engine.Stores, p *engine.Pipeline[*Batch], next time.Time) func() bool {
	return func() bool {
		body, err := stores.Series.Checkpoint(t.Context(), engine.Checkpoint(Name, "hours", ""))
		return err == nil && strings.Contains(string(body), fmt.Sprintf(`"hour":"%s/%d"`, next.Format("20060102"), next.Hour())) && p.Stats.CatchingUp.Load() == 0
	}
}

func TestHoursAreReadWhereTheyAreChosen(t *testing.T) {
	hours := HoursSettings{"hl-mainnet-node-data", "ap-northeast-1", 168 * time.Hour}
	for name, c := range map[string]struct {
		accounts, node string
		want           HoursSettings
	}{
		"as it is":      {"", "", HoursSettings{}},
		"off":           {"off", "", HoursSettings{}},
		"live":          {"live", "", HoursSettings{}},
		"hours":         {"hours", "", hours},
		"beside a node": {"hours", t.TempDir(), hours},
	} {
		t.Setenv(catalog.EnvAccounts.Name, c.accounts)
		t.Setenv(catalog.EnvNodeDir.Name, c.node)
		var env config.Env
		got := Settings(&env)
		if got.HoursOf != c.want || env.Err() != nil {
			t.Errorf("%s: %+v, %v; want %+v", name, got.HoursOf, env.Err(), c.want)
		}
		if want := c.node == "" && (c.accounts == "live" || c.accounts == "hours"); got.Provisional != want {
			t.Errorf("%s: public trades are fills at once: %t", name, got.Provisional)
		}
	}
	t.Setenv(catalog.EnvAccounts.Name, "everything")
	var env config.Env
	if Settings(&env); env.Err() == nil {
		t.Error("accounts may be everything")
	}
}
