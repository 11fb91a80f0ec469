package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
)

func addressFeeds(t *testing.T, test func(*testing.T, *world, *peer)) {
	for _, feed := range []channel.Feed{channel.FeedFills, channel.FeedFilledOrders, channel.FeedClearinghouseState} {
		t.Run(string(feed), func(t *testing.T) {
			t.Parallel()
			w := open(t)
			test(t, w, w.connect(w.SubKey, feed))
		})
	}
}

func message(kind string, addresses ...string) string {
	list, _ := json.Marshal(addresses)
	return fmt.Sprintf(`{"type":%q,"address":%s}`, kind, list)
}

// followed returns the addresses that an ingester finds.
func (w *world) followed(id string) (all []string) {
	for _, e := range w.events() {
		if added, ok := e.(connections.AddressesAdded); ok && added.Connection == id {
			all = append(all, added.Addresses...)
		}
	}
	slices.Sort(all)
	return all
}

func TestAddressesAccumulate(t *testing.T) {
	t.Parallel()
	addressFeeds(t, func(t *testing.T, w *world, p *peer) {
		check := func(slots int64, want ...string) {
			t.Helper()
			if got := w.followed(p.id); !slices.Equal(got, want) {
				t.Errorf("followed %v, want %v", got, want)
			}
			if used := w.used(w.SubKey); used != (connectionstest.Usage{Connections: 1, Subscriptions: slots}) {
				t.Errorf("used %+v, want %d slots", used, slots)
			}
		}
		const carol = "0xca01000000000000000000000000000000000003"
		p.says(`{"type":"ping"}`, `{"type":"pong"}`)
		p.says(message("subscribe", "0x"+strings.ToUpper(alice[2:]), bob, alice), `{"type":"subscribe"}`)
		check(1, alice, bob)
		p.says(message("subscribe", bob), `{"type":"subscribe"}`) // no effect
		check(1, alice, bob)
		p.says(message("subscribe", bob, carol), `{"type":"subscribe"}`)
		check(2, alice, bob, carol)
		p.says(message("unsubscribe", carol, "0x0000000000000000000000000000000000000009"), `{"type":"unsubscribe"}`)
		check(1, alice, bob)
		p.says(message("unsubscribe", bob, alice), `{"type":"unsubscribe"}`)
		check(0) // and still connected
		p.says(`{"type":"ping"}`, `{"type":"pong"}`)
	})
}

func TestUnknownMembersOnTheAddressFeedsAreIgnored(t *testing.T) {
	t.Parallel()
	addressFeeds(t, func(_ *testing.T, _ *world, p *peer) {
		p.says(`{"type":"ping","id":1}`, `{"type":"pong"}`)
		p.says(`{"type":"subscribe","address":["`+alice+`"],"id":1,"fast":true}`, `{"type":"subscribe"}`)
		p.says(`{"type":"unsubscribe","address":["`+alice+`"],"id":{}}`, `{"type":"unsubscribe"}`)
		p.says(`{"type":"stat","since":0}`, "")
		p.says(`{"type":"close","reason":1}`, "")
	})
}

func TestAStatIsLeftToTheIngester(t *testing.T) {
	t.Parallel()
	addressFeeds(t, func(t *testing.T, w *world, p *peer) {
		p.says(`{"type":"stat"}`, "")
		p.says(`{"type":"stat"}`, "")
		asked := 0
		for _, e := range w.events() {
			if s, ok := e.(connections.StatAsked); ok && s.Connection == p.id {
				asked++
			}
		}
		if asked != 2 {
			t.Errorf("the ingester is asked %d times, want 2", asked)
		}
	})
}

func TestACloseIsLeftToTheIngesterBehindTheRepliesBeforeIt(t *testing.T) {
	t.Parallel()
	addressFeeds(t, func(t *testing.T, w *world, p *peer) {
		p.send(message("subscribe", alice))
		p.says(`{"type":"close"}`, "")
		var order []string
		for _, e := range w.events() {
			switch e := e.(type) {
			case connections.AddressesAdded:
				order = append(order, string(e.Reply.Frame))
			case connections.CloseAsked:
				order = append(order, "close "+e.Connection)
			}
		}
		if want := []string{`{"type":"subscribe"}`, "close " + p.id}; !slices.Equal(order, want) || len(w.closed) > 0 {
			t.Errorf("the ingester finds %q and %v are closed, want %q and none", order, w.closed, want)
		}
		p.disconnect() // follows
		if used := w.used(w.SubKey); used != (connectionstest.Usage{}) {
			t.Errorf("used %+v", used)
		}
	})
}

func TestARemovedConnectionThatTheGatewayDoesNotCloseIsAFault(t *testing.T) {
	t.Parallel()
	for status, fault := range map[int]bool{http.StatusInternalServerError: true, http.StatusGone: false} {
		w := open(t)
		p := w.connect(w.SubKey, channel.FeedFills)
		if removed, err := w.conns.Remove(t.Context(), p.id); !removed || err != nil {
			t.Fatal(removed, err)
		}
		w.fails = status
		p.says(`{"type":"close"}`, "")
		if logged := strings.Contains(w.logs.String(), `"level":"ERROR"`); logged != fault {
			t.Errorf("%d: logged as a fault: %t", status, logged)
		}
	}
}

func TestARemovedConnectionIsClosedAtItsNextMessage(t *testing.T) {
	t.Parallel()
	for feed, messages := range map[channel.Feed][]string{
		channel.FeedChannels: {`{"method":"ping"}`, `nonsense`, subscribeTo(`{"type":"bbo","coin":"BTC"}`), unsubscribeFrom(`{"type":"bbo","coin":"BTC"}`)},
		channel.FeedFills:    {`{"type":"ping"}`, `nonsense`, message("subscribe", alice), message("unsubscribe", alice), `{"type":"stat"}`},
	} {
		for _, body := range messages {
			w := open(t)
			p := w.connect(w.SubKey, feed)
			if removed, err := w.conns.Remove(t.Context(), p.id); !removed || err != nil {
				t.Fatal(removed, err)
			}
			p.says(body, "")
			if !slices.Equal(w.closed, []string{p.id}) {
				t.Errorf("%s: closed %v", body, w.closed)
			}
			if used := w.used(w.SubKey); used != (connectionstest.Usage{}) {
				t.Errorf("%s: used %+v", body, used)
			}
		}
	}
}

func TestMistakesOnTheAddressFeedsAreNamed(t *testing.T) {
	t.Parallel()
	addressFeeds(t, func(t *testing.T, w *world, p *peer) {
		const shape = "each 0x followed by 40 hexadecimal digits"
		for body, want := range map[string]string{
			`{"method":"ping"}`:                                  "type is missing: accepted are subscribe, unsubscribe, stat, ping, close",
			`{"type":"data"}`:                                    `unknown type "data": accepted are subscribe, unsubscribe, stat, ping, close`,
			`{"type":"subscribe"}`:                               "address is missing: it must be an array of addresses",
			`{"type":"unsubscribe"}`:                             "address is missing: it must be an array of addresses",
			message("subscribe"):                                 "address must be an array of at least one address, " + shape,
			`{"type":"subscribe","address":[]}`:                  "address must be an array of at least one address, " + shape,
			`{"type":"subscribe","address":"` + alice + `"}`:     "address must be an array of at least one address, " + shape,
			message("subscribe", alice, "0xZZ", "nothing"):       `address 2, "0xZZ", is not accepted: it must be 0x followed by 40 hexadecimal digits`,
			`{"type":"subscribe","address":[7]}`:                 "address 1, 7, is not accepted: it must be 0x followed by 40 hexadecimal digits",
			`{"type":"subscribe","address":[null]}`:              "address 1, null, is not accepted: it must be 0x followed by 40 hexadecimal digits",
			`{"type":"subscribe","addresses":["` + alice + `"]}`: "address is missing: it must be an array of addresses",
		} {
			var reply struct{ Error string }
			got := p.send(body)
			if err := json.Unmarshal([]byte(got), &reply); err != nil || reply.Error != want {
				t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
			}
		}
		if used := w.used(w.SubKey); used != (connectionstest.Usage{Connections: 1}) || len(w.closed) != 0 {
			t.Errorf("mistakes used %+v and closed %v", used, w.closed)
		}
	})
}

func TestTheLogHoldsNothingThatAClientWrote(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedFills)
	p.send(`{"type":"secret-word"}`)
	p.send(message("subscribe", "secret-word"))
	if strings.Contains(w.logs.String(), "secret-word") {
		t.Error(w.logs.String())
	}
}
