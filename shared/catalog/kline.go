package catalog

// The planned endpoints of the family Kline: specified, without a handler yet.
var (
	_ = planned("GET", "/v2/indicatorKline/getTradingPair", Kline, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/indicatorKline/dataRecords", Kline, anyLevel, EnvelopeA)
	_ = planned("GET", "/v2/commonKline/dataRecords", Kline, anyLevel, EnvelopeA)
)
