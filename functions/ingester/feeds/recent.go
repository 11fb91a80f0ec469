package feeds

import "time"

const (
	// recentFor is how long everything is kept, longer than the stores are behind: who
	// begins to follow an account finds what is about it stored or here.
	recentFor = 30 * time.Second
	// recentMost bounds what is kept so.
	recentMost = 100_000
)

// recent is what was received lately, oldest first. The zero value is empty.
type recent[T any] struct{ list []received[T] }

type received[T any] struct {
	at  time.Time
	one T
}

func (r *recent[T]) add(now time.Time, one T) { r.list = append(r.list, received[T]{now, one}) }

// forget drops what is old, or too much.
func (r *recent[T]) forget(now time.Time) {
	old := 0
	for old < len(r.list) && (now.Sub(r.list[old].at) > recentFor || len(r.list)-old > recentMost) {
		old++
	}
	if old > len(r.list)/2 {
		r.list = append([]received[T](nil), r.list[old:]...)
	}
}
