package perp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/localstack/sim/venue"
	"quotary/shared/data/meta"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// simVenue is the simulated venue, which keeps books of its own, and what its node has
// written. It shares no code with what it is compared with.
type simVenue struct {
	t       testing.TB
	venue   *venue.Venue
	answers http.Handler
	dir     string           // of the node
	read    map[string]int64 // how far each of the node's files was read
	markets *market.Markets
	coins   []string // of perpetuals
	dexes   []string

	changes map[string]adjusted // of each account, as they were when they were asked for last
	untold  map[string]int64    // ledger updates of each account of which no rule tells what they moved
}

// adjusted is how often an account changed its open positions, and its mode, by what no
// stream of the node tells.
type adjusted struct {
	leverage, marginIn, marginOut, mode int64
	untold                              int64 // ledger updates of which no rule tells what they moved
}

// simDuster is the account by which the venue sells the dust of all. What it takes over is
// told by the fills of those alone to whom it belonged, so that nothing is to be known of it.
const simDuster = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

// simForeign is the dex whose collateral is another token than USDC.
const simForeign = "simh"

// nodeStream is a stream of a node's files.
type nodeStream struct {
	dir  string
	read func(e *market.Events, line string, offset int64) (skipped int, err error)
}

var (
	orderStream = nodeStream{"node_order_statuses_by_block", hyperliquid.ReadOrders}
	fillStream  = nodeStream{"node_fills_by_block", readFillLine}
	nodeStreams = []nodeStream{{"misc_events_by_block", hyperliquid.ReadMisc}, orderStream, fillStream}
)

// newSimVenue opens a venue that has not begun, whose prices jump often; it begins at a
// full hour some hours before a UTC day. With modes its accounts have every mode, and trade in
// three dexes with two collaterals.
func newSimVenue(t testing.TB, seed uint64, traders int, modes bool) *simVenue {
	t.Helper()
	began := time.Date(2026, 3, 15, 18, 0, 0, 0, time.UTC)
	return openSimVenue(t, began, venue.Config{Seed: seed, Traders: traders, FillsPerSecond: 60, JumpEvery: time.Hour, Modes: modes})
}

// openSimVenue opens a venue that begins at a time.
func openSimVenue(t testing.TB, began time.Time, c venue.Config) *simVenue {
	t.Helper()
	s := &simVenue{t: t, dir: t.TempDir(), read: map[string]int64{}, changes: map[string]adjusted{}, untold: map[string]int64{}, dexes: []string{"", "sim"}}
	if c.Modes {
		s.dexes = append(s.dexes, simForeign)
	}
	c.NodeDir, c.Clock = s.dir, func() time.Time { return began }
	var err error
	if s.venue, err = venue.Open(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.venue.Close(); err != nil {
			t.Error(err)
		}
	})
	s.answers = s.venue.Handler()
	s.describe()
	return s
}

// describe reads what the venue says of its markets.
func (s *simVenue) describe() {
	m := s.meta()
	s.markets = (&meta.View{Time: m.Time, Perps: m.Perps, Spot: m.Spot}).Markets()
	for coin := range s.markets.Perps {
		s.coins = append(s.coins, coin)
	}
	slices.Sort(s.coins)
}

func (s *simVenue) meta() *market.Meta {
	m := &market.Meta{Time: s.venue.Now().UnixMilli(), Perps: map[string]json.RawMessage{}, Spot: s.ask(`"type":"spotMeta"`)}
	for _, dex := range s.dexes {
		m.Perps[dex] = s.ask(`"type":"meta","dex":"` + dex + `"`)
	}
	return m
}

// ask is what the venue answers to a request of some members.
func (s *simVenue) ask(members string) []byte {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/info", strings.NewReader("{"+members+"}"))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if s.answers.ServeHTTP(w, r); w.Code != http.StatusOK {
		s.t.Fatalf("the venue answers %s with %d: %s", members, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// vaults are those that the venue lists, as it writes them.
func (s *simVenue) vaults() (all []market.Vault) {
	var list []struct {
		Name, VaultAddress, Leader string
		IsClosed                   bool
		CreateTimeMillis           int64
	}
	must.Do(s.t, json.Unmarshal(s.ask(`"type":"vaultSummaries"`), &list))
	for _, v := range list {
		all = append(all, market.Vault{Address: v.VaultAddress, Leader: v.Leader, Name: v.Name, Created: v.CreateTimeMillis, Closed: v.IsClosed})
	}
	return all
}

func (s *simVenue) askOf(what, address, more string) []byte {
	return s.ask(fmt.Sprintf(`"type":%q,"user":%q%s`, what, address, more))
}

// step makes the venue go on for a time, and reads what its node has written: many small
// blocks, or one long one from half a minute on.
func (s *simVenue) step(d time.Duration) *Batch {
	s.t.Helper()
	to := s.venue.Now().Add(d)
	advance := s.venue.Advance
	if d >= 30*time.Second {
		advance = s.venue.Skip
	}
	must.Do(s.t, advance(to))
	b := NewBatch()
	for _, stream := range nodeStreams {
		s.readOn(stream, func() *market.Events { return &b.Events })
	}
	return b
}

// block makes the venue go on by one block, a quick one.
func (s *simVenue) block() (b *Batch) {
	s.t.Helper()
	before := s.venue.Now()
	for d := 10 * time.Millisecond; s.venue.Now().Equal(before); d += 10 * time.Millisecond {
		b = s.step(d)
	}
	return b
}

// readOn reads what a stream's files have behind what was read before, each line to what to
// returns.
func (s *simVenue) readOn(stream nodeStream, to func() *market.Events) {
	s.t.Helper()
	must.Do(s.t, filepath.WalkDir(filepath.Join(s.dir, stream.dir), func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() == s.read[path] {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		more := make([]byte, info.Size()-s.read[path])
		if _, err := file.ReadAt(more, s.read[path]); err != nil {
			return err
		}
		for line := range bytes.Lines(more) {
			if skipped, err := stream.read(to(), string(bytes.TrimSpace(line)), s.read[path]); skipped > 0 || err != nil {
				return fmt.Errorf("%d events of a line were skipped: %w", skipped, err)
			}
			s.read[path] += int64(len(line))
		}
		return nil
	}))
}

// contexts are the figures of all coins, with their marks.
func (s *simVenue) contexts() (all []market.Contexts) {
	s.t.Helper()
	ms := s.venue.Now().UnixMilli()
	for _, dex := range s.dexes {
		c := must.Get(wire.ParseContexts(dex, ms, s.ask(`"type":"metaAndAssetCtxs","dex":"`+dex+`"`)))(s.t)
		all = append(all, c)
	}
	c := must.Get(wire.ParseSpotContexts(ms, s.ask(`"type":"spotMetaAndAssetCtxs"`)))(s.t)
	return append(all, c)
}

// marks are the mark prices of all coins.
func (s *simVenue) marks() market.Marks {
	marks := market.Marks{}
	for _, c := range s.contexts() {
		for i := range c.Coins {
			marks[c.Coins[i].Coin] = c.Coins[i].Mark
		}
	}
	return marks
}

// anchor is all that the venue says of an account.
func (s *simVenue) anchor(address string) market.Anchor {
	s.t.Helper()
	mode := must.Get(wire.ParseMode(s.askOf("userAbstraction", address, "")))(s.t)
	a := market.Anchor{Address: address, Mode: mode, Leverages: map[string]market.Leverage{}, Orders: s.orders(address)}
	for _, dex := range s.dexes {
		a.Dexes = append(a.Dexes, s.state(address, dex))
	}
	a.Spot, a.SpotTime = s.balances(address), a.Dexes[0].Time
	for _, coin := range s.coins {
		leverage := must.Get(wire.ParseLeverage(s.askOf("activeAssetData", address, `,"coin":"`+coin+`"`)))(s.t)
		a.Leverages[coin] = leverage
	}
	return a
}

// untold are the types of ledger updates of which no rule tells what they move.
var untold = map[string]bool{"simulatedGrant": true, "activateDexAbstraction": true}

// adjusted lists the accounts that changed a leverage, an isolated margin or their mode, or
// had a ledger update that nobody explains, since it listed them last, with how often. Only a
// new anchor tells of it; as one is of no use while fills are far behind it, it lists none
// after a step without any at its end.
func (s *simVenue) adjusted(b *Batch) map[string]adjusted {
	for i := range b.Ledgers {
		if l := &b.Ledgers[i]; untold[l.Type] {
			s.untold[l.Address]++
		}
	}
	list := map[string]adjusted{}
	if n := len(b.Fills); n == 0 || s.venue.Now().UnixMilli()-b.Fills[n-1].Time > 20_000 {
		return list
	}
	for _, address := range s.venue.Truth().Addresses {
		if now, had := s.adjustments(address), s.changes[address]; now != had {
			list[address] = adjusted{now.leverage - had.leverage, now.marginIn - had.marginIn, now.marginOut - had.marginOut, now.mode - had.mode, now.untold - had.untold}
			s.changes[address] = now
		}
	}
	return list
}

// adjustments are those of an account until now.
func (s *simVenue) adjustments(address string) adjusted {
	truth := s.venue.TruthOf(address)
	return adjusted{truth.LeverageChanges, truth.MarginAdded, truth.MarginRemoved, truth.Modes, s.untold[address]}
}

func (s *simVenue) state(address, dex string) market.AccountState {
	s.t.Helper()
	return must.Get(wire.ParseAccount(s.askOf("clearinghouseState", address, `,"dex":"`+dex+`"`), dex))(s.t)
}

func (s *simVenue) balances(address string) []market.SpotBalance {
	s.t.Helper()
	balances, _, err := wire.ParseSpotBalances(s.askOf("spotClearinghouseState", address, ""))
	must.Do(s.t, err)
	return balances
}

// orders are the open orders of an account in all dexes.
func (s *simVenue) orders(address string) []market.OrderStatus {
	s.t.Helper()
	list := []market.OrderStatus{}
	for _, dex := range s.dexes {
		var raws []json.RawMessage
		must.Do(s.t, json.Unmarshal(s.askOf("frontendOpenOrders", address, `,"dex":"`+dex+`"`), &raws))
		for _, raw := range raws {
			order := must.Get(wire.ParseOpenOrder(raw, address, s.venue.Now().UnixMilli()))(s.t)
			list = append(list, order)
		}
	}
	return list
}
