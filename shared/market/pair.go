package market

import "strings"

// Pair is a market of a centralised exchange.
type Pair struct {
	Key      string `json:"key"`      // as clients name it: btcusdt:binance, a perpetual btcswapusdt:binance
	Platform string `json:"platform"` // the key of the exchange
	Base     string `json:"base"`     // coin in which sizes are, as the exchange writes it: BTC
	Quote    string `json:"quote"`    // coin in which prices are: USDT
	Symbol   string `json:"symbol"`   // the exchange's own name of the market
	Swap     bool   `json:"swap"`     // a perpetual

	// Contract is what a contract is, where the exchange counts sizes in contracts: base
	// coins or, of an inverse pair, quote units; 0 where it counts coins.
	Contract Decimal `json:"contract,omitzero"`

	// Inverse pairs are margined and paid in the base coin; their quote is USD.
	Inverse bool `json:"inverse,omitempty"`
}

// PairKey composes the key of a pair: <base><quote>:<platform>, and
// <base>swap<quote>:<platform> for a perpetual, in lower case.
func PairKey(base, quote, platform string, swap bool) string {
	kind := ""
	if swap {
		kind = "swap"
	}
	return strings.ToLower(base + kind + quote + ":" + platform)
}

// Coin is the base coin as clients name it: see [CoinOfBase].
func (p *Pair) Coin() string { return CoinOfBase(p.Base) }

// PairTrade is a trade of a pair, or several of one taker at one price that the
// exchange shows as one.
type PairTrade struct {
	Pair  string  // its key
	Side  Side    // of the taker
	Px    Decimal // quote units per base unit
	Sz    Decimal // base units; of an inverse pair rounded to eight places
	Time  int64   // ms
	ID    int64   // grows from trade to trade of the pair
	Prev  int64   // ID of the trade before it: one that never came is missing
	Count int64   // trades that are shown as this one

	// Amount is quote units where the exchange gives these instead of base units, as of
	// an inverse pair; 0 means price x size.
	Amount Decimal
}

// TradesApart is by how much the ids of trades of a pair may differ that come one behind the
// other, hours of an outage included: a venue's busiest pair has a few million a day. What
// differs by more is of another numbering, or of none.
const TradesApart = 100_000_000

// Follows reports whether a trade is newer than one of that id, 0 for none: it is also where
// it is so far below that the numbering has begun again.
func (t *PairTrade) Follows(id int64) bool { return t.ID > id || id-t.ID > TradesApart }

// Value is what was paid, quote units.
func (t *PairTrade) Value() Decimal {
	if t.Amount.IsZero() {
		return Notional(t.Px, t.Sz)
	}
	return t.Amount
}

// candle is the candle of t alone. TradesBuyer stays 0: K-lines of exchanges do not give
// it.
func (t *PairTrade) candle(open int64) Candle {
	amount := t.Value()
	at := Order{Time: t.Time, Tid: t.ID}
	c := Candle{OpenTime: open, Trades: t.Count, Size: t.Sz, Amount: amount, Open: t.Px, High: t.Px, Low: t.Px, Close: t.Px, First: at, Last: at}
	if t.Side == Buy {
		c.SizeBuyer, c.AmountBuyer = t.Sz, amount
	}
	return c
}

// CandleRun is everything that an exchange says of a pair in a time: its candles of
// an interval that open in [From, To), all of which have ended. One without a trade
// is not among them.
type CandleRun struct {
	Pair     string
	Interval Interval
	From, To int64    // ms, openings of the interval
	Candles  []Candle // oldest first

	// Open is the candle that opens at To, as far as it was when the exchange was asked;
	// without trades where nothing is known of it. It may have ended since.
	Open Candle
}
