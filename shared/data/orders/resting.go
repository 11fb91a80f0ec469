package orders

import (
	"context"
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store"
)

// What an order came to last says how much of it rested then. Fills that come later
// have no status, so what rests of an open order is what its fills leave of it.

const (
	// readTogether is how many fills of an account are read to find those of its open
	// orders: one query for most accounts.
	readTogether = 2000
	// readsAtOnce is how many orders are looked up at a time whose fills may lie
	// further back.
	readsAtOnce = 32
)

// Resting sets Sz of the open orders of a list to what rests of them now. The list is
// of one account, or of one order.
func Resting(ctx context.Context, log *store.Log, list []market.OrderStatus) error {
	var open []*market.OrderStatus
	first := int64(0) // when the oldest of them was placed
	for i := range list {
		if s := &list[i]; s.Status == market.StatusOpen {
			if open = append(open, s); first == 0 || s.Timestamp < first {
				first = s.Timestamp
			}
		}
	}
	if len(open) > 1 {
		var err error
		if open, err = restingTogether(ctx, log, open, first); err != nil {
			return err
		}
	}
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsAtOnce)
	for _, s := range open {
		reads.Go(func() error {
			done, _, err := executions(fills.ByOrder(ctx, log, s.Oid, time.Time{}), map[int64]*market.OrderStatus{s.Oid: s}, 0)
			if err != nil {
				return err
			}
			return done[s.Oid].leave(s)
		})
	}
	return reads.Wait()
}

// restingTogether does it for the orders whose fills are all among the newest of the
// account, and returns the others.
func restingTogether(ctx context.Context, log *store.Log, open []*market.OrderStatus, first int64) (others []*market.OrderStatus, err error) {
	byOid := make(map[int64]*market.OrderStatus, len(open))
	for _, s := range open {
		byOid[s.Oid] = s
	}
	done, oldest, err := executions(fills.Newest(ctx, log, open[0].Address, "", readTogether), byOid, first)
	if err != nil {
		return nil, err
	}
	for _, s := range open {
		if s.Timestamp <= oldest {
			others = append(others, s)
		} else if err := done[s.Oid].leave(s); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// executed is what was executed of an order.
type executed struct {
	fills      int
	all, later market.Decimal // base units of all fills, and of those behind its status
}

// executions sums up the fills of orders. It stops at a fill that is older than first,
// in ms. Oldest is the time of the last fill read where there may be more, else 0.
func executions(list iter.Seq2[market.Fill, error], orders map[int64]*market.OrderStatus, first int64) (done map[int64]executed, oldest int64, err error) {
	done = map[int64]executed{}
	read := 0
	for f, err := range list {
		if err != nil {
			return nil, 0, err
		}
		if f.Time < first {
			return done, 0, nil
		}
		read++
		oldest = f.Time
		s := orders[f.Oid]
		if s == nil || f.Address != s.Address {
			continue
		}
		sz, err := market.ParseDecimal(f.Sz)
		if err != nil {
			return nil, 0, fmt.Errorf("size of fill %d: %w", f.Tid, err)
		}
		sum := done[f.Oid]
		sum.fills++
		sum.all = sum.all.Add(sz)
		if f.Time > s.Time {
			sum.later = sum.later.Add(sz)
		}
		done[f.Oid] = sum
	}
	if read < readTogether {
		oldest = 0 // all were read
	}
	return done, oldest, nil
}

// leave sets Sz to what is left: of what was placed behind all fills, and no more than
// of what rested behind those that came later. An order that was open before fills
// were kept has only these.
func (e executed) leave(s *market.OrderStatus) error {
	if e.fills == 0 {
		return nil // it rests as it stands
	}
	placed, err := market.ParseDecimal(s.OrigSz)
	if err != nil {
		return fmt.Errorf("origSz of order %d: %w", s.Oid, err)
	}
	rested, err := market.ParseDecimal(s.Sz)
	if err != nil {
		return fmt.Errorf("sz of order %d: %w", s.Oid, err)
	}
	left := placed.Sub(e.all)
	if other := rested.Sub(e.later); other.LessThan(left) {
		left = other
	}
	if left.IsNeg() {
		left = market.Decimal{}
	}
	s.Sz = market.Text(left)
	return nil
}
