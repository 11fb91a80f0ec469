package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/market"
)

// readsAtOnce is how many queries of one request run at a time.
const readsAtOnce = 32

// depositsWithdrawals returns what came into accounts and left them, newest first.
func (r *reader) depositsWithdrawals(ctx context.Context, in catalog.DepositsWithdrawalsIn) ([]catalog.FundsMovement, error) {
	from, to := in.StartTime.Time(), in.EndTime.Time()
	found := newest{limit: int(in.Limit)}
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsAtOnce)
	slices.Sort(in.Addresses)
	for _, address := range slices.Compact(in.Addresses) {
		for _, kind := range [...]string{market.LedgerDeposit, market.LedgerWithdraw} {
			reads.Go(func() error {
				var list []market.Ledger
				for l, err := range ledgers.Newest(ctx, r.log, string(address), kind, from, to, found.limit) {
					if err != nil {
						return err
					}
					list = append(list, l)
				}
				found.add(list)
				return nil
			})
		}
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	list := found.cut()
	movements := make([]catalog.FundsMovement, len(list))
	for i := range list {
		var err error
		if movements[i], err = movement(&list[i]); err != nil {
			return nil, err
		}
	}
	return movements, nil
}

// newest collects the newest limit updates of all that are added. It holds at most
// slack times as many, so that it sorts rarely and its memory does not grow with the
// number of accounts.
type newest struct {
	limit int

	mu   sync.Mutex
	list []market.Ledger
}

const slack = 4

func (n *newest) add(list []market.Ledger) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list)+len(list) > slack*n.limit {
		n.cut()
	}
	n.list = append(n.list, list...)
}

// cut drops all but the newest limit updates and returns them, newest first. Nothing
// may be added meanwhile.
func (n *newest) cut() []market.Ledger {
	slices.SortFunc(n.list, func(a, b market.Ledger) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.Address, b.Address), strings.Compare(a.Hash, b.Hash), strings.Compare(a.Type, b.Type))
	})
	kept := min(len(n.list), n.limit)
	clear(n.list[kept:]) // frees what the dropped ones point to
	n.list = n.list[:kept]
	return n.list
}

func movement(l *market.Ledger) (catalog.FundsMovement, error) {
	usdc, err := market.ParseDecimal(l.USDC)
	if err != nil {
		return catalog.FundsMovement{}, fmt.Errorf("%s of %s at %d: %w", l.Type, l.Address, l.Time, err)
	}
	if l.Type == market.LedgerWithdraw {
		usdc = usdc.Neg()
	}
	m := catalog.FundsMovement{Address: l.Address, Time: l.Time, Type: l.Type, Hash: l.Hash, USDC: json.Number(market.Text(usdc))}
	if l.Fee != "" {
		fee := json.Number(l.Fee)
		m.Fee = &fee
	}
	return m, nil
}
