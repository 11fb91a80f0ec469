package airdrops

import "cmp"

// Language is that in which an answer's texts are.
type Language string

// The languages.
const (
	English            Language = "en"
	Chinese            Language = "cn"
	TraditionalChinese Language = "tc"
)

// text is the one in a language, or else in English, or else the first there is.
func (l Language) text(en, cn, tc string) string {
	asked := en
	switch l {
	case Chinese:
		asked = cn
	case TraditionalChinese:
		asked = tc
	case English:
	}
	return cmp.Or(asked, en, cn, tc)
}

// Project is the name of the project in a language.
func (e *Entry) Project(l Language) string {
	return l.text(e.ProjectName, e.ProjectNameCN, e.ProjectNameTC)
}

// Title is the title in a language.
func (e *Entry) Title(l Language) string {
	return cmp.Or(l.text(e.TitleEN, e.TitleCN, e.TitleTC), e.Project(l))
}

// Subtitle is the line under the title of a banner, "" for none.
func (e *Entry) Subtitle(l Language) string {
	return l.text(e.SubtitleEN, e.SubtitleCN, e.SubtitleTC)
}

// Description is a few sentences about the airdrop, "" for none.
func (e *Entry) Description(l Language) string {
	return l.text(e.DescriptionEN, e.DescriptionCN, e.DescriptionTC)
}

// Content is the whole text as Markdown, "" for none.
func (e *Entry) Content(l Language) string { return l.text(e.ContentEN, e.ContentCN, e.ContentTC) }

// Button is the words on the button of a banner.
func (e *Entry) Button(l Language) string {
	return cmp.Or(l.text(e.ButtonEN, e.ButtonCN, e.ButtonTC), l.text("See details", "查看详情", "查看詳情"))
}

// Activity is the name of the activity: its key where nobody has named it.
func (e *Entry) Activity(l Language) string {
	known := activities[e.ActivityType]
	return cmp.Or(l.text(e.ActivityNameEN, e.ActivityNameCN, e.ActivityNameTC), l.text(known.en, known.cn, known.tc), e.ActivityType)
}

// ExchangeTitle is the name of the exchange: its key where nobody has named it.
func (e *Entry) ExchangeTitle(l Language) string {
	return cmp.Or(e.ExchangeName, ExchangeName(e.Exchange, l))
}

// ExchangeName is the name of an exchange in a language: its key where it has none of ours.
func ExchangeName(key string, l Language) string {
	known := exchanges[key]
	return cmp.Or(l.text(known.en, known.cn, known.tc), key)
}

// name is one in each language.
type name struct{ en, cn, tc string }

// Activities with names of ours: the programmes, by which lines without another activity
// are known.
var activities = map[string]name{
	"hodler":           {"HODLer airdrop", "HODLer 空投", "HODLer 空投"},
	"xlaunch":          {"X Launch", "X Launch", "X Launch"},
	"earncoin":         {"Earn coins", "赚币", "賺幣"},
	"alpha":            {"Alpha airdrop", "Alpha 空投", "Alpha 空投"},
	"venue_launchpool": {"Launchpool", "新币挖矿", "新幣挖礦"},
	"venue_poolx":      {"PoolX", "PoolX", "PoolX"},
	"airdrop":          {"Airdrop", "空投", "空投"},
	"launchpad":        {"Launchpad", "新币首发", "新幣首發"},
	"trading":          {"Trading competition", "交易竞赛", "交易競賽"},
}

// Exchanges with names of ours.
var exchanges = map[string]name{
	"binance": {"Binance", "币安", "幣安"},
	"bitget":  {"Bitget", "Bitget", "Bitget"},
	"bybit":   {"Bybit", "Bybit", "Bybit"},
	"gate":    {"Gate", "芝麻开门", "芝麻開門"},
	"htx":     {"HTX", "火币", "火幣"},
	"kucoin":  {"KuCoin", "库币", "庫幣"},
	"mexc":    {"MEXC", "抹茶", "抹茶"},
	"okx":     {"OKX", "欧易", "歐易"},
}
