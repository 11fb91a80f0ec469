package main

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/text/strictjson"
)

// channelMessage carries out a message on /ws. What it returns goes to the client
// at once; other replies wait their turn in the table.
func (s *socket) channelMessage(ctx context.Context, c client, body []byte) ([]byte, error) {
	m, err := strictjson.Decode(body, "the message")
	if err != nil {
		return nil, err
	}
	method, err := m.Choice("method", "subscribe", "unsubscribe", "ping")
	if err != nil {
		return nil, err
	}
	if method == "ping" { // it is recorded, and the ingester answers
		return nil, nil
	}
	sub, err := channel.Decode(m["subscription"])
	if err != nil {
		return nil, err
	}
	if method == "subscribe" {
		o, err := strictjson.Decode(m["subscription"], "subscription")
		if err != nil {
			return nil, err
		}
		from, err := channel.DecodeResume(o, sub.EventsOf(), []string{sub.User}, s.clock())
		if err != nil {
			return nil, err
		}
		return nil, s.subscribe(ctx, c, sub, from, m["subscription"])
	}
	return nil, s.unsubscribe(ctx, c, sub, m["subscription"])
}

func (s *socket) subscribe(ctx context.Context, c client, sub channel.Subscription, from channel.Resume, echo json.RawMessage) error {
	if err := s.checkMarket(ctx, &sub); err != nil {
		return err
	}
	slots, err := s.slots(ctx, c, sub.Type.Channel().Shows)
	if err != nil {
		return err
	}
	if err := s.checkSource(ctx, sub.Type.Channel().Needs); err != nil {
		return err
	}
	reply := subscriptionResponse("subscribe", sub.Type, echo, "subscribed")
	reply.From = from
	out, err := s.subscribeOrWait(ctx, c, sub, slots, reply)
	if err != nil || out.Changed {
		return err
	}
	if err := sameAccount(&out.Held, &sub); err != nil {
		return err
	}
	status := "alreadySubscribed"
	if out.Overtaken { // by a later unsubscribe
		status = "unsubscribed"
	}
	return s.store.Answer(ctx, c.Message, subscriptionResponse("subscribe", sub.Type, echo, status))
}

// switchPause is between two looks whether a client has left the account that it follows.
const switchPause = 100 * time.Millisecond

// subscribeOrWait subscribes. Where the client follows another account on the channel, it
// waits a little: the unsubscribe that was sent right before may be carried out beside
// this message.
func (s *socket) subscribeOrWait(ctx context.Context, c client, sub channel.Subscription, slots connections.Limits, reply connections.Reply) (connections.Outcome, error) {
	subscribe := func() (connections.Outcome, error) {
		return s.store.Subscribe(ctx, c.Message, sub, slots, reply)
	}
	out, err := subscribe()
	if err != nil || out.Changed || sameAccount(&out.Held, &sub) == nil {
		return out, err
	}
	if may, err := s.store.MayWait(ctx, c.Message, sub); err != nil || !may {
		return out, err
	}
	for waited := time.Duration(0); waited < s.switchWithin; waited += switchPause {
		if err := backoff.Sleep(ctx, switchPause); err != nil {
			return out, err
		}
		if ended, err := s.store.Ended(ctx, c.Message, out.Held); err != nil {
			return out, err
		} else if ended {
			return subscribe()
		}
	}
	return out, nil
}

func (s *socket) unsubscribe(ctx context.Context, c client, sub channel.Subscription, echo json.RawMessage) error {
	out, err := s.store.Unsubscribe(ctx, c.Message, sub)
	if err != nil {
		return err
	}
	status := "unsubscribed"
	switch {
	case out.Overtaken: // by a later subscribe
		status = "subscribed"
	case !out.Changed:
		status = "notSubscribed"
		if err := sameAccount(&out.Held, &sub); err != nil {
			return err
		}
	}
	return s.store.Answer(ctx, c.Message, subscriptionResponse("unsubscribe", sub.Type, echo, status))
}

// sameAccount refuses a message about another account than the one that a
// channel of accounts follows: a connection has one key of each. Like the venue,
// where it cannot follow a further account on a connection, the service says so
// and leaves the first one as it is; replacing it would silently end what the
// client asked for.
func sameAccount(held, asked *channel.Subscription) error {
	if held.Type == "" || held.User == asked.User && held.Dex == asked.Dex {
		return nil
	}
	of := held.User
	if held.Dex != "" {
		of += " on dex " + held.Dex
	}
	return strictjson.Errorf("%s follows %s on this connection, which takes one account per channel: unsubscribe that first, or use another connection", held.Type, of)
}

// subscriptionResponse is the reply about a subscription. Channels of markets
// carry its status and how many subscriptions of the channel the connection
// has, which the ingester knows and adds; channels of accounts do not.
func subscriptionResponse(method string, name channel.Name, echo json.RawMessage, status string) connections.Reply {
	type data struct {
		Method       string          `json:"method"`
		Subscription json.RawMessage `json:"subscription"`
		Status       string          `json:"status,omitempty"`
	}
	d := data{Method: method, Subscription: echo}
	var reply connections.Reply
	if !name.Channel().Account {
		d.Status, reply.Count = status, name
	}
	reply.Frame = object(struct {
		Channel string `json:"channel"`
		Data    data   `json:"data"`
	}{"subscriptionResponse", d})
	return reply
}
