package wire

import (
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// ParseTrades reads a list of trades of the public API,
//
//	[{"coin","side","px","sz","time","hash","tid","users":[buyer, seller]}, ...]
//
// and counts those that are none.
//
// The venue lists all trades of a time side by side, in the order of execution or,
// newest first, in reverse; newestFirst says which, where the times do not. Seq is
// the place in the list from its oldest trade on: it orders the trades of one ms,
// which all have the time of their block. Longer lists give higher places, so a
// list that comes again never turns the order around.
func ParseTrades(data []byte, newestFirst bool) (trades []market.Trade, malformed int, err error) {
	var wire []wireTrade
	if err := lenient.List(data, &wire); err != nil {
		return nil, 0, fmt.Errorf("read trades: %w", err)
	}
	if n := len(wire); n > 1 && wire[0].Time != wire[n-1].Time {
		newestFirst = wire[0].Time > wire[n-1].Time
	}
	trades = make([]market.Trade, 0, len(wire))
	for i := range wire {
		t, err := wire[i].trade()
		if err != nil {
			malformed++
			continue
		}
		t.Seq = int64(i + 1)
		if newestFirst {
			t.Seq = int64(len(wire) - i)
		}
		trades = append(trades, t)
	}
	return trades, malformed, nil
}

// wireTrade is a trade of the public API.
type wireTrade struct {
	Coin  string   `json:"coin"`
	Side  string   `json:"side"` // of the taker
	Px    string   `json:"px"`
	Sz    string   `json:"sz"`
	Time  int64    `json:"time"`
	Hash  string   `json:"hash"`
	Tid   int64    `json:"tid"`
	Users []string `json:"users"` // buyer, seller
}

var errTrade = errors.New("is no trade")

func (w *wireTrade) trade() (market.Trade, error) {
	if !market.ValidCoin(w.Coin) || w.Side != "A" && w.Side != "B" || w.Time <= 0 || w.Time > market.MaxTime || w.Tid <= 0 {
		return market.Trade{}, errTrade
	}
	if err := market.CheckQuantity(w.Px, w.Sz); err != nil {
		return market.Trade{}, err
	}
	t := market.Trade{Coin: w.Coin, Side: market.Side(w.Side[0]), Time: w.Time, Tid: w.Tid, Hash: w.Hash}
	var err error
	if t.Px, err = market.ParseDecimal(w.Px); err != nil {
		return market.Trade{}, err
	}
	if t.Sz, err = market.ParseDecimal(w.Sz); err != nil {
		return market.Trade{}, err
	}
	copy(t.Users[:], w.Users)
	t.Tidy()
	return t, nil
}

// ValidMids leaves out of mid prices by coin what is no price.
func ValidMids(mids map[string]string) map[string]string {
	for coin, px := range mids {
		if market.CheckQuantity(px, "1") != nil || !market.ValidCoin(coin) {
			delete(mids, coin)
		}
	}
	return mids
}
