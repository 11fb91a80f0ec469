// Package projection turns events into the rows and views that the read
// functions answer from. It does no input or output: the ingester asks what
// rows a batch of events needs, loads them, lets the batch be applied, and
// writes what changed.
//
//	for want := set.Need(&events); !want.Empty(); want = set.Need(&events) {
//		latest, rows := ... // read them
//		set.Load(want, latest, rows)
//	}
//	err := set.Apply(&events, now)
//	...
//	changes := set.Changes(now, false)
//	// write changes.Coarse, then changes.Fine, then changes.Views; then checkpoint
//
// The rows are the state. What is in memory is a cache of open buckets that can
// be lost at any time: every fold is a set union (the trades of a second, the
// largest fills of a bucket), so that events may come late, twice, in any order
// and from several sources and the rows end the same. A source that is asked
// again from its last checkpoint after a crash repairs whatever the crash left
// half written, because a bucket that is not cached is derived anew from its
// stored parts when an event touches it.
//
// There is one writer. A row that is newer than all that was stored when a coin
// was first seen is known to be absent and is not asked for.
package projection
