package hyperliquid

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/upstream"
	"quotary/shared/venue/wire"
)

// Limits of the public WebSocket, per IP address, as the venue documents them:
// 1,000 subscriptions, 2,000 messages a minute and ten connections, all of which
// [JoinedBooks] has a part in. The subscriptions of a [Feed] fit one connection.
const (
	maxSubscriptions  = 1000 - joinedSubscriptions
	messagesPerMinute = 1500 // leaves room for pings and other programs
)

const (
	metaEvery = time.Minute
	pingEvery = 30 * time.Second
)

// Feed follows the public API: one WebSocket for mid prices, trades and books,
// and the description of the markets once a minute.
type Feed struct {
	URL    string // e.g. https://api.hyperliquid.xyz
	Trades bool   // whether to follow the trades of every coin
	Books  bool   // whether to follow the book and the best prices of every coin, as far as the limits allow
	Info   *Info  // the client to ask, where others spend of the same budget; nil means one of its own
	Stats  *Stats
	Log    *slog.Logger

	Ping      time.Duration // between heartbeats; 0 means 30 s
	MetaEvery time.Duration // between looks at the markets; 0 means a minute

	// Stored has the descriptions of dexes by an earlier run, for those that do not answer the
	// first look; nil is none.
	Stored func(context.Context) (map[string]json.RawMessage, error)

	info      *Info
	described map[string]json.RawMessage // by dex: as it was described last; of the goroutine that looks
	silent    silentDexs                 // at looks
	whole     wholeTrades

	mu sync.Mutex
	// wanted are the subscriptions in order of their discovery; news signals the
	// connection that there are more.
	wanted []subscription
	known  map[subscription]bool
	news   chan struct{}
}

type subscription struct {
	Type string `json:"type"`
	Coin string `json:"coin,omitempty"`
	Dex  string `json:"dex,omitempty"`
	Fast bool   `json:"fast,omitempty"`
}

// Follow delivers what the venue sends until ctx ends or the sink fails. It runs
// two goroutines, one that looks at the markets and one that holds the
// connection, and ends after both.
func (f *Feed) Follow(ctx context.Context, sink Sink) error {
	if f.info = f.Info; f.info == nil {
		f.info = NewInfo(f.URL)
	}
	f.known = map[subscription]bool{}
	f.news = make(chan struct{}, 1)
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return f.markets(ctx, sink) })
	group.Go(func() error { return f.connections(ctx, sink) })
	return group.Wait()
}

// connections holds a connection, and makes another when it is lost.
func (f *Feed) connections(ctx context.Context, sink Sink) error {
	budget := source.NewBudget(messagesPerMinute, time.Now)
	for try := 1; ; try++ {
		began := time.Now()
		err := f.connection(ctx, budget, sink)
		if end := final(ctx, err); end != nil {
			return end
		}
		if time.Since(began) > time.Minute {
			try = 1 // it worked for a while: this is a new trouble
		}
		f.Stats.Reconnects.Add(1)
		pause := pauses.Delay(try - 1)
		f.Log.Warn("lost the venue's WebSocket; connecting again", "error", excerpt(fmt.Sprint(err)), "in", pause.String())
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// connection connects, subscribes and delivers until the connection is lost. It
// owns four goroutines, for subscribing, heartbeats, reading and what was missed,
// and ends after them.
func (f *Feed) connection(ctx context.Context, budget *source.Budget, sink Sink) error {
	conn, err := dial(ctx, f.URL)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	f.whole.begin()
	take := func(ctx context.Context, d Delivery) error {
		return source.OfSink(emit(ctx, time.Now(), &d, f.Stats, f.Log, sink))
	}
	group, ctx := guard.WithContext(ctx)
	subscribed := make(chan string, maxSubscriptions) // coins; room for all, so that subscribing never waits
	group.Go(func() error { return f.subscribe(ctx, conn, budget, subscribed) })
	group.Go(func() error { return heartbeat(ctx, conn, cmp.Or(f.Ping, pingEvery)) })
	group.Go(func() error { return f.read(ctx, conn, take) })
	group.Go(func() error { return f.recover(ctx, subscribed, take) })
	return group.Wait()
}

// subscribe sends each subscription once, those that come later too, and passes
// on the coins whose trades it asked for.
func (f *Feed) subscribe(ctx context.Context, conn *websocket.Conn, budget *source.Budget, subscribed chan<- string) error {
	for sent := 0; ; {
		f.mu.Lock()
		fresh := f.wanted[sent:]
		f.mu.Unlock()
		for _, s := range fresh {
			if err := budget.Spend(ctx, 1); err != nil {
				return err
			}
			if err := send(ctx, conn, map[string]any{"method": "subscribe", "subscription": s}); err != nil {
				return fmt.Errorf("subscribe: %w", err)
			}
			if s.Type == "trades" {
				subscribed <- s.Coin
			}
			sent++
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.news:
		}
	}
}

// read delivers frame by frame. While the sink blocks nothing is read, and what
// piles up waits at the venue.
func (f *Feed) read(ctx context.Context, conn *websocket.Conn, sink Sink) error {
	books, logged := layers{}, false // of bad frames the first of a connection is logged
	for {
		frame, err := receive(ctx, conn)
		if err != nil {
			return err
		}
		f.Stats.Lines.Add(1)
		events, err := f.frame(frame, books)
		if err != nil {
			f.Stats.Malformed.Add(1)
			if !logged {
				logged = true
				f.Log.Warn("skipped a frame, and will others that cannot be read", "error", excerpt(err.Error()), "frame", excerpt(string(frame)))
			}
			continue
		}
		if events.Len() == 0 {
			continue
		}
		if err := sink(ctx, Delivery{Events: events}); err != nil {
			return err
		}
	}
}

// follows reports whether something was asked for; what was not counts as malformed.
func (f *Feed) follows(s subscription) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[s] {
		f.Stats.Malformed.Add(1)
		return false
	}
	return true
}

// frame reads one push, of which it leaves out what was not asked for.
func (f *Feed) frame(b []byte, books layers) (market.Events, error) {
	var push push
	if err := upstream.Decode(b, &push); err != nil {
		return market.Events{}, err
	}
	switch push.Channel {
	case "trades":
		trades, malformed, err := wire.ParseTrades(push.Data, false)
		if err != nil {
			return market.Events{}, err
		}
		f.Stats.Malformed.Add(int64(malformed))
		trades = slices.DeleteFunc(trades, func(t market.Trade) bool { return !f.follows(subscription{Type: "trades", Coin: t.Coin}) })
		f.whole.came(trades)
		return market.Events{Trades: trades}, nil
	case "allMids":
		var data struct {
			Dex  *string           `json:"dex"`
			Mids map[string]string `json:"mids"`
		}
		if err := lenient.Object(push.Data, &data); err != nil {
			return market.Events{}, err
		}
		px := wire.ValidMids(data.Mids)
		if len(px) == 0 {
			return market.Events{}, nil
		}
		dex := dexOf(px)
		if data.Dex != nil {
			dex = *data.Dex
		}
		if !f.follows(subscription{Type: "allMids", Dex: dex}) {
			return market.Events{}, nil
		}
		return market.Events{Mids: []market.Mids{{Dex: dex, Time: time.Now().UnixMilli(), Px: px}}}, nil
	case "l2Book":
		book, err := readBook(push.Data)
		if err != nil {
			return market.Events{}, err
		}
		if !f.follows(subscription{Type: "l2Book", Coin: book.Coin}) {
			return market.Events{}, nil
		}
		if book, newer := books.join(&book); newer {
			return market.Events{Books: []market.Book{book}}, nil
		}
		return market.Events{}, nil
	case "bbo":
		bbo, err := wire.ParseBBO(push.Data)
		if err != nil {
			return market.Events{}, err
		}
		if !f.follows(subscription{Type: "bbo", Coin: bbo.Coin}) {
			return market.Events{}, nil
		}
		return market.Events{BBOs: []market.BBO{bbo}}, nil
	case "error":
		return market.Events{}, fmt.Errorf("the venue refuses: %s", push.Data)
	default: // pong, subscriptionResponse
		return market.Events{}, nil
	}
}

// dexOf is the dex of a set of coins: the main one where a coin of it is among them.
func dexOf(px map[string]string) (dex string) {
	for coin := range px {
		if dex = market.DexOf(coin); dex == "" {
			break
		}
	}
	return dex
}

// recover asks for the last trades of each coin once it is subscribed to, as far
// as the venue knows them: those since the last connection, or since the last
// run of the program, may be among them. Trades that were emitted already do no
// harm.
func (f *Feed) recover(ctx context.Context, subscribed <-chan string, sink Sink) error {
	for {
		var coin string
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case coin = <-subscribed:
		}
		trades, malformed, err := f.info.RecentTrades(ctx, coin)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			f.Log.Warn("cannot ask for the trades that were missed", "coin", coin, "error", err.Error())
		}
		f.Stats.Malformed.Add(int64(malformed))
		trades = slices.DeleteFunc(trades, func(t market.Trade) bool { return t.Coin != coin })
		events := market.Events{Trades: trades}
		if since, ok := f.whole.lost(coin, trades, time.Now()); ok {
			events.TradesWhole = []market.TradesWhole{{Coin: coin, Since: since}}
		}
		if events.Len() == 0 {
			continue
		}
		if err := sink(ctx, Delivery{Events: events}); err != nil {
			return err
		}
	}
}
