package market

import (
	"strings"
	"unicode"
)

// CoinOfBase is the coin in which a market's sizes are, in lower case, by the name that the
// exchange writes of it. A coin of a very low price is traded by the thousand, or by more, under
// a name that says so: 1000PEPE, 10000SATS, 1000000MOG, SHIB1000, 1MBABYDOGE and, on the perpetual
// exchange, kPEPE with a small k. It is the same coin. No other digit belongs to anything but the
// coin's own name: 1INCH, 0G, 4.
func CoinOfBase(base string) string {
	if rest, ok := strings.CutPrefix(base, "k"); ok && startsWithLetter(rest) && rest == strings.ToUpper(rest) {
		base = rest
	}
	base = strings.ToLower(base)
	if rest, ok := strings.CutPrefix(base, "1m"); ok && len(rest) >= leastOfMillion && startsWithLetter(rest) {
		return rest
	}
	if rest, ok := cutThousands(base); ok && startsWithLetter(rest) {
		return rest
	}
	if rest := strings.TrimRight(base, "0"); len(base)-len(rest) >= thousandZeros {
		if rest, ok := strings.CutSuffix(rest, "1"); ok && startsWithLetter(rest) && !endsWithDigit(rest) {
			return rest
		}
	}
	return base
}

const (
	thousandZeros  = 3
	leastOfMillion = 3 // characters behind 1M: shorter ones are coins of their own, such as 1MT
)

// cutThousands cuts a thousand, or a higher power of ten, from the beginning of a name.
func cutThousands(name string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(name, "1"); !ok {
		return name, false
	}
	coin := strings.TrimLeft(rest, "0")
	return coin, len(rest)-len(coin) >= thousandZeros
}

func startsWithLetter(name string) bool {
	for _, r := range name {
		return unicode.IsLetter(r)
	}
	return false
}

func endsWithDigit(name string) bool { return strings.TrimRight(name, "0123456789") != name }

// CoinOf is the coin that a text means, in lower case: a coin (BTC), a market of it without
// an exchange (BTCUSDT, btcswapusdt) or the key of a pair.
func CoinOf(text string) string {
	text, _, _ = strings.Cut(text, ":")
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		text = lower
	}
	base, _, swap := strings.Cut(lower, "swap")
	if !swap || base == "" {
		base = cutQuote(lower)
	}
	return CoinOfBase(text[:len(base)]) // a small k is one still
}

// cutQuote cuts the coin in which a market is priced from its name, in lower case. A stable coin
// is called after the dollar and is no market.
func cutQuote(name string) string {
	if dollarCoins[name] {
		return name
	}
	for _, quote := range [...]string{"usdt", "usdc", "usd"} {
		if base, ok := strings.CutSuffix(name, quote); ok && base != "" {
			return base
		}
	}
	return name
}

// dollarCoins are the coins whose names end as that of a market in dollars does.
var dollarCoins = map[string]bool{
	"ausd": true, "bfusd": true, "busd": true, "crvusd": true, "dusd": true, "fdusd": true, "frxusd": true, "gusd": true, "husd": true, "lusd": true, "musd": true,
	"ousd": true, "pyusd": true, "rlusd": true, "susd": true, "tusd": true, "vusd": true, "xusd": true, "yusd": true, "zusd": true,
}
