package traderquery

import (
	"fmt"
	"slices"
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Tag is a word for traders, all of whose conditions a trader with it fulfils. What is not known
// fulfils none.
type Tag struct {
	Group  string // size, style, activity, skill, risk or role
	En, Zh string // its name in both languages
	Means  string // its conditions as they are written, a comma between two: a column, an operator and a number each

	filters []table.Filter
}

// Tags are all of them. They are not to be changed.
var Tags = []Tag{
	tag("size", "Whale", "巨鲸", "snapPositionValue > 1000000"),
	tag("size", "Millionaire", "百万账户", "snapTotalValue >= 1000000"),
	tag("size", "Large Account", "大户", "snapTotalValue >= 100000, snapTotalValue < 1000000"),
	tag("size", "Medium Account", "中户", "snapTotalValue >= 10000, snapTotalValue < 100000"),
	tag("size", "Small Account", "散户", "snapTotalValue < 10000"),
	tag("size", "High Volume", "高交易量", "acTotalVlm30d >= 10000000"),

	tag("style", "Scalper", "超短线", "avgDurationMin30d < 15, positionCount30d >= 20"),
	tag("style", "Day Trader", "日内交易", "avgDurationMin30d >= 15, avgDurationMin30d < 1440, positionCount30d >= 5"),
	tag("style", "Swing Trader", "波段交易", "avgDurationMin30d >= 1440, avgDurationMin30d < 10080, positionCount30d >= 2"),
	tag("style", "Position Trader", "长线交易", "avgDurationMin30d >= 10080"),
	tag("style", "Long Bias", "偏多", "longRatio30d >= 0.7, positionCount30d >= 10"),
	tag("style", "Short Bias", "偏空", "longRatio30d <= 0.3, positionCount30d >= 10"),
	tag("style", "Two-Sided", "多空均衡", "longRatio30d >= 0.4, longRatio30d <= 0.6, positionCount30d >= 10"),

	tag("activity", "Active Today", "今日活跃", "trFills1d >= 1"),
	tag("activity", "High Frequency", "高频交易", "tpOrders7d >= 500"),
	tag("activity", "Dormant", "休眠账户", "positionCount >= 1, trFills30d = 0"),
	tag("activity", "New Money", "资金流入", "nfNetPerpIn7d >= 10000"),
	tag("activity", "Withdrawing", "资金流出", "nfNetPerpIn7d <= -10000"),

	tag("skill", "Profitable Month", "月度盈利", "totalPnl30d > 0, positionCount30d >= 10"),
	tag("skill", "Losing Month", "月度亏损", "totalPnl30d < 0, positionCount30d >= 10"),
	tag("skill", "High Win Rate", "高胜率", "winRate30d >= 70, positionCount30d >= 10"),
	tag("skill", "High Reward", "高盈亏比", "riskRewardRatio30d >= 2, positionCount30d >= 20"),
	tag("skill", "Consistent", "稳定盈利", "profitFactor30d >= 1.5, ddDrawdown30d <= 0.2, positionCount30d >= 10"),
	tag("skill", "Smart Money", "聪明钱", "totalPnl30d >= 100000, winRate30d >= 50, snapPerpValue > 100000"),
	tag("skill", "Top Earner", "顶级盈利", "totalPnl >= 100000"),

	tag("risk", "High Leverage", "高杠杆", "snapEffLeverage >= 10"),
	tag("risk", "Low Leverage", "低杠杆", "snapEffLeverage > 0, snapEffLeverage <= 2"),
	tag("risk", "High Margin Usage", "高保证金占用", "snapMarginUsageRate >= 0.8"),
	tag("risk", "Deep Drawdown", "大幅回撤", "ddDrawdown30d >= 0.5"),
	tag("risk", "Low Drawdown", "低回撤", "ddDrawdown30d <= 0.1, positionCount30d >= 10"),
	tag("risk", "Liquidated", "近期爆仓", "liqOrders30d >= 1"),

	tag("role", "Market Maker", "做市商", "tpMakerValRatio30d >= 0.9, tpFilledVal30d >= 10000000"),
	tag("role", "Rebate Earner", "返佣赚取者", "tpMakerFee30d < 0"),
	tag("role", "Taker", "主动成交者", "tpMakerValRatio30d <= 0.1, tpFills30d >= 100"),
	tag("role", "Builder", "构建者", "fbTraders30d >= 1"),
	tag("role", "Spot Holder", "现货持有者", "snapSpotValue >= 100000"),
}

// tag makes a tag of its conditions as they are written.
func tag(group, en, zh, means string) Tag {
	t := Tag{Group: group, En: en, Zh: zh, Means: means}
	for text := range strings.SplitSeq(means, ", ") {
		part := strings.Fields(text)
		field, _, _ := fieldOf(part[0], traderfields.AllTime)
		column, known := traders.Column(part[0])
		v, err := market.ParseDecimal(part[2])
		if !known || err != nil {
			panic(fmt.Sprintf("traderquery: %s: %q is no condition", en, text))
		}
		op, ok := operators[part[1]]
		if !ok {
			panic(fmt.Sprintf("traderquery: %s: %q has no operator", en, text))
		}
		t.filters = append(t.filters, table.Compare(column, op, v, field.Scale))
	}
	return t
}

// TagNamed is the tag of a name in either language, in any letter case.
func TagNamed(name string) (Tag, bool) {
	i := slices.IndexFunc(Tags, func(t Tag) bool { return strings.EqualFold(t.En, name) || t.Zh == name })
	if i < 0 {
		return Tag{}, false
	}
	return Tags[i], true
}

// tagNames are the names of all tags, for who asked for none of them.
func tagNames() string {
	var names []string
	for i := range Tags {
		names = append(names, Tags[i].En)
	}
	return strings.Join(names, ", ")
}

// Name is that in a language: zh, else English.
func (t *Tag) Name(lang string) string {
	if lang == "zh" {
		return t.Zh
	}
	return t.En
}

// showTags adds the tags to the rows.
func (q *Question) showTags() {
	q.tags = Tags
	for i := range Tags {
		for _, f := range Tags[i].filters {
			q.place(f.Column)
		}
	}
}

// Tags are the names of the tags of a trader that was found, where the question shows them.
func (q *Question) Tags(row *tablefile.Row) []string {
	names := []string{}
	for i := range q.tags {
		t := &q.tags[i]
		if !slices.ContainsFunc(t.filters, func(f table.Filter) bool {
			v := row.Values[q.places[f.Column]]
			return !f.Passes(v.Value, v.Known)
		}) {
			names = append(names, t.Name(q.lang))
		}
	}
	return names
}

// Tagged is the question which tags some traders have, in a language: see [Question.Tags].
func Tagged(addresses []catalog.Address, lang string) *Question {
	q := &Question{lang: lang, places: map[int]int{}, Query: table.Query{Addresses: addressesOf(addresses), Unordered: true, Limit: len(addresses)}}
	q.showTags()
	return q
}
