package engine

import "time"

// pace is how fast the lines of a drop are taken, from a line on.
type pace struct {
	from  int64
	began time.Time
	said  time.Time // when somebody was told last
}

func newPace(from int64, now time.Time) *pace { return &pace{from: from, began: now, said: now} }

// rate is the lines a second up to a line.
func (p *pace) rate(line int64, now time.Time) int64 {
	if ms := now.Sub(p.began).Milliseconds(); ms > 0 {
		return (line - p.from) * 1000 / ms
	}
	return 0
}

// due reports whether so much time has passed since it did last.
func (p *pace) due(now time.Time, every time.Duration) bool {
	if now.Sub(p.said) < every {
		return false
	}
	p.said = now
	return true
}
