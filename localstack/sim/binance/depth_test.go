package binance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"quotary/localstack/sim/trading"
)

// The changes of a stream turn a whole book into that of any later time, and their numbers
// follow those before.
func TestChangesOfABookFollowOneAnother(t *testing.T) {
	t.Parallel()
	x, _ := open(t)
	from := now.UnixMilli()
	const steps = 40
	for _, c := range []struct {
		m      *Market
		stream string
		every  int64 // ms
	}{
		{x.Market("BTCUSDT", false), "btcusdt@depth", 1000},
		{x.Market("BTCUSDT", false), "btcusdt@depth@100ms", 500},
		{x.Market("BTCUSDT", true), "btcusdt@depth@500ms", 500},
		{x.Market("ETHUSD_PERP", true), "ethusd_perp@depth", 500},
	} {
		t.Run(fmt.Sprint(c.stream, kindOf(c.m)), func(t *testing.T) {
			t.Parallel()
			k := kindOf(c.m)
			updates := x.depthUpdates(c.stream, k, from+1, from+steps*c.every+1)
			if len(updates) != steps {
				t.Fatalf("%d updates, want %d", len(updates), steps)
			}
			of := func(levels []trading.Level) map[string]string {
				sizes := map[string]string{}
				for _, l := range written(c.m, levels) {
					sizes[l[0]] = l[1]
				}
				return sizes
			}
			change := func(sizes map[string]string, levels [][2]string) {
				for _, l := range levels {
					if sizes[l[0]] = l[1]; l[1] == c.m.Lots(0) {
						delete(sizes, l[0])
					}
				}
			}
			b, a := c.m.Book(from)
			bids, asks := of(b), of(a)
			last := lastNumber(from)
			for i, u := range updates {
				change(bids, u.Bids)
				change(asks, u.Asks)
				if k == spot && (u.First != last+1 || u.Prev != 0 || u.Time != 0) || k != spot && (u.Prev != last || u.First <= last+1 || u.Time != from+int64(i+1)*c.every) {
					t.Fatalf("after number %d: %+v", last, u)
				}
				last = u.Last
			}
			to := from + steps*c.every
			if b, a = c.m.Book(to); last != lastNumber(to) || !maps.Equal(bids, of(b)) || !maps.Equal(asks, of(a)) {
				t.Errorf("at number %d %v and %v, want %v and %v at number %d", last, bids, asks, of(b), of(a), lastNumber(to))
			}
		})
	}
	for _, stream := range []string{"btcusdt@depth@500ms", "btcusdt@depth20", "nothing@depth", "btcusdt"} {
		if list := x.depthUpdates(stream, spot, from, from+5000); len(list) > 0 {
			t.Errorf("%s has %d updates", stream, len(list))
		}
	}
	halted := x.Market("SOLUSDT", false)
	x.Halt(halted, true)
	if list := x.depthUpdates("solusdt@depth", spot, from, from+5000); len(list) > 0 {
		t.Errorf("a market that is halted has %d updates", len(list))
	}
}

func TestWholeBooksAndTheirWeights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, symbol  string
		k             kind
		limit, levels int
		weight        string
	}{
		{"/api/v3", "ETHUSDT", spot, 100, 0, "5"}, {"/api/v3", "ETHUSDT", spot, 500, 0, "25"}, {"/api/v3", "ETHUSDT", spot, 1000, 0, "50"}, {"/api/v3", "ETHUSDT", spot, 5000, 0, "250"},
		{"/fapi/v1", "ETHUSDT", usdm, 5, 5, "2"}, {"/fapi/v1", "ETHUSDT", usdm, 100, 0, "5"}, {"/fapi/v1", "ETHUSDT", usdm, 500, 0, "10"}, {"/fapi/v1", "ETHUSDT", usdm, 1000, 0, "20"},
		{"/dapi/v1", "ETHUSD_PERP", coinm, 10, 10, "2"}, {"/dapi/v1", "ETHUSD_PERP", coinm, 1000, 0, "20"},
	} {
		x, url := open(t)
		m := x.marketOf(c.symbol, c.k)
		var got struct {
			LastUpdateID int64
			T            int64
			Bids, Asks   [][2]string
		}
		header := get(t, fmt.Sprintf("%s%s/depth?symbol=%s&limit=%d", url, c.path, c.symbol, c.limit), http.StatusOK, &got)
		bids, asks := m.Book(now.UnixMilli())
		if c.levels > 0 {
			bids, asks = bids[:c.levels], asks[:c.levels]
		}
		if got.LastUpdateID != lastNumber(now.UnixMilli()) || !slices.Equal(got.Bids, written(m, bids)) || !slices.Equal(got.Asks, written(m, asks)) {
			t.Errorf("%s, %d levels: %+v", c.path, c.limit, got)
		}
		if want := now.Truncate(time.Duration(trading.BookEvery) * time.Millisecond).UnixMilli(); c.k != spot && got.T != want {
			t.Errorf("%s: of %d, want %d", c.path, got.T, want)
		}
		if used := header.Get("X-Mbx-Used-Weight-1m"); used != c.weight {
			t.Errorf("%s, %d levels: a weight of %s, want %s", c.path, c.limit, used, c.weight)
		}
	}
	_, url := open(t)
	for _, query := range []string{"symbol=NOTHING", "symbol=BTCUSDT&limit=0", "symbol=BTCUSDT&limit=1001", "symbol=BTCUSDT&limit=x"} {
		var f fault
		if get(t, url+"/fapi/v1/depth?"+query, http.StatusBadRequest, &f); f.Code >= 0 {
			t.Errorf("%s: %+v", query, f)
		}
	}
}
