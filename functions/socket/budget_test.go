package main

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/gate/channel"
)

// A message is refused before it has written anything, or carried out.
func TestAMessageThatWouldReadTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedFills)
	w.socket.readUnits = 370 // a query may be 356
	const each = 2000        // addresses, of ten units
	some := func(from int) (list []string) {
		for i := range each {
			list = append(list, fmt.Sprintf("0x%040x", from+i))
		}
		return list
	}
	for i := range 3 {
		p.says(message("subscribe", some(i*each)...), `{"type":"subscribe"}`)
	}
	if reply := p.send(message("subscribe", some(0)...)); !strings.Contains(reply, "follows too much") {
		t.Errorf("behind 30 units another query is answered %.200s", reply)
	}
	if n := len(w.followed(p.id)); n != 3*each {
		t.Errorf("%d addresses are followed, want %d", n, 3*each)
	}
	p.says(message("unsubscribe", some(0)[0]), `{"type":"unsubscribe"}`)
	if n := len(w.followed(p.id)); n != 3*each-1 {
		t.Errorf("%d addresses are followed, want %d", n, 3*each-1)
	}
}
