package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
	"quotary/shared/text/visible"
	"quotary/shared/upstream"
)

// EventSink takes events in the order in which they came. It blocks while the pipeline is
// behind, may keep what it is given, and its error ends the following.
type EventSink = func(context.Context, *market.PairEvents) error

// Protocol is how a WebSocket of an exchange gives out what happens to pairs.
type Protocol struct {
	MaxPairs     int           // of a connection
	TopicsEach   int           // of a message that subscribes
	MessagePause time.Duration // after a message

	// Topics returns what is subscribed to for these pairs: of each pair, and of all of
	// them together. A topic is what the exchange's messages name it by, as JSON.
	Topics func(pairs []market.Pair) []any

	// Subscribe returns what is sent, as JSON, to subscribe to topics. Messages are
	// numbered from 1.
	Subscribe func(id int64, topics []any) any

	// Unsubscribe returns what is sent to leave them. It is nil where topics are never renewed
	// ([Books.Topic]). It is answered as the other is.
	Unsubscribe func(id int64, topics []any) any

	AnswersEach bool // each topic of a message is answered by itself

	// RefusedAgain is after how long topics that are refused are subscribed to again; 0 means a
	// quarter of an hour.
	RefusedAgain time.Duration

	// NewParser returns what reads the frames of one connection, for which it may keep
	// state.
	NewParser func() Parser

	// Ping is sent every PingEvery to a venue that does not ping itself; "" sends none.
	Ping      string
	PingEvery time.Duration

	// Unnumbered is set where the ids of trades do not count up: trades are then numbered
	// as they come, by connection, and whatever may have been missed between two
	// connections counts as a missing trade.
	Unnumbered bool
}

// Parser reads a frame into f, which is empty. What is of no interest leaves it so.
// Nothing of f is used when it returns an error.
type Parser = func(line string, f *Frame) error

// Frame is what a frame says.
type Frame struct {
	// Events name pairs by their symbols. Sizes of trades and of liquidations are as the
	// exchange counts them ([Sizes]), and their Amount and Value are not set; everything
	// else is in the units of its type. Room for them is used again.
	Events market.PairEvents

	Book BookUpdate // of a [Stream] with Books

	Answered bool   // a message is answered, or a topic of it
	ID       int64  // of that message; 0 where the venue does not say
	Topic    any    // that is accepted, of a venue that answers each
	Refused  string // why it was refused
	NoTopic  bool   // of a venue that answers each: it refuses a topic, not the message
	Restart  bool   // the venue restarts soon

	Bad    int   // rows that cannot be read and are left out, see [Frame.Rows]
	BadRow error // what is wrong with the last of them
}

// Rows reads the elements of an array of events: one for which read fails is left out and
// counted, and costs none beside it.
func (f *Frame) Rows(p *jsonscan.Scanner, read func() error) bool {
	return p.Array(func() bool {
		at, events := *p, f.Events
		err := read()
		if err == nil {
			return true
		}
		*p, f.Events = at, events
		f.Bad, f.BadRow = f.Bad+1, err
		return p.Skip()
	})
}

// Reset empties f for the next frame.
func (f *Frame) Reset() {
	f.Events.Reset()
	f.Book.Reset()
	*f = Frame{Events: f.Events, Book: f.Book}
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
	return CheckTime(t.Time)
}

// CheckTime returns an error for a time that is not in milliseconds.
func CheckTime(ms int64) error {
	if ms < leastTime || ms > mostTime {
		return fmt.Errorf("time %d is not in milliseconds", ms)
	}
	return nil
}

const (
	leastTime = 1_400_000_000_000  // ms: earlier is a unit mistaken
	mostTime  = 32_503_680_000_000 // year 3000: later are microseconds
)

// Stream follows pairs over a WebSocket. A connection lives 24 hours at most at the
// exchanges: it is made again before that, and whenever it is lost or silent, after a pause
// with jitter.
type Stream struct {
	Protocol Protocol
	URL      string // of the WebSocket
	Stats    *Stats
	Log      *slog.Logger
	Now      func() time.Time // nil is time.Now
	Books    *Books           // nil of a stream without order books

	MostFrames int // that a connection brings in half a minute; 0 is [mostFrames]
}

const (
	dialWithin   = 10 * time.Second
	writeWithin  = 10 * time.Second
	silentFor    = time.Minute // without any frame a connection is given up
	maxFrame     = 1 << 20     // bytes
	connectLives = 23 * time.Hour
	eventsQueue  = 4096 // events between reading and delivering

	// mostFrames is how many frames a connection brings within framesWithin: many times what all pairs of an
	// exchange do when markets fall. Those that say nothing are waited for by nobody, and would take a core
	// from all other sources.
	mostFrames   = 2_000_000
	framesWithin = 30 * time.Second
)

// MostAhead is by how much an exchange's clock may be ahead of ours. What it says of later
// than that is of no event.
const MostAhead = time.Minute

// ErrFuture is why an answer is not read of which something has not happened yet.
var ErrFuture = errors.New("the answer is of the future")

var reconnects = backoff.Backoff{Min: 500 * time.Millisecond, Max: time.Minute}

// ErrSubscription is why a stream has ended: the exchange refuses most of what it was asked
// for, or a message as a whole. A topic that is refused, such as that of a pair which trades no
// more, costs itself alone.
var ErrSubscription = errors.New("the venue refuses a subscription")

// Follow delivers the events of pairs until ctx ends, the sink fails, or the exchange refuses
// to be followed ([ErrSubscription]). Connections that are lost are made again. It owns a few
// goroutines for each connection and ends after them.
func (s *Stream) Follow(ctx context.Context, pairs []market.Pair, sink EventSink) error {
	extra := max(0, len(pairs)-s.Protocol.MaxPairs)
	s.Stats.Dropped.Store(int64(extra))
	if extra > 0 {
		s.Log.Error("more pairs than one connection may follow; the rest is left out", "pairs", len(pairs), "followed", s.Protocol.MaxPairs)
		pairs = pairs[:s.Protocol.MaxPairs]
	}
	f := follower{Stream: s, pairs: make(map[string]*followedPair, len(pairs)), topics: s.Protocol.Topics(pairs), sink: sink, refused: map[any]bool{}}
	for _, pair := range pairs {
		f.pairs[pair.Symbol] = &followedPair{Pair: pair}
	}
	if f.now = s.Now; f.now == nil {
		f.now = time.Now
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
		if errors.Is(err, ErrSubscription) {
			return err
		}
		pause := reconnects.Delay(try)
		s.Log.Warn("the connection to the venue has ended; connecting again", "error", excerpt(err), "in", pause.String())
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// excerpt is the beginning of what an error says, which may quote the venue.
func excerpt(err error) string { return visible.Excerpt(fmt.Sprint(err), 200) }

// follower follows pairs over connections that come and go.
type follower struct {
	*Stream
	pairs  map[string]*followedPair // by symbol
	topics []any
	sink   EventSink
	now    func() time.Time

	saidAhead bool         // that the venue's clock is ahead
	refused   map[any]bool // topics that are
}

// followedPair belongs to the goroutine that reads.
type followedPair struct {
	market.Pair
	last  int64 // id of the newest trade, 0 before the first
	apart int64 // id of a trade that is far from that, and was left out: another like it is believed; 0 for none
}

// believes reports whether a trade may come behind the newest one. One that is far from it hides
// none of those that follow: two in a row that are near each other are of another numbering.
func (p *followedPair) believes(t *market.PairTrade) bool {
	near := func(id int64) bool { return max(t.ID, id)-min(t.ID, id) <= market.TradesApart }
	switch {
	case p.last == 0 || near(p.last):
		p.apart = 0
		return true
	case p.apart != 0 && t.ID != p.apart && near(p.apart):
		p.last, p.apart = p.apart, 0
		return true
	}
	p.apart = t.ID
	return false
}

var errOld = errors.New("it has lived for long enough")

// connection connects, subscribes and delivers until the connection is lost, all that was
// read of it.
func (f *follower) connection(ctx context.Context) error {
	dialing, dialed := context.WithTimeout(ctx, dialWithin)
	defer dialed()
	conn, err := upstream.DialSocket(dialing, f.URL)
	if err != nil {
		return err
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

	queue := newEventQueue(eventsQueue)
	answers := make(chan answer, f.Protocol.TopicsEach)
	following := ctx
	group, ctx := guard.WithContext(ctx)
	var books *keptBooks
	if f.Books != nil {
		books = f.keepBooks()
		group.Go(func() error { return books.ask(ctx) })
		group.Go(func() error { return books.deliver(ctx, queue) })
		if f.Books.LargeFrom != nil {
			group.Go(func() error { return books.deliverLarge(ctx, queue) })
		}
	}
	group.Go(func() error { return f.read(ctx, conn, books, queue, answers) })
	group.Go(func() error {
		for {
			events, err := queue.next(ctx)
			if err == nil {
				err = f.deliver(following, events)
			}
			if err != nil {
				return err
			}
		}
	})
	group.Go(func() error {
		s := subscriber{follower: f, conn: conn, answers: answers}
		if books != nil {
			s.renew = books.renew
		}
		return s.subscribe(ctx)
	})
	if f.Protocol.Ping != "" {
		group.Go(func() error { return f.ping(ctx, conn) })
	}
	err = group.Wait()
	if following.Err() != nil || SinkError(err) != nil {
		return err
	}
	return cmp.Or(f.deliver(following, queue.rest()), err)
}

func (f *follower) ping(ctx context.Context, conn *websocket.Conn) error {
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

var (
	errRestart = errors.New("the venue restarts")
	errFlood   = errors.New("the venue sends more frames than any would")
)

// read reads frames until the connection is lost or silent.
func (f *follower) read(ctx context.Context, conn *websocket.Conn, books *keptBooks, queue *eventQueue, answers chan<- answer) error {
	var got Frame
	parse := f.Protocol.NewParser()
	most, since := cmp.Or(f.MostFrames, mostFrames), time.Now()
	for frames := 0; ; frames++ {
		if frames == most {
			if time.Since(since) < framesWithin {
				return errFlood
			}
			frames, since = 0, time.Now()
		}
		reading, read := context.WithTimeout(ctx, silentFor)
		_, line, err := conn.Read(reading)
		read()
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		f.Stats.Lines.Add(1)
		got.Reset()
		if err := parse(string(line), &got); err != nil {
			f.malformed(1, err, line)
			continue
		}
		if got.Bad > 0 {
			f.malformed(got.Bad, got.BadRow, line)
		}
		if got.Restart {
			return errRestart
		}
		if got.Answered {
			select {
			case answers <- answer{got.ID, got.Topic, got.Refused, got.NoTopic}:
			default: // nobody has asked
				f.Stats.Malformed.Add(1)
			}
		}
		if books != nil && got.Book.Symbol != "" {
			if at := got.Book.Time; at > f.now().Add(MostAhead).UnixMilli() {
				f.ahead(got.Book.Symbol, at)
			}
			books.apply(&got.Book)
		}
		f.normalise(&got.Events)
		if err := queue.add(ctx, &got.Events); err != nil {
			return err
		}
	}
}

// malformed counts a frame, or rows of it, that cannot be read. They may have been trades.
func (f *follower) malformed(n int, err error, line []byte) {
	if f.Stats.Malformed.Add(int64(n)) == int64(n) {
		f.Log.Warn("a frame cannot be read, or rows of it; further ones are only counted", "error", err.Error(), "frame", fmt.Sprintf("%.200q", line))
	}
	if f.Protocol.Unnumbered {
		for _, pair := range f.pairs {
			pair.last++
		}
	}
}

// deliver passes events to the sink.
func (f *follower) deliver(ctx context.Context, events *market.PairEvents) error {
	if events.Len() == 0 {
		return nil
	}
	newest := events.Newest()
	if err := f.sink(ctx, events); err != nil {
		return OfSink(err)
	}
	f.Stats.Seen(time.Now(), newest)
	return nil
}
