package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/text/strictjson"
)

// mostMonths is the longest history that one event asks for.
const mostMonths = 36

type usageHistoryIn struct {
	AccessKey string       `param:"access_key" required:"true"`
	Months    *catalog.Int `param:"months"`
}

type usageHistoryOut struct {
	result
	AccessKey string  `json:"access_key"`
	Kind      string  `json:"kind"`   // distributor or sub-key
	Months    []month `json:"months"` // the oldest first, the current one last
}

// month is what was requested in one calendar month in UTC.
type month struct {
	Month string  `json:"month"`          // 2026-11
	Used  int64   `json:"used"`           // requests
	Days  []int64 `json:"days,omitempty"` // requests of each day, of sub-keys only
}

func (o *operator) usageHistory(ctx context.Context, in usageHistoryIn) (usageHistoryOut, error) {
	count := 12
	if in.Months != nil {
		if *in.Months < 1 || *in.Months > mostMonths {
			return usageHistoryOut{}, strictjson.Errorf("months must be a whole number from 1 to %d, not %d", mostMonths, *in.Months)
		}
		count = int(*in.Months)
	}
	if len(in.AccessKey) != 32 { // nothing of another length was ever counted
		return usageHistoryOut{}, keys.ErrUnknown
	}
	out := usageHistoryOut{result{true}, in.AccessKey, "distributor", make([]month, count)}
	read := o.distributorMonth
	_, err := o.keys.Distributor(ctx, in.AccessKey)
	switch {
	case errors.Is(err, keys.ErrUnknown):
		out.Kind, read = "sub-key", o.subKeyMonth
	case err != nil:
		return usageHistoryOut{}, err
	}

	now := o.now().UTC()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(reads)
	for i := range out.Months {
		first := time.Date(now.Year(), now.Month()-time.Month(count-1-i), 1, 0, 0, 0, 0, time.UTC)
		group.Go(func() (err error) {
			out.Months[i], err = read(groupCtx, in.AccessKey, first)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return usageHistoryOut{}, fmt.Errorf("read usage history: %w", err)
	}
	if out.Kind == "sub-key" && out.empty() {
		// Nothing used: a sub-key that exists, or none.
		if _, err := o.keys.Resolve(ctx, in.AccessKey); err != nil {
			return usageHistoryOut{}, err
		}
	}
	return out, nil
}

func (h *usageHistoryOut) empty() bool {
	for _, m := range h.Months {
		if m.Used > 0 {
			return false
		}
	}
	return true
}

func (o *operator) distributorMonth(ctx context.Context, accessKey string, first time.Time) (month, error) {
	used, err := o.usage.Distributor(ctx, accessKey, first)
	return month{Month: first.Format("2006-01"), Used: used}, err
}

func (o *operator) subKeyMonth(ctx context.Context, accessKey string, first time.Time) (month, error) {
	m, err := o.usage.History(ctx, accessKey, first)
	days := first.AddDate(0, 1, -1).Day()
	return month{first.Format("2006-01"), m.Used, m.Days[:days]}, err
}
