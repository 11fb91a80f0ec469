package hyperliquid

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/shared/data/followrequests"
	"quotary/shared/market"
)

// joiner is a venue that answers a subscription with a book whose best price names
// its grouping.
type joiner struct {
	mu    sync.Mutex
	asked []string // methods and what they are about
	open  map[*websocket.Conn]bool
}

func (j *joiner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	j.mu.Lock()
	j.open[conn] = true
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.open, conn)
	}()
	for {
		_, b, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var m struct {
			Method       string
			Subscription struct {
				Coin               string
				NSigFigs, Mantissa int
				Fast               bool
			}
		}
		_ = json.Unmarshal(b, &m) // what is no message is seen by what was asked
		s := m.Subscription
		j.mu.Lock()
		j.asked = append(j.asked, fmt.Sprint(m.Method, " ", s.Coin, " ", s.NSigFigs, " ", s.Mantissa, " ", s.Fast))
		j.mu.Unlock()
		frames := []string{`{"channel":"subscriptionResponse","data":{}}`, `{"channel":"error","data":"no"}`, `{"channel":"l2Book","data":{}}`,
			fmt.Sprintf(`{"channel":"l2Book","data":{"coin":%q,"time":1,"levels":[[{"px":"%d%d.0","sz":"1.0","n":1}],[]]}}`, s.Coin, s.NSigFigs, s.Mantissa)}
		for _, frame := range frames {
			if conn.Write(r.Context(), websocket.MessageText, []byte(frame)) != nil {
				return
			}
		}
	}
}

func (j *joiner) connections() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.open)
}

func (j *joiner) hasBeen(times int, asked string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, one := range j.asked {
		if one == asked {
			n++
		}
	}
	return n == times
}

func TestJoinedBooksAreDistinguishedAndFollowedWhileTheyAreWanted(t *testing.T) {
	t.Parallel()
	venue := &joiner{open: map[*websocket.Conn]bool{}}
	server := httptest.NewServer(venue)
	defer server.Close()
	books := NewJoinedBooks(server.URL, slog.New(slog.DiscardHandler))
	began, after := time.Now(), atomic.Int64{} // s
	books.now = func() time.Time { return began.Add(time.Duration(after.Load()) * time.Second) }
	var mu sync.Mutex
	var emitted []string
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := books.Run(ctx, func(b JoinedBook, book *market.Book) {
			mu.Lock()
			defer mu.Unlock()
			emitted = append(emitted, fmt.Sprintf("%s %d %d: %s %s", b.Coin, b.Figs, b.Mantissa, book.Coin, book.Bids[0].Px))
		}); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	hears := func(what string) {
		t.Helper()
		await(t, what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(emitted, what)
		})
	}
	coarse, fine := market.Grouping{Figs: 2, Mantissa: 1}, market.Grouping{Figs: 5, Mantissa: 2}
	books.Want("one", JoinedBook{coarse, "BTC"})
	books.Want("one", JoinedBook{fine, "BTC"})
	hears("BTC 2 1: BTC 20.0")
	hears("BTC 5 2: BTC 52.0")
	books.Want("one", JoinedBook{coarse, "ETH"})
	hears("ETH 2 1: ETH 20.0")
	if !venue.hasBeen(1, "subscribe BTC 2 0 false") || !venue.hasBeen(1, "subscribe BTC 2 0 true") {
		t.Error("the venue is not asked for both ways of a book")
	}
	if n := venue.connections(); n != 2 {
		t.Errorf("%d connections for two groupings", n)
	}

	after.Store(60)
	books.Follow(followrequests.List[JoinedBook]{{Distributor: "one", Things: []JoinedBook{{coarse, "ETH"}}}})
	await(t, "BTC is given up", func() bool { return venue.hasBeen(1, "unsubscribe BTC 2 0 true") && venue.connections() == 1 })

	venue.mu.Lock()
	for conn := range venue.open {
		conn.CloseNow()
	}
	venue.mu.Unlock()
	await(t, "ETH is followed again", func() bool { return venue.hasBeen(2, "subscribe ETH 2 0 true") })
	if venue.hasBeen(2, "subscribe BTC 2 0 true") {
		t.Error("what was given up is followed again")
	}
}

func TestWhatIsWrongWithAFrameOfJoinedBooksIsSaidInOurWords(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{`secret`, `{"channel":{"secret":1}}`, `{"channel":"l2Book","data":"secret"}`, `{"channel":"l2Book","data":{"coin":"BTC","time":"secret"}}`, `{"channel":"error","data":"secret"}`, `{"channel":"\secret"}`} {
		if _, err := joinedFrame([]byte(frame)); err == nil || strings.Contains(err.Error(), "invalid character") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

// coinsFrom are books in one grouping.
func coinsFrom(from, n int) (list []JoinedBook) {
	for i := range n {
		list = append(list, JoinedBook{market.Groupings[0], fmt.Sprintf("C%03d", from+i)})
	}
	return list
}

func TestJoinedBooksKeepToTheirPartOfTheLimits(t *testing.T) {
	t.Parallel()
	books, now := NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler)), time.Now()
	books.now = func() time.Time { return now }
	all := coinsFrom(0, maxJoined+1)
	first, last := all[0], all[maxJoined]
	for _, b := range all {
		books.Want("one", b)
	}
	if _, ok := books.Since(all[maxJoined-1]); !ok {
		t.Error("the last one within the limit is not followed")
	}
	if _, ok := books.Since(last); ok {
		t.Error("one more than the limit is followed")
	}
	if left := books.Follow(followrequests.List[JoinedBook]{{Distributor: "one", Things: slices.Clone(all)}}); left != 1 {
		t.Errorf("%d are left, want one", left)
	}
	if _, ok := books.Since(last); ok {
		t.Error("one is followed that was wanted later than the others")
	}
	books.Want("one", last)
	now = now.Add(joinedLeast - 1)
	if left := books.Follow(followrequests.List[JoinedBook]{{Distributor: "one", Things: slices.Clone(all[1:])}}); left != 1 {
		t.Errorf("%d are left beside one that was wanted a moment ago, want one", left)
	}
	now = now.Add(1)
	if left := books.Follow(followrequests.List[JoinedBook]{{Distributor: "one", Things: slices.Clone(all[1:])}}); left != 0 {
		t.Errorf("%d are left, want none", left)
	}
	if _, ok := books.Since(last); !ok {
		t.Error("a place that became free is not taken")
	}
	if _, ok := books.Since(first); ok {
		t.Error("one is followed that nobody wants")
	}
	if n := len(books.coins(market.Groupings[0])); n != maxJoined {
		t.Errorf("the venue is asked for %d", n)
	}
}

// TestNobodysBooksTakeThePlacesOfAnother: who wants few has them, whoever was first, and those
// that are followed stay the same for as long as what is wanted does.
func TestNobodysBooksTakeThePlacesOfAnother(t *testing.T) {
	t.Parallel()
	books := NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler))
	loud, other, few := coinsFrom(0, 60), coinsFrom(55, 60), append(coinsFrom(200, 3), coinsFrom(59, 1)...)
	list := func(all ...[]JoinedBook) (list followrequests.List[JoinedBook]) {
		for i, things := range all {
			things = slices.Clone(things)
			rand.Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
			list = append(list, followrequests.OfDistributor[JoinedBook]{Distributor: fmt.Sprint(i), Things: things})
		}
		return list
	}
	of := func(things []JoinedBook) (n int) {
		for _, b := range things {
			if _, ok := books.Since(b); ok {
				n++
			}
		}
		return n
	}
	if left := books.Follow(list(loud)); left != 10 || of(loud) != maxJoined {
		t.Fatalf("%d are followed, %d left", of(loud), left)
	}
	for _, b := range few {
		books.Want("one", b) // as a subscription begins
	}
	if left := books.Follow(list(loud, few)); left != 13 || of(few) != len(few) || of(loud) != maxJoined-3 {
		t.Errorf("of few %d are followed, of many %d, and %d are left", of(few), of(loud), left)
	}
	before := map[JoinedBook]time.Time{}
	for range 20 {
		left := books.Follow(list(loud, few, other))
		if of(few) != len(few) || of(loud) < 20 || of(other) < 20 || left != 60+60-5+3-maxJoined {
			t.Errorf("of few %d are followed, of many %d and %d, and %d are left", of(few), of(loud), of(other), left)
		}
		now := map[JoinedBook]time.Time{}
		for _, b := range slices.Concat(loud, few, other) {
			if at, ok := books.Since(b); ok {
				now[b] = at
			}
		}
		if len(now) != maxJoined || len(before) > 0 && !maps.Equal(now, before) {
			t.Fatalf("%d are followed, not those of before", len(now))
		}
		before = now
	}
}

// TestWhoChangesQuicklyWhatItFollowsTakesNobodysMessages: in each half of a second a distributor
// follows another book. So many are asked for and let go as the budget of messages allows, and who
// follows one book beside it has it at once, and keeps it.
func TestWhoChangesQuicklyWhatItFollowsTakesNobodysMessages(t *testing.T) {
	t.Parallel()
	books, now := NewJoinedBooks("http://127.0.0.1:1", slog.New(slog.DiscardHandler)), time.Now()
	books.now = func() time.Time { return now }
	quiet := JoinedBook{market.Groupings[1], "QUIET"}
	followed := func() map[JoinedBook]bool {
		all := map[JoinedBook]bool{}
		for b, one := range books.wanted {
			all[b] = !one.since.IsZero()
		}
		return all
	}
	messages, before := 0, followed()
	const minutes = 10
	for n := range minutes * 120 {
		loud := coinsFrom(10*n, 10) // each gone a moment later
		for _, b := range loud {
			books.Want("loud", b)
		}
		list := followrequests.List[JoinedBook]{{Distributor: "loud", Things: loud[9:]}}
		if n >= 240 {
			list = append(list, followrequests.OfDistributor[JoinedBook]{Distributor: "quiet", Things: []JoinedBook{quiet}})
		}
		books.Follow(list)
		after := followed()
		for b, is := range after {
			if is && !before[b] {
				messages += 2
			}
		}
		for b, was := range before {
			if was && !after[b] {
				messages += 2
			}
		}
		if before = after; n >= 240 && !after[quiet] {
			t.Fatalf("after %d looks the book of who follows one is not followed", n)
		}
		now = now.Add(500 * time.Millisecond)
	}
	if most := minutes * joinedMessagesPerMinute * 3 / 4; messages < 100*minutes || messages > most {
		t.Errorf("%d messages in %d minutes, want up to %d", messages, minutes, most)
	}
}
