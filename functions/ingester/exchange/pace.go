package exchange

import "time"

// viewEvery is between two versions of a view that changes all the time.
const viewEvery = 10 * time.Second

// pace keeps a view that changes all the time from being published at each flush.
type pace struct {
	changed   bool
	published time.Time
}

// due reports whether a version is to be published now, which then counts as published: one
// that has changed, where every has passed since the last one or all is to settle.
func (p *pace) due(now time.Time, settle bool, every time.Duration) bool {
	if !p.changed || !settle && now.Sub(p.published) < every {
		return false
	}
	p.changed, p.published = false, now
	return true
}
