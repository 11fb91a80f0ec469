package main

import (
	"context"
	"encoding/json"
	"errors"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/text/strictjson"
)

// addressMessage carries out a message on a feed of addresses. What it returns
// goes to the client at once; other replies wait their turn in the table.
func (s *socket) addressMessage(ctx context.Context, c client, body []byte) ([]byte, error) {
	m, err := strictjson.Decode(body, "the message")
	if err != nil {
		return nil, err
	}
	kind, err := m.Choice("type", "subscribe", "unsubscribe", "stat", "ping", "close")
	if err != nil {
		return nil, err
	}
	if kind == "subscribe" || kind == "unsubscribe" {
		list, err := addresses(m["address"])
		if err != nil {
			return nil, err
		}
		if kind == "subscribe" {
			from, err := channel.DecodeResume(m, c.feed.EventsOf(), list, s.clock())
			if err != nil {
				return nil, err
			}
			slots, err := s.slots(ctx, c, nil)
			if err != nil {
				return nil, err
			}
			if err := s.checkSource(ctx, c.feed.Needs()); err != nil {
				return nil, err
			}
			err = s.store.AddAddresses(ctx, c.Message, list, slots, connections.Reply{Frame: []byte(`{"type":"subscribe"}`), From: from})
			if errors.Is(err, connections.ErrFull) {
				return nil, api.Refuse(catalog.ReasonSubscriptionsExceeded, "the connection would follow more than %d addresses, the most that are accepted: use another connection", connections.MostAddresses)
			}
			return nil, err
		}
		if err := s.store.RemoveAddresses(ctx, c.Message, list); err != nil {
			return nil, err
		}
		return nil, s.store.Answer(ctx, c.Message, connections.Reply{Frame: []byte(`{"type":"unsubscribe"}`)})
	}
	switch kind {
	case "stat":
		return nil, s.store.AskStat(ctx, c.Message) // the ingester has the figures and answers
	case "close":
		return nil, s.store.AskClose(ctx, c.Message) // the ingester closes, after the replies
	}
	return nil, nil // a ping is recorded, and the ingester answers
}

// addresses reads a list of at least one address.
func addresses(raw json.RawMessage) ([]string, error) {
	if raw == nil {
		return nil, strictjson.Errorf("address is missing: it must be an array of addresses")
	}
	var words []json.RawMessage
	if json.Unmarshal(raw, &words) != nil || len(words) == 0 {
		return nil, strictjson.Errorf("address must be an array of at least one address, each 0x followed by 40 hexadecimal digits")
	}
	list := make([]string, len(words))
	for i, word := range words {
		var text string
		var a catalog.Address
		err := json.Unmarshal(word, &text)
		if err == nil {
			err = a.UnmarshalText([]byte(text))
		}
		if err != nil {
			return nil, strictjson.Errorf("address %d, %s, is not accepted: it must be 0x followed by 40 hexadecimal digits", i+1, strictjson.Shown(word))
		}
		list[i] = string(a)
	}
	return list, nil
}
