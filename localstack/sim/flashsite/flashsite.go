// Package flashsite is flashes, posts and authors of our own making, for tests and for the
// local stack: drops of them, in two languages, over some days.
//
// They follow from the hour (UTC) in which they are made, so that a stack always shows new
// ones; in one hour the drops are always the same. Names and texts say that they are
// simulated.
package flashsite

import (
	"fmt"
	"time"
)

// Flash is a line of the drop of flashes. Times are Unix s.
type Flash struct {
	ID           int64  `json:"id"`
	Time         int64  `json:"time"`
	Language     string `json:"language"`
	Platform     string `json:"platform"`
	Title        string `json:"title,omitempty"`
	Content      string `json:"content"`
	TransContent string `json:"trans_content,omitempty"`
	FlashType    int64  `json:"flash_type,omitempty"`
	MemberID     int64  `json:"member_id,omitempty"`
	Tab          int64  `json:"tab,omitempty"`
	Important    bool   `json:"important,omitempty"`
	Source       string `json:"source"`
	Link         string `json:"link,omitempty"`
	Pictures     string `json:"pictures,omitempty"`
	TweetID      string `json:"tweet_id,omitempty"`
	Hot          bool   `json:"hot,omitempty"`
	Likes        int64  `json:"like_count,omitempty"`
	Replies      int64  `json:"reply_count,omitempty"`
	Retweets     int64  `json:"retweet_count,omitempty"`
	Views        int64  `json:"view_count,omitempty"`
}

// Member is a line of the drop of members.
type Member struct {
	ID        string `json:"member_id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Followers int64  `json:"followers"`
	Describe  string `json:"describe"`
	Labels    string `json:"labels,omitempty"`
}

const (
	each = 20 * 60 // s, from one flash to the next
	days = 5
)

// topics are what flashes are about, in both languages.
var topics = []struct {
	en, cn    string
	kind, tab int64
	member    int64
}{
	{"Simulated: bitcoin (BTC) ETF sees an inflow of %d million dollars", "模拟：比特币 BTC ETF 净流入 %d 百万美元", 0, 1, 0},
	{"Simulated: a whale moved %d ETH (ethereum) to an exchange", "模拟：巨鲸向交易所转入 %d 枚以太坊 ETH", 0, 2, 0},
	{"Simulated: Binance will list SIM%d", "模拟：币安将上线 SIM%d", 21, 3, 477},
	{"Simulated: OKX will list SIM%d", "模拟：欧易将上线 SIM%d", 21, 3, 1509},
	{"Simulated: an analyst expects solana (SOL) at %d dollars", "模拟：分析师预计 SOL 升至 %d 美元", 0, 4, 0},
	{"Simulated: stablecoin supply (USDT, USDC) grows by %d million", "模拟：稳定币 USDT、USDC 供应增加 %d 百万", 0, 1, 0},
}

// posts are what posts say, in both languages, one an hour in turn: they answer the words
// that people search for.
var posts = []struct{ en, cn string }{
	{"bitcoin (BTC) looks strong, says nobody: no ETF, no halving and no whale moved its price", "无人表示比特币 BTC 走势强劲：ETF、减半与巨鲸均未影响价格"},
	{"ethereum (ETH) gas is cheap on Layer2, and DeFi and staking go on as before", "以太坊 ETH 在 Layer2 上 Gas 便宜，DeFi 与质押照旧"},
	{"solana (SOL) has another meme coin, beside DOGE, SHIB and PEPE, and nobody buys it", "索拉纳 SOL 又有一个 meme 迷因币，与狗狗币 DOGE、SHIB、PEPE 并列，无人购买"},
	{"the Fed and the SEC decided nothing: no rate cut, no inflation figure, no regulation of crypto", "美联储与 SEC 没有任何决定：不降息，无通胀数据，加密货币监管不变"},
	{"an airdrop of points on Hyperliquid (HYPE) was not announced, nor a listing on Binance, OKX or Bybit", "Hyperliquid HYPE 积分空投未公布，币安、欧易、Bybit 亦无上币"},
	{"stablecoins: USDT and USDC are worth a dollar, and XRP, BNB, ADA and LINK are not", "稳定币 USDT 与 USDC 等于一美元，瑞波 XRP、BNB、ADA、LINK 并非如此"},
	{"AI agents, NFT and RWA tokens on Web3 wait for a bull market; the funding rate waits, too", "AI 代理、NFT 与 RWA 代币在 Web3 等待牛市，资金费率也在等待"},
	{"no exchange was hacked, and no trader was liquidated, long or short, in futures or in spot trading", "没有交易所被黑客攻击，合约与现货交易中无人爆仓，多空皆无"},
}

// Flashes are those of the last days before a time, newest first: flashes in both languages
// at one time, and now and then a post.
func Flashes(now time.Time) (list []Flash) {
	newest := now.UTC().Truncate(time.Hour).Unix()
	for at := newest; at > newest-days*24*3600; at -= each {
		n := at / each
		topic := topics[n%int64(len(topics))]
		for i, text := range []string{topic.en, topic.cn} {
			text = fmt.Sprintf(text, n%900+100)
			list = append(list, Flash{
				ID: 4*n + int64(i), Time: at, Language: []string{"en", "cn"}[i], Platform: "house", Title: text, Content: text + []string{". Nothing of it is true.", "。内容均为虚构。"}[i],
				FlashType: topic.kind, MemberID: topic.member, Tab: topic.tab, Important: n%5 == 0, Source: "Simulated Desk", Link: fmt.Sprint("https://flashes.example/", n),
			})
		}
		if n%3 > 0 {
			continue
		}
		post := posts[n/3%int64(len(posts))]
		for i, text := range []string{"Simulated post: " + post.en + ".", "模拟帖子：" + post.cn + "。"} {
			list = append(list, Flash{
				ID: 4*n + 2 + int64(i), Time: at + 60, Language: []string{"en", "cn"}[i], Platform: "social", Content: fmt.Sprint(text, " #", n%1000), TransContent: []string{"模拟帖子。", "Simulated post."}[i],
				Source: Members()[n/3%3].Name, Link: fmt.Sprint("https://posts.example/", n), TweetID: fmt.Sprint(n), Hot: n%9 == 0,
				Likes: n % 501, Replies: n % 31, Retweets: n % 77, Views: n % 50_021,
			})
		}
	}
	return list
}

// Members are the authors of posts.
func Members() []Member {
	return []Member{
		{"simulated-1", "Simulated Analyst", "social", 120_345, "Nobody writes under this name.", "analyst"},
		{"simulated-2", "Simulated Trader", "social", 8_001, "Nobody writes under this name.", "trader, futures"},
		{"simulated-3", "模拟作者", "social", 990, "并无此人。", ""},
	}
}
