package catalog

// The choices of [EnvAccounts].
const (
	AccountsOff     = "off"
	AccountsLive    = "live"  // public trades are fills of their accounts
	AccountsOfHours = "hours" // and the hours that the venue publishes are read
)

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
	EnvAccounts = PerpDomain.setting(Setting{
		Name: "QUOTARY_ACCOUNTS", Deploy: "accounts", Deployed: AccountsOff, Default: AccountsOff, Check: matching(AccountsOff+"|"+AccountsLive+"|"+AccountsOfHours, "off, live or hours"),
		Purpose: "where what accounts do comes from without a node: live makes each public trade a fill of both its accounts at once, with what such a trade says; hours also reads what the venue publishes an hour or two late, which completes these fills and has ledger updates and payments, and beside a node those hours alone in which its files lack blocks; off takes nothing",
	})
	EnvHoursBucket = PerpDomain.setting(Setting{
		Name: "QUOTARY_HOURS_BUCKET", Deploy: "hoursBucket", Deployed: "hl-mainnet-node-data", Default: "hl-mainnet-node-data", Check: matching(`[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]`, "the name of a bucket"),
		Purpose: "the bucket of the venue's hours, whose readers pay for what they read",
	})
	EnvHoursRegion = PerpDomain.setting(Setting{
		Name: "QUOTARY_HOURS_REGION", Deploy: "hoursRegion", Deployed: "ap-northeast-1", Default: "ap-northeast-1", Check: matching(`[a-z]{2}(-[a-z]+)+-[0-9]`, "the name of a region"),
		Purpose: "the region of that bucket",
	})
	EnvHoursSince = PerpDomain.setting(Setting{
		Name: "QUOTARY_HOURS_SINCE", Deploy: "hoursSince", Deployed: "168h", Default: "168h", Check: span,
		Purpose: "how far back the venue's hours are read at the first start",
	})
	EnvNodeInfoURL = PerpDomain.setting(Setting{
		Name: "QUOTARY_NODE_INFO_URL", Deploy: "nodeInfoURL", Deployed: "off",
		Purpose: "the info endpoint that a node of one's own serves, which is asked about accounts without limits; the public API is if not set",
	})
	EnvAnchorWeight = PerpDomain.setting(Setting{
		Name: "QUOTARY_ANCHOR_WEIGHT", Deploy: "anchorWeight", Deployed: "300", Default: "300", Check: wholeNumber(1),
		Purpose: "how much of the public API's weight, of 1,200 a minute, is spent on questions about accounts",
	})
	EnvAnchorValue = PerpDomain.setting(Setting{
		Name: "QUOTARY_ANCHOR_VALUE", Deploy: "anchorValue", Deployed: "1000000", Default: "1000000", Check: wholeNumber(0),
		Purpose: "from which value of an account, or of its positions, in USDC, the venue is asked about it though nobody follows it",
	})
	EnvRelayWeight = PerpDomain.setting(Setting{
		Name: "QUOTARY_RELAY_WEIGHT", Deploy: "relayWeight", Deployed: "1200", Default: "1200", Check: relayWeight,
		Purpose: "how much of the weight by which the venue counts its own API functions may spend in any minute, all together, on what it alone knows: 420 at least, or 0 for nothing",
	})
	EnvSpoolDir = PerpDomain.setting(Setting{
		Name: "QUOTARY_SPOOL_DIR", Purpose: "the folder in which the running ingester finds files to replay; it looks for none if not set",
	})
	EnvFeedRate = PerpDomain.setting(Setting{
		Name: "QUOTARY_FEED_RATE", Deploy: "feedRate", Deployed: "5000", Default: "5000", Check: wholeNumber(1),
		Purpose: "how many requests a second the WebSocket feeds may make to API Gateway, whose limit the account's REST API shares",
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
