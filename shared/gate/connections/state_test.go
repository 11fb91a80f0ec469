package connections

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// The ingester knows as many addresses of a connection as are followed, however many were
// subscribed to again or unsubscribed.
func TestTheStateHasNoAddressesButThoseThatAreFollowed(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	s := New(db, storetest.Tables(t, db)+schema.ConnectionsTable, time.Now)
	must.Do(t, s.Connect(t.Context(), Connection{ID: "a=", Key: "key", Distributor: "acme", Feed: channel.FeedFills}, Limits{}))
	began, messages := time.Now().Add(-time.Minute), 0
	message := func() Message {
		messages++
		return Message{Connection: "a=", Key: "key", Distributor: "acme", At: began.Add(time.Duration(messages) * time.Millisecond), ID: fmt.Sprint("m", messages)}
	}
	some := func(from int) (list []string) {
		for i := range 100 {
			list = append(list, fmt.Sprintf("0x%040x", from+i))
		}
		return list
	}
	must.Do(t, s.AddAddresses(t.Context(), message(), some(0), Limits{}, Reply{}))
	for i := range 5 {
		must.Do(t, s.RemoveAddresses(t.Context(), message(), some(1000+100*i)))
		must.Do(t, s.AddAddresses(t.Context(), message(), some(0), Limits{}, Reply{}))
	}
	var images []image
	must.Do(t, s.scan(t.Context(), func(im image) { images = append(images, im) }))
	var scanned, streamed state
	scanned.load(images, time.Now())
	for _, im := range images {
		streamed.put(nil, im, time.Now(), false)
	}
	for how, st := range map[string]*state{"a scan": &scanned, "the stream": &streamed} {
		known := 0
		for _, k := range st.conns {
			for _, b := range k.below {
				known += len(b.addresses)
			}
			for _, written := range k.waiting {
				for _, w := range written {
					known += len(w.addresses)
				}
			}
		}
		if known != 100 || len(st.conns) != 1 {
			t.Errorf("of %s are known %d addresses of %d connections, want the 100 that are followed", how, known, len(st.conns))
		}
	}
}

// A connection may have tens of thousands of items, and one loop follows all connections:
// the deletion of an item looks at no other.
func TestTheEndOfAConnectionCostsInProportionToItsItems(t *testing.T) {
	t.Parallel()
	const groups = 2000
	item := func(sk string, written int) image {
		return image{text: map[string]string{attrPK: prefixConnection + "a=", attrSK: sk, attrTime: number(int64(written)), attrWrites: "1"}}
	}
	var st state
	now := time.Now()
	st.put(nil, item(sortConnection, 1), now, false)
	var below []image
	for i := range groups {
		group := item(fmt.Sprint(prefixGroup, i), i)
		group.addresses = []string{fmt.Sprint(i)}
		below = append(below, group)
		st.put(nil, group, now, false)
	}
	closing := item(sortConnection, 2)
	closing.text[attrClosing] = "1"
	st.put(nil, closing, now, false)
	for _, group := range below {
		st.delete(group)
	}
	st.delete(closing)
	if st.looked != groups || len(st.conns) != 0 {
		t.Errorf("the deletion of %d items looked at %d, and leaves %d connections", groups, st.looked, len(st.conns))
	}
}

// What came before its connection is told in the order in which it came, each write of an
// item, but not what was deleted meanwhile.
func TestItemsThatWaitedAreToldInTheOrderInWhichTheyCame(t *testing.T) {
	t.Parallel()
	var st state
	now := time.Now()
	group := func(sk string, written int, addresses ...string) image {
		return image{addresses: addresses, text: map[string]string{
			attrPK: prefixConnection + "a=", attrSK: prefixGroup + sk, attrTime: number(int64(written)), attrWrites: "1",
		}}
	}
	for _, im := range []image{
		group("z", 1, "0x1"), group("b", 2, "0x2"), group("gone", 3, "0x3"), group("z", 4, "0x1", "0x4"), group("a", 5, "0x5"),
	} {
		st.put(nil, im, now, false)
	}
	st.delete(group("gone", 3))
	st.delete(group("b", 1)) // late: it was written again
	connection := group("", 0)
	connection.text[attrSK] = sortConnection
	var told []string
	for _, e := range st.put(nil, connection, now, false) {
		if added, ok := e.(AddressesAdded); ok {
			told = append(told, added.Addresses...)
		}
	}
	check.Equalf(t, []string{"0x1", "0x2", "0x4", "0x5"}, told, "addresses")
}
