package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/shared/testing/testenv"
)

const (
	soakFor   = 2 * time.Minute
	soakMany  = 2000             // clients
	soakKeys  = 100              // the clients share so many sub-keys
	soakPing  = 40 * time.Second // between heartbeats
	soakEvery = 45 * time.Second // between two random acts of a client, on average
	soakKill  = 0.05             // of the acts: the connection is cut, and made again
	soakTape  = 10               // trades of a snapshot
	soakMuted = "DOGE"           // the coin whose book the venue does not send, so that only snapshots can show it
	soakLinks = 400              // goroutines for what stays open between gateway, functions and ingester (its 256 senders), however many clients there were
)

var soakCoins = [...]string{"BTC", "ETH", "SOL", soakMuted}

// TestTheFeedsHoldUnderManyClients has many clients connect, subscribe,
// unsubscribe and be killed at random for a while. Every subscription must begin
// with its reply and then its snapshot, and its frames must come in order, none
// after its end; the trades that a client receives must be a part of all trades,
// without a gap and none twice. At the end the table must count exactly the
// sockets that are open, and neither memory nor goroutines may have grown.
func TestTheFeedsHoldUnderManyClients(t *testing.T) {
	if !testenv.Prove() {
		t.Skip("make prove runs this")
	}
	s := &soak{t: t, sockets: map[*soaker]bool{}, all: map[string][]int64{}}
	s.record()
	world.Venue.Mute(soakMuted, true)
	t.Cleanup(func() { world.Venue.Mute(soakMuted, false) })
	for range soakKeys {
		s.keys = append(s.keys, issue(t, register(t, nil), map[string]any{"ws_conn_limit": soakMany, "ws_sub_limit": 100 * soakMany}))
	}
	began := s.measure("before the first client")
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	turn := make(chan struct{}, 6) // connections being made at a time: the local functions have eight instances
	s.quiet.Store(true)            // until all are connected, however long a busy machine takes
	for i := range soakMany {
		running.Go(func() { s.client(ctx, i, turn) })
	}
	for have := s.open(); have < soakMany && !t.Failed(); have = s.open() {
		testenv.Until(t, "another client is connected", func() bool { return s.open() > have || t.Failed() })
	}
	s.quiet.Store(false)
	t.Logf("%d clients are connected", s.open())
	time.Sleep(soakFor / 4) // the soak itself
	early := s.measure("a quarter through")
	time.Sleep(soakFor * 3 / 4)
	late := s.measure("at the end")
	s.quiet.Store(true) // no more acts, but heartbeats
	s.settle(s.count)
	s.settle(s.begun)
	stop()
	running.Wait()
	s.settle(s.count)
	s.settle(s.compare)
	t.Logf("%d subscriptions to trades were compared", len(s.parts))
	// Functions still receive ends that the table knows already.
	defer func() {
		if t.Failed() {
			_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
		}
	}()
	testenv.Until(t, "the goroutines of the clients end", func() bool { return runtime.NumGoroutine() <= began.goroutines+soakLinks })
	s.measure("after the last client")
	t.Logf("%d connections made, %d frames, %d subscriptions, %d unsubscriptions, %d kills",
		s.made.Load(), s.frames.Load(), s.subscribed.Load(), s.unsubscribed.Load(), s.killed.Load())
	if late.goroutines > early.goroutines*5/4+100 || late.ingester > early.ingester*3/2+64<<20 {
		t.Errorf("grown from %+v to %+v", early, late)
	}
}

type soak struct {
	t    *testing.T
	keys []client.Key

	quiet                                          atomic.Bool
	made, frames, subscribed, unsubscribed, killed atomic.Int64

	mu      sync.Mutex
	sockets map[*soaker]bool
	all     map[string][]int64 // by coin: every trade
	parts   []tape
}

// tape is the trades of a coin that a subscription received.
type tape struct {
	coin string
	tids []int64
}

// keep takes what a subscription received, to be compared in the end.
func (s *soak) keep(coin string, tids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, tape{coin, tids})
}

// record follows all trades on a connection of its own, until the test ends, and
// returns once there are enough for snapshots of full length.
func (s *soak) record() {
	one := connect(s.t, issue(s.t, register(s.t, nil), nil), "/ws")
	for _, coin := range soakCoins {
		one.send(subscription("subscribe", map[string]any{"type": "trades", "coin": coin}))
	}
	enough := make(chan struct{})
	go func() {
		told := false
		for pinged := time.Now(); ; {
			_, b, err := one.conn.Read(context.Background())
			if err != nil {
				return // the test has ended
			}
			if time.Since(pinged) > soakPing {
				pinged = time.Now()
				_ = one.conn.Write(context.Background(), websocket.MessageText, []byte(`{"method":"ping"}`)) // the next read notices an end
			}
			var p pushed
			if json.Unmarshal(b, &p) != nil || p.Channel != "trades" {
				continue
			}
			coin, tids, _ := tradesOf(p)
			s.mu.Lock()
			s.all[coin] = append(s.all[coin], tids...)
			full := 0
			for _, coin := range soakCoins {
				if len(s.all[coin]) >= soakTape {
					full++
				}
			}
			s.mu.Unlock()
			if full == len(soakCoins) && !told {
				close(enough)
				told = true
			}
		}
	}()
	select {
	case <-enough:
	case <-time.After(time.Minute):
		s.t.Fatal("the venue does not trade")
	}
}

// compare describes a subscription that did not receive a part of all trades
// without a gap; "" is none.
func (s *soak) compare() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range s.parts {
		all := s.all[part.coin]
		if len(part.tids) == 0 {
			continue
		}
		from := slices.Index(all, part.tids[0])
		if from < 0 || len(all)-from < len(part.tids) || !slices.Equal(part.tids, all[from:from+len(part.tids)]) {
			return fmt.Sprintf("a subscription received %d trades of %s that are no part of all %d: %v", len(part.tids), part.coin, len(all), part.tids)
		}
	}
	return ""
}

// begun describes a subscription that was confirmed and has not begun; "" is none.
func (s *soak) begun() string {
	s.mu.Lock()
	sockets := slices.Collect(maps.Keys(s.sockets))
	s.mu.Unlock()
	for _, c := range sockets {
		if key := c.waits(); key != "" {
			return key + " was not answered, or has no snapshot"
		}
	}
	return ""
}

func (s *soak) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// figures of the processes.
type figures struct {
	goroutines int   // of this one: stack, gateway and clients
	ingester   int64 // resident memory, bytes
}

func (s *soak) measure(when string) figures {
	runtime.GC()
	f := figures{goroutines: runtime.NumGoroutine()}
	for _, pid := range children("ingester") {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		var size, resident int64
		_, _ = fmt.Sscan(string(text), &size, &resident)
		f.ingester += resident * int64(os.Getpagesize())
	}
	s.t.Logf("%s: %d goroutines, ingester %d MB, %d sockets, %d frames", when, f.goroutines, f.ingester>>20, s.open(), s.frames.Load())
	return f
}

// settle waits until nothing is wrong any longer.
func (s *soak) settle(look func() string) {
	var wrong string
	defer func() {
		if s.t.Failed() {
			s.t.Log(wrong)
		}
	}()
	testenv.Until(s.t, "nothing is wrong any longer", func() bool { wrong = look(); return wrong == "" })
}

// count compares the table of connections with the sockets that are open; "" is
// agreement.
func (s *soak) count() string {
	db := database(world.State)
	rows, slots := [2]int64{}, [2]int64{} // of connections and subscriptions
	counted := [2]int64{}
	in := &dynamodb.ScanInput{TableName: aws.String(world.State.Tables + "connections"), ConsistentRead: aws.Bool(true)}
	for {
		out, err := db.Scan(context.Background(), in)
		if err != nil {
			return err.Error()
		}
		for _, item := range out.Items {
			kind := -1
			switch sk := text(item["sk"]); {
			case sk == "conns":
				counted[0] += number(item["taken"])
			case sk == "subs":
				counted[1] += number(item["taken"])
			case sk == "c":
				kind = 0
			case strings.HasPrefix(sk, "s#") && item["off"] == nil, strings.HasPrefix(sk, "g#"):
				kind = 1
			}
			if kind < 0 {
				continue
			}
			rows[kind]++
			for _, slot := range []string{"ks", "ds"} {
				if item[slot] != nil {
					slots[kind]++
				}
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			break
		}
	}
	open := int64(s.open()) + 1 // that of record
	if slots != counted || rows[0] != open {
		return fmt.Sprintf("%d sockets are open; the table has %d connections and %d subscriptions, which hold %v slots, and counts %v",
			open, rows[0], rows[1], slots, counted)
	}
	return ""
}
