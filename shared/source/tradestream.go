package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"quotary/shared/backoff"
	"quotary/shared/market"
)

// TradeSink takes trades in the order in which they came. It blocks while the pipeline
// is behind; its error ends the following.
type TradeSink = func(context.Context, []market.PairTrade) error

// TradeProtocol is how the WebSocket of an exchange gives out trades.
type TradeProtocol struct {
	MaxPairs     int           // of a connection
	PairsEach    int           // of a message that subscribes
	MessagePause time.Duration // after a message

	// Subscribe returns what is sent, as JSON, to subscribe to symbols. Messages are
	// numbered from 1.
	Subscribe func(id int64, symbols []string) any

	AnswersEach bool // each symbol of a message is answered by itself

	// Parse reads a frame into f, which is empty. What is of no interest leaves it so.
	// Nothing of f is used when it returns an error.
	Parse func(line string, f *TradeFrame) error

	// Ping is sent every PingEvery to a venue that does not ping itself; "" sends none.
	Ping      string
	PingEvery time.Duration

	// Unnumbered is set where the ids of trades do not count up: trades are then numbered
	// as they come, by connection, and whatever may have been missed between two
	// connections counts as a missing trade.
	Unnumbered bool
}

// TradeFrame is what a frame says.
type TradeFrame struct {
	Trades   []SymbolTrade // room for them is used again
	Answered bool          // a message is answered
	ID       int64         // of that message; 0 where the venue does not say
	Refused  string        // why it was refused
	Restart  bool          // the venue restarts soon
}

// SymbolTrade is a trade whose pair is named by symbol. Its Sz is in contracts where
// that of the pair is set, and its Pair is not set.
type SymbolTrade struct {
	Symbol string
	market.PairTrade
}

// SetTrade sets price and size of a trade from their texts. An error says what is wrong
// with these or with its time.
func SetTrade(t *market.PairTrade, px, sz string) (err error) {
	if t.Px, err = market.ParseDecimal(px); err != nil {
		return fmt.Errorf("price of a trade: %w", err)
	}
	if t.Sz, err = market.ParseDecimal(sz); err != nil {
		return fmt.Errorf("size of a trade: %w", err)
	}
	if !t.Px.IsPos() || !t.Sz.IsPos() {
		return fmt.Errorf("price %s and size %s of a trade must be above 0", px, sz)
	}
	if t.Time < leastTime || t.Time > mostTime {
		return fmt.Errorf("time %d of a trade is not in milliseconds", t.Time)
	}
	return nil
}

const (
	leastTime = 1_400_000_000_000  // ms: earlier is a unit mistaken
	mostTime  = 32_503_680_000_000 // year 3000: later are microseconds
)

// TradeStream follows trades over a WebSocket. A connection lives 24 hours at most at
// the exchanges: it is made anew before that, and whenever it is lost or silent, after a
// pause with jitter.
type TradeStream struct {
	Protocol TradeProtocol
	URL      string // of the WebSocket
	Stats    *Stats
	Log      *slog.Logger
}

const (
	dialWithin   = 10 * time.Second
	answerWithin = 10 * time.Second
	writeWithin  = 10 * time.Second
	silentFor    = time.Minute // without any frame a connection is given up
	maxFrame     = 1 << 20     // bytes
	connectLives = 23 * time.Hour
	tradesQueue  = 4096 // trades between reading and delivering
	tradesEach   = 1000 // of a delivery
)

var reconnects = backoff.Backoff{Min: 500 * time.Millisecond, Max: time.Minute}

// Follow delivers the trades of pairs until ctx ends or the sink fails. Connections that
// are lost are made anew. It owns a few goroutines for each connection and ends after
// them.
func (s *TradeStream) Follow(ctx context.Context, pairs []market.Pair, sink TradeSink) error {
	extra := max(0, len(pairs)-s.Protocol.MaxPairs)
	s.Stats.Dropped.Store(int64(extra))
	if extra > 0 {
		s.Log.Error("more pairs than one connection may follow; the rest is left out", "pairs", len(pairs), "followed", s.Protocol.MaxPairs)
		pairs = pairs[:s.Protocol.MaxPairs]
	}
	f := tradeFollower{TradeStream: s, pairs: make(map[string]*followedPair, len(pairs)), sink: sink}
	for _, pair := range pairs {
		f.pairs[pair.Symbol] = &followedPair{key: pair.Key, contract: pair.Contract}
		f.symbols = append(f.symbols, pair.Symbol)
	}
	for try := 0; ; try++ {
		began := time.Now()
		err := f.connection(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case SinkError(err) != nil:
			return SinkError(err)
		}
		if time.Since(began) > time.Minute {
			try = 0 // it worked for a while: this is a new trouble
		}
		s.Stats.Reconnects.Add(1)
		pause := reconnects.Delay(try)
		s.Log.Warn("the connection to the venue has ended; connecting again", "error", excerpt(err), "in", pause.String())
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// excerpt is the beginning of what an error says, which may quote the venue.
func excerpt(err error) string { return fmt.Sprintf("%.200s", fmt.Sprint(err)) }

// tradeFollower follows pairs over connections that come and go.
type tradeFollower struct {
	*TradeStream
	pairs   map[string]*followedPair // by symbol
	symbols []string
	sink    TradeSink
}

// followedPair belongs to the goroutine that reads.
type followedPair struct {
	key      string
	contract market.Decimal // base coins; 0 where sizes are in coins
	last     int64          // id of the newest trade, 0 before the first
}

var errOld = errors.New("it has lived for long enough")

// connection connects, subscribes and delivers until the connection is lost.
func (f *tradeFollower) connection(ctx context.Context) error {
	dialing, dialed := context.WithTimeout(ctx, dialWithin)
	defer dialed()
	conn, _, err := websocket.Dial(dialing, f.URL, nil) //nolint:bodyclose // there is none to close, says Dial
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	if f.Protocol.Unnumbered {
		// Nanoseconds grow faster than trades come: a later connection never uses an
		// earlier one's numbers.
		for _, pair := range f.pairs {
			pair.last = max(time.Now().UnixNano(), pair.last+1)
		}
	}

	trades := make(chan market.PairTrade, tradesQueue)
	answers := make(chan answer, f.Protocol.PairsEach)
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
	if f.Protocol.Ping != "" {
		group.Go(func() error { return f.ping(ctx, conn) })
	}
	return group.Wait()
}

// answer is that to a message.
type answer struct {
	id      int64
	refused string
}

// subscribe asks for the trades of the symbols, some at a time, and waits for each
// answer.
func (f *tradeFollower) subscribe(ctx context.Context, conn *websocket.Conn, answers <-chan answer) error {
	for id, from := int64(1), 0; from < len(f.symbols); id, from = id+1, from+f.Protocol.PairsEach {
		symbols := f.symbols[from:min(from+f.Protocol.PairsEach, len(f.symbols))]
		b, err := json.Marshal(f.Protocol.Subscribe(id, symbols))
		if err != nil {
			return err
		}
		if err := write(ctx, conn, b); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		await := 1
		if f.Protocol.AnswersEach {
			await = len(symbols)
		}
		timeout := time.After(answerWithin)
		for range await {
			select {
			case a := <-answers:
				if a.refused != "" || a.id != 0 && a.id != id {
					return fmt.Errorf("subscribe: message %d is answered with %.200q for message %d", id, a.refused, a.id)
				}
			case <-timeout:
				return fmt.Errorf("subscribe: no answer within %s", answerWithin)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := backoff.Sleep(ctx, f.Protocol.MessagePause); err != nil {
			return err
		}
	}
	return nil
}

func (f *tradeFollower) ping(ctx context.Context, conn *websocket.Conn) error {
	for {
		if err := backoff.Sleep(ctx, f.Protocol.PingEvery); err != nil {
			return err
		}
		if err := write(ctx, conn, []byte(f.Protocol.Ping)); err != nil {
			return fmt.Errorf("ping: %w", err)
		}
	}
}

// write may be called by goroutines.
func write(ctx context.Context, conn *websocket.Conn, b []byte) error {
	writing, written := context.WithTimeout(ctx, writeWithin)
	defer written()
	return conn.Write(writing, websocket.MessageText, b)
}

var errRestart = errors.New("the venue restarts")

// read reads frames until the connection is lost or silent.
func (f *tradeFollower) read(ctx context.Context, conn *websocket.Conn, trades chan<- market.PairTrade, answers chan<- answer) error {
	var got TradeFrame
	for {
		reading, read := context.WithTimeout(ctx, silentFor)
		_, line, err := conn.Read(reading)
		read()
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		f.Stats.Lines.Add(1)
		got = TradeFrame{Trades: got.Trades[:0]}
		if err := f.Protocol.Parse(string(line), &got); err != nil {
			f.malformed(err, line)
			continue
		}
		if got.Restart {
			return errRestart
		}
		if got.Answered {
			select {
			case answers <- answer{got.ID, got.Refused}:
			default: // nobody has asked
				f.Stats.Malformed.Add(1)
			}
		}
		for i := range got.Trades {
			if err := f.trade(ctx, &got.Trades[i], trades); err != nil {
				return err
			}
		}
	}
}

// malformed counts a frame that cannot be read. It may have been one of trades.
func (f *tradeFollower) malformed(err error, line []byte) {
	if f.Stats.Malformed.Add(1) == 1 {
		f.Log.Warn("a frame cannot be read; further ones are only counted", "error", err.Error(), "frame", fmt.Sprintf("%.200q", line))
	}
	if f.Protocol.Unnumbered {
		for _, pair := range f.pairs {
			pair.last++
		}
	}
}

// trade passes a trade of a followed pair on, and counts those that are missing before
// it.
func (f *tradeFollower) trade(ctx context.Context, got *SymbolTrade, trades chan<- market.PairTrade) error {
	pair := f.pairs[got.Symbol]
	if pair == nil {
		f.Stats.Malformed.Add(1)
		return nil
	}
	trade := got.PairTrade
	if f.Protocol.Unnumbered {
		trade.Prev, trade.ID = pair.last, pair.last+1
	} else if missing := trade.Prev - pair.last; pair.last > 0 && missing > 0 {
		f.Stats.Gaps.Add(missing)
	}
	pair.last = max(pair.last, trade.ID)
	trade.Pair = pair.key
	if !pair.contract.IsZero() {
		trade.Sz = trade.Sz.Mul(pair.contract)
	}
	select {
	case trades <- trade:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver passes trades to the sink, all that have come at once, until there are no
// more.
func (f *tradeFollower) deliver(ctx context.Context, trades <-chan market.PairTrade) error {
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
			return OfSink(err)
		}
		f.Stats.Seen(time.Now(), newest)
	}
	return nil
}
