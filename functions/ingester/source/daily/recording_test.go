package daily_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"quotary/functions/ingester/source/daily"
	"quotary/shared/market"
	"quotary/shared/testing/testenv"
)

// Every row of a recorded file is a day, or is counted as one that cannot be read, or is older
// than days are kept.
func TestRecordedFiles(t *testing.T) {
	t.Parallel()
	for file, read := range map[string]func([]byte) ([]market.DayQuote, int, error){
		"index/cboe_vix_history.csv": func(b []byte) ([]market.DayQuote, int, error) { return daily.ReadVIX(b, "i:vix:cboe") },
		"index/stooq_shc_d.csv": func(b []byte) ([]market.DayQuote, int, error) {
			return daily.ReadStooq(b, daily.Symbol{Key: "i:sh000001:sse", Name: "^shc"})
		},
		"index/stooq_spx_d.csv": func(b []byte) ([]market.DayQuote, int, error) {
			return daily.ReadStooq(b, daily.Symbol{Key: "i:spx:us", Name: "^spx"})
		},
		"stocks/stooq_tsla_us_d.csv": func(b []byte) ([]market.DayQuote, int, error) {
			return daily.ReadStooq(b, daily.Symbol{Key: "i:tsla:nasdaq", Name: "tsla.us", Unit: "USD"})
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			lines := testenv.Recording(t, file)
			var text strings.Builder
			rows, old := -1, 0 // the first line is a header
			for ; lines.Scan(); rows++ {
				fmt.Fprintln(&text, lines.Text())
				if date := lines.Text(); rows >= 0 && strings.Contains(date[:min(5, len(date))], "-") && date < market.FirstDay {
					old++
				}
			}
			days, malformed, err := read([]byte(text.String()))
			if err != nil || rows == 0 || len(days)+malformed+old != rows || malformed > rows/100 {
				t.Fatalf("%d days, %d that cannot be read and %d too old of %d rows: %v", len(days), malformed, old, rows, err)
			}
			if days[0].Key == "i:vix:cboe" { // of each day the close is that of the file
				for i, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[1:] {
					field := strings.Split(strings.TrimSpace(line), ",")
					date := field[0][6:] + "-" + field[0][:2] + "-" + field[0][3:5]
					want, errWant := strconv.ParseFloat(field[4], 64)
					got, errGot := strconv.ParseFloat(days[i].Close, 64)
					if days[i].Date != date || want != got || errWant != nil || errGot != nil {
						t.Fatalf("%s is %+v", line, days[i])
					}
				}
			}
			t.Logf("%d rows: %d days, %d that cannot be read, %d too old", rows, len(days), malformed, old)
		})
	}
}

// The recorder wrote days of the Fear and Greed index as a table, in its own time zone; they
// are read in the form in which the upstream answers.
func TestRecordedFearAndGreed(t *testing.T) {
	t.Parallel()
	lines := testenv.Recording(t, "index/fear_greed_2018-2025.csv")
	const zone = 19_800 // seconds
	var list, dates []string
	lines.Scan()
	for lines.Scan() {
		field := strings.Split(lines.Text(), ",")
		at, err := strconv.ParseInt(field[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf(`{"value":%q,"value_classification":%q,"timestamp":"%d"}`, field[1], field[2], at-zone))
		dates = append(dates, field[3]+" "+field[1])
	}
	days, malformed, err := daily.ReadFearGreed([]byte(`{"name":"Fear and Greed Index","data":[`+strings.Join(list, ",")+`],"metadata":{"error":null}}`), "i:fgi:alternative")
	if err != nil || malformed != 0 || len(days) != len(dates) || len(days) == 0 {
		t.Fatalf("%d of %d days, %d that cannot be read: %v", len(days), len(dates), malformed, err)
	}
	for i := range days {
		if got := days[i].Date + " " + days[i].Close; got != dates[i] {
			t.Fatalf("%s, want %s", got, dates[i])
		}
	}
	t.Logf("%d days", len(days))
}
