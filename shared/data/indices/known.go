package indices

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/market"
)

// Keys of indexes that are known by name. Those of stock indexes are no source's: an operator
// gives them to symbols of daily prices, or drops days under them.
const (
	Shanghai = "i:sh000001:sse"
	Shenzhen = "i:sz399001:szse"
	Nasdaq   = "i:ixic:nasdaq"
	Dow      = "i:dji:us"
	SP500    = "i:spx:us"
	HangSeng = "i:hsi:hkex"
	Dollar   = "i:diniw:ice"
	Bitcoin  = "i:blx:bnc"
)

// Words are a text in two languages.
type Words struct{ EN, CN string }

// In is the text in a language, cn or en.
func (w Words) In(language string) string {
	if language == "cn" {
		return w.CN
	}
	return w.EN
}

// About is what is known of an index beside its figures. Texts are empty where they are not known.
type About struct {
	Key       string
	Show      string // short name
	Name      Words
	Kind      Words
	Introduce Words
	Link      string // site of whoever computes it
	Released  string // first day of its publication, yyyy-mm-dd
	Members   string // how many it has; "" where it has none, or changing ones
	FileName  string // paper that says how it is computed
	FileLink  string
}

var stock = Words{"Stock index", "股票指数"}

// known are the indexes that are known by name, in the order in which they are listed.
var known = []About{
	{
		Key: FearGreed, Show: "FGI", Name: Words{"Fear and Greed Index", "恐惧与贪婪指数"}, Kind: Words{"Sentiment", "情绪"},
		Introduce: Words{"Sentiment of the crypto market from 0, extreme fear, to 100, extreme greed, by alternative.me.", "alternative.me 发布的加密市场情绪指数:0 为极度恐惧,100 为极度贪婪。"},
		Link:      "https://alternative.me/crypto/fear-and-greed-index/", Released: "2018-02-01",
	},
	{
		Key: VIX, Show: "VIX", Name: Words{"Cboe Volatility Index", "芝加哥期权交易所波动率指数"}, Kind: Words{"Volatility", "波动率"},
		Introduce: Words{"By how much options expect the S&P 500 to vary over 30 days, percent a year.", "期权市场预期标普 500 指数未来 30 天的年化波动率(百分比)。"},
		Link:      "https://www.cboe.com/tradable_products/vix/",
	},
	{
		Key: Bitcoin, Show: "BLX", Name: Words{"Bitcoin Liquid Index", "比特币流动性指数"}, Kind: Words{"Coin index", "币种指数"},
		Introduce: Words{"Price of bitcoin over several exchanges.", "由多家交易所计算的比特币价格。"},
	},
	{
		Key: Shanghai, Show: "SSE", Name: Words{"Shanghai Composite", "上证指数"}, Kind: stock,
		Introduce: Words{"All shares that trade on the Shanghai Stock Exchange.", "上海证券交易所全部上市股票。"}, Link: "https://www.sse.com.cn",
	},
	{
		Key: Shenzhen, Show: "SZSE", Name: Words{"Shenzhen Component", "深证成指"}, Kind: stock, Members: "500",
		Introduce: Words{"500 large shares of the Shenzhen Stock Exchange.", "深圳证券交易所 500 只代表性股票。"}, Link: "https://www.szse.cn",
	},
	{
		Key: Nasdaq, Show: "IXIC", Name: Words{"Nasdaq Composite", "纳斯达克综合指数"}, Kind: stock,
		Introduce: Words{"All shares that are listed on the Nasdaq.", "纳斯达克全部上市股票。"}, Link: "https://www.nasdaq.com",
	},
	{
		Key: Dow, Show: "DJI", Name: Words{"Dow Jones Industrial Average", "道琼斯工业平均指数"}, Kind: stock, Members: "30",
		Introduce: Words{"30 large companies of the United States, weighted by the price of a share.", "30 家美国大型公司的价格加权指数。"}, Link: "https://www.spglobal.com/spdji",
	},
	{
		Key: SP500, Show: "SPX", Name: Words{"S&P 500", "标普 500 指数"}, Kind: stock, Members: "500",
		Introduce: Words{"500 large companies of the United States, weighted by market value.", "500 家美国大型公司的市值加权指数。"}, Link: "https://www.spglobal.com/spdji",
	},
	{
		Key: HangSeng, Show: "HSI", Name: Words{"Hang Seng Index", "恒生指数"}, Kind: stock,
		Introduce: Words{"The largest companies of the Hong Kong stock exchange.", "香港交易所最大的上市公司。"}, Link: "https://www.hsi.com.hk",
	},
	{
		Key: Dollar, Show: "USDX", Name: Words{"US Dollar Index", "美元指数"}, Kind: Words{"Currency", "货币"}, Members: "6",
		Introduce: Words{"The US dollar against six currencies.", "美元对六种货币的汇率指数。"}, Link: "https://www.ice.com",
	},
}

// AboutOf is what is known of an index by name; of another its short name follows from its key,
// i:<name>:<source>, and is its name too. Found reports which.
func AboutOf(key string) (about About, found bool) {
	if i := place(key); i < len(known) {
		return known[i], true
	}
	show := key
	if parts := strings.Split(key, ":"); len(parts) == 3 && parts[1] != "" {
		show = strings.ToUpper(parts[1])
	}
	return About{Key: key, Show: show, Name: Words{show, show}}, false
}

// place is that of a key among those that are known by name, or behind them.
func place(key string) int {
	if i := slices.IndexFunc(known, func(a About) bool { return a.Key == key }); i >= 0 {
		return i
	}
	return len(known)
}

// Share reports whether the figures of a key are those of a share: they are in a currency, and
// it is no index that is known by name.
func (i *Index) Share() bool {
	return i.Days[len(i.Days)-1].Unit != "" && place(i.Key) == len(known)
}

// Listed returns all that are no share: those that are known by name first.
func (v View) Listed() []Index {
	list := slices.DeleteFunc(slices.Clone(v.Indices), func(i Index) bool { return i.Share() })
	slices.SortStableFunc(list, func(a, b Index) int { return cmp.Compare(place(a.Key), place(b.Key)) })
	return list
}

// MaxAge is how old the last day of an index may be, and how far before it that of which the
// change is counted: exchanges close for as long as holidays last.
const MaxAge = 14 * 24 * time.Hour

// Last returns the newest day, and the one before it, where they are not too old; false without
// the newest one.
func (i *Index) Last(now time.Time) (last Day, before *Day, ok bool) {
	if len(i.Days) == 0 {
		return Day{}, nil, false
	}
	last = i.Days[len(i.Days)-1]
	if last.Date < now.UTC().Add(-MaxAge).Format(time.DateOnly) {
		return Day{}, nil, false
	}
	at, err := time.Parse(time.DateOnly, last.Date)
	if n := len(i.Days); err == nil && n > 1 && i.Days[n-2].Date >= at.Add(-MaxAge).Format(time.DateOnly) {
		before = &i.Days[n-2]
	}
	return last, before, true
}

// degreePlaces are those of a change in percent.
const degreePlaces = 4

// Change returns by how much the close of a day is above that of the day before, as a decimal
// and in percent; empty where the day before is not known, and the percent after a close of 0.
func (d *Day) Change(before *Day) (change, percent string) {
	if before == nil {
		return "", ""
	}
	last, err := market.ParseDecimal(d.Close)
	if err != nil {
		return "", ""
	}
	was, err := market.ParseDecimal(before.Close)
	if err != nil {
		return "", ""
	}
	difference := last.Sub(was)
	return difference.String(), market.Quotient(difference.Mul(market.DecimalFromInt(100)).String(), before.Close, degreePlaces)
}

// NewestOf is the newest days of quotes of a key.
func NewestOf(key string, quotes []market.DayQuote) Index {
	index := Index{Key: key}
	for _, q := range quotes[max(0, len(quotes)-Kept):] {
		index.Add(EntryOf(q, drop.Place{}).Day)
	}
	return index
}

// Quotes are the days as quotes of a key.
func (days Days) Quotes(key string) []market.DayQuote {
	quotes := make([]market.DayQuote, len(days))
	for i, d := range days {
		quotes[i] = market.DayQuote{Key: key, Date: d.Date, Unit: d.Unit, Open: d.Open, High: d.High, Low: d.Low, Close: d.Close, Volume: d.Volume}
	}
	return quotes
}
