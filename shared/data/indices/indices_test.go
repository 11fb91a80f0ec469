package indices

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

// drawn draws a day, of a few, from a source or a drop.
func drawn() *rapid.Generator[Day] {
	return rapid.Custom(func(t *rapid.T) Day {
		figure := markettest.Decimal(4, 2)
		d := Day{Date: date(rapid.IntRange(0, 80).Draw(t, "day")), Open: figure.Draw(t, "open"), High: figure.Draw(t, "high"), Low: figure.Draw(t, "low"),
			Close: figure.Draw(t, "close"), Unit: rapid.SampledFrom([]string{"", "USD"}).Draw(t, "unit"), Place: drop.Place{Time: rapid.Int64Range(0, 3).Draw(t, "day")}}
		if rapid.Bool().Draw(t, "dropped") {
			d.Place.File, d.Place.Line = "a.ndjson", 1
		}
		return d
	})
}

func date(n int) string { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }

func added(days []Day) (all Days) {
	for _, d := range days {
		all, _ = all.Add(d)
	}
	return all
}

func TestStoredDays(t *testing.T) {
	datasettest.Codec[Days]{
		Values: rapid.Map(rapid.SliceOf(drawn()), added),
		Encode: func(d Days) []byte { return Row(store.SeriesAt{}, d).Body },
		Decode: Decode,
		Use:    func(d Days) { d.Add(Day{Date: "2026-01-02"}) },
	}.Test(t)
}

func TestStoredDaysOfDrops(t *testing.T) {
	datasettest.Codec[DayEntry]{
		Values: rapid.Custom(func(t *rapid.T) DayEntry {
			d := DayEntry{"i:mine", drawn().Draw(t, "day")}
			d.Close, d.Place.File, d.Place.Line = "5.5", "a.ndjson", rapid.Int64Range(1, 9).Draw(t, "line")
			return d
		}),
		Encode: func(d DayEntry) []byte { return row(&d).Body },
		Decode: func(body []byte) (DayEntry, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
	if rows := AppendRows(nil, []DayEntry{{"i:mine", Day{Place: drop.Place{Time: 1}}}, {"i:mine", Day{Place: drop.Place{Time: 1, File: "a", Line: 1}}}}); len(rows) != 1 {
		t.Errorf("of a day of a source and one of a drop there are %d rows", len(rows))
	}
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			var v View
			for i := range rapid.IntRange(0, 3).Draw(t, "keys") {
				one := Index{Key: fmt.Sprint("i:", i)}
				for _, d := range rapid.SliceOfN(drawn(), 1, 5).Draw(t, "days") {
					one.Add(d)
				}
				v.Indices = append(v.Indices, one)
			}
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			if one, ok := v.Lookup("i:0"); ok {
				one.Add(Day{Date: "2026-01-02"})
			}
		},
	}.Test(t)
}

func TestTheOrderInWhichDaysAreToldMakesNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.SliceOf(drawn()).Draw(t, "days")
		shuffled := rapid.Permutation(append(days, days...)).Draw(t, "again")
		if diff := cmp.Diff(added(days), added(shuffled)); diff != "" {
			t.Fatal(diff)
		}
		var one, two Index
		for _, d := range days {
			one.Add(d)
		}
		for _, d := range shuffled {
			two.Add(d)
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatal(diff)
		}
		all := added(days)
		if diff := cmp.Diff(one.Days, all[max(0, len(all)-Kept):]); diff != "" {
			t.Fatalf("the view has not the newest days:\n%s", diff)
		}
	})
}

func TestALineOfADropHoldsAgainstWhatASourceTells(t *testing.T) {
	t.Parallel()
	day := func(at int64, file, figure string) Day {
		return Day{Date: "2026-11-20", Close: figure, Place: drop.Place{Time: at, File: file, Line: 1}}
	}
	for _, tt := range []struct {
		have, comes Day
		want        string
	}{
		{day(1, "", "1"), day(2, "", "2"), "2"},
		{day(2, "", "2"), day(1, "", "1"), "2"},
		{day(9, "", "1"), day(2, "a", "2"), "2"},
		{day(2, "a", "2"), day(9, "", "1"), "2"},
		{day(2, "a", "2"), day(3, "a", "3"), "3"},
	} {
		days, changed := Days{tt.have}.Add(tt.comes)
		if days[0].Close != tt.want || changed != (tt.want != tt.have.Close) {
			t.Errorf("%+v, then %+v: %+v, %v", tt.have, tt.comes, days, changed)
		}
	}
}

func TestDaysOfATimeAreRead(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t).Series
	var days []Day
	for n := range 80 {
		days = append(days, Day{Date: date(n), Close: fmt.Sprint(n)})
	}
	months := map[store.SeriesAt]Days{}
	for _, day := range days {
		at, _ := At(VIX, day.Date)
		months[at], _ = months[at].Add(day)
	}
	for at, month := range months {
		storetest.PutSeries(t, s, Row(at, month))
	}
	at := func(text string) (at time.Time) {
		if text != "" {
			var err error
			if at, err = time.Parse(time.DateOnly, text); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	for _, tt := range []struct {
		from, to string
		want     []Day
	}{
		{"", "", days}, {"2026-01-31", "2026-02-02", days[30:32]}, {"2026-03-20", "", days[78:]}, {"", "2026-01-02", days[:1]}, {"2026-04-01", "", nil}, {"2027-01-01", "", nil},
	} {
		got, err := Read(t.Context(), s, VIX, at(tt.from), at(tt.to))
		if diff := cmp.Diff(Days(tt.want), got); diff != "" || err != nil {
			t.Errorf("%s to %s: %v\n%s", tt.from, tt.to, err, diff)
		}
	}
}

// The share of the test is traded from Monday to Friday, but for the first Friday of April, over two
// months.
func TestWhatAShareCostOnADay(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t).Series
	months := map[store.SeriesAt]Days{}
	for n := range 61 {
		day := time.Date(2026, 3, 1+n, 0, 0, 0, 0, time.UTC)
		text := day.Format(time.DateOnly)
		if weekday := day.Weekday(); weekday == time.Saturday || weekday == time.Sunday || text == "2026-04-03" {
			continue
		}
		at, _ := At("i:acme", text)
		months[at], _ = months[at].Add(Day{Date: text, Close: "close of " + text})
	}
	for at, month := range months {
		storetest.PutSeries(t, s, Row(at, month))
	}
	asked := []DayOf{
		{"i:acme", "2026-03-03"}, {"i:acme", "2026-03-07"}, {"i:acme", "2026-04-05"}, {"i:acme", "2026-05-02"}, // a Tuesday, a Saturday, a Sunday behind a holiday, another month
		{"i:acme", "2026-03-01"}, {"i:acme", "2026-05-05"}, {"i:other", "2026-03-03"}, {"i:acme", "no date"}, // before the first, long behind the last, of no share
	}
	got, err := OnOrBefore(t.Context(), s, asked)
	want := map[DayOf]Day{}
	for i, date := range []string{"2026-03-03", "2026-03-06", "2026-04-02", "2026-04-30"} {
		want[asked[i]] = Day{Date: date, Close: "close of " + date}
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "indices.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"key":"i:blx:bnc","date":"2026-11-20","open":"1.50","high":"2","low":"1","close":"1.7","volume":"5","unit":"USD"}`: "",
		`{"key":"i:blx:bnc","date":"2026-11-20","close":"1.7"}`:                                                              "",
		`{"key":"i:blx:bnc","date":"2026-11-21","close":"1.7"}`:                                                              "",
		`{"key":"i:blx:bnc","date":"2026-11-22","close":"1.7"}`:                                                              "date must not be later",
		`{"key":"i:blx:bnc","date":"1969-11-22","close":"1.7"}`:                                                              "date must be a day from 1970",
		`{"key":"i:blx:bnc","date":"2026-02-30","close":"1.7"}`:                                                              "date must be a day from 1970",
		`{"key":"i:blx:bnc","date":"20.11.2026","close":"1.7"}`:                                                              "date must be",
		`{"key":"i:blx:bnc","date":"2026-11-20"}`:                                                                            "close is missing",
		`{"key":"i:blx:bnc","date":"2026-11-20","close":1.7}`:                                                                "close must be",
		`{"key":"i:blx:bnc","date":"2026-11-20","close":"-1"}`:                                                               "close must be a plain decimal",
		`{"key":"i:blx:bnc","date":"2026-11-20","close":"1","high":"x"}`:                                                     "high must be a plain decimal",
		`{"key":"i:blx:bnc","date":"2026-11-20","close":"1","unit":"dollar"}`:                                                "unit must be",
		`{"date":"2026-11-20","close":"1"}`:                                                                                  "key is missing",
	} {
		put := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		_, err := Parse([]byte(line), drop.Place{Time: put.UnixMilli(), File: "a", Line: 1})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
