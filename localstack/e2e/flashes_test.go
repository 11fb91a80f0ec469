package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim/flashsite"
	"quotary/localstack/sim/newssite"
	"quotary/shared/testing/testenv"
)

// dropped are the flashes with which the stack began, of a platform and a language.
func dropped(platform, language string, keep func(flashsite.Flash) bool) (ids []string) {
	for _, f := range world.Flashes {
		if f.Platform == platform && f.Language == language && keep(f) {
			ids = append(ids, strconv.FormatInt(f.ID, 10))
		}
	}
	return ids
}

// TestFlashesAreThoseOfTheDrop pages through tabs of flashes, and through posts, and compares
// what is there with the drop.
func TestFlashesAreThoseOfTheDrop(t *testing.T) {
	t.Parallel()
	type page struct {
		List []struct {
			ID        int64
			Timestamp int64
		}
	}
	all := func(path, cursor string, next func(id, at int64) int64) (ids []string) {
		after := ""
		for {
			got := data[page](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", "/upgrade/v2/content/"+path+after, nil))
			if len(got.List) == 0 {
				return ids
			}
			for _, f := range got.List {
				ids = append(ids, strconv.FormatInt(f.ID, 10))
			}
			last := got.List[len(got.List)-1]
			after = fmt.Sprintf("&%s=%d", cursor, next(last.ID, last.Timestamp))
		}
	}
	byID, byTime := func(id, _ int64) int64 { return id }, func(_, at int64) int64 { return at }
	for _, c := range []struct {
		path, cursor       string
		next               func(id, at int64) int64
		platform, language string
		keep               func(flashsite.Flash) bool
	}{
		{"newsflash/list?lan=en&tab=1&pagesize=17", "last_id", byID, "house", "en", func(f flashsite.Flash) bool { return f.Tab == 1 }},
		{"newsflash/list?lan=cn&tab=2&only_important=1&pagesize=5", "last_id", byID, "house", "cn", func(f flashsite.Flash) bool { return f.Tab == 2 && f.Important }},
		{"newsflash/list?lan=cn&platform_show=social&pagesize=50", "last_id", byID, "social", "cn", func(flashsite.Flash) bool { return true }},
		{"social/latest?language=en&page_size=33", "last_time", byTime, "social", "en", func(flashsite.Flash) bool { return true }},
	} {
		want := strings.Join(dropped(c.platform, c.language, c.keep), " ")
		testenv.Until(t, c.path+" is what was dropped", func() bool {
			got := strings.Join(all(c.path, c.cursor, c.next), " ")
			return got == want
		})
	}
}

// TestFlashesAreFound searches in both scripts, and looks at one in full.
func TestFlashesAreFound(t *testing.T) {
	t.Parallel()
	type found struct {
		Total int
		List  []struct {
			ID             int64
			Title, Content string
		}
	}
	for _, word := range []string{"bitcoin inflow", "比特币 净流入", "whale ETH"} {
		var got found
		testenv.Until(t, word+" is found", func() bool {
			got = data[found](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", "/upgrade/v2/content/newsflash/search?word="+url.QueryEscape(word), nil))
			return len(got.List) == 20 && got.Total >= 40
		})
		for _, f := range got.List {
			for part := range strings.FieldsSeq(word) {
				if !strings.Contains(strings.ToLower(f.Title+f.Content), strings.ToLower(part)) {
					t.Errorf("%s found %+v", word, f)
				}
			}
		}
		detail := data[struct{ Title string }](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", fmt.Sprint("/upgrade/v2/content/newsflash/detail?flash_id=", got.List[0].ID), nil))
		if detail.Title != got.List[0].Title {
			t.Errorf("%q, want %q", detail.Title, got.List[0].Title)
		}
	}
}

// Posts of a fresh stack answer what people search for.
func TestPostsAreFound(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"BTC", "ethereum", "ETF", "airdrop", "solana", "空投", "比特币"} {
		testenv.Until(t, word+" is found", func() bool {
			got := data[struct{ List []any }](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", "/upgrade/v2/content/social/search?keyword="+url.QueryEscape(word), nil))
			return len(got.List) > 0
		})
	}
}

// TestMarketsMakeFlashes waits for one that follows from what the simulated exchanges do.
func TestMarketsMakeFlashes(t *testing.T) {
	t.Parallel()
	testenv.Until(t, "a position is liquidated and told", func() bool {
		type flash struct {
			FlashType, CreateTime int64
		}
		list := data[[]flash](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", "/v2/content/flashList?language=en", nil))
		for _, f := range list {
			if f.FlashType == 25 && f.CreateTime >= began.Add(-time.Minute).Unix() {
				return true
			}
		}
		return false
	})
}

// TestFlashesOfTheVendorAreListed looks for what the simulated vendor has written last, in both
// languages, and for that alone which it pushes where only what is important is shown.
func TestFlashesOfTheVendorAreListed(t *testing.T) {
	t.Parallel()
	if world.News == nil {
		t.Skip("no simulated vendor")
	}
	type flash struct {
		Title, Content, Source string
		Timestamp              int64
		IsImportant            int64 `json:"is_important"`
	}
	for _, language := range []string{newssite.English, newssite.Chinese} {
		for _, important := range []bool{false, true} {
			path := "/upgrade/v2/content/newsflash/list?pagesize=50&lan=" + language
			if important {
				path += "&only_important=1"
			}
			testenv.Until(t, "the flashes of the vendor are listed", func() bool {
				got := data[struct{ List []flash }](t, call(t, http.StatusOK, world.State.Demo.SubKey, "GET", path, nil))
				for _, f := range world.News.Flashes(world.State.NewsURL, language, time.Now())[:5] {
					want := flash{f.Title, f.Content, "BlockBeats", f.Published.Unix(), map[bool]int64{true: 1}[f.Important]}
					if !strings.Contains(f.Title, "imulated") && !strings.Contains(f.Title, "模拟") {
						t.Fatalf("%q does not say that it is simulated", f.Title)
					}
					listed := slices.ContainsFunc(got.List, func(one flash) bool {
						return strings.HasPrefix(one.Title, want.Title) && one.Content == want.Content && one.Source == want.Source && one.Timestamp == want.Timestamp && one.IsImportant == want.IsImportant
					})
					if listed != (f.Important || !important) {
						return false
					}
				}
				return true
			})
		}
	}
}
