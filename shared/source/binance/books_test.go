package binance_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"quotary/internal/testenv"
	simulated "quotary/localstack/binance"
	"quotary/shared/market"
	"quotary/shared/source"
	"quotary/shared/source/binance"
	"quotary/shared/source/sourcetest"
)

const bookLevels = 20

// followed are the books of a pair that have come.
type followed struct {
	mu    sync.Mutex
	books []market.PairBook
	stats source.Stats
}

func (f *followed) sink(_ context.Context, events *market.PairEvents) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.books = append(f.books, events.Books...)
	return nil
}

func (f *followed) all() []market.PairBook {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.books
}

// followBooks runs until the test ends.
func followBooks(t *testing.T, m *binance.Market, pairs ...market.Pair) *followed {
	t.Helper()
	var f followed
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- m.FollowBooks(ctx, pairs, source.Books{Levels: bookLevels, Every: 20 * time.Millisecond}, &f.stats, f.sink)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	return &f
}

func TestBooksAreThoseOfTheExchangeAlsoAfterALoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        int // of binance.Open
		symbol, key string
	}{
		{0, "ETHBTC", "ethbtc:binance"}, {1, "1000PEPEUSDT", "1000pepeswapusdt:binance"}, {2, "BTCUSD_PERP", "btcswapusd:binance"},
	} {
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			x, all := openAll(t, simulated.Config{Clock: fast()})
			of, m := all[c.kind], x.Market(c.symbol, c.kind > 0)
			pair := sourcetest.Find(t, of, c.key)
			f := followBooks(t, of, pair)
			testenv.Until(t, "books have come", func() bool { return len(f.all()) > 5 })
			if gaps := f.stats.Gaps.Load(); gaps != 0 {
				t.Errorf("%d updates are missing", gaps)
			}

			x.LoseBooks(1)
			testenv.Until(t, "an update is missing", func() bool { return f.stats.Gaps.Load() == 1 })
			had := len(f.all())
			testenv.Until(t, "books come again", func() bool { return len(f.all()) > had+5 })

			x.Disconnect()
			testenv.Until(t, "it has connected again", func() bool { return f.stats.Reconnects.Load() == 1 })
			had = len(f.all())
			testenv.Until(t, "books come again", func() bool { return len(f.all()) > had+5 })

			last := int64(0)
			for _, book := range f.all() {
				sourcetest.IsBook(t, m, pair, book, bookLevels)
				if book.Time < last {
					t.Errorf("a book of %d comes after one of %d", book.Time, last)
				}
				last = book.Time
			}
			if f.stats.Gaps.Load() != 1 || f.stats.Malformed.Load() != 0 || of.Stats.Lines.Load() != 0 {
				t.Errorf("%d updates are missing, %d frames could not be read, %d were counted with others", f.stats.Gaps.Load(), f.stats.Malformed.Load(), of.Stats.Lines.Load())
			}
		})
	}
}

func TestMoreLevelsThanAreKnownAreAnError(t *testing.T) {
	t.Parallel()
	_, spot, _ := open(t, simulated.Config{})
	if err := spot.FollowBooks(t.Context(), nil, source.Books{Levels: 1001}, new(source.Stats), nil); err == nil || t.Context().Err() != nil {
		t.Error(err)
	}
}
