package hyperliquid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// The part of the venue's limits that joined books take. Their connections are as
// many as there are ways to join: six, of the ten.
const (
	maxJoined               = 50            // books
	joinedSubscriptions     = 2 * maxJoined // each is subscribed to in both ways, see [layers]
	joinedMessagesPerMinute = 300
)

// JoinedBook names a book in one grouping.
type JoinedBook struct {
	market.Grouping
	Coin string
}

// JoinedBooks follows books whose prices the venue joins. It joins all orders
// before it cuts a side at twenty prices; who joins the twenty prices of the plain
// book sees little beyond the best of them.
//
// A frame of the venue does not name its grouping, so every grouping has a
// connection of its own, which is open while somebody wants a book in it.
type JoinedBooks struct {
	url    string
	log    *slog.Logger
	budget *source.Budget

	mu     sync.Mutex
	wanted map[JoinedBook]time.Time          // since when
	news   map[market.Grouping]chan struct{} // hold one: what is wanted has changed
}

// NewJoinedBooks returns books of the public API at a URL, as
// https://api.hyperliquid.xyz, none of them wanted.
func NewJoinedBooks(url string, log *slog.Logger) *JoinedBooks {
	j := &JoinedBooks{url: url, log: log, budget: source.NewBudget(joinedMessagesPerMinute, time.Now),
		wanted: map[JoinedBook]time.Time{}, news: map[market.Grouping]chan struct{}{}}
	for _, g := range market.Groupings {
		j.news[g] = make(chan struct{}, 1)
	}
	return j
}

// Want has a book followed, as far as the venue's limits allow.
func (j *JoinedBooks) Want(b JoinedBook) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.wanted[b]; ok || len(j.wanted) == maxJoined {
		return
	}
	j.wanted[b] = time.Now()
	j.signal(b.Grouping)
}

// Since returns since when a book is wanted.
func (j *JoinedBooks) Since(b JoinedBook) (at time.Time, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at, ok = j.wanted[b]
	return at, ok
}

// Keep drops the books that are not to be kept. It holds no lock while it asks.
func (j *JoinedBooks) Keep(keep func(JoinedBook) bool) {
	j.mu.Lock()
	all := maps.Clone(j.wanted)
	j.mu.Unlock()
	for b := range all {
		if keep(b) {
			continue
		}
		j.mu.Lock()
		delete(j.wanted, b)
		j.signal(b.Grouping)
		j.mu.Unlock()
	}
}

// signal wakes the connection of a grouping. The caller holds j.mu.
func (j *JoinedBooks) signal(g market.Grouping) {
	select {
	case j.news[g] <- struct{}{}:
	default:
	}
}

// coins are those that are wanted in a grouping.
func (j *JoinedBooks) coins(g market.Grouping) map[string]bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	coins := map[string]bool{}
	for b := range j.wanted {
		if b.Grouping == g {
			coins[b.Coin] = true
		}
	}
	return coins
}

// Run calls take with every frame until ctx ends. Each grouping has a goroutine, and
// take is called by all of them.
func (j *JoinedBooks) Run(ctx context.Context, take func(JoinedBook, *market.Book)) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, g := range market.Groupings {
		group.Go(func() error { return j.follow(ctx, g, take) })
	}
	return group.Wait()
}

// errUnwanted ends a connection of which nobody wants anything.
var errUnwanted = errors.New("no book is wanted")

// follow holds a connection while a book of the grouping is wanted.
func (j *JoinedBooks) follow(ctx context.Context, g market.Grouping, take func(JoinedBook, *market.Book)) error {
	for try := 1; ctx.Err() == nil; try++ {
		for len(j.coins(g)) == 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-j.news[g]:
			}
		}
		began := time.Now()
		err := j.connection(ctx, g, take)
		if errors.Is(err, errUnwanted) || ctx.Err() != nil {
			try = 0
			continue
		}
		if time.Since(began) > time.Minute {
			try = 1 // it worked for a while: this is a new trouble
		}
		pause := pauses.Delay(try - 1)
		j.log.Warn("lost a connection for joined books; connecting again", "error", excerpt(fmt.Sprint(err)), "in", pause.String())
		_ = backoff.Sleep(ctx, pause) // its error is that of ctx
	}
	return nil
}

// connection follows the books of a grouping until the connection is lost or
// nobody wants one. It owns three goroutines and ends after them.
func (j *JoinedBooks) connection(ctx context.Context, g market.Grouping, take func(JoinedBook, *market.Book)) error {
	conn, err := dial(ctx, j.url)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return j.subscribe(ctx, conn, g) })
	group.Go(func() error { return heartbeat(ctx, conn, pingEvery) })
	group.Go(func() error { return j.read(ctx, conn, g, take) })
	return group.Wait()
}

// joinedSubscription is how the venue is asked for a book.
type joinedSubscription struct {
	Type     string `json:"type"`
	Coin     string `json:"coin"`
	NSigFigs int    `json:"nSigFigs"`
	Mantissa int    `json:"mantissa,omitempty"` // 1 goes without saying
	Fast     bool   `json:"fast,omitempty"`
}

// subscribe asks for what is wanted and gives up what is not.
func (j *JoinedBooks) subscribe(ctx context.Context, conn *websocket.Conn, g market.Grouping) error {
	asked := map[string]bool{}
	ask := func(method, coin string) error {
		s := joinedSubscription{Type: "l2Book", Coin: coin, NSigFigs: g.Figs}
		if g.Mantissa > 1 {
			s.Mantissa = g.Mantissa
		}
		for _, s.Fast = range []bool{false, true} {
			if err := j.budget.Spend(ctx, 1); err != nil {
				return err
			}
			if err := send(ctx, conn, map[string]any{"method": method, "subscription": s}); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		return nil
	}
	for {
		wanted := j.coins(g)
		if len(wanted) == 0 {
			return errUnwanted
		}
		for coin := range asked {
			if !wanted[coin] {
				if err := ask("unsubscribe", coin); err != nil {
					return err
				}
				delete(asked, coin)
			}
		}
		for coin := range wanted {
			if !asked[coin] {
				if err := ask("subscribe", coin); err != nil {
					return err
				}
				asked[coin] = true
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-j.news[g]:
		}
	}
}

func (j *JoinedBooks) read(ctx context.Context, conn *websocket.Conn, g market.Grouping, take func(JoinedBook, *market.Book)) error {
	books := layers{}
	for {
		frame, err := receive(ctx, conn)
		if err != nil {
			return err
		}
		var push push
		if err := json.Unmarshal(frame, &push); err != nil || push.Channel == "error" {
			j.log.Warn("skipped a frame of joined books", "frame", excerpt(string(frame)))
			continue
		}
		if push.Channel != "l2Book" {
			continue
		}
		book, err := wire.ParseBook(push.Data)
		if err != nil {
			j.log.Warn("skipped a joined book", "error", excerpt(err.Error()), "frame", excerpt(string(frame)))
			continue
		}
		book, newer := books.join(&book)
		if b := (JoinedBook{g, book.Coin}); newer && j.isWanted(b) {
			take(b, &book)
		}
	}
}

func (j *JoinedBooks) isWanted(b JoinedBook) bool {
	_, ok := j.Since(b)
	return ok
}
