package openorders

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/internal/packed"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// ValuesName is that of the view of the values of all orders.
const ValuesName = "openordervalues"

// Values are the values of all orders. The zero value has none.
type Values struct {
	Time  int64 // when they were summed up, ms
	Coins map[string]CoinValues
}

// CoinValues are the values of the orders of one coin.
type CoinValues struct{ Bids, Asks SideValues }

// SideValues are the values of one side with their sum.
type SideValues struct {
	market.OrderValues
	Sum market.Decimal // quote units
}

// OpenValues returns the view of the values as a reader keeps it in memory.
func OpenValues(views *store.Views, clock func() time.Time) *store.View[Values] {
	return store.NewView(views, ValuesName, Period, clock, DecodeValues)
}

// Column is the values of one coin's orders as the view has them.
type Column []byte

// NewColumn encodes the values of a coin's orders:
//
//	{"bids":{"count":n,"places":6,"deltas":"<base64>","odd":["..",..]},"asks":{..}}
//
// The deltas are unsigned varints, of each value in units of 10^-places less the one
// before it, from the smallest value on. Odd values are texts.
func NewColumn(c *market.CoinOrders) Column {
	b := appendSide(append(make([]byte, 0, 128+6*(len(c.Bids.Units)+len(c.Asks.Units))), `{"bids":`...), &c.Bids)
	return append(appendSide(append(b, `,"asks":`...), &c.Asks), '}')
}

func appendSide(b []byte, v *market.OrderValues) []byte {
	places, divisor := coarsest(v.Units)
	deltas := make([]byte, 0, 4*len(v.Units))
	before := uint64(0)
	for _, unit := range v.Units {
		unit /= divisor
		deltas = binary.AppendUvarint(deltas, unit-before)
		before = unit
	}
	b = strconv.AppendInt(append(b, `{"count":`...), int64(len(v.Units)), 10)
	b = strconv.AppendInt(append(b, `,"places":`...), int64(places), 10)
	b = base64.StdEncoding.AppendEncode(append(b, `,"deltas":"`...), deltas)
	b = append(b, '"')
	for i, odd := range v.Odd {
		if i == 0 {
			b = append(b, `,"odd":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(market.AppendText(append(b, '"'), odd), '"')
	}
	if len(v.Odd) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// coarsest is the fewest places that all units have, and what to divide them by.
func coarsest(units []uint64) (places int, divisor uint64) {
	places, divisor = 0, 1
	for range market.ValuePlaces {
		divisor *= 10
	}
	for _, unit := range units {
		for unit%divisor != 0 {
			divisor /= 10
			places++
		}
	}
	return places, divisor
}

// EncodeValues writes {"time":ms,"coins":{"BTC":{..},..}}, of what [NewColumn] encoded.
func EncodeValues(ms int64, coins map[string]Column) []byte {
	size := 64
	for coin, column := range coins {
		size += len(coin) + len(column) + 8
	}
	b := strconv.AppendInt(append(make([]byte, 0, size), `{"time":`...), ms, 10)
	return append(appendByCoin(append(b, `,"coins":`...), coins), '}')
}

// storedSide is one side as it is stored.
type storedSide struct {
	Count  int      `json:"count"`
	Places int      `json:"places"`
	Deltas []byte   `json:"deltas"`
	Odd    []string `json:"odd"`
}

// DecodeValues reads what [EncodeValues] wrote.
func DecodeValues(body []byte) (Values, error) {
	w, err := dataset.FromJSON[struct {
		Time  int64                                      `json:"time"`
		Coins map[string]struct{ Bids, Asks storedSide } `json:"coins"`
	}](body)
	if err != nil {
		return Values{}, fmt.Errorf("read the values of open orders: %w", err)
	}
	v := Values{Time: w.Time, Coins: make(map[string]CoinValues, len(w.Coins))}
	for coin, stored := range w.Coins {
		bids, err1 := stored.Bids.values()
		asks, err2 := stored.Asks.values()
		if err := errors.Join(err1, err2); err != nil {
			return Values{}, fmt.Errorf("read the values of open orders of %s: %w", jsontext.AppendString(nil, coin), err)
		}
		v.Coins[coin] = CoinValues{bids, asks}
	}
	return v, nil
}

var errColumn = errors.New("is no column of values")

func (s *storedSide) values() (v SideValues, err error) {
	if s.Places < 0 || s.Places > market.ValuePlaces || s.Count < 0 || s.Count > len(s.Deltas) {
		return v, errColumn
	}
	factor := uint64(1)
	for range market.ValuePlaces - s.Places {
		factor *= 10
	}
	v.Units = make([]uint64, s.Count)
	r := packed.Reader{B: s.Deltas}
	last := uint64(0)
	for i := range v.Units {
		delta := r.Uint()
		last += delta
		if v.Units[i] = last * factor; last < delta || v.Units[i]/factor != last {
			return v, errColumn // beyond 64 bits
		}
	}
	if !r.Done() {
		return v, errColumn
	}
	for _, text := range s.Odd {
		odd, err := market.ParseStored(text)
		if err != nil {
			return v, err
		}
		v.Odd = append(v.Odd, odd)
	}
	_, v.Sum = v.AtLeast(market.Decimal{})
	return v, nil
}
