package sourcetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/internal/testenv"
	"quotary/localstack/trading"
	"quotary/shared/market"
	"quotary/shared/source"
)

// Depth is a kind of markets of an exchange, as the product follows their order books.
type Depth interface {
	FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error
}

// AreBooks follows the order books of pairs and holds each that comes to that of its market,
// before and after the exchange has lost an update, which must be counted.
func AreBooks(t *testing.T, of Depth, lose func(updates int), pairs map[*trading.Market]market.Pair) {
	t.Helper()
	const levels, enough = 20, 10 // books of each pair
	var mu sync.Mutex
	got := map[string][]market.PairBook{} // by key of the pair
	came := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			for _, pair := range pairs {
				if len(got[pair.Key]) < n {
					return false
				}
			}
			return true
		}
	}
	var stats source.Stats
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		books := source.Books{Levels: levels, Every: 5 * time.Millisecond}
		ended <- of.FollowBooks(ctx, slices.Collect(maps.Values(pairs)), books, &stats, func(_ context.Context, e *market.PairEvents) error {
			mu.Lock()
			defer mu.Unlock()
			for _, book := range e.Books {
				got[book.Pair] = append(got[book.Pair], book)
			}
			return nil
		})
	}()
	testenv.Until(t, "books have come", came(enough))
	lose(1)
	testenv.Until(t, "an update is missing", func() bool { return stats.Gaps.Load() > 0 })
	mu.Lock()
	had := 0
	for _, books := range got {
		had = max(had, len(books))
	}
	mu.Unlock()
	testenv.Until(t, "books come again", came(had+enough))
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if stats.Gaps.Load() != 1 || stats.Malformed.Load() != 0 {
		t.Errorf("%d updates are missing and %d frames could not be read", stats.Gaps.Load(), stats.Malformed.Load())
	}
	for m, pair := range pairs {
		last := int64(0)
		for _, book := range got[pair.Key] {
			if IsBook(t, m, pair, book, levels); book.Time <= last {
				t.Errorf("%s: a book of %d after one of %d", pair.Key, book.Time, last)
			}
			last = book.Time
		}
	}
}
