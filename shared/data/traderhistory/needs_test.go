package traderhistory

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/traderfields"
)

// A figure of which a column was forgotten differs from the one of all columns.
func TestFiguresAreMadeOfTheColumnsThatTheyNeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(10, rapid.Int64Range(markettest.Base, markettest.Base+9*hourMs)).Draw(t, "did")
		of := d.Facts().Within(0, market.MaxTime)
		for i := range traderfields.Fields {
			f := &traderfields.Fields[i]
			if f.Adds == traderfields.Latest || slices.Contains([]string{"all orders", "net flows", "max drawdown"}, f.Group) {
				continue
			}
			part := new(market.Window)
			for _, c := range Needs(f) {
				if c >= firstContinued {
					continue
				}
				if v, ok := components[c].get(&of.Did); ok {
					components[c].set(&part.Did, v)
				}
			}
			less, all := Trader(part), Trader(&of)
			value, known := f.Figure(&less, Period)
			if want, is := f.Figure(&all, Period); value != want || known != is {
				t.Fatalf("%s of columns %v is %d, %t; want %d, %t", f.Name, Needs(f), value, known, want, is)
			}
		}
	})
}

func TestAWindowIsCoveredByTheLongestFilesInIt(t *testing.T) {
	t.Parallel()
	var m Manifest
	week := StartOf(markettest.Base, Week) + Week*hourMs
	for hour := week - 3*Day*hourMs; hour < week+9*Day*hourMs; hour += hourMs {
		if hour != week+5*hourMs { // nobody did anything
			m.Put(Unit{From: hour, Hours: Hour})
		}
		if hour%(Day*hourMs) == 0 {
			m.Put(Unit{From: hour, Hours: Day})
			m.Put(Unit{From: hour, Hours: Moment})
		}
	}
	m.Put(Unit{From: week, Hours: Week})
	for name, c := range map[string]struct {
		from, to int64 // hours from the beginning of the week on
		want     []int64
	}{
		"a week alone":               {0, Week, []int64{Week}},
		"less than a week":           {0, Week - 1, append(slices.Repeat([]int64{Day}, 6), slices.Repeat([]int64{Hour}, 23)...)},
		"edges of days":              {-2, Week + Day + 1, []int64{Hour, Hour, Week, Day, Hour}},
		"hours, of which one is not": {1, 8, slices.Repeat([]int64{Hour}, 6)},
		"an hour that is not":        {5, 6, nil},
		"nothing":                    {7, 7, nil},
		"before all":                 {-100 * Day, -50 * Day, nil},
		"behind all":                 {20 * Day, 30 * Day, nil},
		"more than there is":         {-100 * Day, -2 * Day, []int64{Day}},
	} {
		at := week + c.from*hourMs
		var got []int64
		for _, u := range m.Cover(at, week+c.to*hourMs) {
			if u.From < at {
				t.Errorf("%s: %d hours begin before the end of the ones before", name, u.Hours)
			}
			at = u.To()
			got = append(got, u.Hours)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
