package catalog

// PerpDomain is the domain of the perpetual venue, to which the WebSocket feeds belong,
// and what is set of it.
var (
	PerpDomain = domain(Domain{Name: "perp", Archives: true})

	EnvHyperliquidURL = PerpDomain.setting(Setting{
		Name: "QUOTARY_HYPERLIQUID_URL", Deploy: "hyperliquidURL", Deployed: "https://api.hyperliquid.xyz", Live: true,
		Purpose: "the venue's public API; none is followed if not set",
	})
	// A deployment sets these two for ingesters that run beside nodes.
	EnvNodeDir = PerpDomain.setting(Setting{
		Name: "QUOTARY_NODE_DIR", Purpose: "the data folder of a node that runs on this machine; none is followed if not set",
	})
	EnvOrders = PerpDomain.setting(Setting{
		Name: "QUOTARY_ORDERS", Default: "filled", Check: matching("filled|all", "filled or all"),
		Purpose: "of which orders a node's statuses are kept",
	})
	// The default is some hundred blocks.
	EnvNodeBehind = PerpDomain.setting(Setting{
		Name: "QUOTARY_NODE_BEHIND", Default: "30s", Check: span,
		Purpose: "how old the newest event of its node may be before this process gives way to one whose node is up to date",
	})
	EnvSpoolDir = PerpDomain.setting(Setting{
		Name: "QUOTARY_SPOOL_DIR", Purpose: "the folder in which the running ingester finds files to replay; it looks for none if not set",
	})
	EnvFeedIdle = PerpDomain.setting(Setting{
		Name: "QUOTARY_FEED_IDLE", Check: span,
		Purpose: "after what time without a message a WebSocket client is disconnected; 60 seconds if not set",
	})
	EnvFeedSilence = PerpDomain.setting(Setting{
		Name: "QUOTARY_FEED_SILENCE", Check: span,
		Purpose: "after what time without a new book the last one is sent again as stale; 15 seconds if not set",
	})
)
