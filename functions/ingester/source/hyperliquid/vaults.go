package hyperliquid

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// Vaults asks for the vaults that the venue lists, once an hour, and in between for single ones that it
// does not list: at most three a minute, for 60 of the 1,200 units of weight.
type Vaults struct {
	Info  *Info // shared with whatever else spends of the venue's budget
	Stats *Stats
	Log   *slog.Logger

	// Next is a vault that is to be asked for at a time; false where none is. Of one that cannot be
	// asked for nothing is delivered.
	Next func(now time.Time) (address string, ok bool)

	Every time.Duration // between two looks at the list; 0 means an hour
	Pause time.Duration // between two questions; 0 means 20 s
}

const (
	vaultsEvery = time.Hour
	vaultsPause = 20 * time.Second
)

// Follow delivers vaults until ctx ends or the sink fails. It runs in the caller's goroutine.
func (v *Vaults) Follow(ctx context.Context, sink Sink) error {
	var listAt time.Time
	for try := 0; ; {
		now := time.Now()
		if !now.Before(listAt) {
			err := v.list(ctx, sink)
			if end := final(ctx, err); end != nil {
				return end
			}
			pause := cmp.Or(v.Every, vaultsEvery)
			if err != nil {
				v.Log.Warn("cannot ask for the vaults; trying again", "error", err.Error())
				pause = pauses.Delay(try)
				try++
			} else {
				try = 0
			}
			listAt = now.Add(pause)
		}
		if address, ok := v.Next(now); ok {
			if err := v.one(ctx, address, sink); err != nil {
				return err
			}
		}
		if err := backoff.Sleep(ctx, cmp.Or(v.Pause, vaultsPause)); err != nil {
			return err
		}
	}
}

// list delivers the vaults that the venue lists.
func (v *Vaults) list(ctx context.Context, sink Sink) error {
	now := time.Now()
	list, malformed, err := v.Info.VaultSummaries(ctx)
	if err != nil {
		return err
	}
	if malformed > 0 {
		v.Stats.Malformed.Add(int64(malformed))
		v.Log.Warn("skipped vaults that cannot be read", "count", malformed)
	}
	return v.deliver(ctx, sink, market.Vaults{Time: now.UnixMilli(), Vaults: list})
}

// one delivers a vault. The error is of the sink, or why ctx ended.
func (v *Vaults) one(ctx context.Context, address string, sink Sink) error {
	now := time.Now()
	of, err := v.Info.Vault(ctx, address)
	if err == nil {
		err = v.deliver(ctx, sink, market.Vaults{Time: now.UnixMilli(), Vaults: []market.Vault{of}})
	}
	if end := final(ctx, err); end != nil || err == nil {
		return end
	}
	v.Stats.Malformed.Add(1)
	v.Log.Warn("cannot ask for a vault", "address", address, "error", err.Error())
	return nil
}

func (v *Vaults) deliver(ctx context.Context, sink Sink, told market.Vaults) error {
	v.Stats.Lines.Add(1)
	d := Delivery{Events: market.Events{Vaults: []market.Vaults{told}}}
	return source.OfSink(emit(ctx, time.Now(), &d, v.Stats, v.Log, sink))
}

// VaultSummaries returns the vaults that the venue lists, and how many of them could not be read.
func (i *Info) VaultSummaries(ctx context.Context) (list []market.Vault, malformed int, err error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightOther, infoRequest{Type: "vaultSummaries"}, &raw); err != nil {
		return nil, 0, err
	}
	return wire.ParseVaults(raw)
}

// Vault returns what the venue tells of a vault, in lower case; one without a leader where it knows none
// of that address.
func (i *Info) Vault(ctx context.Context, address string) (market.Vault, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightOther, infoRequest{Type: "vaultDetails", VaultAddress: address}, &raw); err != nil {
		return market.Vault{}, err
	}
	of, err := wire.ParseVault(raw, address)
	if err != nil {
		return of, fmt.Errorf("%s: %w", address, err)
	}
	return of, nil
}
