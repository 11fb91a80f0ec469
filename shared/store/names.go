package store

// Names under which the ingester writes and the functions read.
const (
	// FillDataset is the log dataset of fills: subject address; ID
	// "<tid>#<oid>"; index A "<address>/<coin>", B order id, C TWAP id,
	// D builder; body the venue's fill with "address" before its other members.
	FillDataset = "fill"

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
)
