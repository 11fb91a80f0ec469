package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"runtime"
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
	"github.com/coder/websocket"

	"quotary/localstack/client"
)

// soakFor is how long the soak test runs, QUOTARY_SOAK; without it there is none.
var soakFor, _ = time.ParseDuration(os.Getenv("QUOTARY_SOAK"))

const (
	soakKeys  = 100              // the clients share so many sub-keys
	soakPing  = 20 * time.Second // between heartbeats
	soakEvery = 15 * time.Second // between two random acts of a client, on average
	soakKill  = 0.05             // of the acts: the connection is cut, and made anew
	soakLinks = 600              // goroutines for what stays open between gateway, functions and ingester, however many clients there were
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
	after := s.measure("after the last client")
	t.Logf("%d connections made, %d frames, %d subscriptions, %d unsubscriptions, %d kills",
		s.made.Load(), s.frames.Load(), s.subscribed.Load(), s.unsubscribed.Load(), s.killed.Load())
	if late.goroutines > early.goroutines*5/4+100 || late.ingester > early.ingester*3/2+64<<20 {
		t.Errorf("grown from %+v to %+v", early, late)
	}
	if after.goroutines > began.goroutines+soakLinks {
		t.Errorf("goroutines are left: %d, %d before", after.goroutines, began.goroutines)
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

// soaker is one connection of a client.
type soaker struct {
	*soak
	conn *websocket.Conn

	mu       sync.Mutex
	wanted   map[string]string // by key: the subscription that was sent
	replied  map[string]bool   // by key: it was confirmed, so frames may come
	leaving  map[string]bool   // by key: its end was asked for
	last     map[string]int64  // by key: time of the newest frame
	received map[string]int    // by key: frames since the reply
}

// client connects, acts and reads until ctx ends.
func (s *soak) client(ctx context.Context, i int, turn chan struct{}) {
	random := mathrand.New(mathrand.NewPCG(uint64(i), 7))
	for ctx.Err() == nil {
		turn <- struct{}{}
		c, err := s.dial(ctx, s.keys[i%len(s.keys)])
		<-turn
		if err != nil {
			if ctx.Err() == nil {
				s.t.Errorf("client %d cannot connect: %v", i, err)
			}
			return
		}
		reading := make(chan struct{})
		go func() {
			defer close(reading)
			c.read(ctx)
		}()
		c.act(ctx, random, reading)
		s.mu.Lock()
		delete(s.sockets, c)
		s.mu.Unlock()
		c.conn.CloseNow()
		<-reading
	}
}

func (s *soak) dial(ctx context.Context, key client.Key) (*soaker, error) {
	for try := 1; ; try++ {
		dialing, done := context.WithTimeout(ctx, 30*time.Second)
		conn, res, err := websocket.Dial(dialing, world.State.WSBaseURL+hl+"/ws?"+key.Sign(time.Now(), rand.Text()).Encode(), nil)
		done()
		if err != nil && res != nil && try < 20 && busy(res) {
			time.Sleep(time.Duration(200+mathrand.IntN(200*try)) * time.Millisecond)
			continue
		}
		if err != nil {
			return nil, err
		}
		conn.SetReadLimit(1 << 20)
		s.made.Add(1)
		c := &soaker{soak: s, conn: conn, wanted: map[string]string{}, replied: map[string]bool{}, leaving: map[string]bool{}, last: map[string]int64{}, received: map[string]int{}}
		s.mu.Lock()
		s.sockets[c] = true
		s.mu.Unlock()
		return c, nil
	}
}

// busy tells whether a handshake was refused because all instances of a function
// had to do, and not by the limit on connections.
func busy(res *http.Response) bool {
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode >= http.StatusInternalServerError ||
		res.StatusCode == http.StatusTooManyRequests && !strings.Contains(string(body), "ws connection limit")
}

// act subscribes and unsubscribes at random until the connection is to be cut,
// has ended, or ctx does.
func (c *soaker) act(ctx context.Context, random *mathrand.Rand, ended <-chan struct{}) {
	c.subscribe(random)
	ping := time.NewTicker(soakPing)
	defer ping.Stop()
	next := time.NewTimer(time.Duration(random.Int64N(int64(2 * soakEvery))))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			if ctx.Err() == nil {
				c.t.Error("the service closed a connection that was in use")
			}
			return
		case <-ping.C:
			c.send(`{"method":"ping"}`)
		case <-next.C:
			next.Reset(time.Duration(random.Int64N(int64(2 * soakEvery))))
			switch roll := random.Float64(); {
			case c.quiet.Load():
			case roll < soakKill:
				c.killed.Add(1)
				return
			case roll < 0.5:
				c.unsubscribe()
			default:
				c.subscribe(random)
			}
		}
	}
}

func (c *soaker) send(message string) {
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	_ = c.conn.Write(ctx, websocket.MessageText, []byte(message)) // the reader notices an end
}

// subscribe asks for a channel of a coin that the connection does not follow.
func (c *soaker) subscribe(random *mathrand.Rand) {
	coin := []string{"BTC", "ETH", "SOL", "DOGE"}[random.IntN(4)]
	fields := []map[string]any{{"type": "l2Book", "coin": coin}, {"type": "trades", "coin": coin}, {"type": "bbo", "coin": coin},
		{"type": "candle", "coin": coin, "interval": "1m"}}[random.IntN(4)]
	key := fields["type"].(string) + " " + coin
	message := subscription("subscribe", fields)
	c.mu.Lock()
	_, have := c.wanted[key]
	c.wanted[key] = message
	c.mu.Unlock()
	if !have {
		c.subscribed.Add(1)
		c.send(message)
	}
}

// unsubscribe ends one subscription that was confirmed.
func (c *soaker) unsubscribe() {
	c.mu.Lock()
	var message string
	for key := range c.wanted {
		if c.replied[key] && !c.leaving[key] {
			c.leaving[key] = true
			message = strings.Replace(c.wanted[key], `"subscribe"`, `"unsubscribe"`, 1)
			break
		}
	}
	c.mu.Unlock()
	if message != "" {
		c.unsubscribed.Add(1)
		c.send(message)
	}
}

// read checks every frame until the connection ends.
func (c *soaker) read(ctx context.Context) {
	for {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		c.frames.Add(1)
		if err := c.check(b); err != nil {
			c.t.Errorf("%v: %.300s", err, b)
		}
	}
}

var (
	errEarly    = errors.New("a frame came before its reply")
	errOrder    = errors.New("a frame is out of order")
	errSnapshot = errors.New("a subscription was answered twice")
)

func (c *soaker) check(b []byte) error {
	var p pushed
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.Channel {
	case "pong":
		return nil
	case "subscriptionResponse":
		var reply struct {
			Status       string
			Subscription struct{ Type, Coin string }
		}
		if err := json.Unmarshal(p.Data, &reply); err != nil {
			return err
		}
		key := reply.Subscription.Type + " " + reply.Subscription.Coin
		switch reply.Status {
		case "subscribed":
			if c.replied[key] {
				return errSnapshot
			}
			c.replied[key], c.received[key], c.last[key] = true, 0, 0
		case "unsubscribed":
			delete(c.wanted, key)
			delete(c.replied, key)
			delete(c.leaving, key)
		default:
			return errors.New("an unexpected answer")
		}
		return nil
	}
	key, at, err := frameTime(p)
	if err != nil {
		return err
	}
	if _, wanted := c.wanted[key]; wanted && !c.replied[key] {
		return errEarly
	}
	// What was on its way when the client unsubscribed may still come.
	if !c.replied[key] {
		return nil
	}
	if c.received[key]++; at < c.last[key] {
		return errOrder
	}
	c.last[key] = at
	return nil
}

// frameTime is what a frame is about, and its time; that of no trades is 0.
func frameTime(p pushed) (key string, ms int64, err error) {
	var m struct {
		Coin string
		Time int64
	}
	if p.Channel == "trades" {
		var trades []struct {
			Coin string
			Time int64
		}
		if err := json.Unmarshal(p.Data, &trades); err != nil || len(trades) == 0 {
			return "", 0, err
		}
		return "trades " + trades[0].Coin, trades[len(trades)-1].Time, nil
	}
	if p.Channel == "candle" {
		var candle map[string]any
		if err := json.Unmarshal(p.Data, &candle); err != nil {
			return "", 0, err
		}
		return fmt.Sprint("candle ", candle["s"]), int64(candle["t"].(float64)), nil
	}
	if err := json.Unmarshal(p.Data, &m); err != nil {
		return "", 0, err
	}
	if m.Coin == "" {
		return "", 0, errors.New("an unexpected frame")
	}
	return p.Channel + " " + m.Coin, m.Time, nil
}
