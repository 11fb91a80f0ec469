// Package platformflows is the view of what takers bought less what they sold on each
// centralised exchange in the last 24 hours, minute by minute, over the followed pairs.
package platformflows

import (
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "platformflows"

// Window is how far back the view reaches.
const Window = 24 * time.Hour

// View is the flows of all exchanges.
type View struct {
	Time      int64      `json:"time"`      // of the newest trade, or the end of the newest K-line, ms
	Platforms []Platform `json:"platforms"` // by key
	Pairs     []Counted  `json:"pairs"`     // by key
}

// Platform is the flows of an exchange.
type Platform struct {
	Key     string   `json:"key"`
	Minutes []Minute `json:"minutes"` // by time; those without a trade are left out
}

// Minute is the flow of a minute.
type Minute struct {
	Time int64          `json:"t"` // when it begins, ms
	Net  market.Decimal `json:"n"` // bought less sold by takers, US dollars, of which a stable coin counts as one
}

// Counted is what of a pair is in the flows of its exchange: all minutes that open in [From,
// To), ms, as the exchange confirmed them, and of others what trades made of them.
type Counted struct {
	Key    string   `json:"key"`
	From   int64    `json:"from"`
	To     int64    `json:"to"`
	Tells  bool     `json:"tells"` // the exchange tells takers apart in its K-lines
	Trades []Minute `json:"trades"`
}

// Platform returns the flows of an exchange; none of one that is not known.
func (v View) Platform(key string) Platform {
	for i := range v.Platforms {
		if v.Platforms[i].Key == key {
			return v.Platforms[i]
		}
	}
	return Platform{Key: key}
}

// ConfirmedSince is from when on the K-lines of all pairs of an exchange say what takers bought and
// sold; false of an exchange whose K-lines do not.
func (v View) ConfirmedSince(platform string) (since time.Time, ok bool) {
	for i := range v.Pairs {
		pair := &v.Pairs[i]
		if _, on, _ := strings.Cut(pair.Key, ":"); on != platform || !pair.Tells {
			continue
		}
		if from := time.UnixMilli(pair.From).UTC(); !ok || from.After(since) {
			since, ok = from, true
		}
	}
	return since, ok
}

// Since sums up the minutes that begin at or after a time; false where there is none.
func (p Platform) Since(from time.Time) (net market.Decimal, ok bool) {
	for _, m := range p.Minutes {
		if m.Time >= from.UnixMilli() {
			net, ok = net.Add(m.Net), true
		}
	}
	return net, ok
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second}
