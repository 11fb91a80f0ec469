package pairseries

import (
	"context"
	"strconv"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Orders is a row of the series liquidationorders: the liquidations of a pair in a minute,
// each once, by what they are.
type Orders map[string]market.PairLiquidation

// order is how a liquidation is stored.
type order struct {
	Time  int64          `json:"time"`
	Of    string         `json:"of,omitzero"`
	Long  bool           `json:"long"`
	Px    market.Decimal `json:"px"`
	Sz    market.Decimal `json:"sz"`
	Value market.Decimal `json:"value"`
}

// Add takes a liquidation, and reports whether it is new: one that is equal in time, side,
// price, size and, where the exchange numbers them, trade is the same.
func (o Orders) Add(l *market.PairLiquidation) bool {
	key := orderKey(l)
	if _, ok := o[key]; ok {
		return false
	}
	o[key] = *l
	return true
}

// Has reports whether a liquidation is there.
func (o Orders) Has(l *market.PairLiquidation) bool {
	_, ok := o[orderKey(l)]
	return ok
}

func orderKey(l *market.PairLiquidation) string {
	side := "S"
	if l.Long {
		side = "L"
	}
	key := strings.Join([]string{time.UnixMilli(l.Time).UTC().Format("05.000"), side, l.Px.String(), l.Sz.String()}, " ")
	if l.ID != 0 {
		key += " " + strconv.FormatInt(l.ID, 10)
	}
	return key
}

func orderOf(l *market.PairLiquidation) order {
	return order{l.Time, l.Of, l.Long, l.Px, l.Sz, l.Value}
}

// MostOrders is how many bytes the orders of a row may take: an item of the store has 400 KB.
const MostOrders = 380 << 10

// OrderSize is how many bytes a liquidation takes in a row.
func OrderSize(l *market.PairLiquidation) int {
	return len(orders.Append(nil, &map[string]order{orderKey(l): orderOf(l)})) - 1 // a comma, where one alone has two braces
}

// Sum sums them up. The parts of one liquidation count as one.
func (o Orders) Sum() (sum market.Liquidated) {
	type liquidation struct {
		of   string
		long bool
	}
	parts := map[liquidation]market.PairLiquidation{}
	for _, one := range o {
		if one.Of == "" {
			sum.Add(&one)
			continue
		}
		key := liquidation{one.Of, one.Long}
		one.Value = one.Value.Add(parts[key].Value)
		parts[key] = one
	}
	for _, one := range parts {
		sum.Add(&one)
	}
	return sum
}

var orders = dataset.Series[map[string]order]{
	Name:   "liquidationorders",
	Append: dataset.AppendJSON[map[string]order],
	Decode: dataset.FromJSON[map[string]order],
}

// OrdersAt is the key of the row of a pair that holds a time, ms.
func OrdersAt(pair string, ms int64) store.SeriesAt {
	return orders.At(pair, market.Minute1, market.Minute1.StartMs(ms))
}

// OrdersRow is the row of the orders of a minute.
func OrdersRow(at store.SeriesAt, all Orders) store.SeriesRow {
	stored := make(map[string]order, len(all))
	for key, l := range all {
		stored[key] = orderOf(&l)
	}
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: orders.Append(nil, &stored)}}
}

// DecodeOrders reads the body of a row of a pair.
func DecodeOrders(pair string, body []byte) (Orders, error) {
	stored, err := orders.Decode(body)
	if err != nil {
		return nil, err
	}
	all := make(Orders, len(stored))
	for key, o := range stored {
		all[key] = market.PairLiquidation{Pair: pair, Time: o.Time, Of: o.Of, Long: o.Long, Px: o.Px, Sz: o.Sz, Value: o.Value}
	}
	return all, nil
}

// ReadOrders returns the liquidations of a pair from a time until before another, in
// minutes.
func ReadOrders(ctx context.Context, s *store.Series, pair string, from, to time.Time) (list []market.PairLiquidation, err error) {
	rows, err := orders.Read(ctx, s, pair, market.Minute1, dataset.Range{From: market.Minute1.Start(from), To: to})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		for _, o := range row.Value {
			list = append(list, market.PairLiquidation{Pair: pair, Time: o.Time, Of: o.Of, Long: o.Long, Px: o.Px, Sz: o.Sz, Value: o.Value})
		}
	}
	return list, nil
}
