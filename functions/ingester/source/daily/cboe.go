package daily

import (
	"time"

	"quotary/shared/market"
)

// vixPath is the file of all days since 1990, which Cboe writes after the close.
const vixPath = "/VIX_History.csv"

// VIX returns the days of Cboe's volatility index, in points, under a key. The folder of its
// files is https://cdn.cboe.com/api/global/us_indices/daily_prices.
func VIX(folder, key string) *Series {
	return series(folder, "the VIX", 10, &list{path: vixPath, query: noQuery,
		read: func(file []byte) ([]market.DayQuote, int, error) { return ReadVIX(file, key) }})
}

// ReadVIX reads Cboe's file: the days, and how many rows are none.
func ReadVIX(file []byte, key string) (days []market.DayQuote, malformed int, err error) {
	return readCSV(file, []columns{{"date", "open", "high", "low", "close"}}, americanDate, key, "")
}

// americanDate is the date of MM/DD/YYYY, and empty for what is none.
func americanDate(text string) string {
	day, err := time.Parse("01/02/2006", text)
	if err != nil {
		return ""
	}
	return day.Format(time.DateOnly)
}
