package channel

import (
	"bytes"
	"encoding/json"

	"quotary/shared/text/strictjson"
)

// Subscription is what one subscribe message on /ws asks for. Which fields apply
// depends on Type; the others are zero.
type Subscription struct {
	Type     Name   `json:"type"`
	Coin     string `json:"coin,omitempty"`     // l2Book, bbo, trades, candle, liquidations and whaleEvents: "" is all of them
	Interval string `json:"interval,omitempty"` // candle: 1s 5s 15s 1m 15m 1h 4h
	NSigFigs int    `json:"nSigFigs,omitempty"` // l2Book: 2 to 5, 0 = all figures
	Mantissa int    `json:"mantissa,omitempty"` // l2Book with NSigFigs 5: 2 or 5, 0 = 1
	Fast     bool   `json:"fast,omitempty"`     // l2Book: the best five prices of each side
	User     string `json:"user,omitempty"`     // channels of accounts: an address in lower case
	MinValue string `json:"minValue,omitempty"` // liquidations: least value, US dollars, a decimal; "" is any
	Dex      string `json:"dex,omitempty"`      // clearinghouseState, openOrders: "" is the main dex
}

// Key identifies a subscription of a connection: the channel and its members that
// are given. A channel of accounts has one key.
func (s *Subscription) Key() string {
	c := s.Type.Channel()
	key := string(s.Type)
	if c.Account {
		return key
	}
	for _, m := range c.members {
		if part := m.key(s); part != "" {
			key += "#" + part
		}
	}
	return key
}

// MostText is how long a subscription may be as a client writes it, spaces left out,
// in bytes: replies repeat it.
const MostText = 1 << 10

// Decode reads what a message subscribes to or unsubscribes from. A member that the
// channel does not know is ignored. Its error is a [*strictjson.Error].
func Decode(message json.RawMessage) (Subscription, error) {
	var s Subscription
	if message == nil {
		return s, strictjson.Errorf("subscription is missing: it must be a JSON object with the member type")
	}
	o, err := strictjson.Decode(message, "subscription")
	if err != nil {
		return s, err
	}
	var short bytes.Buffer
	if err := json.Compact(&short, message); err != nil || short.Len() > MostText {
		return s, strictjson.Errorf("subscription is too long: at most %d bytes are accepted", MostText)
	}
	names := make([]string, len(Channels))
	for i := range Channels {
		names[i] = string(Channels[i].Name)
	}
	name, err := o.Choice("type", names...)
	if err != nil {
		return s, err
	}
	s.Type = Name(name)
	c := s.Type.Channel()
	for _, m := range c.members {
		if err := m.read(o, &s); err != nil {
			return s, err
		}
	}
	if c.check != nil {
		err = c.check(&s)
	}
	return s, err
}
