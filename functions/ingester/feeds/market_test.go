package feeds

import (
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestABookStartsWithTheLastFrameAndGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	f.publish(&market.Events{Books: []market.Book{book("BTC", 1, "105056.0")}})
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC", NSigFigs: 2})
	w.subscribe("one", channel.Subscription{Type: channel.BBO, Coin: "BTC"})
	w.sent("one", 6)
	f.publish(&market.Events{Books: []market.Book{book("BTC", 2, "105055.0")}})
	got := strings.Join(w.sent("one", 9), "\n")
	wants(t, got,
		`{"reply":{"of":"l2Book","activeCount":1}}`,
		`{"channel":"l2Book","data":{"coin":"BTC","time":1,"levels":[[{"px":"105056.0","sz":"1.5","n":2}],[{"px":"105057.0","sz":"0.25","n":1}]]}}`,
		`{"reply":{"of":"l2Book","activeCount":2}}`,
		`{"channel":"l2Book","data":{"coin":"BTC","time":1,"levels":[[{"px":"100000.0","sz":"1.5","n":2}],[{"px":"110000.0","sz":"0.25","n":1}]]}}`,
		`{"reply":{"of":"bbo","activeCount":1}}`,
		`{"channel":"bbo","data":{"coin":"BTC","time":1,"bbo":[{"px":"105056.0","sz":"1.5","n":2},{"px":"105057.0","sz":"0.25","n":1}]}}`,
		`"time":2`, `"time":2`, `"time":2`)
}

func TestAFastBookIsTheBestFivePricesOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	deep := market.Book{Coin: "BTC", Time: 1}
	for n := range 7 {
		deep.Bids = append(deep.Bids, market.Level{Px: fmt.Sprint(1000 - 10*n), Sz: "1", N: 1})
		deep.Asks = append(deep.Asks, market.Level{Px: fmt.Sprint(1010 + 10*n), Sz: "1", N: 1})
	}
	f.publish(&market.Events{Books: []market.Book{deep}})
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC", Fast: true})
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC", NSigFigs: 3, Fast: true})
	w.sent("one", 6)
	deep.Time = 2
	f.publish(&market.Events{Books: []market.Book{deep}})
	prices := map[int]int{}
	for i, frame := range w.sent("one", 9) {
		if i%2 == 1 && i < 6 || i >= 6 {
			prices[strings.Count(frame, `"px"`)]++
		}
	}
	if want := map[int]int{14: 2, 10: 4}; !maps.Equal(prices, want) {
		t.Errorf("frames by their prices: %v, want %v", prices, want)
	}
}

func TestASilentBookIsMarkedStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now()
	w.set(began)
	f, _ := w.run()
	w.caughtUp(f)
	f.publish(&market.Events{Books: []market.Book{book("BTC", 1, "105056.0")}})
	w.set(began.Add(Silence))
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
	frame := w.sent("one", 2)[1]
	if !strings.HasSuffix(frame, `,"stale":true}}`) {
		t.Errorf("a snapshot of a silent book is %s", frame)
	}
	if again := string(markStale([]byte(frame))); again != frame {
		t.Errorf("marked twice: %s", again)
	}
	if marked := string(markStale([]byte(strings.Replace(frame, `,"stale":true`, "", 1)))); marked != frame {
		t.Errorf("marked: %s", marked)
	}
}

// TestABookIsJoinedHereWhereTheVenueDoesNot takes the venue's own joined books as
// long as they come, and else joins the plain ones.
func TestABookIsJoinedHereWhereTheVenueDoesNot(t *testing.T) {
	t.Parallel()
	began := time.Now()
	now := began
	b := newBooks(base{hub: hub.New(hub.Config{}), Config: &Config{Now: func() time.Time { return now }, Silence: Silence,
		Joined: hyperliquid.NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler))}}).(*books)
	coarse := hyperliquid.JoinedBook{Grouping: market.Grouping{Figs: 2, Mantissa: 1}, Coin: "BTC"}
	shows := func(when, want string) {
		t.Helper()
		if got := string(b.snapshot("BTC", coarse.Grouping, 0)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s the book is %q, want one with %q", when, got, want)
		}
	}
	plain := book("BTC", 1, "105056.0")
	b.publish(&plain)
	const here, venues = `"px":"100000.0","sz":"1.5"`, `"px":"100000.0","sz":"77.0"`
	shows("before anybody wants it", here)
	b.prepare("acme", &channel.Subscription{Type: channel.L2Book, Coin: "BTC", NSigFigs: coarse.Grouping.Figs})
	b.prepare("acme", &channel.Subscription{Type: channel.L2Book, Coin: "NONE", NSigFigs: coarse.Grouping.Figs})
	if _, ok := b.Joined.Since(hyperliquid.JoinedBook{Grouping: coarse.Grouping, Coin: "NONE"}); ok {
		t.Error("the venue is asked for a coin that there is not")
	}
	shows("while the venue is asked", "")
	now = began.Add(joinWait + time.Second)
	shows("when the venue does not answer", here)
	joined := market.Book{Coin: "BTC", Time: 2, Bids: []market.Level{{Px: "100000.0", Sz: "77.0", N: 9}}}
	b.publishJoined(coarse, &joined)
	plain.Time = 3
	b.publish(&plain)
	shows("when the venue has answered", venues)
	now = now.Add(Silence)
	b.publish(&plain)
	shows("when the venue has gone silent", here)
}

func TestNoBookWaitsUntilItIsSeenWhoFollowsAllBooks(t *testing.T) {
	t.Parallel()
	b := newBooks(base{Config: &Config{Now: time.Now, Joined: hyperliquid.NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler))}}).(*books)
	asked := &askedWithoutLock{Hub: hub.New(hub.Config{}), t: t, lock: &b.mu}
	b.hub = asked
	one := book("BTC", 1, "105056.0")
	b.publish(&one)
	if b.requestJoined(); asked.asked == 0 {
		t.Error("nobody is asked who follows books")
	}
}

// TestNobodysJoinedBooksTakeThePlacesOfAnother: the client of one distributor follows more
// books than the venue joins, before that of another follows one.
func TestNobodysJoinedBooksTakeThePlacesOfAnother(t *testing.T) {
	t.Parallel()
	f := New(Config{Joined: hyperliquid.NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler))})
	for i := range 60 {
		one := book(fmt.Sprint("C", i), 1, "105056.0")
		f.books.publish(&one)
	}
	follow := func(distributor, coin string, figs int) {
		t.Helper()
		s := channel.Subscription{Type: channel.L2Book, Coin: coin, NSigFigs: figs}
		topic, _ := f.topicOf(string(s.Type), &s)
		f.hub.Connect(hub.Conn{ID: distributor, Of: distributor})
		f.books.prepare(distributor, &s)
		must.Do(t, f.hub.Subscribe(distributor, topic, nil))
	}
	for i := range 60 {
		follow("loud", fmt.Sprint("C", i), 2)
	}
	f.books.requestJoined()
	if n := f.Waiting().Books; n != 10 {
		t.Errorf("%d books are left out, want 10", n)
	}
	follow("quiet", "C7", 3)
	f.books.requestJoined()
	if _, ok := f.Joined.Since(hyperliquid.JoinedBook{Grouping: market.Grouping{Figs: 3, Mantissa: 1}, Coin: "C7"}); !ok {
		t.Error("the venue does not join the only book of a distributor")
	}
	if n := f.Waiting().Books; n != 11 {
		t.Errorf("%d books are left out, want 11", n)
	}
}

func TestTheBestPricesComeFromWhicheverSourceIsAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.BBO, Coin: "BTC"})
	w.sent("one", 1)
	bid := market.Level{Px: "105058.0", Sz: "1.0", N: 1}
	w.eventually("the subscription", func() bool { return f.hub.Watched(string(channel.BBO) + " BTC") })
	f.publish(&market.Events{BBOs: []market.BBO{{Coin: "BTC", Time: 5, Bid: &bid}}})
	w.sent("one", 2)
	f.publish(&market.Events{Books: []market.Book{book("BTC", 4, "105056.0")}})      // behind
	f.publish(&market.Events{BBOs: []market.BBO{{Coin: "BTC", Time: 6, Bid: &bid}}}) // the same
	f.publish(&market.Events{Books: []market.Book{book("BTC", 7, "105059.0")}})
	got := w.sent("one", 3)
	wants(t, strings.Join(got[1:], "\n"), `"time":5,"bbo":[{"px":"105058.0","sz":"1.0","n":1},null]}}`, `"time":7,"bbo":[{"px":"105059.0"`)
}

func TestATradeIsPublishedOnceAndHistoryIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	now := time.Now()
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	if got := w.sent("one", 2)[1]; got != `{"channel":"trades","data":[]}` {
		t.Errorf("a snapshot without trades is %s", got)
	}
	events := market.Events{Fills: []market.Fill{fill(1, now.Add(-freshFor-time.Minute), "BTC"), fill(2, now, "BTC")}}
	f.publish(&events)
	f.publish(&events)
	f.publish(&market.Events{Trades: []market.Trade{{Coin: "BTC", Side: market.Sell, Time: now.UnixMilli(), Tid: 3, Users: [2]string{alice, bob}}}})
	got := w.sent("one", 4)
	wants(t, got[2], `{"channel":"trades","data":[{"coin":"BTC","side":"B","px":"100.5","sz":"2.0","hash":"0x01","time":`, `,"tid":2,"users":["`+alice+`",""]}]}`)
	wants(t, got[3], `"side":"A"`, `"tid":3,"users":["`+alice+`","`+bob+`"]}]}`)
	w.connect("two", channel.FeedChannels)
	w.subscribe("two", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	wants(t, w.sent("two", 2)[1], `"tid":2`, `"tid":3`)
}

// TestCandlesAreThoseOfTheStoredKlines lets the projections read a stored bucket
// and compares what a client is sent with their rows.
func TestCandlesAreThoseOfTheStoredKlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	minute := time.Now().Truncate(time.Minute)
	apply := func(klines *perp.Klines, fills ...market.Fill) {
		t.Helper()
		b, reads := &perp.Batch{Events: market.Events{Fills: fills}}, engine.NewReads()
		for {
			klines.Prefetch(b, reads)
			latestOf, rowsAt := reads.Wanted()
			if len(latestOf)+len(rowsAt) == 0 {
				break
			}
			latest := map[store.SeriesKey]time.Time{}
			for _, key := range latestOf {
				if p, ok, err := f.Series.Latest(t.Context(), key); err != nil {
					t.Fatal(err)
				} else if ok {
					latest[key] = p.Time
				}
			}
			rows := must.Get(f.Series.Load(t.Context(), rowsAt))(t)
			reads.Fill(latest, rows)
		}
		must.Do(t, klines.Apply(b, reads, w.clock()))
		f.Applied(&b.Events, &fold{Candles: klines})
	}
	earlier := perp.NewKlines()
	apply(earlier, fill(1, minute.Add(time.Second), "BTC"))
	must.Do(t, f.Series.Put(t.Context(), earlier.Changes(w.clock(), true).Fine))

	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.Candle, Coin: "BTC", Interval: "1m"})
	wants(t, w.sent("one", 2)[1], `"i":"1m"`, `"n":1`) // as it is stored
	klines := perp.NewKlines()
	apply(klines, fill(1, minute.Add(time.Second), "BTC"), fill(2, minute.Add(2*time.Second), "BTC"))
	wants(t, w.sent("one", 3)[2], `"i":"1m"`, `"v":"4.0"`, `"a":"402.0"`, `"vb":"4.0"`, `"ab":"402.0"`, `"n":2,"nb":2}`)
	apply(klines, fill(3, minute.Add(50*time.Second), "BTC"), fill(4, minute.Add(61*time.Second), "BTC"))
	got := w.sent("one", 5)
	wants(t, got[3], `"i":"1m"`, `"n":3`) // the closed one, whole
	wants(t, got[4], `"i":"1m"`, `"n":1`)
}
