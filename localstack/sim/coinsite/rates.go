package coinsite

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"time"
)

// published is when the rates of a day come out, after midnight UTC.
const published = 14*time.Hour + 30*time.Minute

// Rate is the units of two currencies for one euro.
type Rate struct{ USD, CNY string }

// On returns the rates of a day, which follow from the seed alone: some tenths of a percent
// from those of the day before, and dollars and yuan together, as they do.
func (s *Site) On(date time.Time) Rate {
	const dayMs = 24 * hourMs
	at := time.UnixMilli(date.UnixMilli() / dayMs * dayMs)
	usd := 10_800 + 10_800*(s.wave("usd", 0, at, 90*dayMs, 30_000)+s.wave("usd", 1, at, 10*dayMs, 8_000))/1_000_000 // ten thousandths
	cny := usd * (71_000 + 71_000*s.wave("cny", 0, at, 60*dayMs, 10_000)/1_000_000) / 10_000
	return Rate{USD: rateText(usd), CNY: rateText(cny)}
}

func rateText(tenThousandths int64) string {
	return fmt.Sprintf("%d.%04d", tenThousandths/10_000, tenThousandths%10_000)
}

// Last returns the newest day whose rates are out at a time: no Saturday, no Sunday.
func Last(at time.Time) time.Time {
	day := at.UTC().Add(-published).Truncate(24 * time.Hour)
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

type cube struct {
	Time  string `xml:"time,attr"`
	Rates []rate `xml:"Cube"`
}

type rate struct {
	Currency string `xml:"currency,attr"`
	Rate     string `xml:"rate,attr"`
}

// serveRates writes the last days that have rates, the newest first.
func (s *Site) serveRates(w http.ResponseWriter, days int) {
	file := struct {
		XMLName xml.Name `xml:"http://www.gesmes.org/xml/2002-08-01 Envelope"`
		Subject string   `xml:"subject"`
		Days    []cube   `xml:"Cube>Cube"`
	}{Subject: "Reference rates (simulated)"}
	for day := Last(s.cfg.Now()); len(file.Days) < days; day = Last(day) {
		r := s.On(day)
		file.Days = append(file.Days, cube{day.Format(time.DateOnly), []rate{{"USD", r.USD}, {"JPY", "160.52"}, {"CNY", r.CNY}, {"HKD", "8.3217"}}})
	}
	w.Header().Set("Content-Type", "text/xml")
	_ = xml.NewEncoder(w).Encode(file)
}
