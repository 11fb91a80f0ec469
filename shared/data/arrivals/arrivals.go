// Package arrivals is what readers of logs must know of the order in which events arrived: up to
// which place all are stored, and how far back those lie that arrived late.
//
// The logs are in the order of the events' times, and each row has its place in that of arrival
// ([market.Arrival]). Whoever goes on from a place reads a log from a little before the time of
// the place, and keeps what arrived behind it. An event that arrived late may lie further back:
// for each minute in which any did there is a row that says since when, written before the events
// are.
package arrivals

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series: by dataset, a row for each minute with the time of the oldest event that
// arrived late in it, ms.
const Name = "lateness"

var series = dataset.Series[int64]{
	Name:   Name,
	Append: func(b []byte, since *int64) []byte { return strconv.AppendInt(b, *since, 10) },
	Decode: func(body []byte) (int64, error) { return strconv.ParseInt(string(body), 10, 64) },
}

// Late is what is kept of events that arrive late. It belongs to one goroutine at a time.
type Late struct {
	Series *store.Series
	since  map[store.SeriesAt]int64 // by minute, ms
}

// Add notes, before it is stored, when an event of a dataset happened (ms) that arrives late; of
// others there is nothing to note.
func (l *Late) Add(ctx context.Context, name string, at market.Arrival, ms int64) error {
	if !at.When().After(time.UnixMilli(ms).Add(NotedAfter)) {
		return nil
	}
	row := series.At(name, market.Minute1, market.Minute1.StartMs(at.When().UnixMilli()))
	have, ok := l.since[row]
	if !ok {
		points, err := l.Series.Load(ctx, []store.SeriesAt{row})
		if err != nil {
			return fmt.Errorf("read how late events are: %w", err)
		}
		if p, found := points[row]; found {
			if have, err = series.Decode(p.Body); err != nil {
				return fmt.Errorf("read how late events are: %w", err)
			}
			ok = true
		}
	}
	if !ok || ms < have {
		have = ms
		if err := l.Series.Put(ctx, []store.SeriesRow{series.Row(name, market.Minute1, row.Time.UnixMilli(), &have, 16)}); err != nil {
			return fmt.Errorf("note how late events are: %w", err)
		}
	}
	if l.since == nil || len(l.since) > mostMinutes {
		l.since = map[store.SeriesAt]int64{}
	}
	l.since[row] = have
	return nil
}

// mostMinutes bounds what is remembered.
const mostMinutes = 16

// NotedAfter is how long after it happened an event arrives at most that is not noted as late.
const NotedAfter = time.Minute

// Since is the time from which on a log is read for what came after a cursor. Notes are read from a
// time, back, on: of a cursor of any age there may be one for each minute. Where anything arrived late
// before that and after the cursor, it is the beginning of 1970.
func Since(ctx context.Context, s *store.Series, name string, c *market.ArrivalCursor, back time.Time) (time.Time, error) {
	since, from := c.Fresh.When().Add(-NotedAfter), market.Minute1.Start(min(c.Fresh, c.Late).When())
	if back = market.Minute1.Start(back); from.Before(back) {
		earlier, err := notes(ctx, s, name, dataset.Range{From: from, To: back, Limit: 1})
		if err != nil || len(earlier) > 0 {
			return time.UnixMilli(0).UTC(), err
		}
		from = back
	}
	minutes, err := notes(ctx, s, name, dataset.Range{From: from})
	for _, minute := range minutes {
		if late := time.UnixMilli(minute.Value).UTC(); late.Before(since) {
			since = late
		}
	}
	return since, err
}

func notes(ctx context.Context, s *store.Series, name string, of dataset.Range) ([]dataset.Bucket[int64], error) {
	minutes, err := series.Read(ctx, s, name, market.Minute1, of)
	if err != nil {
		return nil, fmt.Errorf("read how late events are: %w", err)
	}
	return minutes, nil
}

// StoredSource names the place up to which all is stored among the checkpoints.
const StoredSource = "feeds-stored"

// SaveStored saves that all events up to a place are stored, or never will be.
func SaveStored(ctx context.Context, s *store.Series, at market.Arrival) error {
	return s.SaveCheckpoint(ctx, StoredSource, strconv.AppendInt(nil, int64(at), 10))
}

// Stored is up to which place all events are stored, 0 where none has ever arrived.
func Stored(ctx context.Context, s *store.Series) (market.Arrival, error) {
	body, err := s.Checkpoint(ctx, StoredSource)
	if err != nil {
		return 0, err
	}
	return ParseStored(body)
}

// ParseStored reads the checkpoint, 0 where there is none.
func ParseStored(body []byte) (market.Arrival, error) {
	if body == nil {
		return 0, nil
	}
	at, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read up to where events are stored: %w", err)
	}
	return market.Arrival(at), nil
}
