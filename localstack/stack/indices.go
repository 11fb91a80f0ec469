package stack

import (
	"encoding/json"
	"strings"

	"quotary/localstack/sim/indexsite"
	"quotary/shared/catalog"
)

// simulatedIndexes are the keys of the indexes among the symbols of the simulated source: those
// that the product knows by name.
var simulatedIndexes = map[string]string{"^spx": "i:spx:us", "^ndq": "i:ixic:nasdaq", "^dji": "i:dji:us", "^shc": "i:sh000001:sse"}

// indexEnv has the ingesters ask the simulated source of indexes, daily prices and filings, which
// answers at an address.
func indexEnv(base string) ([]string, error) {
	var symbols []map[string]string
	for _, name := range indexsite.Symbols {
		key, unit := simulatedIndexes[name], ""
		if short, ok := strings.CutSuffix(name, ".us"); ok {
			key, unit = "i:"+short+":nasdaq", "USD"
		}
		if short, ok := strings.CutSuffix(name, ".hk"); ok {
			key, unit = "i:"+short+":hkex", "HKD"
		}
		symbols = append(symbols, map[string]string{"key": key, "symbol": name, "unit": unit})
	}
	list, err := json.Marshal(symbols)
	if err != nil {
		return nil, err
	}
	return []string{
		catalog.EnvFearGreedURL.Name + "=" + base + indexsite.FearGreedPath, catalog.EnvVIXURL.Name + "=" + base + indexsite.VIXPath,
		catalog.EnvStooqURL.Name + "=" + base + indexsite.StooqPath, catalog.EnvStooqSymbols.Name + "=" + string(list),
		catalog.EnvIndicesEvery.Name + "=1m",
		catalog.EnvSECURL.Name + "=" + base + indexsite.SECPath, catalog.EnvSECContact.Name + "=local stack ops@stack.example",
		catalog.EnvSECCompanies.Name + `=[{"key": "i:mstr:nasdaq", "cik": 1}, {"key": "i:coin:nasdaq", "cik": 2}]`,
	}, nil
}
