package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
)

func TestAFloodClosesTheConnectionAndKeepsItsKeyOutForAMinute(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.socket.meter = connections.NewMeter(w.conns, connections.Budget{Messages: 120})
	flood, other := w.connect(w.SubKey, channel.FeedChannels), w.connect(w.limited(0, 0), channel.FeedChannels)
	sent := 0
	for ; len(w.closed) == 0 && sent < 500; sent++ {
		flood.send(`{"method":"ping"}`)
	}
	if sent < 120 || sent > 170 || !slices.Equal(w.closed, []string{flood.id}) {
		t.Errorf("after %d messages %v are closed", sent, w.closed)
	}
	if used := w.used(w.SubKey); used != (connectionstest.Usage{}) {
		t.Errorf("used %+v", used)
	}
	if !strings.Contains(w.logs.String(), string(connections.ReasonFlood)) || strings.Contains(w.logs.String(), `"level":"ERROR"`) {
		t.Error(w.logs)
	}
	if _, status, message := w.dial(w.SubKey, channel.FeedFills, ""); status != http.StatusTooManyRequests || !strings.Contains(message, "connect again in a minute") {
		t.Errorf("%d %s", status, message)
	}
	other.says(`{"method":"ping"}`, `{"channel":"pong"}`)
	w.Move(connections.BarredFor + time.Second)
	w.connect(w.SubKey, channel.FeedFills)
}

// A message about one address reads all that its connection follows: 13 units here, and
// writes two, which are as much as ten.
func TestMessagesThatReadTooMuchAreAFlood(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.socket.meter = connections.NewMeter(w.conns, connections.Budget{Messages: 2000, Reads: 3000})
	dear, other := w.connect(w.SubKey, channel.FeedFills), w.connect(w.limited(0, 0), channel.FeedFills)
	list := make([]string, 2500) // 50 KB, which are 13 units
	for i := range list {
		list[i] = fmt.Sprintf(`"0x%040x"`, i)
	}
	other.send(`{"type":"subscribe","address":[` + list[0] + `]}`)
	dear.send(`{"type":"subscribe","address":[` + strings.Join(list, ",") + `]}`)
	sent := 0
	for ; len(w.closed) == 0 && sent < 500; sent++ {
		dear.send(`{"type":"subscribe","address":[` + list[0] + `]}`)
		other.send(`{"type":"subscribe","address":[` + list[0] + `]}`)
	}
	if sent < 3000/30 || sent > 4000/20 || !slices.Equal(w.closed, []string{dear.id}) {
		t.Errorf("after %d messages %v are closed", sent, w.closed)
	}
}

// A message that leaves one address writes those again that are left of the message that has
// added it.
func TestMessagesThatWriteTooMuchAreAFlood(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.socket.meter = connections.NewMeter(w.conns, connections.Budget{Messages: 2000, Reads: 10_000})
	dear, other := w.connect(w.SubKey, channel.FeedFills), w.connect(w.limited(0, 0), channel.FeedFills)
	list := make([]string, 2500) // 50 KB: 13 units to read, 50 to write
	for i := range list {
		list[i] = fmt.Sprintf(`"0x%040x"`, i)
	}
	other.send(`{"type":"subscribe","address":[` + list[0] + `]}`)
	dear.send(`{"type":"subscribe","address":[` + strings.Join(list, ",") + `]}`)
	sent := 0
	for ; len(w.closed) == 0 && sent < 200; sent++ {
		dear.send(`{"type":"unsubscribe","address":[` + list[sent] + `]}`)
		other.send(`{"type":"subscribe","address":[` + list[0] + `]}`)
	}
	if sent < 20 || sent > 50 || !slices.Equal(w.closed, []string{dear.id}) {
		t.Errorf("after %d messages %v are closed", sent, w.closed)
	}
}

// Each connection has a budget of its own: one after the other, they have that of their key and
// of their distributor.
func TestConnectionsOneAfterAnotherThatCostTooMuchAreAFlood(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ key, distributor int64 }{
		"of a key":         {40_000, 0},
		"of a distributor": {0, 40_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.socket.spending = &connections.Spending{Key: tt.key, Distributor: tt.distributor, Store: w.conns}
			loud, quiet := w.SubKey, w.limited(0, 0)
			list := make([]string, 1000) // 20 KB: 20 units to write, and as many when it is left
			for i := range list {
				list[i] = fmt.Sprintf(`"0x%040x"`, i)
			}
			cycles, status := 0, http.StatusOK
			for ; status == http.StatusOK && cycles < 600; cycles++ {
				var p *peer
				if p, status, _ = w.dial(loud, channel.FeedFills, ""); status == http.StatusOK {
					p.send(`{"type":"subscribe","address":[` + strings.Join(list, ",") + `]}`)
					p.invoke(p.event("$disconnect", "", nil))
				}
			}
			if status != http.StatusTooManyRequests || cycles < 10 {
				t.Errorf("status %d after %d connections", status, cycles)
			}
			if tt.distributor == 0 {
				w.connect(quiet, channel.FeedFills).says(`{"type":"ping"}`, `{"type":"pong"}`)
			}
			w.Move(2 * connections.BarredFor)
			w.connect(loud, channel.FeedFills)
		})
	}
}
