package sourcetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
	"quotary/shared/testing/testenv"
)

// Depth is a kind of markets of an exchange, as the product follows their order books.
type Depth interface {
	FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error
}

// Exchange is a simulated one that makes faults.
type Exchange interface {
	LoseBooks(updates int)
	Disconnect()
}

// AreBooks follows the order books of pairs and holds each that comes to that of its market,
// also after the exchange has lost an update, which must be counted, and a connection.
func AreBooks(t *testing.T, of Depth, x Exchange, pairs map[*trading.Market]market.Pair) {
	t.Helper()
	const levels = 20
	var mu sync.Mutex
	got := map[string][]market.PairBook{} // by key of the pair
	came := func(pair market.Pair) int {
		mu.Lock()
		defer mu.Unlock()
		return len(got[pair.Key])
	}
	awaitBooks := func() {
		t.Helper()
		had := map[string]int{}
		for _, pair := range pairs {
			had[pair.Key] = came(pair)
		}
		for _, pair := range pairs {
			testenv.Until(t, "books come of "+pair.Key, func() bool { return came(pair) > had[pair.Key]+5 })
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
	awaitBooks()
	x.LoseBooks(1)
	testenv.Until(t, "an update is missing", func() bool { return stats.Gaps.Load() > 0 })
	awaitBooks()
	connections := stats.Reconnects.Load()
	x.Disconnect()
	testenv.Until(t, "it has connected again", func() bool { return stats.Reconnects.Load() > connections })
	awaitBooks()
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
			if IsBook(t, m, pair, book, levels); book.Time < last {
				t.Errorf("%s: a book of %d after one of %d", pair.Key, book.Time, last)
			}
			last = book.Time
		}
	}
}
