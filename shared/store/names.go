package store

// Names under which the ingester writes and the functions read.
const (
	// FillDataset is the log dataset of fills: subject address; ID
	// "<tid>#<oid>"; index A "<address>/<coin>", B order id, C TWAP id,
	// D builder; body the venue's fill with "address" before its other members.
	FillDataset = "fill"

	// FilledDataset and OrderDataset are the log datasets of what orders came
	// to: the first of those that were filled, the second of every other status.
	// Subject address; ID "<oid>#<status>"; index A "<address>/<coin>", B order
	// id, C "<address>/<client order id>"; body the venue's {"order","status",
	// "statusTimestamp"}. The package orders reads them.
	FilledDataset = "filled"
	OrderDataset  = "order"

	// KlineSeries is the series of klines with taker volume, by coin, in the
	// intervals market.KlineTiers; a bucket without a trade has no row.
	KlineSeries = "klines"

	// TopFillSeries is the series of the largest fills, by coin, in the
	// intervals market.TopTiers: an array, largest first. The row of a second
	// is written at once, a wider one when its bucket has closed.
	TopFillSeries = "topfills"

	// TickersView is {"time":ms,"tickers":[{"coin","price","time"}, ...]}: the
	// last traded price per coin.
	TickersView = "tickers"

	// MidsView is {"time":ms,"mids":{dex:{coin:px}}}; the main dex is "".
	MidsView = "mids"

	// MetaView is {"time":ms,"meta":{dex: the venue's meta},"spotMeta": the
	// venue's spotMeta}.
	MetaView = "meta"

	// FundingSeries is the series of hourly funding, by coin, interval "1h":
	// {"coin","fundingRate","premium","time":ms} with "provisional":true until
	// the venue has told what was paid.
	FundingSeries = "funding"

	// ContextsView is {"time":ms,"perps":{dex: the venue's metaAndAssetCtxs},
	// "spot": the venue's spotMetaAndAssetCtxs}.
	ContextsView = "contexts"

	// BooksView is {"time":ms,"books":{coin:{"coin","time":ms,"levels":[bids,
	// asks]}}}: the last book of each coin, however old, in full precision.
	BooksView = "books"

	// DepthSeries is the series of what the books held, by coin, in the intervals
	// market.SampleTiers: {"time":s,"coin","bidVolume","askVolume"}.
	DepthSeries = "bookdepth"

	// OpenInterestSeries is the series of open interest, by coin, in the
	// intervals market.SampleTiers: {"time":ms,"coin","positionCount",
	// "longCount","longPv","totalPv","avgPv"}.
	OpenInterestSeries = "openinterest"

	// OpenInterestView is {"time":ms,"coins":[{"coin","positionCount","longPv",
	// "shortPv","totalPv","avgPv","traded":ms}, ...]}, by coin: every coin that
	// has an open position, and when it last traded.
	OpenInterestView = "openinterest"

	// PositionsView is what the ingester itself needs after a restart: the
	// positions of all accounts, see the package projection of the ingester.
	PositionsView = "positions"
)
