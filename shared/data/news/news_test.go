package news

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const seen = int64(1_795_000_000_000) // ms

// item is the nth item of a publisher, as it was seen so many ms after the start.
func item(n int, title string, after int64) Item {
	key := fmt.Sprint("guid-", n)
	return Item{ID: ID("Acme", key), Source: "Acme", Key: key, Language: English, Title: title, Content: "<p>" + title + "</p>", Seen: seen + after, FirstSeen: seen + after}
}

func items() *rapid.Generator[Item] {
	return rapid.Custom(func(t *rapid.T) Item {
		source, key := rapid.StringN(1, 20, -1).Draw(t, "source"), rapid.StringN(1, 20, -1).Draw(t, "key")
		at := rapid.Int64Range(1, 4_000_000_000_000).Draw(t, "seen")
		return Item{ID: ID(source, key), Source: source, Key: key, Language: rapid.SampledFrom([]Language{Chinese, English}).Draw(t, "language"),
			Title: rapid.StringN(1, 50, -1).Draw(t, "title"), Describe: rapid.String().Draw(t, "describe"), Content: rapid.String().Draw(t, "content"),
			Cover: rapid.String().Draw(t, "cover"), Link: rapid.String().Draw(t, "link"), Author: rapid.String().Draw(t, "author"), Avatar: rapid.String().Draw(t, "avatar"),
			Published: rapid.Int64Range(0, 4_000_000_000).Draw(t, "published"), Seen: at, FirstSeen: at}
	})
}

func TestStoredItems(t *testing.T) {
	datasettest.Codec[Item]{
		Values: items(),
		Encode: func(i Item) []byte { return row(&i).Body },
		Decode: func(body []byte) (Item, error) { return Decode(store.Row{Body: body}) },
	}.Test(t)
}

func TestStoredTimes(t *testing.T) {
	datasettest.Codec[int64]{
		Values: rapid.Int64Range(1, 4_000_000_000_000),
		Encode: func(ms int64) []byte { return FirstSeenRow("item", ms).Body },
		Decode: DecodeFirstSeen,
	}.Test(t)
}

func TestStoredViews(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			var v View
			for _, i := range rapid.SliceOfN(items(), 0, 3).Draw(t, "items") {
				v.Items = append(v.Items, HeadingOf(&i))
			}
			return v
		}),
		Encode: Published.Encode, Decode: Published.Decode,
	}.Test(t)
}

func TestNumbersAreThoseOfEveryDeployment(t *testing.T) {
	t.Parallel()
	// The first 53 bits of the SHA-256 of publisher, zero and key, made with sha256sum.
	if got := ID("Acme", "guid-1"); got != 6248838842137511 {
		t.Errorf("%d", got)
	}
	if ID("a", "bc") == ID("ab", "c") {
		t.Error("publisher and key run into each other")
	}
}

func newLog(t *testing.T) *store.Log {
	t.Helper()
	return storetest.Open(t).Log
}

func TestAnItemIsFoundByItsNumberInItsNewestState(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	first, edited, other := item(1, "first", 0), item(1, "edited", 7000), item(2, "other", 10)
	for range 2 {
		storetest.PutLog(t, log, Name, AppendRows, edited, other, first)
	}
	got, ok, err := ByID(t.Context(), log, first.ID)
	want := edited
	want.FirstSeen = first.Seen
	if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
		t.Errorf("%t %v (-want +got):\n%s", ok, err, diff)
	}
	if got.CreateTime() != seen/1000 {
		t.Errorf("without a date it is of %d", got.CreateTime())
	}
	if got, ok, err = ByID(t.Context(), log, other.ID); err != nil || !ok || got.Title != "other" {
		t.Errorf("%t %v %+v", ok, err, got)
	}
	if got, ok, err = ByID(t.Context(), log, 12345); err != nil || ok {
		t.Errorf("an unknown number is %+v, %v", got, err)
	}
}

// The number stays that of the item that was seen first, whatever comes later.
func TestTwoItemsOfOneNumberAreNotMixedUp(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	a, b, a2 := item(1, "a", 0), item(2, "b", 5), item(1, "a edited", 3)
	b.ID = a.ID
	b2 := b
	b2.Title, b2.Seen, b2.FirstSeen = "b edited", seen+9, seen+9
	storetest.PutLog(t, log, Name, AppendRows, b2, b, a2, a)
	if got, ok, err := ByID(t.Context(), log, a.ID); err != nil || !ok || got.Title != "a edited" || got.Key != a.Key {
		t.Errorf("%t %v %+v", ok, err, got)
	}
	all := []Heading{HeadingOf(&a), HeadingOf(&b), HeadingOf(&a2)}
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := all[0].Merge(all[1]).Merge(all[2]); got.Owner != HeadingOf(&a).Owner {
			t.Errorf("it is %s", got.Title)
		}
	}
}

func TestStatesOfAnItemMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var states []Heading
		for range rapid.IntRange(2, 6).Draw(t, "states") {
			i := item(1, rapid.StringMatching(`[a-d]{1,2}`).Draw(t, "title"), rapid.Int64Range(0, 3).Draw(t, "after"))
			states = append(states, HeadingOf(&i))
		}
		merged := func(list []Heading) Heading {
			all := list[0]
			for _, h := range slices.Concat(list[1:], list) { // each twice
				all = all.Merge(h)
			}
			return all
		}
		want := merged(states)
		if diff := cmp.Diff(want, merged(rapid.Permutation(states).Draw(t, "order"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestPagesAreExactAndBounded(t *testing.T) {
	t.Parallel()
	var all []Heading
	for n := range 45 {
		i := item(n, fmt.Sprint(n), int64(n%7)*1000)
		all = append(all, HeadingOf(&i))
	}
	v := NewView(all)
	var read []int64
	for page := int64(1); page <= 3; page++ {
		for _, h := range v.Page(page, 20) {
			read = append(read, h.ID)
		}
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(read)))
	if len(read) != 45 || len(distinct) != 45 {
		t.Errorf("%d items on all pages, %d of them different", len(read), len(distinct))
	}
	for n := 1; n < len(v.Items); n++ {
		if a, b := v.Items[n-1], v.Items[n]; a.CreateTime() < b.CreateTime() {
			t.Errorf("%d is before %d", a.CreateTime(), b.CreateTime())
		}
	}
	for _, c := range [][3]int64{{3, 20, 5}, {4, 20, 0}, {1, 20, 20}, {1 << 62, 20, 0}, {45, 1, 1}, {46, 1, 0}, {0, 20, 0}, {-1, 20, 0}, {3, 15, 15}} {
		if got := v.Page(c[0], c[1]); int64(len(got)) != c[2] {
			t.Errorf("page %d of %d has %d items, want %d", c[0], c[1], len(got), c[2])
		}
	}
	if got := (View{}).Page(1, 20); len(got) != 0 {
		t.Errorf("an empty list has %d", len(got))
	}
}

func TestTheViewHoldsTheNewest(t *testing.T) {
	t.Parallel()
	var all []Heading
	for n := range Listed + 10 {
		i := item(n, "t", 0)
		i.Published = time.Unix(int64(1_700_000_000+n), 0).Unix()
		all = append(all, HeadingOf(&i))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	v := NewView(all)
	if len(v.Items) != Listed || v.Items[0].Published != 1_700_000_000+Listed+9 || v.Items[Listed-1].Published != 1_700_000_010 {
		t.Errorf("%d items from %d to %d", len(v.Items), v.Items[len(v.Items)-1].Published, v.Items[0].Published)
	}
}

func BenchmarkDecodeFullView(b *testing.B) {
	var all []Heading
	for n := range Listed {
		i := item(n, "Bitcoin rises while everybody looks at something else", 0)
		i.Describe = i.Title + i.Title + i.Title + i.Title
		all = append(all, HeadingOf(&i))
	}
	body := Published.Encode(NewView(all))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		must.Get(Published.Decode(body))(b)
	}
}
