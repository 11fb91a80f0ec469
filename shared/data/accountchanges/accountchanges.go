// Package accountchanges is which accounts have changed when: a log with a row for those whose rows
// are written together. The trader table is kept up to date by it, and what leaves a window is told
// by it too: whoever did something in an hour is made anew when that hour leaves one.
//
// A row is written just before the rows of the accounts that it names. It is no record of what
// happened: rows are there for as long as the longest window, and expire.
package accountchanges

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/table"
)

// Name of the dataset, and the subject of all of its rows.
const Name = "accountchanges"

const (
	// kept is for how long a row is there: for 30 days and what readers may be behind.
	kept = 33 * 24 * time.Hour
	// most is how many accounts a row names: 20 bytes each.
	most = 5000

	hourMs = int64(time.Hour / time.Millisecond)
)

// Changes are accounts that have changed at a time.
type Changes struct {
	Did    []Did           // of which something more is known that they did
	Others []table.Address // whose state or value alone is another
}

// Did is an account that did something, and from when on more is known of that than before, ms: an
// hour, if no later than the one of the change.
type Did struct {
	Address table.Address
	Since   int64
}

// Add adds an account, of which more is known that it did since a time, ms; [market.MaxTime] for one of
// which that is not so. What is no address is left out.
func (c *Changes) Add(address string, since int64) {
	a, ok := market.ParseAccount(address)
	switch {
	case !ok:
	case since < market.MaxTime:
		c.Did = append(c.Did, Did{a, since})
	default:
		c.Others = append(c.Others, a)
	}
}

// stored is the body of a row: addresses one after the other, and of those who did something how many
// hours before that of the row it begins, as varints.
type stored struct {
	Did    []byte `json:"did,omitempty"`
	Before []byte `json:"before,omitempty"`
	Others []byte `json:"others,omitempty"`
}

// Rows are the rows of accounts that change at a time.
func Rows(at time.Time, c *Changes) (rows []store.Row) {
	for some := range slices.Chunk(c.Did, most) {
		var of stored
		for _, d := range some {
			of.Did = append(of.Did, d.Address[:]...)
			of.Before = binary.AppendUvarint(of.Before, uint64(max(0, hourOf(at)-d.Since)/hourMs)) //nolint:gosec // it is not negative
		}
		rows = append(rows, row(at, of))
	}
	for some := range slices.Chunk(c.Others, most) {
		rows = append(rows, row(at, stored{Others: joined(some)}))
	}
	return rows
}

// row is told from others of its time by what it has.
func row(at time.Time, of stored) store.Row {
	body, h := dataset.JSON(of), fnv.New64a()
	_, _ = h.Write(body)
	return store.Row{Subject: Name, Time: at, ID: strconv.FormatUint(h.Sum64(), 36), Body: body, Expires: at.Add(kept)}
}

// Read calls each for what changed from one time to another, both included, in the order of time.
func Read(ctx context.Context, log *store.Log, from, to time.Time, each func(time.Time, *Changes)) error {
	for row, err := range log.Rows(ctx, store.Query{Dataset: Name, Subject: Name, From: from, To: to}) {
		if err != nil {
			return fmt.Errorf("read which accounts have changed: %w", err)
		}
		c, err := Decode(&row)
		if err != nil {
			return err
		}
		each(row.Time, &c)
	}
	return nil
}

// Decode reads a row.
func Decode(row *store.Row) (Changes, error) {
	body, err := dataset.FromJSON[stored](row.Body)
	if err != nil {
		return Changes{}, fmt.Errorf("read which accounts have changed at %s: %w", row.Time, err)
	}
	return Changes{body.did(row.Time), parted(body.Others)}, nil
}

func hourOf(at time.Time) int64 { return market.Hour1.StartMs(at.UnixMilli()) }

func (s *stored) did(at time.Time) (list []Did) {
	before := s.Before
	for _, a := range parted(s.Did) {
		hours, n := binary.Uvarint(before)
		before = before[max(0, n):]
		list = append(list, Did{a, hourOf(at) - int64(min(hours, uint64(hourOf(at)/hourMs)))*hourMs}) //nolint:gosec // it is bounded
	}
	return list
}

func joined(list []table.Address) (b []byte) {
	for i := range list {
		b = append(b, list[i][:]...)
	}
	return b
}

// parted are addresses that were written one after the other; what is left over is none.
func parted(b []byte) (list []table.Address) {
	for len(b) >= len(table.Address{}) {
		list = append(list, table.Address(b))
		b = b[len(table.Address{}):]
	}
	return list
}
