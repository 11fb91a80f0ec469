package source

import "time"

// Rate is how often something may happen: so many times at once, and then once in each Every.
type Rate struct {
	AtOnce int
	Every  time.Duration
}

// Each state of what strangers write is a row for ever.
var (
	// Revisions are the changes of one thing: an advert in it is enough to change it all the
	// time. In a day they are 16 at most, the newest among them.
	Revisions = Rate{4, 2 * time.Hour}

	// States are those of all things of one upstream, new or changed: more than the busiest have
	// written at once and in a day, which are 2,440 in the first one at most. One that shows other
	// things each time, which it may have shown before, makes no more of them.
	States = Rate{1000, time.Minute}
)

// Take reports whether it may happen now. Until is when what has happened is used up, Unix s, 0
// for nothing; next is that with this one.
func (r Rate) Take(until int64, now time.Time) (next int64, ok bool) {
	every := int64(r.Every / time.Second)
	until = max(until, now.Unix())
	if until-now.Unix() > int64(r.AtOnce-1)*every {
		return until, false
	}
	return until + every, true
}
