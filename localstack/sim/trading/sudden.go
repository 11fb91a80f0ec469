package trading

// A sudden market leaves the price of its coin every half hour, upwards and downwards in turn, by
// suddenFar within a minute, stays there, and comes back within another one.
const (
	suddenEvery = 30 * minute
	suddenFar   = 60_000 // millionths
	suddenTimes = 12     // as much is traded of each trade in both minutes

	suddenThere = 1 * minute // of its half hour, on the way there before it
	suddenLeave = 3 * minute
	suddenBack  = 4 * minute
)

// sudden is how far off the price is at a time, millionths, and how many times as much a trade is.
func (m *Market) sudden(ms int64) (off, times int64) {
	if !m.Sudden {
		return 0, 1
	}
	far := int64(suddenFar)
	if ms/suddenEvery%2 != 0 {
		far = -far
	}
	switch at := ms % suddenEvery; {
	case at < suddenThere:
		return far * at / suddenThere, suddenTimes
	case at < suddenLeave:
		return far, 1
	case at < suddenBack:
		return far * (suddenBack - at) / (suddenBack - suddenLeave), suddenTimes
	}
	return 0, 1
}
