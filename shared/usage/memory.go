package usage

import (
	"sync"
	"time"
)

// remembered bounds what an instance keeps about keys. Nothing depends on what
// is remembered: forgetting costs a write at most.
const remembered = 10_000

// windows remembers the last minute in which each key was charged, so that the
// first attempt of the next request usually has the form that fits.
type windows struct {
	mu    sync.Mutex
	byKey map[string]int64
}

func (w *windows) current(key string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byKey[key]
}

func (w *windows) set(key string, minute int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKey == nil || len(w.byKey) >= remembered {
		w.byKey = make(map[string]int64)
	}
	w.byKey[key] = minute
}

// How long an instance answers from memory that a cap is met. The caps
// themselves last longer, but a request that is refunded frees a unit, which
// must not stay unusable; so a spent key that keeps asking costs a write now
// and then instead of one a request.
const (
	denyRateFor  = time.Second
	denyQuotaFor = 5 * time.Second
)

// denials remembers refused keys. A denial holds only for the limits it was
// made under: a reseller who raises a limit sees it in force at once.
type denials struct {
	mu    sync.Mutex
	byKey map[string]denial
}

type denial struct {
	limits Limits
	denied Denied
	ends   time.Time // of the window that refused
	until  time.Time // answered from memory
}

func (d *denials) find(key string, limits Limits, now time.Time) (*Denied, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok := d.byKey[key]
	if !ok {
		return nil, false
	}
	if found.limits != limits || !now.Before(found.until) {
		delete(d.byKey, key)
		return nil, false
	}
	denied := found.denied
	denied.RetryAfter = atLeastASecond(found.ends.Sub(now))
	return &denied, true
}

func (d *denials) remember(key string, limits Limits, denied *Denied, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil || len(d.byKey) >= remembered {
		d.byKey = make(map[string]denial)
	}
	hold := denyQuotaFor
	if denied.Cap == PerMinute {
		hold = denyRateFor
	}
	ends := now.Add(denied.RetryAfter)
	until := now.Add(hold)
	if until.After(ends) {
		until = ends
	}
	d.byKey[key] = denial{limits: limits, denied: *denied, ends: ends, until: until}
}
