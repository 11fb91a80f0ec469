package pairs

// Platform is an exchange, or a part of one that has a key of its own, as people call it.
type Platform struct {
	Key    string
	EN, CN string
}

// Platforms are those that pairs can be of, by their keys.
var Platforms = []Platform{
	{"binance", "Binance", "币安"},
	{"bybit", "Bybit", "Bybit"},
	{"hyperliquid", "Hyperliquid", "Hyperliquid"},
	{"okcoinfutures", "OKX Futures", "欧易合约"},
	{"okex", "OKX", "欧易"},
}

// PlatformName is the name of an exchange in a language, cn or en: its key where it has
// none.
func PlatformName(key, language string) string {
	for _, p := range Platforms {
		if p.Key == key {
			if language == "en" {
				return p.EN
			}
			return p.CN
		}
	}
	return key
}
