package perp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/localstack/venue"
	"quotary/shared/data/openorders"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/source/hyperliquid/wire"
)

// simulated is a venue of the local stack with the files of its node.
type simulated struct {
	*venue.Venue
	dir string
	url string
	at  time.Time // to which it was advanced
}

func newSimulated(t *testing.T) *simulated {
	t.Helper()
	s := &simulated{dir: t.TempDir(), at: time.Date(2026, 3, 15, 9, 58, 0, 0, time.UTC)}
	var err error
	s.Venue, err = venue.Open(venue.Config{Seed: 12, Traders: 120, FillsPerSecond: 60, NodeDir: s.dir, Clock: func() time.Time { return s.at }, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(func() { _ = s.Close() })
	s.url = server.URL
	return s
}

func (s *simulated) advance(t *testing.T, d time.Duration) {
	t.Helper()
	s.at = s.at.Add(d)
	if err := s.Advance(s.at); err != nil {
		t.Fatal(err)
	}
}

// info asks the venue itself.
func (s *simulated) info(t *testing.T, question map[string]any, to any) {
	t.Helper()
	answer, err := http.Post(s.url+"/info", "application/json", strings.NewReader(string(mustJSON(question))))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v: %d %.200s (%v)", question, answer.StatusCode, body, err)
	}
	if err := json.Unmarshal(body, to); err != nil {
		t.Fatalf("%v: %v", question, err)
	}
}

// dexes are those of the venue, the main one as "".
func (s *simulated) dexes(t *testing.T) []string {
	t.Helper()
	var list []*struct{ Name string }
	s.info(t, map[string]any{"type": "perpDexs"}, &list)
	names := []string{""}
	for _, dex := range list {
		if dex != nil {
			names = append(names, dex.Name)
		}
	}
	return names
}

// open is what the venue lists of every account, as anchors.
func (s *simulated) open(t *testing.T) (anchors []market.Anchor) {
	t.Helper()
	ms := s.Now().UnixMilli()
	dexes := s.dexes(t)
	for _, address := range s.Truth().Addresses {
		a := market.Anchor{Address: address, Listed: map[string]int64{}}
		for _, dex := range dexes {
			a.Listed[dex] = ms
			var list []json.RawMessage
			s.info(t, map[string]any{"type": "frontendOpenOrders", "user": address, "dex": dex}, &list)
			for _, raw := range list {
				o, err := wire.ParseOpenOrder(raw, address, ms)
				if err != nil {
					t.Fatal(err)
				}
				a.Orders = append(a.Orders, o)
			}
		}
		anchors = append(anchors, a)
	}
	return anchors
}

// lines are those that a stream of the node has from byte from on, and where it ends.
func (s *simulated) lines(t *testing.T, stream string, from int) (lines []string, to int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, stream, "hourly", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) }) // hours have no leading zero
	var all []byte
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, body...)
	}
	for line := range strings.Lines(string(all[from:])) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, len(all)
}

// batches are what the node wrote of orders and of fills behind some bytes, a block each.
func (s *simulated) batches(t *testing.T, from [2]int) (orders, fills []*Batch, to [2]int) {
	t.Helper()
	lines, end := s.lines(t, hyperliquid.OrderStreams[0], from[0])
	to[0] = end
	for _, line := range lines {
		b := NewBatch()
		if _, err := hyperliquid.ReadOrders(&b.Events, line, 0); err != nil {
			t.Fatal(err)
		}
		orders = append(orders, b)
	}
	lines, to[1] = s.lines(t, hyperliquid.Streams[0], from[1])
	for _, line := range lines {
		b := NewBatch()
		var err error
		if b.Fills, _, err = wire.ParseFills(nil, line, 0); err != nil {
			t.Fatal(err)
		}
		fills = append(fills, b)
	}
	return orders, fills, to
}

// published are the views of the projection after batches.
func published(t *testing.T, p *openOrders, batches ...*Batch) map[string][]byte {
	t.Helper()
	for _, b := range batches {
		if err := p.Apply(b, nil, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	views := map[string][]byte{}
	for _, v := range p.Changes(time.UnixMilli(base), true).Views {
		views[v.Name] = v.Body
	}
	return views
}

// wanted are the orders that rest by what the venue lists, by order id.
func wanted(anchors []market.Anchor) map[int64]string {
	all := map[int64]string{}
	for _, a := range anchors {
		for _, s := range a.Orders {
			if s.IsTrigger && s.TriggerCondition != "Triggered" {
				continue
			}
			all[s.Oid] = fmt.Sprint(s.Address, s.Coin, s.Side, s.LimitPx, s.Sz, s.OrigSz, s.Timestamp, s.ReduceOnly, s.Tif)
		}
	}
	return all
}

// same wants the views to say what the venue says, to the last digit.
func (s *simulated) same(t *testing.T, views map[string][]byte) {
	t.Helper()
	table, err := openorders.DecodeTable(views[openorders.TableName])
	if err != nil {
		t.Fatal(err)
	}
	want, got := wanted(s.open(t)), map[int64]string{}
	type level struct {
		coin, side, px string
	}
	type rest struct {
		n  int64
		sz market.Decimal
	}
	levels, values := map[level]rest{}, map[string]rest{}
	for o := range table.All() {
		if o.Sz.Coef == 0 {
			t.Errorf("nothing rests of order %d, which is open", o.Oid)
		}
		px, sz, side := market.Text(o.Px.Decimal()), market.Text(o.Sz.Decimal()), o.Side.String()
		got[o.Oid] = fmt.Sprint(o.Address(), o.Coin, side, px, sz, market.Text(o.OrigSz.Decimal()), o.Placed, o.ReduceOnly, o.Tif)
		l := levels[level{o.Coin, side, px}]
		levels[level{o.Coin, side, px}] = rest{l.n + 1, l.sz.Add(o.Sz.Decimal())}
		v := values[o.Coin+side]
		values[o.Coin+side] = rest{v.n + 1, v.sz.Add(o.Value())}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%d orders, want %d (-venue +product):\n%.2000s", len(got), len(want), diff)
	}
	top, err := openorders.DecodeTop(views[openorders.TopName])
	if err != nil {
		t.Fatal(err)
	}
	sums, err := openorders.DecodeValues(views[openorders.ValuesName])
	if err != nil {
		t.Fatal(err)
	}
	compared, triggers := 0, 0
	for coin, of := range sums.Coins {
		for side, one := range map[string]openorders.SideValues{"B": of.Bids, "A": of.Asks} {
			if v := values[coin+side]; v.n != one.Count() || !v.sz.Equal(one.Sum) {
				t.Errorf("%s %s: %d of %s, want %d of %s", coin, side, one.Count(), one.Sum, v.n, v.sz)
			}
		}
		var book struct {
			Levels [2][]struct {
				Px, Sz string
				N      int64
			}
		}
		s.info(t, map[string]any{"type": "l2Book", "coin": coin}, &book)
		for i, side := range []string{"B", "A"} {
			for _, l := range book.Levels[i] {
				if have := levels[level{coin, side, l.Px}]; have.n != l.N || market.Text(have.sz) != l.Sz {
					t.Errorf("%s %s at %s: %d orders of %s, the book has %d of %s", coin, side, l.Px, have.n, have.sz, l.N, l.Sz)
				}
				compared++
			}
		}
		list, err := top.Of(coin)
		if err != nil || len(list) != min(market.TopOrders, int(of.Bids.Count()+of.Asks.Count())) {
			t.Errorf("%d of %s are listed: %v", len(list), coin, err)
		}
		if !slices.IsSortedFunc(list, func(a, b market.OpenOrder) int { return b.Value().Cmp(a.Value()) }) {
			t.Errorf("those of %s are not sorted by value", coin)
		}
	}
	for _, a := range s.open(t) {
		for _, o := range a.Orders {
			if o.IsTrigger {
				triggers++
			}
		}
	}
	if len(got) < 300 || compared < 100 || triggers == 0 {
		t.Errorf("%d orders, %d levels and %d triggers that wait were compared: too few to mean anything", len(got), compared, triggers)
	}
	t.Logf("%d orders, %d levels, %d triggers that wait", len(got), compared, triggers)
}

// TestOpenOrdersAreThoseOfTheVenue reads all that a node wrote, fills and statuses in
// either order, and compares every order, level and sum with what the venue itself
// says; and again after a restart and more blocks.
func TestOpenOrdersAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	s.advance(t, 3*time.Minute) // beyond an hour's end
	orders, fills, at := s.batches(t, [2]int{})
	ahead, behind := newOpenOrders(), newOpenOrders()
	ahead.Joined()
	behind.Joined()
	views := published(t, ahead, append(slices.Clone(fills), orders...)...)
	s.same(t, views)
	if diff := cmp.Diff(timeless(t, views), timeless(t, published(t, behind, append(orders, fills...)...))); diff != "" {
		t.Errorf("statuses before fills end otherwise:\n%.2000s", diff)
	}
	again := newOpenOrders()
	if err := again.Restore(views); err != nil {
		t.Fatal(err)
	}
	again.Joined()
	s.advance(t, time.Minute)
	orders, fills, _ = s.batches(t, at)
	s.same(t, published(t, again, append(orders, fills...)...))
}

// TestOrdersFromBeforeTheNodeWasFollowedComeFromTheirAccounts follows the node from some
// block on, with what the venue listed of every account at that time.
func TestOrdersFromBeforeTheNodeWasFollowedComeFromTheirAccounts(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	s.advance(t, time.Minute)
	_, _, at := s.batches(t, [2]int{})
	p := newOpenOrders()
	p.Joined()
	before := &Batch{}
	before.Anchors = s.open(t)
	s.advance(t, time.Minute)
	orders, fills, _ := s.batches(t, at)
	views := published(t, p, append(append(fills[:len(fills)/2:len(fills)/2], before), append(fills[len(fills)/2:], orders...)...)...)
	s.same(t, views)
}
