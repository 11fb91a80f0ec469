package feeds

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/whales"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func whaleEvent(user, coin string, ms int64) whales.Event {
	return whales.Event{Time: ms, User: user, Coin: coin, Action: market.PositionAdded, Size: market.DecimalFromInt(2), Value: market.DecimalFromInt(2_000_000)}
}

func whaleRow(user, coin string, ms int64) string {
	at := catalog.Timestamp(time.UnixMilli(ms))
	return fmt.Sprintf(`{"user":%q,"symbol":%q,"coin":%q,"marginMode":null,"positionSize":"2.0","entryPrice":null,"liqPrice":null,"positionValueUsd":"2000000.0","positionAction":3,"createTime":%q}`, user, coin, coin, at)
}

func TestWhaleEventsStartWithTheLastAndGoOnBehindACursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	folded, start := new(fold), w.clock().UnixMilli()-60_000
	folded.known.Keep(whaleEvent(alice, "ETH", start))
	apply := func(events ...whales.Event) {
		folded.whales = events
		f.Applied(new(market.Events), folded)
	}
	apply()
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.WhaleEvents})
	w.sent("one", 2)
	w.subscribe("one", channel.Subscription{Type: channel.WhaleEvents, Coin: "BTC"})
	w.sent("one", 4)
	apply(whaleEvent(bob, "BTC", start+1), whaleEvent(alice, "ETH", start+2))
	first, second, third := whaleRow(alice, "ETH", start), whaleRow(bob, "BTC", start+1), whaleRow(alice, "ETH", start+2)
	got := w.sent("one", 6)
	wants(t, strings.Join(got[:4], "\n"),
		`{"reply":{"of":"whaleEvents","activeCount":1}}`, `{"channel":"whaleEvents","data":[`+first+`],"isSnapshot":true}`,
		`{"reply":{"of":"whaleEvents","activeCount":2}}`, `{"channel":"whaleEvents","data":[],"isSnapshot":true}`)
	all := strings.Join(got[4:], "\n")
	for _, frame := range []string{`{"channel":"whaleEvents","data":[` + second + `,` + third + `]}`, `{"channel":"whaleEvents","data":[` + second + `]}`} {
		if strings.Count(all, frame) != 1 {
			t.Errorf("not once %s in\n%s", frame, all)
		}
	}
	w.connect("two", channel.FeedChannels)
	w.subscribe("two", channel.Subscription{Type: channel.WhaleEvents}, channel.Resume{Since: start + 1})
	wants(t, strings.Join(w.sent("two", 2), "\n"), `{"reply":{"of":"whaleEvents","activeCount":1}}`, `{"channel":"whaleEvents","data":[`+second+`,`+third+`]}`)
}

func TestWhatIsNoLongerKeptOfWhalesIsIncomplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	folded, start := new(fold), w.clock().UnixMilli()-60_000
	for i := range int64(whales.MostEvents) {
		folded.known.Keep(whaleEvent(alice, "BTC", start+i))
	}
	f.Applied(new(market.Events), folded)
	for i, c := range []struct {
		coin       string
		since      int64
		incomplete bool
	}{{"BTC", start - 1, true}, {"BTC", start, false}, {"", start - 1, true}} {
		id := fmt.Sprint("conn", i)
		w.connect(id, channel.FeedChannels)
		w.subscribe(id, channel.Subscription{Type: channel.WhaleEvents, Coin: c.coin}, channel.Resume{Since: c.since})
		if got := strings.Contains(strings.Join(w.sent(id, 2), "\n"), `"incomplete":true`); got != c.incomplete {
			t.Errorf("%q since %d: incomplete is %t", c.coin, c.since, got)
		}
	}
}

// What is kept of all coins is tens of thousands of events: of these no more than what arrived lately
// is looked at under the lock that everybody's events wait for, and all before.
func TestAReplayOfWhalesHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	ws := f.publishers[string(channel.WhaleEvents)].(*whaleEvents)
	now := w.clock()
	ws.arriving.mu.Lock()
	for coin := range 20 {
		for n := range int64(whales.MostEvents) {
			e := whaleEvent(alice, fmt.Sprint("C", coin), now.UnixMilli()-n*60_000)
			e.Arrival = market.ArrivalAt(time.UnixMilli(e.Time))
			ws.newest.Keep(e)
		}
	}
	ws.arriving.mu.Unlock()
	since := now.Add(-10*time.Minute - time.Second)
	for about, coins := range map[string]int{"": 20, "C7": 1} {
		r := newReplay(string(channel.WhaleEvents), ws, channel.Resume{Since: since.UnixMilli()}, []string{about})
		must.Do(t, r.read(t.Context(), f))
		read := len(r.events)
		ws.arriving.mu.Lock()
		recent := len(ws.recent(map[string]bool{about: true}))
		r.frames(f.arriving)
		ws.arriving.mu.Unlock()
		if want := 11 * coins; read != want || len(r.events) != want || recent > 3*coins {
			t.Errorf("%q: %d events are read, then %d are recent, and %d shown: want %d", about, read, recent, len(r.events), want)
		}
	}
}
