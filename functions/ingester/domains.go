package main

import (
	"context"
	"maps"
	"slices"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/perp"
	"quotary/shared/source/hyperliquid"
)

// domains are those that this program knows, by name. Adding one is a line here
// and its folder.
var domains = map[string]func(context.Context, *ingester) (engine.Domain, error){
	perp.Name: perpDomain,
}

// domainNames are the names of all domains, sorted.
func domainNames() []string { return slices.Sorted(maps.Keys(domains)) }

// perpDomain is the domain of the perpetual venue, with the feeds where there are
// any.
func perpDomain(ctx context.Context, i *ingester) (engine.Domain, error) {
	config := perp.Config{
		Stores: i.stores, Logger: i.log.With("domain", perp.Name),
		NodeDir: i.nodeDir, NodeBehind: i.behind, AllOrders: i.orders == ordersAll, URL: i.url, SpoolDir: i.spool,
	}
	if i.url != "" {
		config.Info = hyperliquid.NewInfo(i.url)
	}
	serves, err := i.hasFeeds(ctx)
	if err != nil {
		return engine.Domain{}, err
	}
	if serves {
		config.Feeds = i.feedsOf(config.Info)
	}
	return config.Domain(), nil
}
