package market

import (
	"fmt"
	"testing"
)

func TestFiguresOfADay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given DayQuote
		want  string
	}{
		{DayQuote{Date: "1990-01-02", Open: "17.240000", High: "18.5", Low: "17.0", Close: "18", Volume: "10.0"}, "17.24 18.5 17 18 10"},
		{DayQuote{Date: "2026-11-20", Close: "40"}, "40 40 40 40 "},
		{DayQuote{Date: "2026-11-20", Close: "0"}, "0 0 0 0 "},
		{DayQuote{Date: "2026-11-20", Open: "9", High: "8", Low: "7", Close: "6"}, "9 9 6 6 "},
		{DayQuote{Date: "1970-01-01", Close: "1"}, "1 1 1 1 "},
		{DayQuote{Date: "1969-12-31", Close: "1"}, "date must be a day from 1970-01-01 on, as 2026-11-20"},
		{DayQuote{Date: "2026-02-30", Close: "1"}, "date must be a day from 1970-01-01 on, as 2026-11-20"},
		{DayQuote{Date: "2026-11-20"}, "close is missing"},
		{DayQuote{Date: "2026-11-20", Close: "-1"}, `close must be a plain decimal of at least 0, not "-1"`},
		{DayQuote{Date: "2026-11-20", Close: "1", Low: "1e3"}, `low must be a plain decimal of at least 0, not "1e3"`},
		{DayQuote{Date: "2026-11-20", Close: "1", Volume: "many"}, `volume must be a plain decimal of at least 0, not "many"`},
	} {
		q, err := tt.given.Checked()
		got := fmt.Sprint(q.Open, " ", q.High, " ", q.Low, " ", q.Close, " ", q.Volume)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.given, got, tt.want)
		}
	}
}
