package flashes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "flashes.schema.json")
}

const first = int64(1_795_000_000) // s

func flash(id, at, line int64) Flash {
	return Flash{
		Entry: Entry{ID: id, Time: first + at, Language: "en", Platform: House, Title: fmt.Sprint("flash ", id, " of line ", line)},
		Place: drop.Place{Time: first * 1000, File: "a", Line: line},
	}
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	const least = `"id":1,"time":1795000000,"language":"en","title":"T"`
	for line, want := range map[string]string{
		`{` + least + `}`: "",
		`{` + least + `,"platform":"social","pictures":"https://a.example/1.png  http://a.example/2.png","flash_type":28,"tab":15,"view_count":9}`: "",
		`{"id":1,"time":1795000000,"language":"EN","platform":"House","content":"C"}`:                                                              "",
		`{"id":1,"time":1795000000,"language":"tc","content":"C"}`:                                                                                 "",
		`{"time":1795000000,"language":"en","title":"T"}`:                                                                                          "id is missing",
		`{"id":0,"time":1795000000,"language":"en","title":"T"}`:                                                                                   "id must be a whole number from 1",
		`{"id":9007199254740992,"time":1795000000,"language":"en","title":"T"}`:                                                                    "id must be a whole number from 1",
		`{"id":1,"time":1795000000000,"language":"en","title":"T"}`:                                                                                "time must be in Unix seconds",
		`{"id":1,"time":-5,"language":"en","title":"T"}`:                                                                                           "time must be in Unix seconds",
		`{"id":1,"time":9000000000000000,"language":"en","title":"T"}`:                                                                             "time must be in Unix seconds",
		`{"id":1,"time":1795000000,"language":"fr","title":"T"}`:                                                                                   "language must be one of cn, en, tc",
		`{"id":1,"time":1795000000,"language":"en","title":" "}`:                                                                                   "one of title and content",
		`{` + least + `,"flash_type":29}`:                                                                                                          "flash_type must be",
		`{` + least + `,"tab":16}`:                                                                                                                 "tab must be",
		`{` + least + `,"flash_type":2}`:                                                                                                           "flash_type must be one of 0, 1, 3",
		`{` + least + `,"like_count":-1}`:                                                                                                          "like_count must be a whole number from 0 to",
		`{` + least + `,"link":"javascript:alert(1)"}`:                                                                                             "link must be an address",
		`{` + least + `,"pictures":"https://a.example/1.png x.png"}`:                                                                               "pictures must be an address",
		`{` + least + `,"is_important":1}`:                                                                                                         `no member "is_important"`,
	} {
		e, err := Parse([]byte(line))
		if want == "" && (err != nil || e.Platform == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func drawFlash(t *rapid.T) Flash {
	f := flash(rapid.Int64Range(1, 9).Draw(t, "id"), rapid.Int64Range(0, 5).Draw(t, "time"), rapid.Int64Range(1, 99).Draw(t, "line"))
	f.Content, f.Hidden = rapid.StringN(0, 9, -1).Draw(t, "content"), rapid.Bool().Draw(t, "hidden")
	return f
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Flash]{
		Values: rapid.Custom(drawFlash),
		Encode: func(f Flash) []byte { return row(&f).Body },
		Decode: func(body []byte) (Flash, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			return NewView(rapid.SliceOfNDistinct(rapid.Custom(drawFlash), 0, 6, func(f Flash) int64 { return f.ID }).Draw(t, "flashes"))
		}),
		Encode: Published.Encode, Decode: Published.Decode, Use: func(v View) { v.Select(Selection{Platform: House, Language: "en", Limit: 3}) },
	}.Test(t)
}

func newLog(t *testing.T) *store.Log {
	t.Helper()
	return storetest.Open(t).Log
}

// TestPagesOfTheLogAreThoseOfTheView reads lists of edited, moved and hidden flashes from
// both.
func TestPagesOfTheLogAreThoseOfTheView(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	r := rand.New(rand.NewPCG(1, 2))
	newest := map[int64]Flash{}
	for line := range int64(120) {
		f := flash(1+r.Int64N(40), r.Int64N(20), line+1)
		f.Hidden = r.IntN(8) == 0
		f.Important = r.IntN(2) == 0
		if r.IntN(6) == 0 {
			f.Language = "cn"
		}
		newest[f.ID] = f
		storetest.PutLog(t, log, Name, AppendRows, f)
	}
	var all []Flash
	for _, f := range newest {
		all = append(all, f)
	}
	v := NewView(all)
	behind := flash(20, 9, 0)
	for _, s := range []Selection{
		{Limit: 1000}, {Limit: 7}, {Limit: 7, Behind: &behind}, {Limit: 100, Keep: func(f *Flash) bool { return f.Important }},
		{Limit: 100, From: time.Unix(first+3, 0), To: time.Unix(first+9, 0)}, {Limit: 3, From: time.Unix(first+3, 0)}, {Limit: 5, To: time.Unix(first-1, 0)},
	} {
		s.Platform, s.Language = House, "en"
		want, whole := v.Select(s)
		got, err := Before(t.Context(), log, s)
		if err != nil || !whole {
			t.Fatalf("%v, whole %t", err, whole)
		}
		if !slices.EqualFunc(got, want, func(a, b Flash) bool { return a.Entry == b.Entry }) {
			t.Errorf("%+v:\n%v\nwant\n%v", s, ids(got), ids(want))
		}
	}
	for id, f := range newest {
		got, ok, err := ByID(t.Context(), log, id)
		if err != nil || ok == f.Hidden || got.Entry != f.Entry {
			t.Errorf("%d is %+v, %t, %v; want %+v", id, got, ok, err, f)
		}
	}
}

func ids(list []Flash) (ids []int64) {
	for _, f := range list {
		ids = append(ids, f.ID)
	}
	return ids
}

func TestTheViewHoldsTheNewestOfEachList(t *testing.T) {
	t.Parallel()
	var all []Flash
	for n := range int64(Listed + 5) {
		f := flash(n+1, n, 1)
		g := f
		g.ID, g.Platform = n+100_000, Social
		all = append(all, f, g)
	}
	v := NewView(all)
	page, whole := v.Select(Selection{Platform: House, Language: "en", Limit: 2 * Listed})
	if len(v.Flashes) != 2*Listed || len(page) != Listed || whole || page[0].ID != Listed+5 || page[Listed-1].ID != 6 {
		t.Errorf("%d of %d, whole %t", len(page), len(v.Flashes), whole)
	}
	if _, whole := v.Select(Selection{Platform: House, Language: "en", Limit: 2 * Listed, From: time.Unix(first+50, 0)}); !whole {
		t.Error("what is from a time on that the view holds is not whole")
	}
}
