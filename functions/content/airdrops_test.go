package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/airdrops"
	"quotary/shared/data/drop"
	"quotary/shared/store/storetest"
)

const (
	airdropPath = "/upgrade/v2/content/airdrop/"
	day         = int64(24 * 3600 * 1000) // ms
)

// sample is airdrops that have begun, have not, and have ended at a time.
func sample(now time.Time) []airdrops.Airdrop {
	at := now.UnixMilli()
	list := []airdrops.Entry{
		{AirdropID: "simulated-hodler-1", Source: "hodler", ActivityType: "hodler", Exchange: "binance", ProjectID: "acme", ProjectName: "Acme", ProjectNameCN: "顶点", TokenSymbol: "ACME",
			TitleEN: "Acme & friends", TitleCN: "顶点与朋友", TitleTC: "頂點與朋友", DescriptionEN: "Hold and receive.", SubtitleCN: "持有即得", ContentEN: "# Acme\n\n[More](https://acme.example)", ContentCN: "# 顶点",
			PublishTime: at - 3*day, StartTime: at - 2*day, EndTime: at + 2*day, SourceURL: "https://acme.example/hodler", BackgroundImage: "https://img.example/acme.png", BannerRank: 2},
		{AirdropID: "x-1", Source: "xlaunch", ActivityType: "xlaunch", Exchange: "okx", ProjectID: "x-1", ProjectName: "Later", TokenSymbol: "LAT", TitleTC: "稍後",
			StartTime: at + day, EndTime: at + 9*day, SourceURL: "https://later.example", ActionURL: "https://later.example/join", ButtonEN: "Join", BannerRank: 1},
		{AirdropID: "pool-1", Source: "venue_launchpool", ActivityType: "venue_launchpool", Exchange: "bitget", ProjectID: "pool-1", ProjectName: "Pool", TokenSymbol: "POOL", Status: "ongoing"},
		{AirdropID: "dance-1", Source: "venue_poolx", ActivityType: "dance", ActivityNameEN: "Dancing", Exchange: "nobody", ProjectID: "dance-1", ProjectName: "Dance", StartTime: at - 60*day, EndTime: at - 50*day},
		{AirdropID: "old-1", Source: "hodler", ActivityType: "hodler", Exchange: "binance", ProjectID: "old-1", ProjectName: "Old", TokenSymbol: "ACME", StartTime: at - 90*day},
		{AirdropID: "hidden-1", Source: "hodler", ActivityType: "hodler", Exchange: "secret", ProjectID: "hidden-1", ProjectName: "Hidden", Hidden: true, BannerRank: 1, EndTime: at + day},
	}
	drops := make([]airdrops.Airdrop, len(list))
	for i, e := range list {
		drops[i] = airdrops.Airdrop{Entry: e, Place: drop.Place{Time: at - 4*day, File: "a.ndjson", Line: int64(i) + 1}}
	}
	return drops
}

// newAirdrops is a world in which those airdrops are stored that a function returns for its
// time; nil stores none.
func newAirdrops(t *testing.T, list func(time.Time) []airdrops.Airdrop) *apitest.World {
	t.Helper()
	w, log, views := openContent(t)
	if list == nil {
		return w
	}
	all := list(w.Now())
	storetest.PutLog(t, log, airdrops.Name, airdrops.AppendRows, all...)
	for i := range all {
		all[i] = all[i].WithoutContent()
	}
	storetest.Publish(t, views, airdrops.Published, airdrops.NewView(all))
	return w
}

func TestAirdropsAreAnsweredAsDocumented(t *testing.T) {
	t.Parallel()
	w := newAirdrops(t, sample)
	get := func(query string) apitest.Answer { return w.Get(t, w.SubKey, airdropPath+query) }
	get("list").Golden(t, "airdrop-list")
	w.Get(t, w.SubKey, "/v2/content/airdrop/list?source=all&status=finished&lan=cn").Golden(t, "airdrop-list-finished")
	get("detail?type=hodler&token=simulated-hodler-1").Golden(t, "airdrop-detail")
	get("detail?type=hodler&token=acme&lan=cn").Golden(t, "airdrop-detail-chinese")
	get("banner?limit=5").Golden(t, "airdrop-banner")
	get("exchanges").Golden(t, "airdrop-exchanges")
	now := w.Now()
	get(fmt.Sprintf("calendar?year=%d&month=%d&lan=tc", now.Year(), now.Month())).Golden(t, "airdrop-calendar")
}

// ids of a list that a query selects.
func listed(t *testing.T, w *apitest.World, query string) (ids string, count int64) {
	t.Helper()
	list := apitest.Data[catalog.Airdrops](t, w.Get(t, w.SubKey, airdropPath+"list"+query))
	var all []string
	for _, a := range list.List {
		all = append(all, a.AirdropID)
	}
	return strings.Join(all, " "), list.Count
}

func TestAirdropsAreSelected(t *testing.T) {
	t.Parallel()
	w := newAirdrops(t, sample)
	for query, want := range map[string]string{
		"":                    "3: x-1 simulated-hodler-1 pool-1",
		"?source=hodler":      "1: simulated-hodler-1",
		"?source=xlaunch":     "1: x-1",
		"?source=alpha":       "0: ",
		"?source=earncoin":    "0: ",
		"?source=venue_poolx": "0: ",
		"?status=finished":    "2: dance-1 old-1",
		"?source=hodler&status=finished&page=1&page_size=20":   "1: old-1",
		"?source=bitget_launchpool":                            "1: pool-1",
		"?source=venue_launchpool&exchange=bitget":             "1: pool-1",
		"?source=bitget_poolx&status=finished":                 "1: dance-1",
		"?activity_type=Dance&status=finished":                 "1: dance-1",
		"?activity_type=none":                                  "0: ",
		"?exchange=okx":                                        "1: x-1",
		"?exchange=OKEX":                                       "1: x-1",
		"?exchange=who knows":                                  "0: ",
		"?exchange=binance&source=xlaunch":                     "0: ",
		"?page=2&page_size=2":                                  "3: pool-1",
		"?page=3&page_size=2":                                  "3: ",
		"?page=9000000000000000&page_size=9000000000000000":    "3: ",
		"?lan=tc&nobody=knows&AccessToken=x":                   "3: x-1 simulated-hodler-1 pool-1",
		"?exchange=&activity_type=&source=&status=&lan=&page=": "3: x-1 simulated-hodler-1 pool-1",
	} {
		ids, count := listed(t, w, strings.ReplaceAll(query, " ", "%20"))
		if got := fmt.Sprintf("%d: %s", count, ids); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, part := range map[string]string{
		"?source=nobody": "invalid source", "?status=upcoming": "invalid status", "?page=0": "invalid page", "?page_size=0": "invalid page_size",
		"?page_size=x": "invalid page_size", "?lan=fr": "invalid lan",
	} {
		w.Get(t, w.SubKey, airdropPath+"list"+query).Refused(t, http.StatusBadRequest, part)
	}
}

func TestAnAirdropIsFoundByWhatClientsKnowOfIt(t *testing.T) {
	t.Parallel()
	w := newAirdrops(t, sample)
	for query, want := range map[string]string{
		"type=hodler&token=acme": "Acme & friends", "type=hodler&token=Acme": "Acme & friends", "type=hodler&token=simulated-hodler-1&lan=tc": "頂點與朋友", "type=xlaunch&token=LAT": "稍後",
		"type=hodler&token=old-1": "Old", "type=bitget_launchpool&token=pool": "Pool", "type=venue_poolx&token=dance-1": "Dance",
	} {
		if got := apitest.Data[catalog.AirdropArticle](t, w.Get(t, w.SubKey, airdropPath+"detail?"+query)); got.Title != want {
			t.Errorf("%s is %q, want %q", query, got.Title, want)
		}
	}
	w.Get(t, w.SubKey, airdropPath+"detail?type=hodler&token=hidden-1").Refused(t, http.StatusNotFound, "no airdrop of the type hodler has this token")
	w.Get(t, w.SubKey, airdropPath+"detail?type=xlaunch&token=acme").Refused(t, http.StatusNotFound, "no airdrop")
	w.Get(t, w.SubKey, airdropPath+"detail?type=all&token=acme").Refused(t, http.StatusBadRequest, "invalid type")
	w.Get(t, w.SubKey, airdropPath+"detail?type=hodler").Refused(t, http.StatusBadRequest, "missing token")
	w.Get(t, w.SubKey, airdropPath+"detail?token=acme").Refused(t, http.StatusBadRequest, "missing type")
	w.Get(t, w.SubKey, airdropPath+"detail?type=hodler&token="+strings.Repeat("x", 65)).Refused(t, http.StatusBadRequest, "invalid token")
}

func TestBannersAreTheSameUnderBothNames(t *testing.T) {
	t.Parallel()
	w := newAirdrops(t, sample)
	for query, want := range map[string]string{"": "稍後,Acme & friends", "?limit=1": "稍後", "?lan=cn&limit=100": "稍後,顶点与朋友"} {
		b := apitest.Data[catalog.AirdropBanners](t, w.Get(t, w.SubKey, airdropPath+"banner"+query))
		var titles, again []string
		for i := range b.Banners {
			titles, again = append(titles, b.Banners[i].Title), append(again, b.List[i].Title)
		}
		if got := strings.Join(titles, ","); got != want || strings.Join(again, ",") != want || b.Count != int64(len(titles)) {
			t.Errorf("%s: %d are %s", query, b.Count, got)
		}
	}
	w.Get(t, w.SubKey, airdropPath+"banner?limit=101").Refused(t, http.StatusBadRequest, "100")
	w.Get(t, w.SubKey, airdropPath+"banner?limit=0").Refused(t, http.StatusBadRequest, "invalid limit")
}

func TestTheCalendarHasTheDaysOfItsMonth(t *testing.T) {
	t.Parallel()
	may := time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	w := newAirdrops(t, func(time.Time) (list []airdrops.Airdrop) {
		for i, times := range [][2]int64{{may - day, may}, {may - 1, may - 1 + 40*day}, {may + 30*day, may + 31*day - 1}, {may, may + 31*day}} {
			list = append(list, airdrops.Airdrop{Entry: airdrops.Entry{AirdropID: fmt.Sprint(i), StartTime: times[0], EndTime: times[1], Source: "alpha", Exchange: "binance", ProjectName: "P"},
				Place: drop.Place{Time: may, File: "a", Line: int64(i) + 1}})
		}
		return list
	})
	month := func(query string) (days string) {
		m := apitest.Data[catalog.AirdropMonth](t, w.Get(t, w.SubKey, airdropPath+"calendar?"+query))
		for _, d := range m.List {
			days += d.Date + ":"
			for _, e := range d.List {
				days += " " + e.Event + " " + e.AirdropID
			}
			days += fmt.Sprintf(" (%d of %d); ", d.Count, m.Count)
		}
		return days
	}
	for query, want := range map[string]string{
		"year=2027&month=5":  "2027-05-01: end 0 start 3 (2 of 4); 2027-05-31: start 2 end 2 (2 of 4); ",
		"year=2027&month=04": "2027-04-30: start 0 start 1 (2 of 2); ",
		"year=2027&month=6":  "2027-06-01: end 3 (1 of 2); 2027-06-09: end 1 (1 of 2); ",
		"year=2027&month=7":  "", "year=9999&month=12": "",
	} {
		if got := month(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, part := range map[string]string{
		"": "missing year", "year=2027": "missing month", "month=5": "missing year", "year=27&month=5": "invalid year", "year=2027&month=13": "invalid month",
		"year=2027&month=0": "invalid month", "year=2027&month=May": "invalid month", "year=2027&month=5&lan=xx": "invalid lan",
	} {
		w.Get(t, w.SubKey, airdropPath+"calendar?"+query).Refused(t, http.StatusBadRequest, part)
	}
}

func TestWithoutAirdropsListsAreEmpty(t *testing.T) {
	t.Parallel()
	w := newAirdrops(t, nil)
	for query, want := range map[string]string{
		"list": `{"count":0,"list":[]}`, "banner": `{"count":0,"banners":[],"list":[]}`, "exchanges": `{"exchanges":[],"activityTypes":[]}`,
		"calendar?year=2027&month=5": `{"year":2027,"month":5,"count":0,"list":[]}`,
	} {
		if a := w.Get(t, w.SubKey, airdropPath+query); a.Status != http.StatusOK || string(a.Body) != `{"code":"0","msg":"success","data":`+want+`}` {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	w.Get(t, w.SubKey, airdropPath+"detail?type=hodler&token=x").Refused(t, http.StatusNotFound, "no airdrop")
}
