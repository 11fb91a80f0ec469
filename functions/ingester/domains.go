package main

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/content"
	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/exchange"
	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/reference"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/functions/ingester/traders"
	"quotary/shared/aws/awsclient"
	"quotary/shared/data/alerts"
	"quotary/shared/data/followrequests"
	"quotary/shared/gate/keys"
	"quotary/shared/service/config"
	"quotary/shared/store"
	"quotary/shared/store/schema"
)

// domains are those that this program knows, by name. Adding one is its folder, a line
// here and its declaration in the catalog. What a domain needs of the stores it asks
// for when it begins, so that trouble there is its own.
var domains = map[string]func(*config.Env) configured{
	content.Name:   domain(content.Settings),
	exchange.Name:  exchangeDomain,
	perp.Name:      perpDomain,
	reference.Name: domain(reference.Settings),
	traders.Name:   tradersDomain,
}

// configured makes a domain whose settings have been read.
type configured func(*ingester, engine.Host) engine.Domain

// domain is a domain of which the process need not know more than its settings.
func domain[C interface {
	Domain(engine.Host) engine.Domain
}](settings func(*config.Env) C) func(*config.Env) configured {
	return func(env *config.Env) configured {
		config := settings(env)
		return func(_ *ingester, host engine.Host) engine.Domain { return config.Domain(host) }
	}
}

// perpDomain is the domain of the perpetual venue, with the feeds where there are
// any.
func perpDomain(env *config.Env) configured {
	config, feeds := perp.Settings(env), feedSettings(env)
	return func(i *ingester, host engine.Host) engine.Domain {
		if config.URL != "" {
			config.Info = hyperliquid.NewInfo(config.URL)
		}
		if hours := config.HoursOf; hours.Bucket != "" {
			config.Hours = hyperliquid.S3Hours{Client: awsclient.LargeObjects(i.config, hours.Region), Name: hours.Bucket}
		}
		config.Wanted = followrequests.Accounts.Open(i.documents)
		if feeds.on {
			config.Feeds = i.feedsOf(feeds, config)
		}
		return config.Domain(host)
	}
}

// exchangeDomain is the domain of the centralised exchanges, of which clients may want more
// than what is followed.
func exchangeDomain(env *config.Env) configured {
	config := exchange.Settings(env)
	return func(i *ingester, host engine.Host) engine.Domain {
		config.Wanted, config.Alerts = followrequests.Pairs.Open(i.documents), alerts.Open(i.documents)
		config.Keys = keys.New(i.dynamodb, i.prefix+schema.KeysTable, nil, time.Now)
		return config.Domain(host)
	}
}

// tradersDomain is the domain that publishes the trader table.
func tradersDomain(env *config.Env) configured {
	config := traders.Settings(env)
	return func(i *ingester, host engine.Host) engine.Domain {
		config.Objects = i.s3
		return config.Domain(host)
	}
}

// documents are those of a kind.
func (i *ingester) documents(kind string, limits store.DocumentLimits) *store.Documents {
	return store.NewDocuments(i.dynamodb, i.prefix+schema.DocumentsTable, kind, limits)
}

// drops are the datasets that drops may load, by name: a line for each domain that takes
// any.
var drops = datasets(
	dropsOf(content.Name, content.Drops),
	dropsOf(reference.Name, reference.Drops),
)

// archivedLogs are the datasets that can have a retention, sorted. News are few, and
// kept for ever.
func archivedLogs() []string { return engine.ArchivedLogs(perp.Logs) }

// domainNames are the names of all domains, sorted.
func domainNames() []string { return slices.Sorted(maps.Keys(domains)) }
