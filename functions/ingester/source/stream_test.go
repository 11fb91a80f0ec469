package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/testenv"
)

// plain is a protocol as simple as one can be: a frame is a trade or an answer.
type plain struct {
	Symbol string `json:"symbol"`
	ID     int64  `json:"id"`
	Time   int64  `json:"time"`
	Px     string `json:"px"`
	Answer bool   `json:"answer"`
	No     string `json:"no"`
}

var protocol = source.Protocol{
	MaxPairs: 10, TopicsEach: 10,
	Topics: func(pairs []market.Pair) (topics []any) {
		for _, p := range pairs {
			topics = append(topics, p.Symbol)
		}
		return topics
	},
	Subscribe: func(_ int64, topics []any) any { return topics },
	NewParser: func() source.Parser { return parse },

	RefusedAgain: time.Millisecond,
}

func parse(line string, f *source.Frame) error {
	var p plain
	if err := json.Unmarshal([]byte(line), &p); err != nil {
		return err
	}
	if p.Answer {
		f.Answered, f.Refused = true, p.No
		return nil
	}
	t := market.PairTrade{Pair: p.Symbol, ID: p.ID, Prev: p.ID - 1, Time: p.Time, Side: market.Buy}
	if err := source.SetTrade(&t, p.Px, "1"); err != nil {
		return err
	}
	f.Events.Trades = append(f.Events.Trades, t)
	return nil
}

// venue is a WebSocket that a test pushes frames to.
type venue struct {
	url    string
	stats  source.Stats
	frames chan string
	answer func(topics []string) string
	most   int // see [source.Stream.MostFrames]

	deliveries atomic.Int64 // that have begun

	mu   sync.Mutex
	got  []int64 // ids of the trades that were delivered
	cut  context.CancelFunc
	when func() time.Time
}

func newVenue(t *testing.T) *venue {
	t.Helper()
	v := &venue{frames: make(chan string), answer: func([]string) string { return `{"answer":true}` }, when: func() time.Time { return now }}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.url = source.StreamURL(server.URL)
	return v
}

// now is the time at which frames come.
var now = time.UnixMilli(1_790_000_000_000)

func (v *venue) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	v.mu.Lock()
	v.cut = cut
	v.mu.Unlock()
	go func() {
		defer cut()
		for {
			_, line, err := conn.Read(ctx)
			var topics []string
			if err != nil || json.Unmarshal(line, &topics) != nil || conn.Write(ctx, websocket.MessageText, []byte(v.answer(topics))) != nil {
				return
			}
		}
	}()
	for {
		select {
		case frame := <-v.frames:
			if conn.Write(ctx, websocket.MessageText, []byte(frame)) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// follow follows BTC until the test ends.
func (v *venue) follow(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.run(ctx, "BTC") }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}

func (v *venue) run(ctx context.Context, symbols ...string) error {
	var pairs []market.Pair
	for _, symbol := range symbols {
		pairs = append(pairs, market.Pair{Key: symbol + "!", Symbol: symbol})
	}
	s := source.Stream{Protocol: protocol, URL: v.url, Stats: &v.stats, Log: slog.New(slog.DiscardHandler), Now: v.when, MostFrames: v.most}
	return s.Follow(ctx, pairs, func(_ context.Context, e *market.PairEvents) error {
		v.deliveries.Add(1)
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, trade := range e.Trades {
			v.got = append(v.got, trade.ID)
		}
		return nil
	})
}

func (v *venue) delivered() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprint(v.got)
}

func trade(symbol string, id int64, at time.Time) string {
	return fmt.Sprintf(`{"symbol":%q,"id":%d,"time":%d,"px":"100.5"}`, symbol, id, at.UnixMilli())
}

// Whatever is wrong with a frame is counted, and the others are delivered.
func TestAFrameThatIsWrongIsCountedAndTheOthersAreDelivered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame           string
		malformed, gaps int64
	}{
		"a field has another name":        {`{"symbol":"BTC","id":2,"time":1790000000000,"price":"100.5"}`, 1, 1},
		"a field has another type":        {`{"symbol":"BTC","id":"2","time":1790000000000,"px":"100.5"}`, 1, 1},
		"a price is none":                 {`{"symbol":"BTC","id":2,"time":1790000000000,"px":"-1"}`, 1, 1},
		"a time is in seconds":            {`{"symbol":"BTC","id":2,"time":1790000000,"px":"100.5"}`, 1, 1},
		"a time is in microseconds":       {`{"symbol":"BTC","id":2,"time":1790000000000000,"px":"100.5"}`, 1, 1},
		"no JSON at all":                  {`<html>`, 1, 1},
		"a pair that nobody asked for":    {trade("OLD", 2, now), 1, 1},
		"the venue's clock is far ahead":  {trade("BTC", 2, now.Add(source.MostAhead+time.Millisecond)), 1, 1},
		"a trade of long ago":             {trade("BTC", 2, now.Add(-time.Hour-time.Millisecond)), 1, 1},
		"an answer that nobody waits for": {`{"answer":true}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVenue(t)
			v.follow(t)
			v.frames <- trade("BTC", 1, now)
			v.frames <- c.frame
			v.frames <- trade("BTC", 3, now)
			testenv.Until(t, "the trades have come", func() bool { return v.delivered() == "[1 3]" })
			if v.stats.Malformed.Load() != c.malformed || v.stats.Gaps.Load() != c.gaps || v.stats.Reconnects.Load() != 0 {
				t.Errorf("%d are malformed, %d missing, %d connections", v.stats.Malformed.Load(), v.stats.Gaps.Load(), v.stats.Reconnects.Load())
			}
		})
	}
}

// A clock that is a little ahead, or behind by an hour, is no trouble; trades that come
// late or twice are no gap.
func TestClocksThatDifferAndTradesThatComeAgainAreNoTrouble(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	v.follow(t)
	for _, frame := range []string{
		trade("BTC", 1, now.Add(-time.Hour)), trade("BTC", 2, now.Add(source.MostAhead)), trade("BTC", 2, now.Add(source.MostAhead)),
		trade("BTC", 4, now), trade("BTC", 3, now), trade("BTC", 5, now.Add(-time.Minute)),
	} {
		v.frames <- frame
	}
	testenv.Until(t, "the trades have come", func() bool { return v.delivered() == "[1 2 2 4 3 5]" })
	if v.stats.Malformed.Load() != 0 || v.stats.Gaps.Load() != 1 { // 3 was missing when 4 came
		t.Errorf("%d are malformed, %d missing", v.stats.Malformed.Load(), v.stats.Gaps.Load())
	}
}

// While the venue is away nothing is delivered, which shows in what was last seen; when it
// is back, what was missed is counted.
func TestAVenueThatWasAwayIsFollowedAgain(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	v.follow(t)
	v.frames <- trade("BTC", 1, now)
	testenv.Until(t, "the trade has come", func() bool { return v.delivered() == "[1]" })
	seen := v.stats.LastSeen.Load()
	v.mu.Lock()
	v.cut()
	v.mu.Unlock()
	testenv.Until(t, "the connection is lost", func() bool { return v.stats.Reconnects.Load() == 1 })
	if v.stats.LastSeen.Load() != seen || v.stats.LastEvent.Load() != now.UnixMilli() {
		t.Error("something was seen of a venue that is away")
	}
	v.frames <- trade("BTC", 8, now)
	testenv.Until(t, "trades come again", func() bool { return v.delivered() == "[1 8]" })
	if v.stats.Gaps.Load() != 6 {
		t.Errorf("%d are missing", v.stats.Gaps.Load())
	}
}

// Frames that say nothing are read as fast as they come: the pauses between connections leave the processor to
// other sources.
func TestAVenueThatSendsTooMuchIsLeftAlone(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	v.most = 100
	v.follow(t)
	v.frames <- trade("BTC", 1, now)
	sent := 0
	for sent < 1000*v.most && v.stats.Reconnects.Load() == 0 {
		select {
		case v.frames <- `{"answer":true}`:
			sent++
		case <-time.After(10 * time.Millisecond): // it is looked again whether anybody reads them
		}
	}
	if v.stats.Reconnects.Load() == 0 || v.delivered() != "[1]" {
		t.Errorf("%d frames are read of one connection, and %s are delivered", sent, v.delivered())
	}
}

// What was read of a connection is delivered also where it is lost while the sink is slow.
func TestNothingThatWasReadOfALostConnectionIsDropped(t *testing.T) { //nolint:paralleltest // it looks for its own goroutine among all
	v := newVenue(t)
	v.follow(t)
	v.frames <- trade("BTC", 1, now)
	testenv.Until(t, "the first trade comes", func() bool { return v.delivered() == "[1]" })
	v.mu.Lock() // the sink waits
	v.frames <- trade("BTC", 2, now)
	testenv.Until(t, "the second is delivered", func() bool { return v.deliveries.Load() == 2 })
	v.frames <- trade("BTC", 3, now)
	v.frames <- trade("BTC", 4, now)
	testenv.Until(t, "all are read", func() bool { return v.stats.Lines.Load() == 5 })
	v.cut()
	testenv.Until(t, "nobody reads any more", func() bool {
		stacks := make([]byte, 1<<20)
		return !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*follower).read("))
	})
	v.mu.Unlock()
	testenv.Until(t, "all are delivered", func() bool { return v.delivered() == "[1 2 3 4]" })
	testenv.Until(t, "it has connected again", func() bool { return v.stats.Reconnects.Load() == 1 })
}

// A venue that answers a message as a whole is asked for its halves.
func TestATopicThatIsRefusedCostsItselfAloneUntilItIsNot(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	var opens atomic.Bool
	v.answer = func(topics []string) string {
		if slices.Contains(topics, "NEW") && !opens.Load() {
			return `{"answer":true,"no":"NEW does not exist"}`
		}
		return `{"answer":true}`
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.run(ctx, "BTC", "ETH", "NEW", "SOL") }()
	testenv.Until(t, "the topic is refused", func() bool { return v.stats.Dropped.Load() == 1 })
	v.frames <- trade("BTC", 1, now)
	v.frames <- trade("SOL", 2, now)
	testenv.Until(t, "the others are followed", func() bool { return v.delivered() == "[1 2]" })
	opens.Store(true)
	v.frames <- trade("NEW", 3, now)
	testenv.Until(t, "it is followed too", func() bool { return v.delivered() == "[1 2 3]" && v.stats.Dropped.Load() == 0 })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || v.stats.Reconnects.Load() != 0 {
		t.Errorf("%v, %d connections", err, v.stats.Reconnects.Load())
	}
}

// Of few topics most may be those of one pair, which costs itself alone too.
func TestMostOfFewTopicsMayBeRefused(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	v.answer = func(topics []string) string {
		if len(topics) > 1 || topics[0] != "BTC" {
			return `{"answer":true,"no":"OLD does not exist"}`
		}
		return `{"answer":true}`
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.run(ctx, "BTC", "OLD", "OLDER") }()
	testenv.Until(t, "two of three are refused", func() bool { return v.stats.Dropped.Load() == 2 })
	v.frames <- trade("BTC", 1, now)
	testenv.Until(t, "the third is followed", func() bool { return v.delivered() == "[1]" })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || v.stats.Reconnects.Load() != 0 {
		t.Errorf("%v, %d connections", err, v.stats.Reconnects.Load())
	}
}

func TestAVenueThatRefusesMostTopicsEndsTheStream(t *testing.T) {
	t.Parallel()
	v := newVenue(t)
	v.answer = func([]string) string { return `{"answer":true,"no":"OLD does not exist"}` }
	if err := v.run(t.Context(), strings.Split("ABCDEFGHIJ", "")...); !errors.Is(err, source.ErrSubscription) || v.stats.Reconnects.Load() != 1 {
		t.Errorf("%v, %d connections", err, v.stats.Reconnects.Load())
	}
}
