package connections

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/gate/channel"
)

// state is the table as the events so far describe it. The next change is compared
// with it to make events. What a scan and the stream show twice, or late, is
// recognised by the time of its message and the number of its writes, and makes none.
type state struct {
	conns   map[string]*known
	deleted map[[2]string]bool // id and sort key of what the last scan did not show any longer
	looked  int                // at how many items that wait the deletions looked
}

// known is one connection.
type known struct {
	Connection
	connected bool  // false: it has not come yet, or is being removed
	closing   bool  // it is in the table, and being removed
	pinged    int64 // when it was last, ms
	below     map[string]below
	held      map[string]int // by address: the groups that have it

	// By sort key, each as often as it was written: items that came before the
	// connection, or are left of one. The end of a connection deletes each of them.
	waiting map[string][]waiting
	waited  int       // how many have ever waited
	since   time.Time // when the first of them came
}

// waiting is an item that waits for its connection.
type waiting struct {
	image
	found bool
	place int // in the order in which they came
}

// below is an item below a connection.
type below struct {
	version
	made      int64 // when it was written first, ms
	ended     bool
	sub       channel.Subscription
	addresses []string
}

// version orders the writes of an item.
type version struct{ time, writes int64 }

func (im *image) version() version { return version{im.number(attrTime), im.number(attrWrites)} }

func (v version) compare(w version) int {
	return cmp.Or(cmp.Compare(v.time, w.time), cmp.Compare(v.writes, w.writes))
}

// strayKept is how long items wait for the connection that they belong to, or for the
// end of its removal.
const strayKept = time.Minute

// load brings the state to the images of a whole scan.
func (st *state) load(images []image, now time.Time) (events []Event) {
	found := make(map[string]map[string]bool)
	for _, im := range images {
		if found[im.id()] == nil {
			found[im.id()] = make(map[string]bool)
		}
		found[im.id()][im.sort()] = true
	}
	st.deleted = make(map[[2]string]bool)
	for _, id := range slices.Sorted(maps.Keys(st.conns)) {
		k := st.conns[id]
		maps.DeleteFunc(k.waiting, func(sk string, _ []waiting) bool { return !found[id][sk] })
		for _, sk := range slices.Sorted(maps.Keys(k.below)) {
			if !found[id][sk] {
				if !strings.HasPrefix(sk, prefixSubscription) { // whose key may come again
					st.deleted[[2]string{id, sk}] = true
				}
				if found[id][sortConnection] {
					events = k.remove(events, sk)
				}
			}
		}
		if !found[id][sortConnection] {
			events = st.drop(events, k)
			delete(st.conns, id)
		}
	}
	slices.SortStableFunc(images, inOrder)
	for _, im := range images {
		events = st.put(events, im, now, true)
	}
	return events
}

// inOrder compares items by when their messages were sent, where that matters: those of
// one connection, which comes first itself.
func inOrder(a, b image) int {
	if c := strings.Compare(a.id(), b.id()); c != 0 {
		return c
	}
	if a.sort() == sortConnection || b.sort() == sortConnection {
		return strings.Compare(a.sort(), b.sort())
	}
	return cmp.Compare(a.number(attrTime), b.number(attrTime))
}

// put takes an item as it is now.
func (st *state) put(events []Event, im image, now time.Time, found bool) []Event {
	id := im.id()
	if ask, asks := im.ask(); asks {
		return append(events, ask)
	}
	if id == "" || st.deleted[[2]string{id, im.sort()}] {
		return events // no connection's, or one that is gone and comes late
	}
	k := st.conns[id]
	if k == nil {
		k = &known{Connection: Connection{ID: id}, since: now, below: make(map[string]below), held: make(map[string]int)}
		if st.conns == nil {
			st.conns = make(map[string]*known)
		}
		st.conns[id] = k
	}
	switch {
	case im.sort() == sortConnection && im.closing():
		events = st.drop(events, k)
		k.closing, k.since = true, now
		return events
	case im.sort() == sortConnection && !k.closing:
		return k.update(events, &im, found)
	case im.sort() == sortConnection:
		return events
	case !k.connected:
		k.wait(im, found)
		return events
	}
	return k.putBelow(events, im, found)
}

// wait keeps an item until its connection comes, or it is deleted itself.
func (k *known) wait(im image, found bool) {
	if k.waiting == nil {
		k.waiting = make(map[string][]waiting)
	}
	k.waited++
	k.waiting[im.sort()] = append(k.waiting[im.sort()], waiting{im, found, k.waited})
}

// putBelow takes an item below a connection as it is now.
func (k *known) putBelow(events []Event, im image, found bool) []Event {
	have, ok := k.below[im.sort()]
	if ok && have.compare(im.version()) >= 0 {
		return events
	}
	now := below{version: im.version(), made: im.number(attrAt), ended: im.ended(), addresses: im.addresses}
	if im.is(prefixSubscription) && !im.ended() {
		now.sub = im.subscription()
	}
	k.below[im.sort()] = now
	if at := im.time(attrTime); at.After(k.Seen) {
		k.Seen = at
		events = append(events, Seen{k.ID, at})
	}
	switch id, sk := k.ID, im.sort(); {
	case im.is(prefixSubscription):
		had := ok && !have.ended
		if had && !now.ended && have.made == now.made && have.sub == now.sub {
			return events // asked for again, or counted
		}
		if had {
			events = append(events, Unsubscribed{id, have.sub})
		}
		if !now.ended {
			events = append(events, Subscribed{id, now.sub, im.reply(), im.time(attrAt), found})
		}
	case im.is(prefixGroup):
		if gone := k.release(without(have.addresses, now.addresses)); len(gone) > 0 {
			events = append(events, AddressesRemoved{id, gone})
		}
		fresh := k.hold(without(now.addresses, have.addresses))
		if !ok || len(fresh) > 0 {
			events = append(events, AddressesAdded{Pending{id, sk}, fresh, im.reply(), im.time(attrAt), found})
		}
	case im.is(prefixAnswer):
		events = append(events, Answer{Pending{id, sk}, im.reply(), im.time(attrAt), found})
	case im.is(prefixStat):
		events = append(events, StatAsked{Pending{id, sk}})
	case im.is(prefixClose):
		events = append(events, CloseAsked{id})
	}
	return events
}

// hold counts addresses of one more group, and returns those of which it is the first.
func (k *known) hold(addresses []string) (fresh []string) {
	for _, a := range addresses {
		if k.held[a]++; k.held[a] == 1 {
			fresh = append(fresh, a)
		}
	}
	return fresh
}

// release counts addresses of one group less, and returns those that no other has.
func (k *known) release(addresses []string) (gone []string) {
	for _, a := range addresses {
		if k.held[a]--; k.held[a] == 0 {
			delete(k.held, a)
			gone = append(gone, a)
		}
	}
	return gone
}

// update takes the connection itself as it is now.
func (k *known) update(events []Event, im *image, found bool) []Event {
	c := im.connection()
	if k.connected {
		if c.Seen.After(k.Seen) {
			k.Seen = c.Seen
			events = append(events, Seen{k.ID, c.Seen})
		}
		return k.ping(events, im, found)
	}
	k.Connection, k.connected = c, true
	events = k.ping(append(events, Connected{c}), im, found)
	came := slices.Concat(slices.Collect(maps.Values(k.waiting))...)
	slices.SortFunc(came, func(a, b waiting) int { return cmp.Compare(a.place, b.place) })
	for _, w := range came {
		events = k.putBelow(events, w.image, w.found)
	}
	k.waiting = nil
	return events
}

// ping takes the last ping of the connection as it is now.
func (k *known) ping(events []Event, im *image, found bool) []Event {
	if at := im.number(attrPinged); at > k.pinged {
		k.pinged = at
		events = append(events, Pinged{k.ID, im.time(attrPinged), found})
	}
	return events
}

// delete takes an item that is gone, as it was.
func (st *state) delete(im image) (events []Event) {
	k := st.conns[im.id()]
	if k == nil {
		return events
	}
	if im.sort() == sortConnection {
		events = st.drop(events, k)
		k.closing = false
	} else if k.connected {
		if have, ok := k.below[im.sort()]; ok && have.compare(im.version()) <= 0 {
			events = k.remove(events, im.sort())
		}
		return events
	}
	left := slices.DeleteFunc(k.waiting[im.sort()], func(w waiting) bool {
		st.looked++
		return w.version().compare(im.version()) <= 0
	})
	if len(left) == 0 {
		delete(k.waiting, im.sort())
	} else {
		k.waiting[im.sort()] = left
	}
	if len(k.waiting) == 0 && !k.closing {
		delete(st.conns, k.ID)
	}
	return events
}

// remove forgets an item below the connection.
func (k *known) remove(events []Event, sk string) []Event {
	have := k.below[sk]
	delete(k.below, sk)
	switch {
	case strings.HasPrefix(sk, prefixSubscription) && !have.ended:
		events = append(events, Unsubscribed{k.ID, have.sub})
	case strings.HasPrefix(sk, prefixGroup):
		if gone := k.release(have.addresses); len(gone) > 0 {
			events = append(events, AddressesRemoved{k.ID, gone})
		}
	}
	return events
}

// drop ends a connection. What is below it stays known until it is deleted, so that what
// a crash leaves is found.
func (st *state) drop(events []Event, k *known) []Event {
	if !k.connected {
		return events
	}
	for sk, b := range k.below {
		k.wait(image{text: map[string]string{
			attrPK: prefixConnection + k.ID, attrSK: sk,
			attrTime: number(b.time), attrWrites: number(b.writes),
		}}, false)
	}
	k.connected, k.below, k.held = false, make(map[string]below), make(map[string]int)
	return append(events, Disconnected{k.Connection})
}

// strays reports what has waited for a connection, or for the end of its removal.
func (st *state) strays(events []Event, now time.Time) []Event {
	for _, k := range st.conns {
		if !k.connected && now.Sub(k.since) > strayKept {
			k.since = now
			events = append(events, Stray{k.ID})
		}
	}
	return events
}

// without returns those of a that are not in b.
func without(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	known := make(map[string]bool, len(b))
	for _, s := range b {
		known[s] = true
	}
	var rest []string
	for _, s := range a {
		if !known[s] {
			rest = append(rest, s)
		}
	}
	return rest
}
