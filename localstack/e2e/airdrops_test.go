package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/localstack/sim/airdropsite"
	"quotary/localstack/sim/announcements"
	"quotary/shared/testing/testenv"
)

// airdropRow is a row of airdrop/list.
type airdropRow struct {
	ID       string `json:"airdropId"`
	Name     string `json:"projectName"`
	Symbol   string `json:"tokenSymbol"`
	Exchange string `json:"exchange"`
	Activity string `json:"activityType"`
	Status   int    `json:"status"`
	Source   string `json:"source"`
}

type airdropPage struct {
	Count int          `json:"count"`
	List  []airdropRow `json:"list"`
}

// TestAnnouncedCampaignsAreAirdrops wants the newest campaign that each simulated exchange
// announces to be listed.
func TestAnnouncedCampaignsAreAirdrops(t *testing.T) {
	t.Parallel()
	if world.Announcements == nil {
		t.Skip("no simulated upstreams")
	}
	for _, exchange := range []string{announcements.Binance, announcements.Bybit, announcements.OKX} {
		a := world.Announcements.Airdrops(exchange, time.Now())[0]
		testenv.Until(t, "the newest campaign of "+exchange+" is listed", func() bool {
			list := data[airdropPage](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", "/upgrade/v2/content/airdrop/list?page_size=500&exchange="+exchange+"&source="+a.Programme, nil))
			return slices.ContainsFunc(list.List, func(r airdropRow) bool {
				r.Status = 0
				return r == airdropRow{r.ID, a.Name, a.Symbol, exchange, a.Programme, 0, a.Programme}
			})
		})
	}
}

// TestAirdropsAreThoseOfTheDrop compares lists, details, banners and the calendar with the
// drop that the stack began with.
func TestAirdropsAreThoseOfTheDrop(t *testing.T) {
	t.Parallel()
	if world.Coins == nil {
		t.Skip("no simulated upstreams")
	}
	key := world.State.Demo.SubKey
	const path = "/upgrade/v2/content/airdrop/"
	now := time.Now()
	dropped := airdropsite.Airdrops(now)
	slices.SortFunc(dropped, func(a, b airdropsite.Airdrop) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(a.ID, b.ID))
	})
	want := map[string]airdropPage{"ongoing": {}, "finished": {}}
	for _, a := range dropped {
		r := airdropRow{a.ID, a.NameCN, a.Symbol, a.Exchange, cmp.Or(a.Activity, a.Source), 1, a.Source}
		list := "ongoing"
		switch {
		case a.End != 0 && a.End <= now.UnixMilli():
			list, r.Status = "finished", 2
		case a.Start > now.UnixMilli():
			r.Status = 0
		}
		p := want[list]
		want[list] = airdropPage{p.Count + 1, append(p.List, r)}
	}
	for status, shown := range want {
		for _, older := range []string{path + "list", "/v2/content/airdrop/list"} {
			var got airdropPage
			testenv.Until(t, "the list has the drop's", func() bool {
				got = data[airdropPage](t, call(t, http.StatusOK, key, "GET", older+"?lan=cn&page_size=500&status="+status, nil))
				announced := len(got.List)
				got.List = slices.DeleteFunc(got.List, func(r airdropRow) bool { return !strings.HasPrefix(r.ID, "simulated-") })
				got.Count -= announced - len(got.List)
				return got.Count == shown.Count
			})
			if diff := gocmp.Diff(shown, got); diff != "" {
				t.Errorf("%s (-dropped +answered):\n%s", status, diff)
			}
		}
	}
	type article struct {
		Title     string `json:"title"`
		Activity  string `json:"activityType"`
		Exchange  string `json:"exchange"`
		Project   string `json:"projectId"`
		Published int64  `json:"publishDate"`
		URL       string `json:"sourceUrl"`
		Content   string `json:"contentMd"`
	}
	banners := map[int64]string{}
	for _, a := range dropped {
		for lan, texts := range map[string][2]string{"en": {a.TitleEN, a.ContentEN}, "cn": {a.TitleCN, a.ContentCN}, "tc": {a.TitleTC, a.ContentEN}} {
			got := data[article](t, call(t, http.StatusOK, key, "GET", fmt.Sprintf("%sdetail?type=%s&token=%s&lan=%s", path, a.Source, a.Symbol, lan), nil))
			shown := article{texts[0], cmp.Or(a.Activity, a.Source), a.Exchange, a.Project, a.Published, a.SourceURL, texts[1]}
			if diff := gocmp.Diff(shown, got); diff != "" {
				t.Errorf("%s in %s (-dropped +answered):\n%s", a.ID, lan, diff)
			}
		}
		banners[a.Banner] = a.ID
	}
	type banner struct {
		ID string `json:"airdropId"`
	}
	answer := data[struct {
		Count         int
		Banners, List []banner
	}](t, call(t, http.StatusOK, key, "GET", path+"banner", nil))
	if shown := []banner{{banners[1]}, {banners[2]}, {banners[3]}}; answer.Count != 3 || !slices.Equal(answer.Banners, shown) || !slices.Equal(answer.List, shown) {
		t.Errorf("the banners are %+v", answer)
	}
	first := time.UnixMilli(dropped[0].Start).UTC()
	month := data[struct {
		Count int `json:"count"`
		List  []struct {
			Date string `json:"date"`
			List []struct {
				Event string `json:"event"`
				ID    string `json:"airdropId"`
			} `json:"list"`
		} `json:"list"`
	}](t, call(t, http.StatusOK, key, "GET", fmt.Sprintf("%scalendar?year=%d&month=%d", path, first.Year(), first.Month()), nil))
	found := false
	for _, day := range month.List {
		for _, e := range day.List {
			found = found || day.Date == first.Format(time.DateOnly) && e.Event == "start" && e.ID == dropped[0].ID
		}
	}
	if !found {
		t.Errorf("the calendar has no beginning of %s: %+v", dropped[0].ID, month)
	}
}
