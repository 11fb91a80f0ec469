package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/store"
)

// allMids is an object of mid prices by coin.
func (i *info) allMids(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.mids.Get(ctx)
	if err != nil {
		return nil, err
	}
	prices, err := ofDex(ctx, i, v.Mids, in.Dex)
	if err != nil {
		return nil, err
	}
	return api.Encode(prices)
}

// perpMeta is the description of a dex's perpetuals.
func (i *info) perpMeta(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.meta.Get(ctx)
	if err != nil {
		return nil, err
	}
	return ofDex(ctx, i, v.Perps, in.Dex)
}

// spotMeta is the description of the spot tokens and pairs.
func (i *info) spotMeta(ctx context.Context, _ *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.meta.Get(ctx)
	return spot(v.Spot, err)
}

// perpContexts is the description of a dex's perpetuals and their figures.
func (i *info) perpContexts(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.contexts.Get(ctx)
	if err != nil {
		return nil, err
	}
	return ofDex(ctx, i, v.Perps, in.Dex)
}

// spotContexts is the description of the spot markets and their figures.
func (i *info) spotContexts(ctx context.Context, _ *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.contexts.Get(ctx)
	return spot(v.Spot, err)
}

// perpDexs lists the names of the dexs that perpetuals are traded on, the main
// one, which is "", first and the others sorted. The venue itself describes each
// at length; names are what the service promises.
func (i *info) perpDexs(ctx context.Context, _ *catalog.InfoIn) (json.RawMessage, error) {
	v, err := i.meta.Get(ctx)
	if err == nil && len(v.Perps) == 0 {
		err = store.ErrNoView
	}
	if err != nil {
		return nil, err
	}
	return api.Encode(slices.Sorted(maps.Keys(v.Perps)))
}

// ofDex is the part of a view that belongs to a dex, "" for the main one. That of one that
// exists, of which nothing has arrived, is [store.ErrNoView].
func ofDex[T any](ctx context.Context, i *info, byDex map[string]T, dex string) (part T, err error) {
	part, ok := byDex[dex]
	switch {
	case ok:
		return part, nil
	case dex == "":
		return part, store.ErrNoView
	}
	described, err := i.meta.Get(ctx)
	if err != nil {
		return part, err
	}
	if _, exists := described.Perps[dex]; exists || len(described.Perps) == 0 {
		return part, store.ErrNoView
	}
	return part, api.BadParameter("unknown dex %q: it must be the name of a perpetual dex, or absent for the main one", dex)
}

// spot is the part of a view that belongs to the spot markets.
func spot(part json.RawMessage, err error) (json.RawMessage, error) {
	if err == nil && len(part) == 0 {
		err = store.ErrNoView
	}
	return part, err
}
