package connections

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/channel"
)

// state is the table as the events so far describe it. The next change is compared
// with it to make events. What a scan and the stream show twice, or late, is
// recognised by its revision and makes none.
type state struct {
	conns map[string]*known
}

// known is one connection.
type known struct {
	Connection
	connected bool  // false: only items below it have come so far
	floor     int64 // revision at the last scan: what it did not show up to here is gone
	below     map[string]below

	early []early   // items that came before the connection
	since time.Time // when the first of them came
}

// early is an item that waits for its connection.
type early struct {
	image
	found bool
}

// below is an item below a connection.
type below struct {
	rev       int64
	sub       channel.Subscription
	addresses []string
}

// strayKept is how long items wait for the connection that they belong to.
const strayKept = time.Minute

// load brings the state to the images of a whole scan.
func (st *state) load(images []image, now time.Time) (events []Event) {
	found := make(map[string]map[string]bool)
	floors := make(map[string]int64)
	for _, im := range images {
		id := im.id()
		if found[id] == nil {
			found[id] = make(map[string]bool)
			if im.sort() == sortConnection {
				floors[id] = im.rev() // it was read before what is below it
			}
		}
		found[id][im.sort()] = true
	}
	for _, id := range slices.Sorted(maps.Keys(st.conns)) {
		k := st.conns[id]
		if !found[id][sortConnection] {
			events = st.drop(events, k)
			continue
		}
		for _, sk := range slices.Sorted(maps.Keys(k.below)) {
			if !found[id][sk] {
				events = k.remove(events, sk)
			}
		}
	}
	slices.SortStableFunc(images, inOrder)
	for _, im := range images {
		events = st.put(events, im, now, true)
	}
	for id, floor := range floors {
		if k := st.conns[id]; k != nil {
			k.floor = floor
		}
	}
	return events
}

// inOrder compares items by when they were written, where that matters: those of
// one connection, which comes first itself.
func inOrder(a, b image) int {
	if c := strings.Compare(a.id(), b.id()); c != 0 {
		return c
	}
	if a.sort() == sortConnection || b.sort() == sortConnection {
		return strings.Compare(a.sort(), b.sort())
	}
	return cmp.Compare(a.rev(), b.rev())
}

// put takes an item as it is now.
func (st *state) put(events []Event, im image, now time.Time, found bool) []Event {
	id := im.id()
	if id == "" {
		return events // a counter
	}
	k := st.conns[id]
	if k == nil {
		k = &known{Connection: Connection{ID: id}, since: now, below: make(map[string]below)}
		if st.conns == nil {
			st.conns = make(map[string]*known)
		}
		st.conns[id] = k
	}
	if im.sort() == sortConnection {
		return k.update(events, &im)
	}
	if !k.connected {
		k.early = append(k.early, early{im, found})
		return events
	}
	return k.putBelow(events, im, found)
}

// putBelow takes an item below a connection as it is now.
func (k *known) putBelow(events []Event, im image, found bool) []Event {
	id := k.ID
	have, ok := k.below[im.sort()]
	if ok && have.rev >= im.rev() || !ok && !found && im.rev() <= k.floor {
		return events
	}
	item := below{rev: im.rev(), sub: im.subscription(), addresses: im.addresses}
	k.below[im.sort()] = item
	switch sk := im.sort(); {
	case strings.HasPrefix(sk, prefixSubscription):
		if ok {
			events = append(events, Unsubscribed{id, have.sub})
		}
		sub := im.subscribed()
		sub.Found = found
		events = append(events, sub)
	case strings.HasPrefix(sk, prefixGroup):
		if gone := without(have.addresses, item.addresses); len(gone) > 0 {
			events = append(events, AddressesRemoved{id, gone})
		}
		if fresh := without(item.addresses, have.addresses); len(fresh) > 0 {
			events = append(events, AddressesAdded{id, fresh, im.reply(), im.time(attrAt), found})
		}
	case strings.HasPrefix(sk, prefixAnswer):
		events = append(events, Answer{Pending{id, sk}, im.reply(), im.time(attrAt), found})
	case strings.HasPrefix(sk, prefixStat):
		events = append(events, StatAsked{Pending{id, sk}})
	case strings.HasPrefix(sk, prefixClose):
		events = append(events, CloseAsked{id})
	}
	return events
}

// update takes the connection itself as it is now.
func (k *known) update(events []Event, im *image) []Event {
	c := im.connection()
	if k.connected {
		if c.Seen.After(k.Seen) {
			k.Seen = c.Seen
			events = append(events, Seen{k.ID, c.Seen})
		}
		return events
	}
	k.Connection, k.connected = c, true
	events = append(events, Connected{c})
	for _, e := range k.early {
		events = k.putBelow(events, e.image, e.found)
	}
	k.early = nil
	return events
}

// delete takes an item that is gone, as it was.
func (st *state) delete(events []Event, im image) []Event {
	k := st.conns[im.id()]
	if k == nil {
		return events
	}
	if im.sort() == sortConnection {
		return st.drop(events, k)
	}
	k.early = slices.DeleteFunc(k.early, func(e early) bool { return e.sort() == im.sort() && e.rev() <= im.rev() })
	if have, ok := k.below[im.sort()]; ok && have.rev <= im.rev() {
		return k.remove(events, im.sort())
	}
	return events
}

// remove forgets an item below the connection.
func (k *known) remove(events []Event, sk string) []Event {
	have := k.below[sk]
	delete(k.below, sk)
	switch {
	case strings.HasPrefix(sk, prefixSubscription):
		events = append(events, Unsubscribed{k.ID, have.sub})
	case strings.HasPrefix(sk, prefixGroup):
		events = append(events, AddressesRemoved{k.ID, have.addresses})
	}
	return events
}

// drop forgets a connection with all that is below it.
func (st *state) drop(events []Event, k *known) []Event {
	delete(st.conns, k.ID)
	if !k.connected {
		return events
	}
	return append(events, Disconnected{k.Connection})
}

// purge forgets items whose connection did not come.
func (st *state) purge(now time.Time) {
	for id, k := range st.conns {
		if !k.connected && now.Sub(k.since) > strayKept {
			delete(st.conns, id)
		}
	}
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
