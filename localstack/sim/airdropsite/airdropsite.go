// Package airdropsite is airdrops of our own making, for tests and for the local stack: a
// drop of them, in which every programme has some, ongoing, upcoming and finished ones.
//
// When they begin and end follows from the day (UTC) on which they are made, so that a stack
// always shows live ones; on one day the drop is always the same. Nothing of it is given
// away: names and texts say that they are simulated.
package airdropsite

import (
	"fmt"
	"time"

	"quotary/localstack/sim"
)

// Airdrop is a line of the drop. Times are Unix ms.
type Airdrop struct {
	ID            string `json:"airdrop_id"`
	Source        string `json:"source"`
	Activity      string `json:"activity_type,omitempty"`
	Exchange      string `json:"exchange"`
	Project       string `json:"project_id"`
	Name          string `json:"project_name"`
	NameCN        string `json:"project_name_cn,omitempty"`
	Symbol        string `json:"token_symbol"`
	TitleEN       string `json:"title_en"`
	TitleCN       string `json:"title_cn,omitempty"`
	TitleTC       string `json:"title_tc,omitempty"`
	SubtitleEN    string `json:"subtitle_en,omitempty"`
	SubtitleCN    string `json:"subtitle_cn,omitempty"`
	DescriptionEN string `json:"description_en,omitempty"`
	DescriptionCN string `json:"description_cn,omitempty"`
	ContentEN     string `json:"content_en"`
	ContentCN     string `json:"content_cn,omitempty"`
	Published     int64  `json:"publish_time"`
	Start         int64  `json:"start_time"`
	End           int64  `json:"end_time,omitempty"`
	SourceURL     string `json:"source_url"`
	ActionURL     string `json:"action_url,omitempty"`
	Image         string `json:"background_image,omitempty"`
	Banner        int64  `json:"banner_rank,omitempty"`
}

// made is what airdrops are made of: days before and behind the day, and an end of 0 days
// is not known.
var made = []struct {
	source, activity, exchange, symbol string
	begins, ends                       int
	banner                             int64
}{
	{"hodler", "", "binance", "SIMA", -2, 3, 1},
	{"hodler", "", "binance", "SIMB", -20, -15, 0},
	{"xlaunch", "", "okx", "SIMC", 1, 8, 2},
	{"xlaunch", "", "okx", "SIMD", -60, -53, 0},
	{"earncoin", "trading", "okx", "SIME", -5, 9, 0},
	{"alpha", "", "binance", "SIMF", -1, 0, 3},
	{"venue_launchpool", "", "bitget", "SIMG", -3, 4, 0},
	{"venue_launchpool", "", "bybit", "SIMH", 2, 12, 0},
	{"venue_poolx", "", "bitget", "SIMI", -1, 6, 0},
}

// Airdrops are those that there are on the day of a time.
func Airdrops(now time.Time) []Airdrop {
	day := now.UTC().Truncate(24 * time.Hour)
	at := func(days int) int64 { return day.AddDate(0, 0, days).UnixMilli() }
	list := make([]Airdrop, len(made))
	numbers := map[string]int{}
	for i, m := range made {
		numbers[m.source]++
		id := fmt.Sprintf("simulated-%s-%d", m.source, numbers[m.source])
		a := Airdrop{
			ID: id, Source: m.source, Activity: m.activity, Exchange: m.exchange, Project: fmt.Sprint("project-", m.symbol), Symbol: m.symbol,
			Name: fmt.Sprintf("Simulated %s", m.symbol), NameCN: fmt.Sprintf("模拟 %s", m.symbol),
			TitleEN: fmt.Sprintf("Simulated: %s for holders & friends", m.symbol), TitleCN: fmt.Sprintf("模拟：%s 空投", m.symbol), TitleTC: fmt.Sprintf("模擬：%s 空投", m.symbol),
			DescriptionEN: "Nothing is given away.", DescriptionCN: "本活动为模拟内容。",
			ContentEN: fmt.Sprintf("# %s\n\nThis campaign is made up. [Rules](https://airdrops.example/%s)\n\n- Hold\n- Wait\n", m.symbol, id),
			ContentCN: fmt.Sprintf("# %s\n\n本活动为模拟内容。\n", m.symbol),
			Published: min(at(m.begins-1), day.UnixMilli()), Start: at(m.begins), SourceURL: "https://airdrops.example/" + id, Banner: m.banner,
		}
		if m.ends != 0 {
			a.End = at(m.ends)
		}
		if m.banner > 0 {
			a.SubtitleEN, a.SubtitleCN, a.ActionURL, a.Image = "Simulated", "模拟", a.SourceURL+"/join", "https://airdrops.example/"+id+".png"
		}
		list[i] = a
	}
	return list
}

// Drop is the airdrops of a day as a drop.
func Drop(now time.Time) []byte { return sim.Lines(Airdrops(now)) }
