package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/data/flashindex"
	"quotary/shared/data/members"
	"quotary/shared/search"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const (
	flashPath   = "/upgrade/v2/content/newsflash/"
	socialPath  = "/upgrade/v2/content/social/"
	twitterPath = "/upgrade/v2/content/twitter/"
)

// sampleFlashes are flashes and posts, each a minute before the one above.
func sampleFlashes(now time.Time) []flashes.Flash {
	entries := []flashes.Entry{
		{ID: 9, Language: "en", Title: "Bitcoin rises & falls", Content: "BTC/USDT fell by 2.5%.", TransTitle: "比特币", FlashType: 23, Important: true, Tab: 3, Source: "Desk", Avatar: "https://img.example/desk.png", Link: "https://news.example/9"},
		{ID: 8, Language: "cn", Title: "比特币上涨", Content: "据监测，比特币上涨 3%。", FlashType: 4},
		{ID: 7, Language: "en", Title: "Listed: SIM", Content: "SIM/USDT trades from today on.", FlashType: 21, MemberID: 1509, Tab: 3},
		{ID: 6, Language: "en", Title: "Hidden", Content: "Nobody sees it.", Hidden: true},
		{ID: 5, Language: "en", Title: "Listed: SIM2", Content: "On another exchange, said the bitcoin desk.", FlashType: 21, MemberID: 1510, Important: true},
		{ID: 4, Language: "en", Platform: flashes.Social, Content: "Bitcoin to the moon", Source: "A. Writer", Avatar: "https://img.example/a.png", Link: "https://social.example/4", TweetID: "t-4",
			Pictures: "https://img.example/4.png", PersonOpinion: "Bold.", Hot: true, CommentCount: 1, LikeCount: 2, ReplyCount: 3, RetweetCount: 4, ViewCount: 5},
		{ID: 3, Language: "en", Platform: flashes.Social, Content: "Bitcoin is boring", Source: "B. Writer"},
		{ID: 2, Language: "cn", Platform: flashes.Social, Content: "比特币 bitcoin", Source: "甲"},
	}
	all := make([]flashes.Flash, len(entries))
	for i, e := range entries {
		e.Time = now.Add(-time.Duration(i) * time.Minute).Unix()
		if e.Platform == "" {
			e.Platform = flashes.House
		}
		all[i] = flashes.Flash{Entry: e, Place: drop.Place{Time: now.UnixMilli(), File: "a.ndjson", Line: int64(i) + 1}}
	}
	return all
}

// newFlashes is a world with flashes and members, and with unseen ones, which are in the log
// alone; nil stores nothing.
func newFlashes(t *testing.T, list func(time.Time) []flashes.Flash, unseen ...func(time.Time) []flashes.Flash) *apitest.World {
	t.Helper()
	w, log, views := openContent(t)
	if list == nil {
		return w
	}
	for _, more := range unseen {
		storetest.PutLog(t, log, flashes.Name, flashes.AppendRows, more(w.Now())...)
	}
	all := list(w.Now())
	storetest.PutLog(t, log, flashes.Name, flashes.AppendRows, all...)
	documents := map[string][]search.Document{}
	for _, f := range all {
		if !f.Hidden {
			documents[f.Platform] = append(documents[f.Platform], search.Document{ID: f.ID, Time: f.Time, Title: f.Title, Text: f.Content})
		}
	}
	for platform, list := range documents {
		var tree flashindex.Builder
		tree.Add(list)
		for level, body := range tree.Changed() {
			if body != nil {
				must.Do(t, views.Publish(t.Context(), flashindex.Name(platform, level), body))
			}
		}
	}
	newest := map[int64]flashes.Flash{}
	for _, f := range all {
		if have, ok := newest[f.ID]; !ok || have.Place.Compare(f.Place) < 0 {
			newest[f.ID] = f
		}
	}
	storetest.Publish(t, views, flashes.Published, flashes.NewView(slices.Collect(maps.Values(newest))))
	authors := []members.Entry{
		{MemberID: "a", Name: "Example Desk", Type: members.TypeSocial, Avatar: "https://img.example/a.png", Followers: 1234, Describe: "Writes.", Labels: "analyst, trader"},
		{MemberID: "b", Name: "Desk of B", Type: members.TypeSocial, Followers: 5}, {MemberID: "c", Name: "Desk C", Type: "exchange"},
	}
	var known []members.Member
	for i, e := range authors {
		known = append(known, members.Member{Entry: e, Place: drop.Place{Time: 1, File: "a", Line: int64(i) + 1}})
	}
	storetest.Publish(t, views, members.Published, members.NewView(known))
	return w
}

func TestFlashesAndPosts(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, sampleFlashes)
	for name, path := range map[string]string{
		"newsflash": "/v2/content/newsflash?language=en", "flash-list": "/v2/content/flashList?language=en",
		"exchange-listing-flash": "/v2/content/exchange-listing-flash?language=en&memberIds=477,1509",
		"newsflash-search":       flashPath + "search?word=bitcoin", "newsflash-list": flashPath + "list?lan=en&pagesize=2", "newsflash-detail": flashPath + "detail?flash_id=9",
		"social-latest": socialPath + "latest?language=en", "social-search": socialPath + "search?keyword=bitcoin&language=en", "social-members": socialPath + "members?word=desk",
		"twitter-latest": twitterPath + "latest?language=cn", "twitter-search": twitterPath + "search?keyword=boring&language=en", "twitter-members": twitterPath + "members?word=example",
	} {
		t.Run(name, func(t *testing.T) { w.Get(t, w.SubKey, path).Golden(t, name) })
	}
	for name, path := range map[string]string{"social-interaction-stats": socialPath, "twitter-interaction-stats": twitterPath} {
		t.Run(name, func(t *testing.T) {
			w.Call(t, w.SubKey, http.MethodPost, path+"interaction-stats", map[string]any{"flash_ids": []int{4, 77, 3}}).Golden(t, name)
		})
	}
}

// TestListsOfFlashes names what each request shows, by number.
func TestListsOfFlashes(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, sampleFlashes)
	now := w.Now()
	day := now.UTC().Format(time.DateOnly)
	for path, want := range map[string]string{
		"/v2/content/newsflash":             "8",
		"/v2/content/newsflash?language=tc": "8",
		"/v2/content/newsflash?language=CN": "8",
		"/v2/content/flashList?language=En": "9 7 5",
		"/v2/content/flashList?language=en": "9 7 5",
		fmt.Sprint("/v2/content/flashList?language=en&createtime=", now.Add(-2*time.Minute).Unix()): "9 7",
		fmt.Sprint("/v2/content/flashList?language=en&createtime=", now.Unix()+1):                   "",
		"/v2/content/exchange-listing-flash?language=en":                                            "7",
		"/v2/content/exchange-listing-flash?language=en&memberIds[]=1510&memberIds[]=1509":          "7 5",
		"/v2/content/exchange-listing-flash?language=en&memberIds=1509,1510&pageSize=1":             "7",
		"/v2/content/exchange-listing-flash?language=en&memberIds=1510,null,1509,1,2,3,1510,1":      "7 5",
	} {
		if got := numbers(apitest.Data[[]numbered](t, w.Get(t, w.SubKey, path))); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{
		flashPath + "list":                                                                                      "8",
		flashPath + "list?lan=en":                                                                               "9 7 5",
		flashPath + "list?lan=EN&platform_show=House":                                                           "9 7 5",
		flashPath + "list?lan=en&last_id=9":                                                                     "7 5",
		flashPath + "list?lan=en&last_id=6":                                                                     "5", // which is hidden
		flashPath + "list?lan=en&last_id=5":                                                                     "",
		flashPath + "list?lan=en&last_id=12345":                                                                 "",
		flashPath + "list?lan=en&tab=3":                                                                         "9 7",
		flashPath + "list?lan=en&only_important=1":                                                              "9 5",
		flashPath + "list?lan=en&tab=3&only_important=1":                                                        "9",
		flashPath + "list?lan=en&platform_show=social":                                                          "4 3",
		flashPath + "list?lan=en&platform_show=twitter":                                                         "4 3",
		flashPath + "list?lan=en&platform_show=aicoin":                                                          "9 7 5",
		flashPath + "list?lan=en&jump_to_date=1999-01-01":                                                       "9 7 5", // not in its mode
		flashPath + "list?lan=en&start_date=2026-01-02&end_date=2026-01-01&jump_to_date=x":                      "9 7 5", // neither
		flashPath + "list?lan=en&date_mode=jump&jump_to_date=" + day:                                            "9 7 5",
		flashPath + "list?lan=en&date_mode=jump&jump_to_date=1999-01-01":                                        "",
		flashPath + "list?lan=en&date_mode=range&start_date=" + day + "&end_date=" + day:                        "9 7 5",
		flashPath + "list?lan=en&date_mode=range&start_date=1999-01-01&end_date=1999-01-02":                     "",
		flashPath + "list?lan=en&date_mode=range&pagesize=2&last_id=9&start_date=" + day:                        "7 5",
		flashPath + "search?word=bitcoin":                                                                       "9 5",
		flashPath + "search?word=bitcoin&size=1&page=2":                                                         "5",
		flashPath + "search?word=" + "%E6%AF%94%E7%89%B9%E5%B8%81":                                              "8",
		flashPath + "search?word=nothing":                                                                       "",
		socialPath + "latest":                                                                                   "2",
		socialPath + "latest?language=en&last_time=0":                                                           "4 3",
		socialPath + "search?keyword=bitcoin&language=en&last_time=0":                                           "4 3",
		socialPath + "latest?language=en&page_size=1":                                                           "4",
		socialPath + "search?keyword=bitcoin":                                                                   "4 3 2",
		socialPath + "search?keyword=bitcoin&language=cn":                                                       "2",
		socialPath + "search?keyword=bitcoin&language=en&page_size=1":                                           "4",
		fmt.Sprint(socialPath, "latest?language=en&page_size=1&last_time=", now.Add(-5*time.Minute).Unix()):     "3",
		fmt.Sprint(socialPath, "search?keyword=bitcoin&language=en&last_time=", now.Add(-5*time.Minute).Unix()): "3",
		twitterPath + "latest?language=en":                                                                      "4 3",
		twitterPath + "search?keyword=boring&language=en":                                                       "3",
	} {
		if got := numbers(apitest.Data[struct{ List []numbered }](t, w.Get(t, w.SubKey, path)).List); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// numbered is what has an id, as a number or as text.
type numbered struct {
	ID any `json:"id"`
}

// numbers joins the ids of a list.
func numbers(list []numbered) string {
	ids := make([]string, len(list))
	for i, one := range list {
		ids[i] = fmt.Sprint(one.ID)
	}
	return strings.Join(ids, " ")
}

func TestMembersAreSearched(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, sampleFlashes)
	for query, want := range map[string]string{
		"?word=desk": "b a", "?word=DESK&size=1": "b", "?word=desk&size=1&page=2": "a", "?word=desk&page=3": "", "?word=desk&type=exchange": "c", "?word=desk&type=twitter": "b a", "?word=nobody": "",
	} {
		for _, path := range []string{socialPath, twitterPath} {
			got := apitest.Data[catalog.FoundMembers](t, w.Get(t, w.SubKey, path+"members"+query))
			text := ""
			for i, m := range got.List {
				if i > 0 {
					text += " "
				}
				text += m.MemberID
			}
			if text != want || len(got.List) > 0 && got.LastID != got.List[len(got.List)-1].MemberID {
				t.Errorf("%s: %s, want %s; last %s", query, text, want, got.LastID)
			}
		}
	}
}

// Clients send null for an id that they could not read.
func TestStatisticsOfAnIdThatIsNullAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, sampleFlashes)
	for want, ids := range map[int][]any{0: {nil}, 2: {4, nil, "3"}} {
		list := apitest.Data[catalog.PostStatsList](t, w.Call(t, w.SubKey, http.MethodPost, socialPath+"interaction-stats", map[string]any{"flash_ids": ids}))
		if len(list.Stats) != want {
			t.Errorf("of %v there are %+v", ids, list.Stats)
		}
	}
}

func TestWhereNothingIsStoredListsAreEmpty(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, nil)
	for path, want := range map[string]string{
		"/v2/content/newsflash": `"data":[]`, "/v2/content/flashList": `"data":[]`, "/v2/content/exchange-listing-flash": `"data":[]`,
		flashPath + "list": `"data":{"isLive":true,"list":[]}`, flashPath + "search?word=x": `"data":{"total":0,"list":[]}`,
		socialPath + "latest": `"data":{"isLive":true,"list":[]}`, socialPath + "search?keyword=x": `"data":{"list":[]}`, socialPath + "members?word=x": `"data":{"lastId":"","list":[]}`,
	} {
		if a := w.Get(t, w.SubKey, path); a.Status != http.StatusOK || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// Posts of one second are on one page, as the cursor is a time.
func TestPostsOfASecondStayTogether(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, func(now time.Time) (all []flashes.Flash) {
		for n := range int64(40) {
			all = append(all, flashes.Flash{
				Entry: flashes.Entry{ID: n + 1, Time: now.Unix() - n/31, Language: "en", Platform: flashes.Social, Content: "bitcoin"},
				Place: drop.Place{Time: 1, File: "a", Line: n + 1},
			})
		}
		return all
	})
	before := w.Now().Unix()
	for _, path := range []string{"latest?language=en&page_size=20", "search?keyword=bitcoin&language=en&page_size=20"} {
		for query, want := range map[string]int{"": 31, fmt.Sprint("&last_time=", before): 9} {
			if got := apitest.Data[struct{ List []numbered }](t, w.Get(t, w.SubKey, socialPath+path+query)).List; len(got) != want {
				t.Errorf("%s%s: %d posts, want %d", path, query, len(got), want)
			}
		}
	}
}

// Lists in traditional Chinese show each flash once: its version, or the flash in Chinese where
// it has none, whether they are answered from the view or from the log.
func TestEachFlashFallsBackToChinese(t *testing.T) {
	t.Parallel()
	const unsaid = -1 // no exchange
	for name, newer := range map[string]int64{"from the view": 0, "from the log": flashes.Listed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFlashes(t, func(now time.Time) (all []flashes.Flash) {
				add := func(e flashes.Entry) {
					e.Platform, e.Title, e.MemberID = flashes.House, fmt.Sprint(e.ID), cmp.Or(e.MemberID, 477)
					if e.MemberID == unsaid {
						e.MemberID = 0
					}
					all = append(all, flashes.Flash{Entry: e, Place: drop.Place{Time: 1, File: "a", Line: int64(len(all)) + 1}})
				}
				at := now.Unix() - 5000
				add(flashes.Entry{ID: 9001, Time: at + 1, Language: "cn"})
				add(flashes.Entry{ID: 9002, Time: at + 2, Language: "cn"}) // which has a version
				add(flashes.Entry{ID: 9003, Time: at + 3, Language: "cn"}) // whose version is hidden
				add(flashes.Entry{ID: 9004, Time: at + 4, Language: "en"})
				add(flashes.Entry{ID: 9005, Time: at + 2, Language: "tc", VersionOf: 9002})
				add(flashes.Entry{ID: 9006, Time: at + 6, Language: "tc"}) // of its own
				add(flashes.Entry{ID: 9007, Time: at + 7, Language: "tc", VersionOf: 9003, Hidden: true})
				add(flashes.Entry{ID: 9008, Time: at, Language: "cn"})
				add(flashes.Entry{ID: 9009, Time: at + 8, Language: "tc", VersionOf: 9008, MemberID: unsaid}) // not said to be of a listing
				for n := range newer {                                                                        // which no request asks for
					add(flashes.Entry{ID: n + 1, Time: at + 100 + n, Language: "cn", MemberID: 1})
					add(flashes.Entry{ID: n + 2001, Time: at + 100 + n, Language: "tc", VersionOf: n + 1, MemberID: 1})
				}
				return all
			})
			for language, want := range map[string]string{"tc": "9006 9003 9005 9001 9008", "cn": "9003 9002 9001 9008", "en": "9004"} {
				path := "/v2/content/exchange-listing-flash?pageSize=20&language=" + language
				if got := numbers(apitest.Data[[]numbered](t, w.Get(t, w.SubKey, path))); got != want {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
				if newer > 0 {
					continue
				}
				if language == "tc" { // of which both show the version
					want = "9009 9006 9003 9005 9001"
				}
				for _, path := range []string{"/v2/content/newsflash?language=", "/v2/content/flashList?language="} {
					if got := numbers(apitest.Data[[]numbered](t, w.Get(t, w.SubKey, path+language))); got != want {
						t.Errorf("%s%s: %s, want %s", path, language, got, want)
					}
				}
			}
			if got := numbers(apitest.Data[[]numbered](t, w.Get(t, w.SubKey, "/v2/content/exchange-listing-flash?pageSize=2&language=tc"))); got != "9006 9003" {
				t.Errorf("a page of two: %s", got)
			}
		})
	}
}

// A walk that begins after a flash was given another time, or was hidden, comes to the end and
// shows each flash once.
func TestAFlashThatHasMovedIsACursorToWhereItStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		to     int64 // minutes before now
		hidden bool
		unseen bool   // by the view, for some seconds
		want   string // all pages; behind 5
		behind string
	}{
		"it has risen":                     {0, false, false, "5 1 2 3 4 6 7 8 9", "1 2"},
		"it has sunk":                      {8, false, false, "1 2 3 4 6 7 8 5 9", "9"},
		"it is hidden":                     {5, true, false, "1 2 3 4 6 7 8 9", "6 7"},
		"it has risen, and is still shown": {0, false, true, "1 2 3 4 5 6 7 8 9", "6 7"},
		"it has sunk, and is still shown":  {8, false, true, "1 2 3 4 5 6 7 8 9", "6 7"},
		"it is hidden, and is still shown": {5, true, true, "1 2 3 4 5 6 7 8 9", "6 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flash := func(now time.Time, id, minute int64, put time.Duration, hidden bool) flashes.Flash {
				return flashes.Flash{
					Entry: flashes.Entry{ID: id, Time: now.Unix() - 60*minute, Language: "en", Platform: flashes.House, Title: fmt.Sprint(id), Hidden: hidden},
					Place: drop.Place{Time: now.Add(-put).UnixMilli(), File: "a", Line: id},
				}
			}
			moved := func(now time.Time) flashes.Flash { return flash(now, 5, c.to, time.Minute, c.hidden) }
			w := newFlashes(t, func(now time.Time) (all []flashes.Flash) {
				for id := range int64(9) {
					all = append(all, flash(now, id+1, id+1, 2*time.Hour, false))
				}
				if !c.unseen {
					all = append(all, moved(now))
				}
				return all
			}, func(now time.Time) []flashes.Flash { return []flashes.Flash{moved(now)} })
			page := func(query string) string {
				return numbers(apitest.Data[struct{ List []numbered }](t, w.Get(t, w.SubKey, flashPath+"list?lan=en"+query)).List)
			}
			if got := page("&pagesize=2&last_id=5"); got != c.behind {
				t.Errorf("behind it are %s, want %s", got, c.behind)
			}
			for _, size := range []int{1, 2, 3} {
				var all []string
				for last := ""; len(all) < 20; {
					got := page(fmt.Sprint("&pagesize=", size, last))
					if got == "" {
						break
					}
					all = append(all, strings.Fields(got)...)
					last = "&last_id=" + all[len(all)-1]
				}
				if got := strings.Join(all, " "); got != c.want {
					t.Errorf("pages of %d: %s, want %s", size, got, c.want)
				}
			}
		})
	}
}

// A version that the view does not know yet takes the place of its flash where lists know it,
// and not before.
func TestAFlashOrItsVersionIsShownAtAnyMoment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		newer int64 // flashes, so many that the view does not hold the older ones
		want  string
	}{"from the view": {0, "9001"}, "from the log": {flashes.Listed, "9002"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flash := func(now time.Time, id, ago, member int64, language string, of int64) flashes.Flash {
				return flashes.Flash{
					Entry: flashes.Entry{ID: id, Time: now.Unix() - ago, Language: language, Platform: flashes.House, Title: "x", MemberID: member, VersionOf: of},
					Place: drop.Place{Time: 1, File: "a", Line: id},
				}
			}
			w := newFlashes(t, func(now time.Time) (all []flashes.Flash) {
				all = append(all, flash(now, 9001, 5000, 477, "cn", 0))
				for n := range c.newer {
					all = append(all, flash(now, n+1, 4000-n, 1, "cn", 0)) // which no request asks for
				}
				return all
			}, func(now time.Time) []flashes.Flash { return []flashes.Flash{flash(now, 9002, 5000, 477, "tc", 9001)} })
			if got := numbers(apitest.Data[[]numbered](t, w.Get(t, w.SubKey, "/v2/content/exchange-listing-flash?language=tc"))); got != c.want {
				t.Errorf("%s is shown, want %s", got, c.want)
			}
		})
	}
}

// What the view does not hold is read from the log.
func TestOldFlashesAreRead(t *testing.T) {
	t.Parallel()
	w := newFlashes(t, func(now time.Time) (all []flashes.Flash) {
		for n := range int64(flashes.Listed + 30) {
			all = append(all, flashes.Flash{
				Entry: flashes.Entry{ID: n + 1, Time: now.Unix() - n, Language: "en", Platform: flashes.House, Title: fmt.Sprint(n)},
				Place: drop.Place{Time: 1, File: "a", Line: n + 1},
			})
		}
		return all
	})
	list := apitest.Data[catalog.FlashPage](t, w.Get(t, w.SubKey, fmt.Sprint(flashPath, "list?lan=en&pagesize=50&last_id=", flashes.Listed-10))).List
	if len(list) != 40 || list[0].ID != flashes.Listed-9 || list[39].ID != flashes.Listed+30 {
		t.Errorf("%d flashes: %+v", len(list), list)
	}
}
