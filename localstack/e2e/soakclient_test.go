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
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/localstack/stack"
)

// soaker is one connection of a client.
type soaker struct {
	*soak
	conn *websocket.Conn

	mu       sync.Mutex
	wanted   map[string]string  // by key: the subscription that was sent
	replied  map[string]bool    // by key: it was confirmed, so frames may come
	leaving  map[string]bool    // by key: its end was asked for
	last     map[string]int64   // by key: time of the newest frame
	received map[string]int     // by key: frames since the reply
	tapes    map[string][]int64 // by coin: the trades since the reply
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
		for coin := range c.tapes {
			s.keep(coin, c.tapes[coin])
		}
	}
}

func (s *soak) dial(ctx context.Context, key client.Key) (*soaker, error) {
	conn, err := dialBusy(ctx, world, key, nil)
	if err != nil {
		return nil, err
	}
	s.made.Add(1)
	c := &soaker{soak: s, conn: conn, wanted: map[string]string{}, replied: map[string]bool{}, leaving: map[string]bool{}, last: map[string]int64{}, received: map[string]int{}, tapes: map[string][]int64{}}
	s.mu.Lock()
	s.sockets[c] = true
	s.mu.Unlock()
	return c, nil
}

// dialBusy connects to /ws of a stack that may have a lot to do.
func dialBusy(ctx context.Context, to *stack.Stack, key client.Key, options *websocket.DialOptions) (*websocket.Conn, error) {
	for try := 1; ; try++ {
		dialing, done := context.WithTimeout(ctx, 30*time.Second)
		conn, res, err := websocket.Dial(dialing, to.State.WSBaseURL+hl+"/ws?"+key.Sign(time.Now(), rand.Text()).Encode(), options)
		done()
		if err != nil && res != nil && try < 20 && busy(res) {
			time.Sleep(time.Duration(200+mathrand.IntN(200*try)) * time.Millisecond)
			continue
		}
		if err != nil {
			return nil, err
		}
		conn.SetReadLimit(1 << 20)
		return conn, nil
	}
}

// busy reports whether a handshake was refused because all instances of a function
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
	coin := soakCoins[random.IntN(len(soakCoins))]
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

// unsubscribe ends one subscription that was confirmed and has begun.
func (c *soaker) unsubscribe() {
	c.mu.Lock()
	var message string
	for key := range c.wanted {
		if c.replied[key] && !c.leaving[key] && c.received[key] > 0 {
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

// waits is the key of a subscription without its first frame; "" is none.
func (c *soaker) waits() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.wanted {
		if !c.replied[key] || c.received[key] == 0 {
			return key
		}
	}
	return ""
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
	errLate     = errors.New("a frame came after the end of its subscription")
	errOrder    = errors.New("a frame is out of order")
	errTwice    = errors.New("a subscription was answered twice")
	errSnapshot = errors.New("a subscription does not begin with its snapshot")
	errMuted    = errors.New("more than the snapshot came of a coin whose source is silent")
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
				return errTwice
			}
			c.replied[key], c.received[key], c.last[key] = true, 0, 0
		case "unsubscribed":
			delete(c.wanted, key)
			delete(c.replied, key)
			delete(c.leaving, key)
			if reply.Subscription.Type == "trades" {
				c.keep(reply.Subscription.Coin, c.tapes[reply.Subscription.Coin])
				delete(c.tapes, reply.Subscription.Coin)
			}
		default:
			return errors.New("an unexpected answer")
		}
		return nil
	}
	key, at, err := frameTime(p)
	if err != nil {
		return err
	}
	_, wanted := c.wanted[key]
	c.received[key]++
	switch {
	case !wanted:
		return errLate
	case !c.replied[key]:
		return errEarly
	case at < c.last[key]:
		return errOrder
	case key == "bbo "+soakMuted && c.received[key] > 1:
		return errMuted
	}
	c.last[key] = at
	if p.Channel == "trades" {
		return c.trades(p, c.received[key] == 1)
	}
	return nil
}

// trades notes the trades of a frame. The first frame of a subscription holds the
// last trades of the coin, as many as the service keeps.
func (c *soaker) trades(p pushed, first bool) error {
	coin, tids, err := tradesOf(p)
	if err == nil && first && len(tids) != soakTape {
		err = errSnapshot
	}
	c.tapes[coin] = append(c.tapes[coin], tids...)
	return err
}

func tradesOf(p pushed) (coin string, tids []int64, err error) {
	var trades []struct {
		Coin string
		Tid  int64
	}
	err = json.Unmarshal(p.Data, &trades)
	for _, t := range trades {
		coin, tids = t.Coin, append(tids, t.Tid)
	}
	return coin, tids, err
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
