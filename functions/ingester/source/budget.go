package source

import (
	"context"
	"sync"
	"time"

	"quotary/shared/backoff"
)

// Budget spends at most so many units, and then so many a minute as come back
// evenly. It may be shared by goroutines.
type Budget struct {
	mu      sync.Mutex
	most    float64
	perMs   float64
	left    float64
	counted time.Time
	now     func() time.Time
}

// NewBudget returns a full budget of perMinute units.
func NewBudget(perMinute int, now func() time.Time) *Budget {
	return &Budget{most: float64(perMinute), perMs: float64(perMinute) / 60_000, left: float64(perMinute), counted: now(), now: now}
}

// NewBurstBudget returns a full budget of perMinute units of which at most burst are
// spent at once, for hosts whose limits are of seconds.
func NewBurstBudget(perMinute, burst int, now func() time.Time) *Budget {
	b := NewBudget(perMinute, now)
	b.most, b.left = float64(burst), float64(burst)
	return b
}

// SetRate changes the budget to perMinute units from now on, all of which may be spent
// at once. What was spent stays spent.
func (b *Budget) SetRate(perMinute int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	b.left += float64(perMinute) - b.most
	b.most, b.perMs = float64(perMinute), float64(perMinute)/60_000
}

// Spend waits until the budget holds n units and takes them. The order of those
// who wait is that of their calls: each goes into debt at once and waits until
// it is paid. Who gives up waiting gives it back.
func (b *Budget) Spend(ctx context.Context, n int) error {
	wait := b.take(float64(n))
	if wait == 0 {
		return context.Cause(ctx)
	}
	err := backoff.Sleep(ctx, wait)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.left += float64(n)
	}
	return err
}

// TrySpend takes n units if the budget holds them now. Where they are more than it ever
// holds, it takes them when it is full, and goes into debt.
func (b *Budget) TrySpend(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	if b.left < min(float64(n), b.most) {
		return false
	}
	b.left -= float64(n)
	return true
}

// refill adds what has come back since it was last called.
func (b *Budget) refill() {
	now := b.now()
	b.left = min(b.most, b.left+b.perMs*float64(now.Sub(b.counted))/float64(time.Millisecond))
	b.counted = now
}

func (b *Budget) take(n float64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill()
	b.left -= n
	if b.left >= 0 {
		return 0
	}
	return time.Duration(-b.left / b.perMs * float64(time.Millisecond))
}
