// Package openinterest is the value of all open positions in perpetuals: a view of
// every coin's, and a series of samples by coin, in the intervals
// [market.SampleTiers].
//
// It is summed over the accounts whose fills are known. Values are quote units at
// the mark price, decimal texts; averages are rounded half away from zero to
// [AveragePlaces], and everything else is exact.
package openinterest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view and of the series.
const Name = "openinterest"

// AveragePlaces is the precision of averages.
const AveragePlaces = 6

// View is the open interest of all coins.
type View struct {
	Time  int64  // when it was summed up, ms
	Coins []Coin // each with an open position; by value, the largest first

	// Total sums up the coins. It follows from them and is not stored.
	Total Total
}

// Coin sums up the open positions in one coin.
type Coin struct {
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongPv        string `json:"longPv"`
	ShortPv       string `json:"shortPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
	Traded        int64  `json:"traded"` // when the coin last traded, ms
}

// Total sums up open positions.
type Total struct {
	PositionCount                   int64
	LongPv, ShortPv, TotalPv, AvgPv string
}

// NewCoin values the open positions in a coin at a price; traded is when the coin
// last traded, ms. It is false where there are no positions.
func NewCoin(coin string, open market.OpenInterest, px market.Decimal, traded int64) (Coin, bool) {
	if open.Longs+open.Shorts == 0 {
		return Coin{}, false
	}
	t := total(open.Longs+open.Shorts, market.Notional(px, open.LongSize), market.Notional(px, open.ShortSize))
	return Coin{coin, t.PositionCount, t.LongPv, t.ShortPv, t.TotalPv, t.AvgPv, traded}, true
}

func total(positions int64, long, short market.Decimal) Total {
	sum := long.Add(short)
	var average market.Decimal
	if positions > 0 {
		average, _ = sum.Div64(uint64(positions)) // fails on a division by zero only
	}
	return Total{positions, market.Text(long), market.Text(short), market.Text(sum), market.Text(average.RoundHAZ(AveragePlaces))}
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, Write: encode, Read: decode}

// storedView is a View as it is stored.
type storedView struct {
	Time  int64  `json:"time"`
	Coins []Coin `json:"coins"`
}

func encode(v View) []byte {
	return dataset.JSON(storedView{v.Time, append([]Coin{}, v.Coins...)})
}

func decode(body []byte) (View, error) {
	s, err := dataset.FromJSON[storedView](body)
	if err != nil {
		return View{}, err
	}
	v := View{Time: s.Time}
	type valued struct {
		Coin
		value market.Decimal
	}
	coins := make([]valued, len(s.Coins))
	var positions int64
	var long, short market.Decimal
	for i, c := range s.Coins {
		l, err1 := market.ParseStored(c.LongPv)
		s, err2 := market.ParseStored(c.ShortPv)
		if err := errors.Join(err1, err2); err != nil {
			return View{}, fmt.Errorf("value of %s: %w", c.Coin, err)
		}
		if c.PositionCount < 0 {
			return View{}, fmt.Errorf("%d positions in %s", c.PositionCount, c.Coin)
		}
		coins[i] = valued{c, l.Add(s)}
		positions, long, short = positions+c.PositionCount, long.Add(l), short.Add(s)
	}
	slices.SortStableFunc(coins, func(a, b valued) int {
		return cmp.Or(b.value.Cmp(a.value), cmp.Compare(a.Coin.Coin, b.Coin.Coin))
	})
	for _, c := range coins {
		v.Coins = append(v.Coins, c.Coin)
	}
	v.Total = total(positions, long, short)
	return v, nil
}
