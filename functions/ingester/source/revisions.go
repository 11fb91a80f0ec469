package source

import "time"

// What strangers write may change all the time, an advert in it is enough, and each state is a
// row for ever: of what is known so many changes are taken at once, and then the newest in
// each revisionEvery. In a day these are 16 at most.
const (
	RevisionsAtOnce = 4
	RevisionEvery   = 2 * time.Hour
)

// Revise reports whether what changes may change now. Until is when its former changes are
// used up, Unix s, 0 for none; next is that with this one.
func Revise(until int64, now time.Time) (next int64, ok bool) {
	every := int64(RevisionEvery / time.Second)
	until = max(until, now.Unix())
	if until-now.Unix() > (RevisionsAtOnce-1)*every {
		return until, false
	}
	return until + every, true
}
