package connections

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
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
			for _, w := range k.waiting {
				known += len(w.addresses)
			}
		}
		if known != 100 || len(st.conns) != 1 {
			t.Errorf("of %s are known %d addresses of %d connections, want the 100 that are followed", how, known, len(st.conns))
		}
	}
}
