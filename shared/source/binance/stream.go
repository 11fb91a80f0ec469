package binance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/source"
)

const (
	dialWithin   = 10 * time.Second
	ackWithin    = 10 * time.Second
	writeWithin  = 10 * time.Second
	silentFor    = time.Minute // without any frame a connection is given up
	maxFrame     = 1 << 20     // bytes
	maxStreams   = 1024        // of a connection
	streamsEach  = 100         // of a message that subscribes
	connectLives = 23 * time.Hour
	tradesQueue  = 4096 // trades between reading and delivering
	tradesEach   = 1000 // of a delivery
)

var reconnects = backoff.Backoff{Min: 500 * time.Millisecond, Max: time.Minute}

// Sink takes trades in the order in which they came. It blocks while the pipeline is
// behind; its error ends the following.
type Sink = func(context.Context, []market.PairTrade) error

// Trades delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew. It owns two goroutines for each connection and ends
// after them.
func (m *Market) Trades(ctx context.Context, pairs []market.Pair, sink Sink) error {
	if extra := len(pairs) - maxStreams; extra > 0 {
		m.Stats.Dropped.Store(int64(extra))
		m.Log.Error("more pairs than one connection may follow; the rest is left out", "pairs", len(pairs), "followed", maxStreams)
		pairs = pairs[:maxStreams]
	}
	f := follower{Market: m, pairs: make(map[string]*followed, len(pairs)), sink: sink}
	for _, pair := range pairs {
		f.pairs[pair.Symbol] = &followed{key: pair.Key}
		f.streams = append(f.streams, strings.ToLower(pair.Symbol)+"@"+aggTrade)
	}
	for try := 0; ; try++ {
		began := time.Now()
		err := f.connection(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case source.SinkError(err) != nil:
			return source.SinkError(err)
		}
		if time.Since(began) > time.Minute {
			try = 0 // it worked for a while: this is a new trouble
		}
		m.Stats.Reconnects.Add(1)
		pause := reconnects.Delay(try)
		m.Log.Warn("the connection to the venue has ended; connecting again", "error", excerpt(err), "in", pause.String())
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// excerpt is the beginning of what an error says, which may quote the venue.
func excerpt(err error) string { return fmt.Sprintf("%.200s", fmt.Sprint(err)) }

// follower follows pairs over connections that come and go.
type follower struct {
	*Market
	pairs   map[string]*followed // by symbol
	streams []string
	sink    Sink
}

// followed is a pair. It belongs to who reads.
type followed struct {
	key  string
	last int64 // id of the newest trade, 0 before the first
}

var errOld = errors.New("it has lived for long enough")

// connection connects, subscribes and delivers until the connection is lost.
func (f *follower) connection(ctx context.Context) error {
	dialing, dialed := context.WithTimeout(ctx, dialWithin)
	defer dialed()
	conn, _, err := websocket.Dial(dialing, f.stream+f.rules.route+"/stream", nil) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)

	trades := make(chan market.PairTrade, tradesQueue)
	answers := make(chan frame, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(trades)
		return f.read(ctx, conn, trades, answers)
	})
	group.Go(func() error { return f.deliver(ctx, trades) })
	group.Go(func() error {
		if err := f.subscribe(ctx, conn, answers); err != nil {
			return err
		}
		if err := backoff.Sleep(ctx, connectLives-rand.N(time.Hour)); err != nil {
			return err
		}
		return errOld
	})
	return group.Wait()
}

// subscribe asks for the streams, some at a time, and waits for each answer.
func (f *follower) subscribe(ctx context.Context, conn *websocket.Conn, answers <-chan frame) error {
	type message struct {
		Method string   `json:"method"`
		Params []string `json:"params"`
		ID     int64    `json:"id"`
	}
	for id, from := int64(1), 0; from < len(f.streams); id, from = id+1, from+streamsEach {
		b, err := json.Marshal(message{"SUBSCRIBE", f.streams[from:min(from+streamsEach, len(f.streams))], id})
		if err != nil {
			return err
		}
		writing, written := context.WithTimeout(ctx, writeWithin)
		err = conn.Write(writing, websocket.MessageText, b)
		written()
		if err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		select {
		case a := <-answers:
			if a.refused != "" || a.answer != id {
				return fmt.Errorf("subscribe: message %d is answered with %.200q for message %d", id, a.refused, a.answer)
			}
		case <-time.After(ackWithin):
			return fmt.Errorf("subscribe: no answer within %s", ackWithin)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := backoff.Sleep(ctx, time.Second/time.Duration(f.rules.messagesPerSecond)); err != nil {
			return err
		}
	}
	return nil
}

var errShutdown = errors.New("the venue restarts")

// read reads frames until the connection is lost or silent.
func (f *follower) read(ctx context.Context, conn *websocket.Conn, trades chan<- market.PairTrade, answers chan<- frame) error {
	for {
		reading, read := context.WithTimeout(ctx, silentFor)
		_, line, err := conn.Read(reading)
		read()
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		f.Stats.Lines.Add(1)
		got, err := parseFrame(string(line))
		switch {
		case err != nil:
			if f.Stats.Malformed.Add(1) == 1 {
				f.Log.Warn("a frame cannot be read; further ones are only counted", "error", err.Error(), "frame", fmt.Sprintf("%.200q", line))
			}
		case got.shutdown:
			return errShutdown
		case got.answer != 0 || got.refused != "":
			select {
			case answers <- got:
			default: // nobody has asked
				f.Stats.Malformed.Add(1)
			}
		case got.symbol != "":
			if err := f.trade(ctx, &got, trades); err != nil {
				return err
			}
		}
	}
}

// trade passes a trade of a followed pair on, and counts those that are missing before
// it.
func (f *follower) trade(ctx context.Context, got *frame, trades chan<- market.PairTrade) error {
	pair := f.pairs[got.symbol]
	if pair == nil {
		f.Stats.Malformed.Add(1)
		return nil
	}
	if missing := got.trade.ID - pair.last - 1; pair.last > 0 && missing > 0 {
		f.Stats.Gaps.Add(missing)
	}
	pair.last = max(pair.last, got.trade.ID)
	got.trade.Pair = pair.key
	select {
	case trades <- got.trade:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver passes trades to the sink, all that have come at once, until there are no
// more.
func (f *follower) deliver(ctx context.Context, trades <-chan market.PairTrade) error {
	for first := range trades {
		batch := []market.PairTrade{first}
		for len(batch) < tradesEach && len(trades) > 0 {
			batch = append(batch, <-trades)
		}
		newest := int64(0)
		for i := range batch {
			newest = max(newest, batch[i].Time)
		}
		if err := f.sink(ctx, batch); err != nil {
			return source.OfSink(err)
		}
		f.Stats.Seen(time.Now(), newest)
	}
	return nil
}
