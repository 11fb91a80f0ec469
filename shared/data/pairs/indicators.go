package pairs

import "quotary/shared/market"

// Covers reports whether there is what an indicator shows of a followed pair.
func Covers(indicator string, p *market.Pair) bool {
	switch indicator {
	case "fundflow", "bsv": // what takers bought and sold, of K-lines
		return true
	case "ftbs", "tvolume", "position", "fr", "lsur", "aili": // of perpetuals: takers, open interest, funding, accounts, liquidations
		return p.Swap
	}
	return false
}
