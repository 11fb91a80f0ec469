package store

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
	"quotary/shared/store/retention"
)

// expiriesPartition holds the expiries of each writer. No row has it: the keys of
// datasets have a '#'.
const expiriesPartition = "expiries"

// expiriesAge is after what time the expiries are read again. They say something that
// the settings of a program do not only when these have changed.
const expiriesAge = 10 * time.Minute

// expiries are the last that were read.
type expiries struct {
	mu   sync.Mutex
	all  retention.Expiries
	read time.Time // zero before the first time
}

// SaveExpiries publishes the retentions that a writer of rows gives them, in the place
// of what it published before: since then [Log.Rows] knows what has expired, whatever
// the settings are by now. It comes before the first row with an expiry.
func (l *Log) SaveExpiries(ctx context.Context, writer string, e retention.Expiries) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode the expiries of %s: %w", writer, err)
	}
	it := rowKey{expiriesPartition, writer}.item()
	it[attrBody] = attr.S(string(body))
	if err := batch.Put(ctx, l.db, l.table, []item{it}, untilContextEnds); err != nil {
		return fmt.Errorf("save the expiries of %s: %w", writer, err)
	}
	return nil
}

// expired is the first moment of which no row of a dataset has expired, zero where none
// ever has.
func (l *Log) expired(ctx context.Context, dataset string, now time.Time) (time.Time, error) {
	l.expiries.mu.Lock()
	all, read := l.expiries.all, l.expiries.read
	l.expiries.mu.Unlock()
	if age := now.Sub(read); age < 0 || age >= expiriesAge {
		fresh, err := l.readExpiries(ctx)
		switch {
		case err == nil:
			l.expiries.mu.Lock()
			l.expiries.all, l.expiries.read = fresh, now
			l.expiries.mu.Unlock()
			all = fresh
		case read.IsZero():
			return time.Time{}, err
		}
	}
	return all.Since(dataset, now), nil
}

func (l *Log) readExpiries(ctx context.Context) (all retention.Expiries, err error) {
	in := rangeQuery(l.table, expiriesPartition, " ", "~")
	for in != nil {
		out, err := query(ctx, l.db, in)
		if err != nil {
			return nil, fmt.Errorf("read what has expired: %w", err)
		}
		for _, it := range out.Items {
			var one retention.Expiries
			if err := json.Unmarshal([]byte(attr.Text(it, attrBody)), &one); err != nil {
				return nil, fmt.Errorf("read what has expired: %w", err)
			}
			for dataset, list := range one {
				for _, expiry := range list {
					all = all.With(dataset, expiry)
				}
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) == 0 {
			in = nil
		}
	}
	return all, nil
}
