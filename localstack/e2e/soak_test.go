package e2e

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/localstack/client"
)

// soakFor is how long the soak test runs, QUOTARY_SOAK; without it there is none.
var soakFor, _ = time.ParseDuration(os.Getenv("QUOTARY_SOAK"))

const (
	soakKeys  = 100              // the clients share so many sub-keys
	soakPing  = 20 * time.Second // between heartbeats
	soakEvery = 15 * time.Second // between two random acts of a client, on average
	soakKill  = 0.05             // of the acts: the connection is cut, and made anew
	soakLinks = 400              // goroutines for what stays open between gateway, functions and ingester (its 256 senders), however many clients there were
)

// TestTheFeedsHoldUnderManyClients has many clients connect, subscribe,
// unsubscribe and be killed at random for a while. No frame may be out of order
// or come before its reply; at the end the table must count exactly the sockets
// that are open, and neither memory nor goroutines may have grown.
func TestTheFeedsHoldUnderManyClients(t *testing.T) {
	if soakFor <= 0 {
		t.Skip("set QUOTARY_SOAK to a duration, or run make soak")
	}
	clients := 2000
	if n, err := strconv.Atoi(os.Getenv("QUOTARY_SOAK_CLIENTS")); err == nil {
		clients = n
	}
	s := &soak{t: t, sockets: map[*soaker]bool{}}
	for range soakKeys {
		s.keys = append(s.keys, issue(t, register(t, nil), map[string]any{"ws_conn_limit": clients, "ws_sub_limit": 100 * clients}))
	}
	began := s.measure("before the first client")
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	turn := make(chan struct{}, 6) // connections being made at a time: the local functions have eight instances
	for i := range clients {
		running.Go(func() { s.client(ctx, i, turn) })
	}
	for s.open() < clients {
		if time.Sleep(100 * time.Millisecond); t.Failed() {
			break
		}
	}
	t.Logf("%d clients are connected", s.open())
	time.Sleep(soakFor / 4)
	early := s.measure("a quarter through")
	time.Sleep(soakFor * 3 / 4)
	late := s.measure("at the end")
	s.quiet.Store(true) // no more acts, but heartbeats
	s.settle()
	stop()
	running.Wait()
	s.settle()
	// Functions are still told of ends that the table knows already.
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > began.goroutines+soakLinks && time.Now().Before(deadline); {
		time.Sleep(time.Second)
	}
	after := s.measure("after the last client")
	t.Logf("%d connections made, %d frames, %d subscriptions, %d unsubscriptions, %d kills",
		s.made.Load(), s.frames.Load(), s.subscribed.Load(), s.unsubscribed.Load(), s.killed.Load())
	if late.goroutines > early.goroutines*5/4+100 || late.ingester > early.ingester*3/2+64<<20 {
		t.Errorf("grown from %+v to %+v", early, late)
	}
	if after.goroutines > began.goroutines+soakLinks {
		t.Errorf("goroutines are left: %d, %d before", after.goroutines, began.goroutines)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 1)
	}
}

type soak struct {
	t    *testing.T
	keys []client.Key

	quiet                                          atomic.Bool
	made, frames, subscribed, unsubscribed, killed atomic.Int64

	mu      sync.Mutex
	sockets map[*soaker]bool
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

// settle waits until the table counts the open sockets and what they follow.
func (s *soak) settle() {
	deadline := time.Now().Add(30 * time.Second)
	for {
		wrong := s.count()
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Error(wrong)
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// count compares the table of connections with the sockets that are open; "" is
// agreement.
func (s *soak) count() string {
	db := dynamodb.New(dynamodb.Options{BaseEndpoint: &world.State.DynamoDB, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	rows, byKey, byDistributor := [2]int64{}, [2]int64{}, [2]int64{}
	in := &dynamodb.ScanInput{TableName: aws.String("quotary-connections"), ConsistentRead: aws.Bool(true)}
	for {
		out, err := db.Scan(context.Background(), in)
		if err != nil {
			return err.Error()
		}
		for _, item := range out.Items {
			pk, sk := text(item["pk"]), text(item["sk"])
			switch {
			case strings.HasPrefix(pk, "k#"):
				byKey[0] += number(item["conns"])
				byKey[1] += number(item["subs"])
			case strings.HasPrefix(pk, "d#"):
				byDistributor[0] += number(item["conns"])
				byDistributor[1] += number(item["subs"])
			case sk == "c":
				rows[0]++
			case strings.HasPrefix(sk, "s#"), strings.HasPrefix(sk, "g#"):
				rows[1]++
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			break
		}
	}
	open := int64(s.open())
	if rows != byKey || rows != byDistributor || rows[0] != open {
		return fmt.Sprintf("%d sockets are open; the table has %d connections and %d subscriptions, and counts %v by key and %v by distributor",
			open, rows[0], rows[1], byKey, byDistributor)
	}
	return ""
}

func text(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func number(v types.AttributeValue) int64 {
	s, _ := v.(*types.AttributeValueMemberN)
	if s == nil {
		return 0
	}
	n, _ := strconv.ParseInt(s.Value, 10, 64)
	return n
}
