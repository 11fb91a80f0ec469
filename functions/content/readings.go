package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/readings"
	"quotary/shared/market"
	"quotary/shared/store"
)

// coinReadings answers what the indicators say of coins.
type coinReadings struct {
	newest  *store.View[readings.View]
	coins   *store.View[map[string]coins.Named]
	pairs   *store.View[pairtickers.View]
	tickers *store.View[cointickers.View]
}

func openReadings(views *store.Views, clock func() time.Time) *coinReadings {
	return &coinReadings{
		newest: readings.Published.Open(views, clock), coins: coins.ByKey.Open(views, clock),
		pairs: pairtickers.Published.Open(views, clock), tickers: cointickers.Published.Open(views, clock),
	}
}

func (c *coinReadings) register(f *api.Family) { api.Handle(f, catalog.CoinReadings, c.list) }

// list returns the readings of coins.
func (c *coinReadings) list(ctx context.Context, in catalog.CoinReadingsIn) (catalog.CoinReadingList, error) {
	out := catalog.CoinReadingList{List: []catalog.CoinReading{}}
	newest, err := store.OrZero(c.newest.Get(ctx))
	if err != nil {
		return out, err
	}
	known, err := store.OrZero(c.coins.Get(ctx))
	if err != nil {
		return out, err
	}
	prices, err := c.prices(ctx)
	if err != nil {
		return out, err
	}
	words := wordsIn[in.Language]
	oldest := api.Now(ctx).Add(-readings.MaxAge).UnixMilli()
	for _, key := range in.CoinKeys {
		coin, ok := known[string(key)]
		if !ok || coin.Pairs == "" {
			continue
		}
		r, ok := newest.Lookup(coin.Pairs)
		if !ok || r.Closed < oldest {
			continue
		}
		row := catalog.CoinReading{CoinKey: coin.Key, CoinShow: coin.Show(), CoinLogo: coin.Logo(), Interpret: words.interpret(&r), Trend: "fall", Predition: words.expect(&r)}
		if up, down := r.Signs(); up > down {
			row.Trend = "rise"
		}
		row.Price, row.Degree = prices.of(coin.Key, &r.Pair)
		out.List = append(out.List, row)
	}
	return out, nil
}

// currentPrices are what coins cost now.
type currentPrices struct {
	pairs  pairtickers.View
	coins  cointickers.View
	oldest int64 // of a coin's figures, ms
}

func (c *coinReadings) prices(ctx context.Context) (p currentPrices, err error) {
	if p.pairs, err = store.OrZero(c.pairs.Get(ctx)); err != nil {
		return p, err
	}
	p.oldest = api.Now(ctx).Add(-cointickers.MaxAge).UnixMilli()
	p.coins, err = store.OrZero(c.tickers.Get(ctx))
	return p, err
}

// of are the price of a coin, US dollars, and its change in 24 hours, percent: of its pair, else by
// the source of prices of coins. A pair that trades a thousand coins as one has another price.
func (p *currentPrices) of(key string, pair *market.Pair) (price, degree string) {
	if t, ok := p.pairs.Lookup(pair.Key); ok && t.Last.IsPos() && t.Open.IsPos() && strings.EqualFold(pair.Base, pair.Coin()) {
		return t.Last.String(), t.Last.Sub(t.Open).Mul(hundred).MustDiv(t.Open).RoundHAZ(2).String()
	}
	if t, ok := p.coins.Lookup(key); ok && t.Time >= p.oldest {
		return t.PriceUSD, t.Degree24hUSD
	}
	return "", ""
}

var hundred = market.DecimalFromInt(100)

// words are what a reading is said with in a language. Where three stand in a list, they are of
// what is less, the same and more.
type words struct {
	perpetual                      string
	head                           string // pair, exchange, time
	trend                          string // close, its place, shorter average, its place, longer average
	momentum                       string // place of MACD, RSI, what that is called
	volatility                     string // percent, place in the band
	volume                         string // times, what became of the balance
	signs                          string // up, down
	next                           string // low, high
	against, agrees                string // price
	place, band, balance, strength [3]string
}

var wordsIn = map[string]*words{
	"EN": {
		perpetual: " perpetual", head: "%s on %s, candles of four hours until %s UTC.",
		trend:      " Trend: the close of %s is %s its average of 20 candles (EMA, %s), which is %s that of 50 (%s).",
		momentum:   " Momentum: MACD (12, 26, 9) is %s its signal, RSI (14) is %s%s.",
		volatility: " Volatility: a candle spans %s%% of the price on average (ATR 14), and the close is %s (20, 2).",
		volume:     " Volume: %s times as much was traded in the last day as on the mean of the five before, and the on-balance volume of 20 candles %s.",
		signs:      "%d of five signs speak for a rise, %d for a fall.", next: " At the average range, the next four hours would lie between %s and %s.",
		against: " A close %s %s, the average of 50 candles, would speak against it.", agrees: " A close %s %s, the average of 50 candles, would confirm it.",
		place: [...]string{"below", "at", "above"}, band: [...]string{"below its Bollinger band", "within its Bollinger band", "above its Bollinger band"}, balance: [...]string{"has fallen", "stands still", "has risen"},
		strength: [...]string{" (oversold)", "", " (overbought)"},
	},
	"CN": {
		perpetual: " 永续", head: "%s（%s），截至 %s UTC 的 4 小时 K 线。",
		trend:      "趋势：收盘价 %s %s 20 根均线（EMA，%s），该均线%s 50 根均线（%s）。",
		momentum:   "动能：MACD（12, 26, 9）%s信号线，RSI（14）为 %s%s。",
		volatility: "波动：每根 K 线平均波幅为价格的 %s%%（ATR 14），收盘价%s（20, 2）。",
		volume:     "成交量：最近一天的成交量是此前五天均值的 %s 倍，20 根 K 线的能量潮（OBV）%s。",
		signs:      "五项信号中 %d 项看涨，%d 项看跌。", next: "按平均波幅，未来 4 小时价格在 %s 至 %s 之间。",
		against: "若收盘价%s 50 根均线 %s，则与该判断相反。", agrees: "若收盘价%s 50 根均线 %s，则印证该判断。",
		place: [...]string{"低于", "等于", "高于"}, band: [...]string{"低于布林带", "在布林带之内", "高于布林带"}, balance: [...]string{"下降", "持平", "上升"},
		strength: [...]string{"（超卖）", "", "（超买）"},
	},
	"TC": {
		perpetual: " 永續", head: "%s（%s），截至 %s UTC 的 4 小時 K 線。",
		trend:      "趨勢：收盤價 %s %s 20 根均線（EMA，%s），該均線%s 50 根均線（%s）。",
		momentum:   "動能：MACD（12, 26, 9）%s信號線，RSI（14）為 %s%s。",
		volatility: "波動：每根 K 線平均波幅為價格的 %s%%（ATR 14），收盤價%s（20, 2）。",
		volume:     "成交量：最近一天的成交量是此前五天均值的 %s 倍，20 根 K 線的能量潮（OBV）%s。",
		signs:      "五項信號中 %d 項看漲，%d 項看跌。", next: "按平均波幅，未來 4 小時價格在 %s 至 %s 之間。",
		against: "若收盤價%s 50 根均線 %s，則與該判斷相反。", agrees: "若收盤價%s 50 根均線 %s，則印證該判斷。",
		place: [...]string{"低於", "等於", "高於"}, band: [...]string{"低於布林通道", "在布林通道之內", "高於布林通道"}, balance: [...]string{"下降", "持平", "上升"},
		strength: [...]string{"（超賣）", "", "（超買）"},
	},
}

// Levels of the relative strength index, by its inventor, at which a coin was sold or bought too
// much.
var oversold, overbought = market.DecimalFromInt(30), market.DecimalFromInt(70)

// interpret says what the figures of a reading are.
func (w *words) interpret(r *readings.Reading) string {
	name := pairs.Show(&r.Pair)
	if r.Pair.Swap {
		name += w.perpetual
	}
	strength := 1
	switch {
	case r.RSI.Cmp(oversold) <= 0:
		strength = 0
	case r.RSI.Cmp(overbought) >= 0:
		strength = 2
	}
	span := r.Range.Mul(hundred).MustDiv(r.Close).RoundHAZ(2)
	return fmt.Sprintf(w.head, name, pairs.PlatformName(r.Pair.Platform, "en"), time.UnixMilli(r.Closed).UTC().Format("2006-01-02 15:04")) +
		fmt.Sprintf(w.trend, r.Close, w.place[1+r.Close.Cmp(r.Short)], r.Short, w.place[1+r.Short.Cmp(r.Long)], r.Long) +
		fmt.Sprintf(w.momentum, w.place[1+cmp.Compare(r.MACD, 0)], r.RSI, w.strength[strength]) +
		fmt.Sprintf(w.volatility, span, w.band[1+cmp.Compare(r.Outside, 0)]) +
		fmt.Sprintf(w.volume, r.Volume, w.balance[1+cmp.Compare(r.Balance, 0)])
}

// expect says what follows from a reading: how many of its signs agree, the prices between which
// the next candle lies at the average range, and where the price would say otherwise.
func (w *words) expect(r *readings.Reading) string {
	up, down := r.Signs()
	side := 1 // of the longer average on which a close agrees
	if down > up {
		side = -1
	}
	text, at := w.against, -side
	if r.Close.Cmp(r.Long) != side {
		text, at = w.agrees, side
	}
	low, high := r.Bounds()
	return fmt.Sprintf(w.signs, up, down) + fmt.Sprintf(w.next, low, high) + fmt.Sprintf(text, w.place[1+at], r.Long)
}
