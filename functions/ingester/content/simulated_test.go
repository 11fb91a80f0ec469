package content

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim"
	"quotary/localstack/sim/flashsite"
	"quotary/shared/data/flashes"
	"quotary/shared/data/members"
	"quotary/shared/search"
)

// Every line is one that the ingester takes, and the drops of an hour are the same.
func TestSimulatedDropsAreTaken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 10, 59, 0, 0, time.UTC)
	lines := sim.Lines(flashsite.Flashes(now))
	if !bytes.Equal(lines, sim.Lines(flashsite.Flashes(now.Add(-50*time.Minute)))) {
		t.Error("the drops of an hour differ")
	}
	count, ids := map[string]int{}, map[int64]bool{}
	for line := range bytes.Lines(lines) {
		e, err := flashes.Parse(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if ids[e.ID] {
			t.Fatalf("two flashes have the id %d", e.ID)
		}
		ids[e.ID] = true
		count[e.Platform+" "+e.Language]++
	}
	for _, list := range []string{"house en", "house cn", "social en", "social cn"} {
		if count[list] < 50 {
			t.Errorf("%d of %s", count[list], list)
		}
	}
	for line := range bytes.Lines(sim.Lines(flashsite.Members())) {
		if _, err := members.Parse(line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}

// What people search for is found in both lists, and in both languages.
func TestCommonWordsAreFoundInSimulatedFlashes(t *testing.T) {
	t.Parallel()
	documents := map[string][]search.Document{}
	for _, f := range flashsite.Flashes(time.Date(2026, 11, 23, 10, 59, 0, 0, time.UTC)) {
		list := f.Platform + " " + f.Language
		documents[list] = append(documents[list], search.Document{ID: f.ID, Time: f.Time, Text: f.Title + " " + f.Content})
	}
	const both = "BTC ETH SOL USDT ETF"
	for list, words := range map[string]string{
		"house en":  both + " bitcoin ethereum solana whale binance okx",
		"house cn":  both + " 比特币 以太坊 币安 巨鲸 稳定币",
		"social en": both + " binance okx bitcoin ethereum solana XRP DOGE BNB HYPE whale airdrop defi NFT AI meme layer2 staking halving fed sec regulation crypto bybit hyperliquid listing stablecoins liquidated futures funding",
		"social cn": both + " 比特币 以太坊 空投 稳定币 美联储 降息 监管 加密货币 巨鲸 币安 欧易 合约 爆仓 资金费率 交易所 牛市 狗狗币 XRP DOGE defi NFT AI",
	} {
		index := search.NewIndex(search.Build(documents[list]))
		for word := range strings.FieldsSeq(words) {
			if _, n := index.Find(word, 0, 20); n == 0 {
				t.Errorf("%s of %s is not found", word, list)
			}
		}
	}
}
