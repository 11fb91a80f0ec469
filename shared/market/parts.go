package market

import "slices"

// Parts are what the parts of a whole are known by, each once, so that those that come again are
// recognised. A sorted list is one.
//
// They lie in sorted runs, as long as the ones in the binary form of their count say, the longest
// first: to take one more sorts a half of the list once in a while, and nearly nothing mostly. n of
// them one by one sort n log n / 2 in all, in whatever order they come.
type Parts []uint64

// Has reports whether a part is among them.
func (p Parts) Has(id uint64) bool {
	for end := len(p); end > 0; {
		run := lastRun(end)
		if _, has := slices.BinarySearch(p[end-run:end], id); has {
			return true
		}
		end -= run
	}
	return false
}

// Add takes a part that is not among them, and returns how many it has sorted for it. Copies of the
// slice take no more then.
func (p *Parts) Add(id uint64) (sorted int) {
	*p = append(*p, id)
	run := lastRun(len(*p))
	slices.Sort((*p)[len(*p)-run:])
	return run
}

// Sorted are they in order, in a slice of its own.
func (p Parts) Sorted() Parts {
	list := slices.Clone(p)
	slices.Sort(list)
	return list
}

// lastRun is how long the last run of n parts is.
func lastRun(n int) int { return n & -n }
