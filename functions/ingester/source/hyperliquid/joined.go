package hyperliquid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/upstream"
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
	now    func() time.Time

	mu       sync.Mutex
	wanted   map[JoinedBook]joinedBook
	followed int                               // of them
	news     map[market.Grouping]chan struct{} // hold one: what is followed has changed
}

// NewJoinedBooks returns books of the public API at a URL, as
// https://api.hyperliquid.xyz, none of them wanted.
func NewJoinedBooks(url string, log *slog.Logger) *JoinedBooks {
	j := &JoinedBooks{url: url, log: log, budget: source.NewBudget(joinedMessagesPerMinute, time.Now), now: time.Now,
		wanted: map[JoinedBook]joinedBook{}, news: map[market.Grouping]chan struct{}{}}
	for _, g := range market.Groupings {
		j.news[g] = make(chan struct{}, 1)
	}
	return j
}

// joinedBook is what is known of a book that somebody wants.
type joinedBook struct {
	of    string    // a distributor who wants it
	first time.Time // when it was wanted first
	since time.Time // since when it is followed; zero: it has no place
}

// joinedLeast is for how long a book keeps its place at least where its distributor has that many,
// also when nobody wants it any longer. To follow a book and to let it go are four messages: so all
// places cost less than may be sent, however quickly somebody changes what it follows.
const joinedLeast = time.Minute

// Want has a book followed for a distributor if there is a place.
func (j *JoinedBooks) Want(distributor string, b JoinedBook) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.wanted[b]; ok || j.followed == maxJoined {
		return
	}
	now := j.now()
	j.wanted[b] = joinedBook{distributor, now, now}
	j.followed++
	j.signal(b.Grouping)
}

// Follow has the books followed that distributors want, and for a while those that they wanted.
// The places that the venue's limits allow are dealt in rounds; left is how many that are wanted
// have none. Of a distributor those go first that were wanted first, so that a place is kept while
// others want no less.
func (j *JoinedBooks) Follow(list followrequests.List[JoinedBook]) (left int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.now()
	before, wanted := j.wanted, map[JoinedBook]joinedBook{}
	by := map[string][]JoinedBook{}
	for _, of := range list {
		by[of.Distributor] = of.Things
		for _, b := range of.Things {
			if _, ok := wanted[b]; ok {
				continue
			}
			one := joinedBook{of: of.Distributor, first: before[b].first}
			if one.first.IsZero() {
				one.first = now
			}
			wanted[b] = one
		}
	}
	left = len(wanted)
	kept := map[JoinedBook]bool{}
	for b, one := range before {
		if _, ok := wanted[b]; !ok && now.Sub(one.since) < joinedLeast {
			by[one.of] = append(by[one.of], b)
			wanted[b], kept[b] = joinedBook{of: one.of, first: one.first}, true
		}
	}
	list = followrequests.ListOf(by)
	for _, of := range list {
		slices.SortFunc(of.Things, func(a, b JoinedBook) int {
			return cmp.Or(wanted[a].first.Compare(wanted[b].first), cmp.Compare(a.Coin, b.Coin), cmp.Compare(a.Figs, b.Figs), cmp.Compare(a.Mantissa, b.Mantissa))
		})
	}
	dealt, _ := list.Deal(maxJoined, func(JoinedBook) bool { return true })
	for _, b := range dealt {
		one := wanted[b]
		if one.since = before[b].since; one.since.IsZero() {
			one.since = now
			j.signal(b.Grouping)
		}
		if wanted[b] = one; !kept[b] {
			left--
		}
	}
	for b, one := range before {
		if !one.since.IsZero() && wanted[b].since.IsZero() {
			j.signal(b.Grouping)
		}
	}
	j.wanted, j.followed = wanted, len(dealt)
	return left
}

// Since returns since when a book is followed.
func (j *JoinedBooks) Since(b JoinedBook) (at time.Time, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at = j.wanted[b].since
	return at, !at.IsZero()
}

// signal wakes the connection of a grouping. The caller holds j.mu.
func (j *JoinedBooks) signal(g market.Grouping) {
	select {
	case j.news[g] <- struct{}{}:
	default:
	}
}

// coins are those that are followed in a grouping.
func (j *JoinedBooks) coins(g market.Grouping) map[string]bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	coins := map[string]bool{}
	for b, one := range j.wanted {
		if b.Grouping == g && !one.since.IsZero() {
			coins[b.Coin] = true
		}
	}
	return coins
}

// Run calls take with every frame until ctx ends. Each grouping has a goroutine, and
// take is called by all of them.
func (j *JoinedBooks) Run(ctx context.Context, take func(JoinedBook, *market.Book)) error {
	group, ctx := guard.WithContext(ctx)
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
	group, ctx := guard.WithContext(ctx)
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
	books, logged := layers{}, false // of bad frames the first of a connection is logged
	for {
		frame, err := receive(ctx, conn)
		if err != nil {
			return err
		}
		book, err := joinedFrame(frame)
		if err != nil {
			if !logged {
				logged = true
				j.log.Warn("skipped a frame of joined books, and will others that cannot be read", "error", excerpt(err.Error()), "frame", excerpt(string(frame)))
			}
			continue
		}
		b := JoinedBook{g, book.Coin}
		if book.Coin == "" || !j.follows(b) {
			continue
		}
		if book, newer := books.join(&book); newer {
			take(b, &book)
		}
	}
}

var errRefused = errors.New("the venue refuses")

// joinedFrame reads the book of a push; another push is one of no coin.
func joinedFrame(frame []byte) (book market.Book, err error) {
	var push push
	if err := upstream.Decode(frame, &push); err != nil {
		return book, err
	}
	switch push.Channel {
	case "l2Book":
		return readBook(push.Data)
	case "error":
		return book, errRefused
	}
	return book, nil
}

func (j *JoinedBooks) follows(b JoinedBook) bool {
	_, ok := j.Since(b)
	return ok
}
