package feeds

import (
	"encoding/json"
	"strconv"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// The channels of what happens to an account as it happens, which have no snapshots: orderUpdates
// and userEvents. Each is a list of events by account, of which those that a source
// delivers again are left out.

// eventsSeen is how many events of a channel are remembered as published.
const eventsSeen = 100_000

// accountEvent is one event of an account.
type accountEvent struct {
	address string
	time    int64 // ms
	key     eventKey
	body    []byte
}

// eventKey is what an event is known by.
type eventKey struct {
	of   string // an address, a coin or a status, by the kind of event
	id   int64  // of an order, a trade or nothing
	time int64
	kind string
}

// accountEvents publishes what happens to accounts.
type accountEvents struct {
	base
	addressTopic
	// events lists those of a delivery that somebody follows.
	events func(e *market.Events, followed func(address string) bool) []accountEvent
	// frame is the frame of some events of one account, of one kind.
	frame func(kind string, bodies [][]byte) []byte

	mu   sync.Mutex
	seen seen[eventKey]
}

func newOrderUpdates(b base) publisher {
	return &accountEvents{base: b, events: orderEvents, frame: func(_ string, bodies [][]byte) []byte {
		return append(appendList(inChannel(channel.OrderUpdates), bodies), '}')
	}}
}

// userEvents is what the venue calls the frames of the channel userEvents.
const userEvents channel.Name = "user"

func newUserEvents(b base) publisher {
	return &accountEvents{base: b, events: func(e *market.Events, followed func(string) bool) []accountEvent {
		return append(fillEvents(e, followed), fundingEvents(e, followed)...)
	}, frame: func(kind string, bodies [][]byte) []byte {
		open := append(append(append(inChannel(userEvents), `{"`...), kind...), `":`...)
		if kind == kindFunding { // of which there is one a frame
			return append(append(open, bodies[0]...), `}}`...)
		}
		return append(appendList(open, bodies), `}}`...)
	}}
}

func (ae *accountEvents) topic(string) hub.Topic { return hub.Topic{} }

func (ae *accountEvents) consume(e *market.Events) { ae.publish(e, ae.freshSince()) }

func (ae *accountEvents) consumeHour(e *market.Events) { ae.publish(e, ae.comesSince()) }

// publish publishes the events since a time, ms, that are new, in one frame an account and kind.
func (ae *accountEvents) publish(e *market.Events, since int64) {
	list := ae.events(e, func(address string) bool { return ae.hub.Watched(ae.topicName(address)) })
	if len(list) == 0 {
		return
	}
	ae.mu.Lock()
	defer ae.mu.Unlock()
	type group struct{ address, kind string }
	bodies := map[group][][]byte{}
	var order []group
	for i := range list {
		one := &list[i]
		if one.time < since || !ae.seen.add(one.key, eventsSeen) {
			continue
		}
		g := group{one.address, one.key.kind}
		if bodies[g] == nil {
			order = append(order, g)
		}
		bodies[g] = append(bodies[g], one.body)
	}
	for _, g := range order {
		for rest := bodies[g]; len(rest) > 0; {
			n := fit(rest)
			if g.kind == kindFunding {
				n = 1
			}
			ae.hub.Publish(ae.topicName(g.address), ae.frame(g.kind, rest[:n]), hub.Event)
			rest = rest[n:]
		}
	}
}

// fit is how many bodies a frame takes, one at least.
func fit(bodies [][]byte) (n int) {
	for size := 0; n < len(bodies); n++ {
		if size += len(bodies[n]) + 1; n > 0 && size > frameMost {
			break
		}
	}
	return n
}

// Kinds of events, as userEvents calls them.
const (
	kindFills   = "fills"
	kindFunding = "funding"
)

func fillEvents(e *market.Events, followed func(string) bool) (list []accountEvent) {
	for f := range fillsOf(e) {
		if followed(f.Address) {
			list = append(list, accountEvent{f.Address, f.Time, eventKey{f.Address, f.Tid, f.Time, kindFills}, f.AppendJSON(make([]byte, 0, 480))})
		}
	}
	return list
}

func fundingEvents(e *market.Events, followed func(string) bool) (list []accountEvent) {
	for i := range e.Payments {
		if p := &e.Payments[i]; followed(p.Address) {
			list = append(list, accountEvent{p.Address, p.Time, eventKey{p.Address + " " + p.Coin, 0, p.Time, kindFunding}, fundingBody(p)})
		}
	}
	return list
}

// fundingBody is a payment as the venue shows it.
func fundingBody(p *market.FundingPayment) []byte {
	return encoded(struct {
		Time        int64  `json:"time"`
		Coin        string `json:"coin"`
		USDC        string `json:"usdc"`
		Szi         string `json:"szi"`
		FundingRate string `json:"fundingRate"`
	}{p.Time, p.Coin, p.USDC, p.Szi, p.Rate})
}

func orderEvents(e *market.Events, followed func(string) bool) (list []accountEvent) {
	for i := range e.Orders {
		if s := &e.Orders[i]; followed(s.Address) {
			body := s.AppendShort(append(make([]byte, 0, 320), `{"order":`...))
			body = jsontext.AppendString(append(body, `,"status":`...), s.Status)
			body = append(strconv.AppendInt(append(body, `,"statusTimestamp":`...), s.Time, 10), '}')
			list = append(list, accountEvent{s.Address, s.Time, eventKey{s.Status + " " + s.Sz, s.Oid, s.Time, ""}, body})
		}
	}
	return list
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers encode
	}
	return b
}

func appendList(b []byte, bodies [][]byte) []byte {
	b = append(b, '[')
	for i, body := range bodies {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, body...)
	}
	return append(b, ']')
}
