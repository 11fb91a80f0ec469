package pairs

import "quotary/shared/market"

// Covers reports whether there is what an indicator shows of a followed pair, and of one of the
// perpetual exchange.
func (v View) Covers(indicator string, p *market.Pair) bool {
	switch indicator {
	case "fundflow", "bsv": // what takers bought and sold, of K-lines
		return true
	case "ftbs", "tvolume", "position", "aili": // of perpetuals: takers, open interest, liquidations
		return p.Swap
	case "fr", "lsur": // funding, accounts
		return p.Swap && p.Platform != Hyperliquid
	case "ttsi", "ttmu": // accounts and positions of top traders
		return p.Swap && (p.Platform == "binance" || p.Platform == okxSwaps && !p.Inverse)
	case "aibst", "aiaggtrade": // runs of takers, of pairs whose trades are worth US dollars
		return p.Platform != Hyperliquid && (p.Quote == "USDT" || p.Inverse)
	case "mlr": // margin loans
		_, ok := v.Lookup(LoansKey(p))
		return ok
	case "basis":
		spot, listed := v.Lookup(SpotKey(p))
		return listed && spot.Followed
	}
	return false
}

// SpotKey is the key of the spot pair of the same coins on the exchange of a perpetual, where
// it has one; "" of any other pair.
func SpotKey(p *market.Pair) string {
	if !p.Swap || p.Inverse || p.Platform == Hyperliquid {
		return ""
	}
	platform := p.Platform
	if platform == okxSwaps {
		platform = okxSpot
	}
	return market.PairKey(p.Base, p.Quote, platform, false)
}

// The platforms of OKX.
const (
	okxSpot  = "okex"
	okxSwaps = "okcoinfutures"
)

// LoansKey is under which key the margin loans of a pair's coin are: that of the perpetual on the
// only exchange that tells them; "" of a pair of another one.
func LoansKey(p *market.Pair) string {
	if p.Platform != okxSpot && p.Platform != okxSwaps || p.Inverse {
		return ""
	}
	return market.PairKey(p.Base, p.Quote, okxSwaps, true)
}

// CountsTakers reports whether the K-lines of an exchange say what takers bought. Those of
// others do where trades were followed: in every minute whose trades are counted
// ([market.Candle]).
func CountsTakers(platform string) bool { return platform == "binance" || platform == Hyperliquid }

// HasStrategy reports whether a strategy looks at a pair of an exchange: at all, spot and perpetual,
// but inverse ones, where what it looks at is told of them.
func HasStrategy(strategy string, p *market.Pair) bool {
	switch {
	case p.Inverse:
		return false
	case strategy == "order_buy_one":
		return CountsTakers(p.Platform)
	case strategy == "lsur_one":
		return p.Swap
	}
	return true
}
