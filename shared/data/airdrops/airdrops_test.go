package airdrops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "airdrops.schema.json")
}

// drawn draws airdrop i.
func drawn(i int) *rapid.Generator[Airdrop] {
	return rapid.Custom(func(t *rapid.T) Airdrop {
		text := rapid.StringN(0, 5, -1)
		at := rapid.OneOf(rapid.Just(int64(0)), markettest.Time())
		return Airdrop{
			Entry: Entry{AirdropID: fmt.Sprint("a", i), Source: rapid.SampledFrom([]string{"hodler", "alpha"}).Draw(t, "source"), Exchange: "binance", ProjectName: "P", TokenSymbol: text.Draw(t, "symbol"),
				TitleEN: text.Draw(t, "en"), TitleCN: text.Draw(t, "cn"), PublishTime: at.Draw(t, "published"), StartTime: at.Draw(t, "start"), EndTime: at.Draw(t, "end"),
				Status: rapid.SampledFrom([]string{"", "ongoing", "finished"}).Draw(t, "status"), BannerRank: rapid.Int64Range(0, 3).Draw(t, "rank"), Hidden: rapid.Bool().Draw(t, "hidden")},
			Place: drop.Place{Time: markettest.Time().Draw(t, "put"), File: "a.ndjson", Line: rapid.Int64Range(1, 9).Draw(t, "line")},
		}
	})
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			list := make([]Airdrop, rapid.IntRange(0, 5).Draw(t, "airdrops"))
			for i := range list {
				list[i] = drawn(i).Draw(t, "airdrop")
			}
			return NewView(list)
		}),
		Encode: Published.Encode, Decode: Published.Decode, Use: func(v View) {
			v.Find("hodler", "x")
			v.Banners(time.Now(), 3)
		},
	}.Test(t)
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Airdrop]{
		Values: drawn(0),
		Encode: func(a Airdrop) []byte { return row(&a).Body },
		Decode: func(body []byte) (Airdrop, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

const least = `"airdrop_id":"x","source":"alpha","exchange":"binance","project_name":"P"`

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{` + least + `}`: "",
		`{` + least + `,"start_time":1795000000000,"end_time":1795000000001,"banner_rank":1,"source_url":"https://a.example/x?y#z","background_image":"http://a.example"}`: "",
		`{` + least + `,"activity_type":"","project_id":"","status":null}`:                                                                                                 "",
		`{"source":"alpha","exchange":"binance","project_name":"P"}`:                                                                                                       "airdrop_id is missing",
		`{"airdrop_id":"x","source":"all","exchange":"okx","project_name":"P"}`:                                                                                            "source must be one of hodler, xlaunch",
		`{"airdrop_id":"x","source":"alpha","exchange":"OKX","project_name":"P"}`:                                                                                          "exchange must be a text",
		`{` + least + `,"start_time":1795000000}`:                                                                                                                          "start_time must be a time in Unix milliseconds",
		`{` + least + `,"end_time":1795000000000000}`:                                                                                                                      "end_time must be a time in Unix milliseconds",
		`{` + least + `,"publish_time":-1}`:                                                                                                                                "publish_time must be a time",
		`{` + least + `,"start_time":1795000000000,"end_time":1795000000000}`:                                                                                              "end_time must be after start_time",
		`{` + least + `,"banner_rank":-1}`:                                                                                                                                 "banner_rank must be",
		`{` + least + `,"status":"upcoming"}`:                                                                                                                              "status must be one of ongoing, finished",
		`{` + least + `,"source_url":"javascript:alert(1)"}`:                                                                                                               "source_url must be an address of http or https",
		`{` + least + `,"action_url":"//a.example"}`:                                                                                                                       "action_url must be an address of http or https",
		`{` + least + `,"background_image":"https://me:secret@a.example/"}`:                                                                                                "background_image must be an address of http or https",
		`{` + least + `,"background_image":"https:///x"}`:                                                                                                                  "background_image must be an address of http or https",
		`{` + least + `,"content_en":"` + strings.Repeat("x", 20_001) + `"}`:                                                                                               "content_en must be a text of at most 20000",
		`{` + least + `,"content_en":"` + strings.Repeat("<", 20_000) + `","content_cn":"` + strings.Repeat("<", 20_000) + `"}`:                                            "the texts are larger than 300 KB",
		`{` + least + `,"texts":{}}`:                                                                                                                                       `no member "texts"`,
		`[]`:                                                                                                                                                               "one JSON object",
	} {
		_, err := Parse([]byte(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.200s: %v, want %q", line, err, want)
		}
	}
	e, err := Parse([]byte(`{` + least + `,"content_en":"<b> [a](javascript:x)","content_tc":"[a](https://a.example)"}`))
	if err != nil || e.ActivityType != "alpha" || e.ProjectID != "x" || e.ContentEN != `&lt;b> [a]\(javascript:x)` || e.ContentTC != "[a](https://a.example)" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestTextsAreInTheLanguageThatThereIs(t *testing.T) {
	t.Parallel()
	all := Entry{TitleEN: "en", TitleCN: "cn", TitleTC: "tc", ProjectName: "P"}
	for _, c := range []struct {
		entry Entry
		in    Language
		want  string
	}{
		{all, English, "en"}, {all, Chinese, "cn"}, {all, TraditionalChinese, "tc"}, {all, "", "en"},
		{Entry{TitleEN: "en", TitleCN: "cn"}, TraditionalChinese, "en"},
		{Entry{TitleCN: "cn", TitleTC: "tc"}, English, "cn"},
		{Entry{TitleTC: "tc"}, Chinese, "tc"},
		{Entry{ProjectName: "P", ProjectNameCN: "名"}, Chinese, "名"},
		{Entry{ProjectName: "P", ProjectNameCN: "名"}, TraditionalChinese, "P"},
	} {
		if got := c.entry.Title(c.in); got != c.want {
			t.Errorf("%+v in %q: %q, want %q", c.entry, c.in, got, c.want)
		}
	}
	known, unknown := Entry{Exchange: "binance", ActivityType: "hodler"}, Entry{Exchange: "nobody", ExchangeName: "Nobody", ActivityType: "dance", ActivityNameCN: "跳舞"}
	for want, got := range map[string]string{
		"币安": known.ExchangeTitle(Chinese), "幣安": known.ExchangeTitle(TraditionalChinese), "HODLer airdrop": known.Activity(""), "HODLer 空投": known.Activity(Chinese),
		"Nobody": unknown.ExchangeTitle(Chinese), "跳舞": unknown.Activity(English), "查看详情": known.Button(Chinese),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	nameless := Entry{Exchange: "nobody", ActivityType: "dance"}
	if nameless.ExchangeTitle(English) != "nobody" || nameless.Activity(English) != "dance" {
		t.Errorf("%s %s", nameless.ExchangeTitle(English), nameless.Activity(English))
	}
}

func TestTheStatusFollowsFromTheTimes(t *testing.T) {
	t.Parallel()
	const now, day = int64(1_795_000_000_000), int64(24 * 3600 * 1000)
	at := time.UnixMilli(now)
	for name, c := range map[string]struct {
		start, end, published, put int64
		status                     string
		want                       Status
	}{
		"begins later":                      {start: now + 1, end: now + day, want: Upcoming},
		"begins now":                        {start: now, end: now + 1, want: Ongoing},
		"ends now":                          {start: now - day, end: now, want: Finished},
		"ends later, whatever was said":     {end: now + 1, status: "finished", want: Ongoing},
		"ended, whatever was said":          {end: now - 1, status: "ongoing", want: Finished},
		"said to be finished":               {start: now - day, status: "finished", want: Finished},
		"said to be ongoing":                {start: now - 400*day, status: "ongoing", want: Ongoing},
		"said to be ongoing, and not begun": {start: now + day, status: "ongoing", want: Upcoming},
		"began a month ago":                 {start: now - 30*day, want: Finished},
		"began not quite so long ago":       {start: now - 30*day + 1, want: Ongoing},
		"announced a month ago":             {published: now - 30*day, put: now, want: Finished},
		"put a month ago":                   {put: now - 30*day, want: Finished},
		"put just now":                      {put: now, want: Ongoing},
	} {
		a := Airdrop{Entry: Entry{StartTime: c.start, EndTime: c.end, PublishTime: c.published, Status: c.status}, Place: drop.Place{Time: c.put}}
		if got := a.StatusAt(at); got != c.want {
			t.Errorf("one that %s is %d, want %d", name, got, c.want)
		}
	}
}

func TestWhatClientsCallAnAirdrop(t *testing.T) {
	t.Parallel()
	v := NewView([]Airdrop{
		{Entry: Entry{AirdropID: "1", Source: "hodler", ProjectID: "p1", TokenSymbol: "ABC", StartTime: 1}},
		{Entry: Entry{AirdropID: "2", Source: "hodler", ProjectID: "p2", TokenSymbol: "abc", StartTime: 2}},
		{Entry: Entry{AirdropID: "3", Source: "hodler", ProjectID: "1", TokenSymbol: "D", StartTime: 3}},
		{Entry: Entry{AirdropID: "4", Source: "alpha", ProjectID: "p4", TokenSymbol: "ABC", StartTime: 4}},
		{Entry: Entry{AirdropID: "5", Source: "hodler", ProjectID: "p5", TokenSymbol: "ABC", StartTime: 5, Hidden: true}},
	})
	for asked, want := range map[string]string{"hodler 1": "1", "hodler p2": "2", "hodler aBc": "2", "alpha ABC": "4", "hodler p4": "", "hodler p5": "", "hodler 5": "", "hodler ": "", "xlaunch 1": ""} {
		source, token, _ := strings.Cut(asked, " ")
		got := ""
		if a, ok := v.Find(source, token); ok {
			got = a.AirdropID
		}
		if got != want {
			t.Errorf("%s is %q, want %q", asked, got, want)
		}
	}
}

func TestBannersAreThoseWithARank(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(100)
	list := []Airdrop{
		{Entry: Entry{AirdropID: "a", EndTime: 200, StartTime: 1}}, {Entry: Entry{AirdropID: "b", EndTime: 200, StartTime: 2}},
		{Entry: Entry{AirdropID: "c", EndTime: 50, StartTime: 3, BannerRank: 1}}, {Entry: Entry{AirdropID: "d", EndTime: 200, StartTime: 4, BannerRank: 1, Hidden: true}},
		{Entry: Entry{AirdropID: "e", EndTime: 200, StartTime: 150}},
	}
	banners := func(most int) (ids string) {
		for _, a := range NewView(list).Banners(now, most) {
			ids += a.AirdropID
		}
		return ids
	}
	if got := banners(9); got != "eba" {
		t.Errorf("without a rank they are %q", got)
	}
	if got := banners(2); got != "eb" {
		t.Errorf("two of them are %q", got)
	}
	list = append(list, Airdrop{Entry: Entry{AirdropID: "f", EndTime: 200, StartTime: 5, BannerRank: 2}}, Airdrop{Entry: Entry{AirdropID: "g", EndTime: 200, StartTime: 4, BannerRank: 1}})
	if got := banners(9); got != "gf" {
		t.Errorf("with ranks they are %q", got)
	}
}

// Of entries of one airdrop in one file and at one time, each has its own text.
func TestTheContentIsThatOfThePlace(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	var list []Airdrop
	for line := range int64(12) {
		e := Entry{AirdropID: "x", Source: "alpha", Exchange: "binance", ProjectName: "P", ContentEN: fmt.Sprint("line ", line+1)}
		list = append(list, Airdrop{e, drop.Place{Time: markettest.Base + line/6, File: "a", Line: line + 1}})
	}
	for range 2 {
		storetest.PutLog(t, log, Name, AppendRows, list...)
	}
	for i := range list {
		listed := list[i].WithoutContent()
		if got, err := Content(t.Context(), log, &listed, Chinese); err != nil || got != list[i].ContentEN {
			t.Errorf("%v has %q, %v", listed.Place, got, err)
		}
	}
	none := list[0]
	none.Place.File = "b"
	if got, err := Content(t.Context(), log, &none, English); err != nil || got != "" {
		t.Errorf("one that is not stored has %q, %v", got, err)
	}
}
