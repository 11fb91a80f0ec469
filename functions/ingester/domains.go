package main

import (
	"maps"
	"slices"

	"quotary/functions/ingester/content"
	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/exchange"
	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/reference"
	"quotary/shared/source/hyperliquid"
)

// domains are those that this program knows, by name. Adding one is a line here
// and its folder. What a domain needs of the stores it asks for when it begins, so
// that trouble there is its own.
var domains = map[string]func(*ingester) engine.Domain{
	content.Name:   contentDomain,
	exchange.Name:  exchangeDomain,
	perp.Name:      perpDomain,
	reference.Name: referenceDomain,
}

// archivedLogs are the datasets that can have a retention, sorted. News are few, and
// kept for ever.
func archivedLogs() []string { return engine.ArchivedLogs(perp.Logs) }

// domainNames are the names of all domains, sorted.
func domainNames() []string { return slices.Sorted(maps.Keys(domains)) }

// perpDomain is the domain of the perpetual venue, with the feeds where there are
// any.
func perpDomain(i *ingester) engine.Domain {
	config := perp.Config{
		Stores: i.stores, Logger: i.log.With("domain", perp.Name),
		NodeDir: i.nodeDir, NodeBehind: i.behind, AllOrders: i.orders == ordersAll, URL: i.url, SpoolDir: i.spool, Retention: i.retention,
	}
	if i.url != "" {
		config.Info = hyperliquid.NewInfo(i.url)
	}
	if i.feeds {
		config.Feeds = i.feedsOf(config.Info)
	}
	return config.Domain()
}

// contentDomain is the domain of news.
func contentDomain(i *ingester) engine.Domain {
	config := i.content
	config.Stores, config.Logger = i.stores, i.log.With("domain", content.Name)
	return config.Domain()
}

// exchangeDomain is the domain of the centralised exchanges.
func exchangeDomain(i *ingester) engine.Domain {
	config := i.exchange
	config.Stores, config.Logger = i.stores, i.log.With("domain", exchange.Name)
	return config.Domain()
}

// referenceDomain is the domain of coins and exchange rates.
func referenceDomain(i *ingester) engine.Domain {
	config := i.reference
	config.Stores, config.Logger = i.stores, i.log.With("domain", reference.Name)
	config.Objects, config.Bucket = i.s3, i.bucket
	return config.Domain()
}
