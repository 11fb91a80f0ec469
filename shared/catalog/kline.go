package catalog

// The planned endpoints of the family Kline: specified, without a handler yet.
var (
	// Lists the pairs of a coin that an indicator covers.
	_ = planned("GET", "/v2/indicatorKline/getTradingPair", Kline, anyLevel, EnvelopeA)
	// Lists values of an indicator of a pair over time.
	_ = planned("GET", "/v2/indicatorKline/dataRecords", Kline, anyLevel, EnvelopeA)
	// Lists K-lines of a pair or an index.
	_ = planned("GET", "/v2/commonKline/dataRecords", Kline, anyLevel, EnvelopeA)
)
