package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"quotary/shared/catalog"
	"quotary/shared/connections"
)

// channelMessage carries out a message on /ws. What it returns goes to the client
// at once; other replies wait their turn in the table.
func (s *socket) channelMessage(ctx context.Context, c client, body []byte) ([]byte, error) {
	m, err := decodeObject(body, "the message")
	if err != nil {
		return nil, err
	}
	method, err := m.choice("method", "subscribe", "unsubscribe", "ping")
	if err != nil {
		return nil, err
	}
	if method == "ping" {
		if err := m.only("a ping", "method"); err != nil {
			return nil, err
		}
		return []byte(`{"channel":"pong"}`), s.store.Touch(ctx, c.id)
	}
	if err := m.only("the message", "method", "subscription"); err != nil {
		return nil, err
	}
	sub, err := subscription(m["subscription"])
	if err != nil {
		return nil, err
	}
	if method == "subscribe" {
		return nil, s.subscribe(ctx, c, sub, m["subscription"])
	}
	return nil, s.unsubscribe(ctx, c, sub, m["subscription"])
}

func (s *socket) subscribe(ctx context.Context, c client, sub connections.Subscription, echo json.RawMessage) error {
	out, err := s.store.Subscribe(ctx, c.id, sub, c.slots, func(active int) []byte {
		return subscriptionResponse("subscribe", sub.Type, echo, "subscribed", active)
	})
	if err != nil || out.Changed {
		return err
	}
	if err := sameAccount(&out.Held, &sub); err != nil {
		return err
	}
	return s.store.Answer(ctx, c.id, subscriptionResponse("subscribe", sub.Type, echo, "alreadySubscribed", out.Active))
}

func (s *socket) unsubscribe(ctx context.Context, c client, sub connections.Subscription, echo json.RawMessage) error {
	out, err := s.store.Unsubscribe(ctx, c.id, sub)
	if err != nil {
		return err
	}
	status := "unsubscribed"
	if !out.Changed {
		status = "notSubscribed"
		if err := sameAccount(&out.Held, &sub); err != nil {
			return err
		}
	}
	return s.store.Answer(ctx, c.id, subscriptionResponse("unsubscribe", sub.Type, echo, status, out.Active))
}

// sameAccount refuses a message about another account than the one that a
// wallet channel follows: a connection has one key of each. Like the venue,
// where it cannot follow a further account on a connection, the service says so
// and leaves the first one as it is; replacing it would silently end what the
// client asked for.
func sameAccount(held, asked *connections.Subscription) error {
	if held.Type == "" || held.User == asked.User && held.Dex == asked.Dex {
		return nil
	}
	of := held.User
	if held.Dex != "" {
		of += " on dex " + held.Dex
	}
	return wrongf("%s follows %s on this connection, which takes one account per channel: unsubscribe that first, or use another connection", held.Type, of)
}

// subscriptionResponse is the reply about a subscription. Channels of markets
// carry its status and how many subscriptions of the channel the connection
// has; wallet channels do not.
func subscriptionResponse(method string, channel connections.Channel, echo json.RawMessage, status string, active int) []byte {
	type data struct {
		Method       string          `json:"method"`
		Subscription json.RawMessage `json:"subscription"`
		Status       string          `json:"status,omitempty"`
		ActiveCount  *int            `json:"activeCount,omitempty"`
	}
	d := data{Method: method, Subscription: echo}
	if !channel.Wallet() {
		d.Status, d.ActiveCount = status, &active
	}
	return object(struct {
		Channel string `json:"channel"`
		Data    data   `json:"data"`
	}{"subscriptionResponse", d})
}

// channels lists what a subscription may name, with the members it takes.
var channels = []struct {
	channel connections.Channel
	members []string
}{
	{connections.Trades, []string{"type", "coin"}},
	{connections.OpenOrders, []string{"type", "user", "dex"}},
	{connections.AccountState, []string{"type", "user", "dex"}},
	{connections.L2Book, []string{"type", "coin", "nSigFigs", "mantissa"}},
	{connections.BBO, []string{"type", "coin"}},
	{connections.Candle, []string{"type", "coin", "interval"}},
	{connections.UserFills, []string{"type", "user", "aggregateByTime"}},
	{connections.UserNonFundingLedgerUpdates, []string{"type", "user"}},
}

// subscription reads what a message subscribes to or unsubscribes from.
func subscription(raw json.RawMessage) (sub connections.Subscription, err error) {
	if raw == nil {
		return sub, wrongf("subscription is missing: it must be a JSON object with the member type")
	}
	m, err := decodeObject(raw, "subscription")
	if err != nil {
		return sub, err
	}
	types := make([]string, len(channels))
	for i, c := range channels {
		types[i] = string(c.channel)
	}
	name, err := m.choice("type", types...)
	if err != nil {
		return sub, err
	}
	sub.Type = connections.Channel(name)
	for _, c := range channels {
		if c.channel == sub.Type {
			err = m.only("a subscription of type "+name, c.members...)
		}
	}
	if err != nil {
		return sub, err
	}
	if sub.Type.Wallet() {
		return sub, wallet(&sub, m)
	}
	return sub, market(&sub, m)
}

// market reads the members of a channel of a market.
func market(sub *connections.Subscription, m members) (err error) {
	var coin catalog.Coin
	if err := m.text("coin", coin.UnmarshalText); err != nil {
		return err
	}
	sub.Coin = string(coin)
	switch sub.Type {
	case connections.Candle:
		sub.Interval, err = m.choice("interval", "1s", "5s", "15s", "1m", "15m", "1h", "4h")
		return err
	case connections.L2Book:
		if sub.NSigFigs, err = m.number("nSigFigs", 2, 3, 4, 5); err != nil {
			return err
		}
		if sub.Mantissa, err = m.number("mantissa", 1, 2, 5); err != nil {
			return err
		}
		if sub.Mantissa != 0 && sub.NSigFigs != 5 {
			return wrongf("mantissa is accepted with nSigFigs 5 only")
		}
		if sub.Mantissa == 1 { // as without
			sub.Mantissa = 0
		}
	}
	return nil
}

// wallet reads the members of a channel of an account.
func wallet(sub *connections.Subscription, m members) error {
	var user catalog.Address
	if err := m.text("user", user.UnmarshalText); err != nil {
		return err
	}
	sub.User = string(user)
	if dex, ok := m["dex"]; ok && string(dex) != "null" {
		err := m.text("dex", func(text []byte) error {
			sub.Dex = string(text)
			if checkDex(sub.Dex) != nil {
				return errors.New("the name of a dex, at most 32 letters, digits, _ or -, or empty for the main one")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if together := m["aggregateByTime"]; together != nil && !bytes.Equal(together, []byte("false")) && !bytes.Equal(together, []byte("null")) {
		return wrongf("aggregateByTime %s is not accepted: fills are pushed one by one, it must be false", shown(together))
	}
	return nil
}
