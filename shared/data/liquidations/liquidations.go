// Package liquidations is what was liquidated on the perpetual exchange, account by account: the
// events themselves, their sums, and the largest of them.
//
//	liquidations      the events of a second, of all coins: an array, by time
//	liquidationstats  sums of minutes and of hours, by coin and of all ([All]), as the rows of
//	                  the package pairseries
//	topliquidations   the largest events of an hour and of a day, by coin
//
// An event is one order by which a position was closed (see [market.LiquidationEvent]); its fills
// are of one block. A second's row knows which fills it has counted, so that those that come
// twice, late or in another order change nothing, and everything else follows from such rows.
//
// A window that ends now is exact at its beginning: the second that it begins in is read event by
// event, then minutes, then hours. The distinct addresses of a window are those of its parts,
// each once: the sums have digests of them ([market.AddressDigest]). A row takes some 45,000:
// where the hours of one day or the minutes of a quarter have more together, those of the busiest
// are left out of its count of addresses, which is then too small. Its other sums are whole.
package liquidations

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series of events.
const Name = "liquidations"

// All is the key of the sums over all coins. No perpetual can have this name.
const All = "#all"

// MostBytes is how many bytes a row may take: an item of the store has 400 KB.
const MostBytes = 380 << 10

var errEvent = errors.New("is no liquidation")

// event is how an event is stored.
type event struct {
	Time    int64          `json:"t"`
	Address string         `json:"a"`
	Coin    string         `json:"c"`
	Oid     int64          `json:"o"`
	Long    bool           `json:"l,omitzero"`
	Value   market.Decimal `json:"v"`
	Sz      market.Decimal `json:"s"`
	Pnl     market.Decimal `json:"p"`
	Start   market.Decimal `json:"b"`
	End     market.Decimal `json:"e"`
	MarkPx  string         `json:"m,omitzero"`
	Method  string         `json:"k,omitzero"`
	Parts   market.Parts   `json:"f,omitzero"`
	Arrival market.Arrival `json:"n,omitzero"`
}

func (e *event) check() error {
	_, isAddress := market.ParseAddress(e.Address)
	if !isAddress || !market.ValidCoin(e.Coin) || e.Time <= 0 || e.Time > market.MaxTime || e.Sz.IsNeg() || e.Value.IsNeg() || !slices.IsSorted(e.Parts) {
		return errEvent
	}
	if e.MarkPx != "" {
		_, err := market.ParseStored(e.MarkPx)
		return err
	}
	return nil
}

// appendEvents and decodeEvents write and read the body of a row of events.
func appendEvents(b []byte, list *[]market.LiquidationEvent) []byte {
	stored := make([]event, len(*list))
	for i, e := range *list {
		e.Parts = e.Parts.Sorted()
		stored[i] = event(e)
	}
	return dataset.AppendJSON(b, &stored)
}

func decodeEvents(body []byte) ([]market.LiquidationEvent, error) {
	stored, err := dataset.FromJSON[[]event](body)
	if err != nil {
		return nil, err
	}
	list := make([]market.LiquidationEvent, len(stored))
	for i := range stored {
		if err := stored[i].check(); err != nil {
			return nil, err
		}
		list[i] = market.LiquidationEvent(stored[i])
	}
	return list, nil
}

var events = dataset.Series[[]market.LiquidationEvent]{Name: Name, Append: appendEvents, Decode: decodeEvents}

// EventsAt is the key of the row of the second that holds a time, ms.
func EventsAt(ms int64) store.SeriesAt {
	return events.At(All, market.Second1, market.Second1.StartMs(ms))
}

// EventsRow is the row of the events of a second.
func EventsRow(at store.SeriesAt, list []market.LiquidationEvent) store.SeriesRow {
	list = slices.SortedFunc(slices.Values(list), byTime)
	return events.Row(All, market.Second1, at.Time.UnixMilli(), &list, usualSize*len(list))
}

// DecodeEvents reads the body of a row of events.
func DecodeEvents(body []byte) ([]market.LiquidationEvent, error) { return events.Decode(body) }

// PartSize is how many bytes a fill of an event takes in a row, at most.
const PartSize = 21

// Size is how many bytes an event takes in a row, without its fills.
func Size(e *market.LiquidationEvent) int {
	one := event(*e)
	one.Parts = nil
	return len(dataset.JSON(one)) + 1
}

// usualSize is how many bytes most events take.
const usualSize = 400

func byTime(a, b market.LiquidationEvent) int {
	return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.Coin, b.Coin), strings.Compare(a.Address, b.Address), cmp.Compare(a.Oid, b.Oid))
}

// page is how many rows one read of the newest events takes.
const page = 200

// Newest are the events of all coins from a time on, newest first, read as they are asked for.
func Newest(ctx context.Context, series *store.Series, from time.Time) iter.Seq2[market.LiquidationEvent, error] {
	return func(yield func(market.LiquidationEvent, error) bool) {
		var to time.Time
		for {
			rows, err := events.Read(ctx, series, All, market.Second1, dataset.Range{From: market.Second1.Start(from), To: to, Limit: page, Newest: true})
			if err != nil {
				yield(market.LiquidationEvent{}, err)
				return
			}
			for _, row := range slices.Backward(rows) {
				for _, e := range slices.Backward(row.Value) {
					if e.Time >= from.UnixMilli() && !yield(e, nil) {
						return
					}
				}
			}
			if len(rows) < page {
				return
			}
			to = rows[0].Start
		}
	}
}

// between are the events of all coins from a time until before another, oldest first.
func between(ctx context.Context, series *store.Series, from, to time.Time) (list []market.LiquidationEvent, err error) {
	rows, err := events.Read(ctx, series, All, market.Second1, dataset.Range{From: market.Second1.Start(from), To: to})
	for _, row := range rows {
		for i := range row.Value {
			if e := &row.Value[i]; e.Time >= from.UnixMilli() {
				list = append(list, *e)
			}
		}
	}
	return list, err
}
