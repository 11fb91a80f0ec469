package catalog

import "strings"

// operationIDs are the ids of operations whose path does not say it well enough: paths
// that exist twice or under several methods, that are too long, or that repeat themselves.
var operationIDs = map[string]string{
	"GET /upgrade/v2/distributor/levels/{level}":                           "distributorLevel",
	"PUT /upgrade/v2/distributor/levels/{level}":                           "distributorSetLevel",
	"DELETE /upgrade/v2/distributor/levels/{level}":                        "distributorDeleteLevel",
	"POST /upgrade/v2/distributor/sub-keys":                                "distributorCreateSubKey",
	"POST /upgrade/v2/distributor/sub-keys/batch-disable":                  "distributorBatchDisableSubKeys",
	"POST /upgrade/v2/distributor/sub-keys/batch-enable":                   "distributorBatchEnableSubKeys",
	"GET /upgrade/v2/distributor/sub-keys/{access_key}":                    "distributorSubKey",
	"PUT /upgrade/v2/distributor/sub-keys/{access_key}":                    "distributorUpdateSubKey",
	"DELETE /upgrade/v2/distributor/sub-keys/{access_key}":                 "distributorDeleteSubKey",
	"POST /upgrade/v2/distributor/sub-keys/{access_key}/disable":           "distributorDisableSubKey",
	"POST /upgrade/v2/distributor/sub-keys/{access_key}/enable":            "distributorEnableSubKey",
	"POST /upgrade/v2/distributor/sub-keys/{access_key}/reset-secret":      "distributorResetSubKeySecret",
	"GET /upgrade/v2/futures/open-interest/aggregated-coin-margin-history": "futuresOpenInterestCoinMarginHistory",
	"GET /upgrade/v2/futures/open-interest/aggregated-stablecoin-history":  "futuresOpenInterestStablecoinHistory",
	"GET /upgrade/v2/hl/filled-orders/oid/{oid}":                           "hlFilledOrderByOid",
	"GET /upgrade/v2/hl/fills/builder/{builder}/latest":                    "hlFillsByBuilder",
	"GET /upgrade/v2/hl/fills/twapid/{twapid}":                             "hlFillsByTwap",
	"GET /upgrade/v2/hl/orders/oid/{oid}":                                  "hlOrderByOid",
	"GET /upgrade/v2/hl/tickers/coin/{coin}":                               "hlTicker",
	"POST /upgrade/v2/hl/traders/accounts":                                 "hlTraderAccounts",
	"POST /upgrade/v2/hl/traders/statistics":                               "hlTraderStatistics",
	"POST /upgrade/v2/crypto_stock/top-gainer":                             "cryptoStockTopGainerPost",
	"GET /v2/api-key-info":                                                 "apiKeyInfo",
	"GET /v2/coin/search":                                                  "coinSearchOld",
	"GET /v2/content/airdrop/list":                                         "contentAirdropListOld",
	"GET /v2/index/getIndex":                                               "indexList",
	"GET /v2/index/indexInfo":                                              "indexInfo",
	"GET /v2/index/indexPrice":                                             "indexPrice",
	"GET /v2/indicatorKline/getTradingPair":                                "indicatorKlineTradingPairs",
	"GET /v2/signal/addSignalAlert":                                        "signalAddAlert",
	"GET /v2/signal/changeSignal":                                          "signalChanges",
	"GET /v2/signal/delSignalAlert":                                        "signalDeleteAlert",
	"GET /v2/signal/getSignalAlertSetList":                                 "signalAlertSettings",
	"GET /v2/signal/signalAlert":                                           "signalAlerts",
	"GET /v2/signal/signalAlertConf":                                       "signalAlertConf",
	"GET /v2/signal/strategySignal":                                        "signalStrategies",
	"GET /v2/trading-pair/getTradingPair":                                  "tradingPairByPlatform",
}

// OperationID names an HTTPS endpoint in OpenAPI documents, and so the functions of
// generated clients: its group, which is the first word of its path, and its name in it.
// GET /upgrade/v2/hl/traders/{address}/completed-trades is hlCompletedTrades: traders,
// which says nothing that the rest does not, and parameters are left out, and oid/{oid}
// is read ByOid. An id is never changed.
func (e *Endpoint) OperationID() string {
	if id, ok := operationIDs[e.String()]; ok {
		return id
	}
	_, rest, _ := strings.Cut(e.Documented(), "/v2/")
	segments := strings.Split(rest, "/")
	var id strings.Builder
	for i, segment := range segments {
		if _, _, ok := PathParameter(segment); ok || segment == "traders" {
			continue
		}
		if i+1 < len(segments) && segments[i+1] == "{"+segment+"}" {
			id.WriteString("By")
		}
		for _, word := range strings.FieldsFunc(segment, func(r rune) bool { return r == '-' || r == '_' }) {
			id.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	if len(segments) == 1 {
		id.WriteString("List")
	}
	return strings.ToLower(id.String()[:1]) + id.String()[1:]
}
