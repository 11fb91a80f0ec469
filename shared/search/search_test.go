package search_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/search"
	"quotary/shared/testing/must"
)

func TestAQueryFindsDocumentsThatHoldItsWords(t *testing.T) {
	t.Parallel()
	x := search.NewIndex(search.Build([]search.Document{
		{ID: 1, Time: 10, Title: "Bitcoin ETF inflow", Text: "BTC/USDT rose by 2.5% to 100,000.5 dollars."},
		{ID: 2, Time: 20, Title: "比特币现货 ETF 净流入", Text: "据监测，比特币上涨 3%。"},
		{ID: 3, Time: 30, Title: "Market report", Text: "The ETF of Bitcoin; a stablecoin."},
		{ID: 4, Time: 40, Title: "特币比", Text: "币"},
		{ID: 5, Time: 50, Title: "ÉTÉ über Straße", Text: "ビットコイン and 비트코인"},
		{ID: 6, Time: 60, Title: "ＳＯＬ", Text: "１０％"},
	}))
	tests := []struct {
		query string
		want  []int64
	}{
		{"bitcoin", []int64{1, 3}},                      // in the title first, though older
		{"BITCOIN  etf", []int64{1, 3}},                 // all words, any case
		{"etf", []int64{2, 1, 3}},                       // of two titles the newer first
		{"btc", []int64{1}},                             // beside a slash
		{"2.5", []int64{1}},                             // a number
		{"100000.5", []int64{1}},                        // without its comma
		{"100,000.5%", []int64{1}},                      // with it
		{"dollars", []int64{1}},                         // before a full stop
		{"比特币", []int64{2}},                             // in order: 4 has the same characters
		{"特币", []int64{4, 2}},                           //
		{"币", []int64{4, 2}},                            // one character, wherever it stands
		{"比", []int64{4, 2}},                            // also at the end of a run
		{"比特币 etf", []int64{2}},                         // both scripts
		{"比特币现货", []int64{2}},                           // a longer run
		{"现货比特币", nil},                                  // in another order
		{"ビット", []int64{5}},                             //
		{"비트코인", []int64{5}},                            //
		{"über straße", []int64{5}},                     //
		{"sol 10", []int64{6}},                          // of full width
		{"ＢＴＣ", []int64{1}},                             //
		{"coin", nil},                                   // whole words only
		{"bitcoin nowhere", nil},                        //
		{"", nil},                                       //
		{"?!", nil},                                     //
		{strings.Repeat("etf ", 100), []int64{2, 1, 3}}, // more words than are read
	}
	for _, test := range tests {
		t.Run(test.query[:min(len(test.query), 20)], func(t *testing.T) {
			t.Parallel()
			hits, total := x.Find(test.query, 0, 10)
			if diff := gocmp.Diff(test.want, ids(hits)); diff != "" || total != len(test.want) {
				t.Errorf("%d in all, found (-want +got):\n%s", total, diff)
			}
		})
	}
}

func TestPagesContinueEachOther(t *testing.T) {
	t.Parallel()
	var all []search.Document
	for i := range int64(1000) {
		all = append(all, search.Document{ID: i + 1, Time: i / 3, Title: "one"})
	}
	x := search.NewIndex(search.Build(all[:300]), search.Build(all[300:]))
	whole, total := x.Find("one", 0, 1000)
	if total != 1000 || len(whole) != 1000 {
		t.Fatalf("%d hits of %d, 1000 wanted", len(whole), total)
	}
	var paged []search.Hit
	for offset := 0; offset < 1100; offset += 70 {
		page, _ := x.Find("one", offset, 70)
		paged = append(paged, page...)
	}
	if diff := gocmp.Diff(whole, paged); diff != "" {
		t.Errorf("pages differ (-whole +paged):\n%s", diff)
	}
	if page, total := x.Find("one", 1<<62, 10); len(page) != 0 || total != 1000 {
		t.Errorf("far behind the end are %d hits of %d", len(page), total)
	}
}

func ids(hits []search.Hit) (list []int64) {
	for _, h := range hits {
		list = append(list, h.ID)
	}
	return list
}

// Parts of which texts and queries are drawn.
var (
	plainWords = []string{"btc", "etf", "eth", "sol", "fund"}
	denseRunes = []rune("比特币现货涨")
	plainWord  = regexp.MustCompile(`[a-z]+`)
)

func drawText(t *rapid.T, label string) string {
	part := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "dense") {
			return string(rapid.SliceOfN(rapid.SampledFrom(denseRunes), 1, 5).Draw(t, "run"))
		}
		return rapid.SampledFrom(plainWords).Draw(t, "word")
	})
	return strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, label), " ")
}

// holds reports whether a text holds all parts of a query.
func holds(text, query string) bool {
	for _, part := range strings.Fields(query) {
		if plainWord.MatchString(part) {
			if !slices.Contains(plainWord.FindAllString(text, -1), part) {
				return false
			}
		} else if !strings.Contains(text, part) {
			return false
		}
	}
	return query != ""
}

// lookThrough is what a search of all documents finds.
func lookThrough(documents map[int64]search.Document, query string) (hits []search.Hit) {
	for _, d := range documents {
		if holds(d.Title, query) {
			hits = append(hits, search.Hit{ID: d.ID, Time: d.Time, InTitle: true})
		} else if holds(d.Title+"\n"+d.Text, query) {
			hits = append(hits, search.Hit{ID: d.ID, Time: d.Time})
		}
	}
	slices.SortFunc(hits, func(a, b search.Hit) int {
		if a.InTitle != b.InTitle {
			return map[bool]int{true: -1, false: 1}[a.InTitle]
		}
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.ID, a.ID))
	})
	return hits
}

func TestSearchEqualsLookingThroughAllDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newest := map[int64]search.Document{}
		var segments []*search.Segment
		for range rapid.IntRange(1, 5).Draw(t, "segments") {
			var list []search.Document
			for range rapid.IntRange(0, 8).Draw(t, "documents") {
				d := search.Document{
					ID: rapid.Int64Range(1, 15).Draw(t, "id"), Time: rapid.Int64Range(0, 5).Draw(t, "time"),
					Title: drawText(t, "title"), Text: drawText(t, "text"),
				}
				list, newest[d.ID] = append(list, d), d
			}
			s := must.Get(search.Decode(search.Build(list).Append(nil)))(t)
			segments = append(segments, s)
		}
		from := rapid.IntRange(0, len(segments)-1).Draw(t, "merged from")
		to := rapid.IntRange(from, len(segments)).Draw(t, "merged to")
		merged := slices.Concat(segments[:from], []*search.Segment{search.Merge(segments[from:to]...)}, segments[to:])
		query := drawText(t, "query")
		want := lookThrough(newest, query)
		for name, x := range map[string]*search.Index{"segments": search.NewIndex(segments...), "merged": search.NewIndex(merged...)} {
			got, total := x.Find(query, 0, 100)
			if diff := gocmp.Diff(want, got); diff != "" || total != len(want) {
				t.Fatalf("%s: %q finds %d (-want +got):\n%s", name, query, total, diff)
			}
		}
	})
}

func FuzzAnythingDecodesToASegmentOrAnError(f *testing.F) {
	f.Add(search.Build([]search.Document{{ID: 1, Time: 2, Title: "BTC 比特币", Text: "up 2.5"}}).Append(nil))
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := search.Decode(b)
		if err != nil {
			return
		}
		search.NewIndex(s).Find("btc 比特", 0, 10)
		search.Merge(s, s)
	})
}

// flashes are documents as many and as long as those of a news desk in some years.
func flashes(n int) []search.Document {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 20_000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("w%x", i*2654435761%1_000_003)
	}
	common := []string{"bitcoin", "etf", "the", "比特币", "上涨", "以太坊"}
	text := func(words int) string {
		var b strings.Builder
		for range words {
			switch r.IntN(8) {
			case 0:
				b.WriteString(common[r.IntN(len(common))])
			case 1:
				for range 6 {
					b.WriteRune(rune(0x4E00 + int(r.ExpFloat64()*300)%3000))
				}
			default:
				b.WriteString(vocabulary[min(int(r.ExpFloat64()*1500), len(vocabulary)-1)])
			}
			b.WriteByte(' ')
		}
		return b.String()
	}
	list := make([]search.Document, n)
	for i := range list {
		list[i] = search.Document{ID: int64(i + 1), Time: int64(1_700_000_000 + 60*i), Title: text(8), Text: text(40)}
	}
	return list
}

// TestASearchDoesLittleForEachHit bounds the work of a search by what it allocates: nothing for
// a document alone, of which half of all hold each word.
func TestASearchDoesLittleForEachHit(t *testing.T) {
	documents := flashes(5000)
	x := search.NewIndex(search.Build(documents[:4000]), search.Build(documents[4000:]))
	for _, query := range []string{"bitcoin", "bitcoin etf the 以太坊", "比特币", "币"} {
		_, total := x.Find(query, 0, 20)
		allocated := testing.AllocsPerRun(3, func() { x.Find(query, 0, 20) })
		if total < 500 || allocated > 300 {
			t.Errorf("%s: %d hits, %.0f allocations", query, total, allocated)
		}
	}
}

// A query costs what its words cost once each, and a document no more for a word that it
// repeats: also of whoever writes for nothing else.
func TestTheWorkOfASearchIsBounded(t *testing.T) {
	t.Parallel()
	var repeated []search.Document
	for i := range int64(10) {
		repeated = append(repeated, search.Document{ID: i + 1, Time: i, Title: "哈", Text: strings.Repeat("哈", 4000)})
	}
	x := search.NewIndex(search.Build(repeated))
	if hits, total := x.Find(strings.Repeat("哈", 33), 0, 20); total != 10 || hits[0].InTitle {
		t.Errorf("%d of 10 are found: %+v", total, hits)
	}
	// Each of 32 words in each of 10 documents is a posting and twice 128 places.
	if work := x.Work(strings.Repeat("哈", 33)); work > 10*32*257 {
		t.Errorf("a run of one character takes %d", work)
	}
	if work := x.Work("哈"); work > 20 {
		t.Errorf("a character takes %d", work)
	}
	x = search.NewIndex(search.Build(flashes(5000)))
	for query, again := range map[string]string{
		"币": strings.Repeat("币 ", 32), "bitcoin": strings.Repeat("bitcoin ", 32), "bitcoin 比特币 the": strings.Repeat("bitcoin 比特币 the ", 5),
	} {
		if once, work := x.Work(query), x.Work(again); work != once || once == 0 {
			t.Errorf("%s takes %d once, and again and again %d", query, once, work)
		}
	}
	// The rarest word comes first, wherever it stands.
	if first, last := x.Work("w0 bitcoin the etf"), x.Work("bitcoin the etf w0"); first != last {
		t.Errorf("a rare word takes %d, behind the others %d", first, last)
	}
	if work := x.Work("bitcoin the nowhere"); work != 0 {
		t.Errorf("a word of no document takes %d", work)
	}
}

// The words of a run are looked up by their places wherever they stand among others of the same.
func TestARunIsFoundAmongOthersOfItsWords(t *testing.T) {
	t.Parallel()
	x := search.NewIndex(search.Build([]search.Document{
		{ID: 1, Title: "比特", Text: strings.Repeat("比特大 ", 100) + "比特币 " + strings.Repeat("特币 ", 50)},
		{ID: 2, Title: "比特", Text: strings.Repeat("比特大 ", 100) + strings.Repeat("特币 ", 50)},
	}))
	if hits, _ := x.Find("比特币", 0, 10); len(hits) != 1 || hits[0].ID != 1 {
		t.Errorf("found %+v", hits)
	}
}

// cpu is the time that the process has computed, which other processes do not lengthen much.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkFindAmong200000Documents(b *testing.B) {
	documents := flashes(200_000)
	var segments []*search.Segment
	bytes := 0
	for part := range slices.Chunk(documents, 20_000) {
		s := search.Build(part)
		bytes += len(s.Append(nil))
		segments = append(segments, s)
	}
	x := search.NewIndex(segments...)
	for _, query := range []string{"w1a2b", "bitcoin", "bitcoin etf", "比特币", "比特币上涨", "币", "bitcoin etf the 以太坊"} {
		b.Run(query, func(b *testing.B) {
			var total int
			before := cpu()
			for b.Loop() {
				_, total = x.Find(query, 0, 20)
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(total), "hits")
			b.ReportMetric(float64(bytes)/1e6, "MB")
		})
	}
}

// BenchmarkNewIndex makes the index of 200,000 documents, as a reader does where one is new.
func BenchmarkNewIndex(b *testing.B) {
	documents := flashes(200_000)
	var segments []*search.Segment
	for _, n := range []int{131_072, 32_768, 32_768, 2048, 1024, 256, 64} {
		segments = append(segments, search.Build(documents[:n]))
		documents = documents[n:]
	}
	for b.Loop() {
		search.NewIndex(segments...)
	}
}

func BenchmarkBuild(b *testing.B) {
	documents := flashes(10_000)
	b.ResetTimer()
	for b.Loop() {
		search.Build(documents)
	}
	b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "documents/s")
}
