package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/bybit"
	"quotary/functions/ingester/source/okx"
	"quotary/localstack/sim"
	"quotary/localstack/sim/announcements"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// serve answers with the text of the first part of a request that it knows.
func serve(t *testing.T, answers map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for part, text := range answers {
			if strings.Contains(r.URL.String(), part) {
				fmt.Fprint(w, text)
				return
			}
		}
		t.Errorf("asked for %s", r.URL)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatExchangesAnnounce(t *testing.T) {
	t.Parallel()
	first := "https://www.okx.com/help/okx-to-list-acme-spot"
	binanceURL := serve(t, map[string]string{
		"/bapi/composite/v1/public/cms/article/list/query?catalogId=48&pageNo=2&pageSize=20&type=1": `{"code":"000000","message":null,"data":{"catalogs":[{"catalogId":48,"catalogName":"New Cryptocurrency Listing","total":2,
			"articles":[{"id":7,"code":"a1b2","title":"Acme Will List Acme (ACME)","type":1,"releaseDate":1795000000000},{"id":6,"code":"c3","title":"x","type":1,"releaseDate":"1794000000000"}]}]},"success":true}`,
		"catalogId=128": `{"code":"100001","message":"no"}`,
	})
	okxURL := serve(t, map[string]string{
		"/api/v5/support/announcements?annType=announcements-new-listings&page=1":  `{"code":"0","msg":"","data":[{"details":[{"annType":"announcements-new-listings","title":"OKX to list ACME","url":"` + first + `","pTime":"1795000000000","businessPTime":""}],"totalPage":"9"}]}`,
		"/api/v5/support/announcements?annType=announcements-latest-events&page=1": `{"code":"51000","msg":"bad page","data":[]}`,
	})
	bybitURL := serve(t, map[string]string{
		"/v5/announcements/index?limit=20&locale=en-US&page=1&type=new_crypto": `{"retCode":0,"retMsg":"OK","result":{"total":735,"list":[{"title":"New Listing: Acme (ACME)","description":"Soon.","type":{"title":"New Listings","key":"new_crypto"},"tags":["Spot"],
			"url":"https://announcements.bybit.com/a/","dateTimestamp":1795000000000,"startDateTimestamp":1795000001000,"endDateTimestamp":1795000002000,"publishTime":1795000000500}]}}`,
		"type=latest_activities": `{"retCode":10001,"retMsg":"no","result":{}}`,
	})
	for name, c := range map[string]struct {
		of             source.Announcer
		category       string
		page           int
		want           []market.Announcement
		refuses, error string
	}{
		"binance": {binance.OpenAnnouncements(binanceURL), "48", 2, []market.Announcement{
			{Venue: "binance", ID: "a1b2", Listing: true, AnnouncementText: market.AnnouncementText{Title: "Acme Will List Acme (ACME)", URL: "https://www.binance.com/en/support/announcement/a1b2"}, Published: 1795000000000},
			{Venue: "binance", ID: "c3", Listing: true, AnnouncementText: market.AnnouncementText{Title: "x", URL: "https://www.binance.com/en/support/announcement/c3"}, Published: 1794000000000},
		}, "128", `code "100001"`},
		"okx": {okx.OpenAnnouncements(okxURL), "announcements-new-listings", 1, []market.Announcement{
			{Venue: "okx", ID: source.AnnouncementID(first, ""), Listing: true, AnnouncementText: market.AnnouncementText{Title: "OKX to list ACME", URL: first}, Published: 1795000000000},
		}, "announcements-latest-events", `code "51000"`},
		"bybit": {bybit.OpenAnnouncements(bybitURL), "new_crypto", 1, []market.Announcement{
			{Venue: "bybit", ID: source.AnnouncementID("https://announcements.bybit.com/a/", ""), Listing: true, AnnouncementText: market.AnnouncementText{Title: "New Listing: Acme (ACME)", Text: "Soon.", URL: "https://announcements.bybit.com/a/"},
				Published: 1795000000500, Start: 1795000001000, End: 1795000002000},
		}, "latest_activities", "10001"},
	} {
		got, err := c.of.Announcements(t.Context(), source.AnnouncedEnglish, c.category, c.page)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if _, err := c.of.Announcements(t.Context(), source.AnnouncedEnglish, c.refuses, c.page); err == nil || !strings.Contains(err.Error(), c.error) {
			t.Errorf("%s refuses with %v", name, err)
		}
		if !slices.Contains(c.of.Categories(), c.category) || !slices.Contains(c.of.Categories(), c.refuses) {
			t.Errorf("%s has the categories %v", name, c.of.Categories())
		}
	}
}

// A row that is none costs no other: what comes of it is refused by itself.
func TestAnAnnouncementThatCannotBeReadCostsItselfAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   func(url string) source.Announcer
		answer string // around rows
		rows   string
	}{
		"binance": {func(url string) source.Announcer { return binance.OpenAnnouncements(url) }, `{"code":"000000","data":{"catalogs":[{"articles":[%s]}]}}`,
			`{"code":7,"title":"a","releaseDate":1},{"code":"b","title":"b","releaseDate":"x"},{"code":"c","title":"c","releaseDate":{}},9`},
		"okx": {func(url string) source.Announcer { return okx.OpenAnnouncements(url) }, `{"code":"0","data":[{"details":[%s]}]}`,
			`{"title":"a","url":7,"pTime":"1"},{"title":"b","url":"b","pTime":"x"},{"title":"c","url":"c","pTime":[]},9`},
		"bybit": {func(url string) source.Announcer { return bybit.OpenAnnouncements(url) }, `{"retCode":0,"result":{"list":[%s]}}`,
			`{"title":"a","url":7},{"title":"b","dateTimestamp":"x"},{"title":"c","publishTime":[]},9`},
	} {
		const good = `{"code":"good","title":"Good","url":"https://a.example/","releaseDate":1795000000000,"pTime":"1795000000000","dateTimestamp":1795000000000}`
		of := c.open(serve(t, map[string]string{"": fmt.Sprintf(c.answer, c.rows+","+good)}))
		list, err := of.Announcements(t.Context(), source.AnnouncedEnglish, of.Categories()[0], 1)
		if err != nil || len(list) != 5 || list[4].Title != "Good" || list[4].Published != 1795000000000 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// pages is an announcer whose pages a test sets, page by page of one category.
type pages struct {
	list  [][]market.Announcement
	asked []int

	chinese []market.Announcement // every page in Chinese,
	mute    error                 // or why there is none

	turns int
	then  func(turn int) // before each turn
}

func (*pages) Categories() []string { return []string{"all"} }

func (p *pages) Announcements(_ context.Context, language source.AnnouncementLanguage, _ string, page int) ([]market.Announcement, error) {
	if language == source.AnnouncedChinese {
		return p.chinese, p.mute
	}
	if page == 1 {
		p.turns++
		p.then(p.turns)
	}
	p.asked = append(p.asked, page)
	if page > len(p.list) {
		return nil, nil
	}
	return p.list[page-1], nil
}

var errEnough = errors.New("enough")

func TestAnnouncementsAreReadUntilTheyAreKnown(t *testing.T) {
	t.Parallel()
	one := func(id, title string) market.Announcement {
		return market.Announcement{Venue: "x", ID: id, AnnouncementText: market.AnnouncementText{Title: title}, Published: 1_790_000_000_000}
	}
	p := &pages{list: [][]market.Announcement{{one("9", "i"), one("8", "h")}, {one("7", "g")}, {one("6", "f")}, {one("5", "e")}}}
	var got []string
	ctx, stop := context.WithCancelCause(t.Context())
	p.then = func(turn int) {
		got = append(got, "|")
		switch turn {
		case 3: // one is new, and one was edited
			p.list[0] = []market.Announcement{one("10", "j"), one("9", "i, edited")}
		case 4:
			stop(errEnough)
		}
	}
	stats := new(source.Stats)
	a := &source.Announcements{Of: p, Every: time.Millisecond, Stats: stats, Log: slog.New(slog.DiscardHandler)}
	var known source.AnnouncementsAt
	err := a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, at source.AnnouncementsAt) error {
		for _, one := range list {
			got = append(got, one.ID)
		}
		known = at
		return nil
	})
	if want := "| 9 8 7 6 | | 10 9 |"; strings.Join(got, " ") != want || !errors.Is(err, errEnough) {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if want := []int{1, 2, 3, 1, 1, 2, 1}; !slices.Equal(p.asked, want) {
		t.Errorf("asked for the pages %v, want %v", p.asked, want)
	}
	// Another life goes on behind what was delivered.
	p.list[0] = append([]market.Announcement{one("11", "k")}, p.list[0]...)
	p.then = func(int) {}
	err = a.Follow(t.Context(), known, func(_ context.Context, list []market.Announcement, _ source.AnnouncementsAt) error {
		if len(list) != 1 || list[0].ID != "11" {
			t.Errorf("after a restart: %+v", list)
		}
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("the sink's error is %v", err)
	}
}

// Each state of an announcement is a row for ever: of one that changes at every look a few are
// delivered.
func TestAnAnnouncementIsRevisedSoOften(t *testing.T) {
	t.Parallel()
	p := &pages{list: [][]market.Announcement{{{Venue: "x", ID: "1", Published: 1_790_000_000_000}, {Venue: "x", ID: "2", AnnouncementText: market.AnnouncementText{Title: "calm"}, Published: 1_790_000_000_000}}}}
	ctx, stop := context.WithCancelCause(t.Context())
	p.then = func(turn int) {
		p.list[0][0].Title = fmt.Sprint("state ", turn)
		if turn == 30 {
			stop(errEnough)
		}
	}
	a := &source.Announcements{Of: p, Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	var got []string
	_ = a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, _ source.AnnouncementsAt) error { // it ends as it was told
		for _, one := range list {
			if got = append(got, one.Title); one.Revised != (len(got) > 2) {
				t.Errorf("%s is revised: %t", one.Title, one.Revised)
			}
		}
		return nil
	})
	if want := "state 1 calm state 2 state 3 state 4 state 5"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// twoCategories is an announcer with a category that says much, and one that says nothing new.
type twoCategories struct {
	turn func() (turn int)
	now  int
}

func (*twoCategories) Categories() []string { return []string{"busy", "slow"} }

func (c *twoCategories) Announcements(_ context.Context, language source.AnnouncementLanguage, category string, page int) (list []market.Announcement, _ error) {
	if language == source.AnnouncedChinese {
		return nil, nil
	}
	if category == "busy" && page == 1 {
		c.now = c.turn()
	}
	if page > 1 {
		return nil, nil
	}
	for n := range 20 {
		one := market.Announcement{Venue: "x", ID: fmt.Sprintf("slow-%d", n), AnnouncementText: market.AnnouncementText{Title: "t"}, Published: 1_700_000_000_000}
		if category == "busy" {
			one.ID, one.Published = fmt.Sprintf("busy-%d-%d", c.now, n), 1_790_000_000_000+int64(c.now)
		}
		list = append(list, one)
	}
	return list, nil
}

// What a slow category shows for long is delivered once, however much is new in another, and
// what is remembered is bounded.
func TestABusyCategoryLeavesWhatIsKnownOfASlowOne(t *testing.T) {
	t.Parallel()
	const turns = 30
	ctx, stop := context.WithCancelCause(t.Context())
	turn := 0
	a := &source.Announcements{Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler), Of: &twoCategories{turn: func() int {
		if turn++; turn > turns {
			stop(errEnough)
		}
		return turn
	}}}
	delivered := map[string]int{}
	var known source.AnnouncementsAt
	_ = a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, at source.AnnouncementsAt) error {
		for _, one := range list {
			delivered[one.ID]++
		}
		known = at
		return nil
	})
	for id, times := range delivered {
		if times > 1 {
			t.Errorf("%s was delivered %d times", id, times)
		}
	}
	if len(delivered) < 20*(turns+1) || len(known) >= 20*turns {
		t.Errorf("%d were delivered, %d are remembered", len(delivered), len(known))
	}
}

// follow follows an announcer for so many turns and returns what was delivered, by turn.
func follow(t *testing.T, p *pages, turns int) (delivered [][]market.Announcement, known source.AnnouncementsAt, stats *source.Stats) {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	then := p.then
	p.then = func(turn int) {
		if then != nil {
			then(turn)
		}
		if turn > turns {
			stop(errEnough)
			return
		}
		delivered = append(delivered, nil)
	}
	stats = new(source.Stats)
	a := &source.Announcements{Of: p, Every: time.Microsecond, Stats: stats, Log: slog.New(slog.DiscardHandler)}
	err := a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, at source.AnnouncementsAt) error {
		if len(delivered) <= turns {
			delivered[len(delivered)-1], known = append(delivered[len(delivered)-1], list...), at
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	return delivered, known, stats
}

// manyAnnouncements are so many, of a time each, from a number on.
func manyAnnouncements(from, n int, published func(n int) int64) (list []market.Announcement) {
	for i := range n {
		list = append(list, market.Announcement{Venue: "x", ID: fmt.Sprint(from + i), AnnouncementText: market.AnnouncementText{Title: "t"}, Published: published(i)})
	}
	return list
}

// What is shown for long is delivered once, however much an exchange shows and however old it is
// beside what it showed before.
func TestWhatIsShownAgainIsNotNew(t *testing.T) {
	t.Parallel()
	falling := func(n int) int64 { return 1_790_000_000_000 - int64(n) }
	newer := func(n int) int64 { return 1_791_000_000_000 - int64(n) }
	for name, c := range map[string]struct {
		then   func(p *pages, turn int)
		turns  []int // how many are delivered
		beyond int64 // how many are not read
	}{
		"a page that is too large": {func(p *pages, _ int) { p.list = [][]market.Announcement{manyAnnouncements(0, 4990, falling)} }, []int{33, 0, 0}, 3*4957 + 0},
		"old ones behind newer ones": {func(p *pages, turn int) {
			if turn <= 4 {
				p.list = [][]market.Announcement{manyAnnouncements(turn*100, 33, newer)}
			} else {
				p.list = [][]market.Announcement{manyAnnouncements(0, 20, falling)}
			}
		}, []int{33, 33, 33, 33, 20, 0, 0}, 0},
	} {
		p := new(pages)
		p.then = func(turn int) { c.then(p, turn) }
		got, known, stats := follow(t, p, len(c.turns))
		for turn, want := range c.turns {
			if len(got[turn]) != want {
				t.Errorf("%s: %d are delivered in turn %d, want %d", name, len(got[turn]), turn+1, want)
			}
		}
		if beyond := stats.Malformed.Load(); beyond < c.beyond || c.beyond == 0 && beyond > 0 || len(known) > 100 {
			t.Errorf("%s: %d are not read, %d are known", name, beyond, len(known))
		}
	}
}

// An exchange that announces something else at each look makes no more rows than one that says
// much.
func TestNewAnnouncementsAreSoManyADay(t *testing.T) {
	t.Parallel()
	p := new(pages)
	p.then = func(turn int) {
		p.list = [][]market.Announcement{manyAnnouncements(turn*100, 33, func(int) int64 { return 1_790_000_000_000 })}
	}
	got, _, _ := follow(t, p, 100)
	delivered := 0
	for _, list := range got {
		delivered += len(list)
	}
	if delivered < source.States.AtOnce || delivered > source.States.AtOnce+1 {
		t.Errorf("%d of 3,300 are delivered at once", delivered)
	}
}

// What an exchange says in Chinese is joined by its id, whenever it comes, and stays where it is
// not said for a while.
func TestWhatIsSaidInChineseIsJoined(t *testing.T) {
	t.Parallel()
	one := func(id, title string) market.Announcement {
		return market.Announcement{Venue: "x", ID: id, AnnouncementText: market.AnnouncementText{Title: title}, Published: 1_790_000_000_000}
	}
	p := &pages{list: [][]market.Announcement{{one("2", "b"), one("1", "a")}}, mute: errors.New("down")}
	ctx, stop := context.WithCancelCause(t.Context())
	p.then = func(turn int) {
		switch turn {
		case 2:
			p.mute, p.chinese = nil, []market.Announcement{one("1", "甲"), one("2", "b"), one("3", "丙")}
		case 3:
			p.chinese = nil
		case 4:
			p.chinese = []market.Announcement{one("1", "乙")}
		case 5:
			stop(errEnough)
		}
	}
	var got []string
	a := &source.Announcements{Of: p, Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	_ = a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, _ source.AnnouncementsAt) error {
		for _, one := range list {
			got = append(got, one.Title+one.Chinese.Title)
		}
		return nil
	})
	if want := []string{"b", "a", "a甲", "a乙"}; !slices.Equal(got, want) || a.Stats.Malformed.Load() != 1 {
		t.Errorf("%q, want %q; %d pages failed", got, want, a.Stats.Malformed.Load())
	}
}

// The id of an announcement is the same in both languages.
func TestAnnouncementsOfExchangesAreJoined(t *testing.T) {
	t.Parallel()
	site := announcements.New(sim.Config{})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	for name, of := range map[string]source.Announcer{
		announcements.Binance: binance.OpenAnnouncements(server.URL), announcements.OKX: okx.OpenAnnouncements(server.URL), announcements.Bybit: bybit.OpenAnnouncements(server.URL),
	} {
		category := of.Categories()[0]
		english, err := of.Announcements(t.Context(), source.AnnouncedEnglish, category, 1)
		chinese, failed := of.Announcements(t.Context(), source.AnnouncedChinese, category, 1)
		if err != nil || failed != nil || len(english) != 20 || len(chinese) != 20 {
			t.Fatalf("%s: %d and %d announcements, %v, %v", name, len(english), len(chinese), err, failed)
		}
		for i := range english {
			if e, c := english[i], chinese[i]; e.ID != c.ID || !strings.Contains(c.Title, "模拟") || strings.Contains(e.Title, "模拟") || e.URL == c.URL {
				t.Errorf("%s: %+v and %+v", name, e, c)
			}
		}
	}
}

// The digests of an announcement are stored: they change with each thing that it says, and with
// nothing else.
func TestDigestsAreOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	words := func(text string) market.AnnouncementText {
		return market.AnnouncementText{Title: text, Text: text + " text", URL: "https://a.example/" + text}
	}
	said := market.Announcement{Venue: "x", ID: "1", Listing: true, AnnouncementText: words("en"), Chinese: words("cn"), Published: 1_790_000_000_000, Start: 1_790_000_000_001, End: 1_790_000_000_002}
	changes := []func(*market.Announcement){
		func(a *market.Announcement) { a.Venue = "y" }, func(a *market.Announcement) { a.Listing = false },
		func(a *market.Announcement) { a.Title += "!" }, func(a *market.Announcement) { a.Text += "!" }, func(a *market.Announcement) { a.URL += "!" },
		func(a *market.Announcement) { a.Published++ }, func(a *market.Announcement) { a.Start-- }, func(a *market.Announcement) { a.End++ },
		func(a *market.Announcement) { a.Chinese.Title += "!" }, func(a *market.Announcement) { a.Chinese.Text += "!" }, func(a *market.Announcement) { a.Chinese.URL += "!" },
	}
	var marks []source.AnnouncementMark
	for n, change := range changes {
		p := new(pages)
		ctx, stop := context.WithCancelCause(t.Context())
		p.then = func(turn int) {
			one := said
			switch turn {
			case 2:
				change(&one)
			case 3:
				stop(errEnough)
			}
			p.list, p.chinese = [][]market.Announcement{{one}}, []market.Announcement{{ID: one.ID, AnnouncementText: one.Chinese}}
		}
		marks = nil
		a := &source.Announcements{Of: p, Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
		_ = a.Follow(ctx, nil, func(_ context.Context, list []market.Announcement, at source.AnnouncementsAt) error {
			if len(list) > 0 { // else all was read once
				marks = append(marks, at["all#1"])
			}
			return nil
		})
		if len(marks) < 2 {
			t.Fatalf("change %d was not delivered", n)
		}
	}
	if want := (source.AnnouncementMark{Published: said.Published, Digest: "e71a8d3977c0", Chinese: "a88bbac1b06d"}); marks[0] != want {
		t.Errorf("%+v, want %+v", marks[0], want)
	}
}

func TestAnnouncementsAreBounded(t *testing.T) {
	t.Parallel()
	good := market.Announcement{Venue: "x", ID: "a-1", AnnouncementText: market.AnnouncementText{Title: "T"}, Published: 1_790_000_000_000}
	with := func(change func(*market.Announcement)) market.Announcement {
		one := good
		change(&one)
		return one
	}
	p := &pages{then: func(int) {}, list: [][]market.Announcement{{
		with(func(a *market.Announcement) { a.ID = "" }),
		with(func(a *market.Announcement) { a.ID = "a/b" }),
		with(func(a *market.Announcement) { a.Title = " \n" }),
		with(func(a *market.Announcement) { a.Published = 1_790_000_000 }),
		with(func(a *market.Announcement) { a.Published = time.Now().Add(time.Hour).UnixMilli() }),
		with(func(a *market.Announcement) {
			a.Title, a.Text, a.URL = strings.Repeat("é", 400)+"\xff", "a\n b\x00\tc", "javascript:alert(1)"
			a.Start, a.End = 1_790_000_000_001, 1_790_000_000_001
		}),
		with(func(a *market.Announcement) {
			a.ID, a.URL, a.Start, a.End = "b", "https://a.example/x y", 1_790_000_000_001, 1_790_000_000_002
		}),
	}}}
	stats := new(source.Stats)
	a := &source.Announcements{Of: p, Every: time.Hour, Stats: stats, Log: slog.New(slog.DiscardHandler)}
	var got []market.Announcement
	_ = a.Follow(t.Context(), nil, func(_ context.Context, list []market.Announcement, _ source.AnnouncementsAt) error {
		got = list
		return errEnough
	})
	if len(got) != 2 || stats.Malformed.Load() != 5 {
		t.Fatalf("%d announcements, %d malformed: %+v", len(got), stats.Malformed.Load(), got)
	}
	if g := got[0]; len([]rune(g.Title)) != 300 || !strings.HasSuffix(g.Title, "é…") || g.Text != "a b c" || g.URL != "" || g.Start != 0 || g.End != 0 {
		t.Errorf("%+v", g)
	}
	if g := got[1]; g.URL != "https://a.example/x%20y" || g.Start == 0 || g.End == 0 {
		t.Errorf("%+v", g)
	}
}

// Of a page no more are read than are remembered of all pages of a category.
func TestALongPageOfAnnouncementsIsCut(t *testing.T) {
	t.Parallel()
	const read = 100 / 3
	p := &pages{then: func(int) {}, list: [][]market.Announcement{nil}}
	for n := range read + 7 {
		p.list[0] = append(p.list[0], market.Announcement{Venue: "x", ID: fmt.Sprint(n), AnnouncementText: market.AnnouncementText{Title: "T"}, Published: 1_790_000_000_000})
	}
	stats, got := new(source.Stats), 0
	a := &source.Announcements{Of: p, Every: time.Hour, Stats: stats, Log: slog.New(slog.DiscardHandler)}
	_ = a.Follow(t.Context(), nil, func(_ context.Context, list []market.Announcement, _ source.AnnouncementsAt) error {
		got = len(list)
		return errEnough
	})
	if got != read || stats.Malformed.Load() != 7 {
		t.Errorf("%d announcements, %d malformed", got, stats.Malformed.Load())
	}
}

// The answer that Bybit documents.
func TestAnnouncementsOfTheRecording(t *testing.T) {
	t.Parallel()
	read := 0
	lines := testenv.Recording(t, "exchanges/fixtures/bybit.jsonl")
	for lines.Scan() {
		var one struct {
			Path     string
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &one))
		if one.Path != "/v5/announcements/index" {
			continue
		}
		list, err := bybit.OpenAnnouncements(serve(t, map[string]string{"/v5/announcements/index": string(one.Response)})).Announcements(t.Context(), source.AnnouncedEnglish, "new_crypto", 1)
		if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Title, "New Listing: Arbitrum (ARB)") || list[0].Published != 1679045608000 || !strings.HasPrefix(list[0].URL, "https://announcements.bybit.com/") {
			t.Errorf("%+v, %v", list, err)
		}
		read++
	}
	if read != 1 {
		t.Errorf("%d answers in the recording", read)
	}
}
