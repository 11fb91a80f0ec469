package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"quotary/shared/catalog"
	"quotary/shared/data/ledgers"
	"quotary/shared/market"
)

// readsAtOnce is how many queries of one request run at a time.
const readsAtOnce = 32

// depositsWithdrawals returns what came into accounts and left them, newest first.
func (r *reader) depositsWithdrawals(ctx context.Context, in catalog.DepositsWithdrawalsIn) ([]catalog.FundsMovement, error) {
	slices.Sort(in.Addresses)
	addresses := slices.Compact(in.Addresses)
	logs := make([]iter.Seq2[market.Ledger, error], len(addresses))
	for i, address := range addresses {
		logs[i] = ledgers.NewestFunds(ctx, r.log, string(address), in.StartTime.Time(), in.EndTime.Time(), firstRows)
	}
	list, err := newestOf(logs, int(in.Limit))
	if err != nil {
		return nil, err
	}
	movements := make([]catalog.FundsMovement, len(list))
	for i := range list {
		if movements[i], err = movement(&list[i]); err != nil {
			return nil, err
		}
	}
	return movements, nil
}

// firstRows is how many updates of an account are read first: what the smallest read that
// DynamoDB charges for holds.
const firstRows = 8

// account is one of those whose updates are merged.
type account struct {
	next func() (market.Ledger, error, bool) // the next older update
	read []market.Ledger                     // newest first
	all  bool                                // there are no older ones
}

// take reads n more updates.
func (a *account) take(n int) error {
	for range n {
		l, err, ok := a.next()
		if err != nil {
			return err
		}
		if a.all = !ok; a.all {
			return nil
		}
		a.read = append(a.read, l)
	}
	return nil
}

// newestOf returns the newest limit updates of accounts, newest first, each of which gives
// its own in that order. It reads some of each account, and then, as often as it must,
// twice as many of those that may have more among the newest ones. So it reads no more than
// the first rows of each account and a few times the limit.
func newestOf(logs []iter.Seq2[market.Ledger, error], limit int) ([]market.Ledger, error) {
	accounts := make([]account, len(logs))
	behind := make([]*account, len(logs)) // those of which more has to be read
	for i, log := range logs {
		next, stop := iter.Pull2(log)
		defer stop()
		accounts[i].next, behind[i] = next, &accounts[i]
	}
	for {
		var reads errgroup.Group
		reads.SetLimit(readsAtOnce)
		for _, a := range behind {
			reads.Go(func() error { return a.take(max(firstRows, len(a.read))) })
		}
		if err := reads.Wait(); err != nil {
			return nil, err
		}
		var list []market.Ledger
		for i := range accounts {
			list = append(list, accounts[i].read...)
		}
		slices.SortFunc(list, newestFirst)
		list = list[:min(len(list), limit)]
		behind = behind[:0]
		for i := range accounts {
			a := &accounts[i]
			if !a.all && (len(list) < limit || a.read[len(a.read)-1].Time >= list[limit-1].Time) {
				behind = append(behind, a)
			}
		}
		if len(behind) == 0 {
			return list, nil
		}
	}
}

func newestFirst(a, b market.Ledger) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.Address, b.Address), strings.Compare(a.Hash, b.Hash), strings.Compare(a.Type, b.Type))
}

func movement(l *market.Ledger) (catalog.FundsMovement, error) {
	usdc, err := market.ParseDecimal(l.USDC)
	if err != nil {
		return catalog.FundsMovement{}, fmt.Errorf("%s of %s at %d: %w", l.Type, l.Address, l.Time, err)
	}
	if l.Funds == market.LedgerWithdraw {
		usdc = usdc.Neg()
	}
	m := catalog.FundsMovement{Address: l.Address, Time: l.Time, Type: l.Funds, Hash: l.Hash, USDC: json.Number(market.Text(usdc))}
	if l.Fee != "" {
		fee := json.Number(l.Fee)
		m.Fee = &fee
	}
	return m, nil
}
