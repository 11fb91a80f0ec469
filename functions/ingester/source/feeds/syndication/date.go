package syndication

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// zones are the names of time zones that feeds use, in minutes from UTC. Of names that
// several zones share, those of RFC 822 are American, the others the most common.
var zones = map[string]int{
	"UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "MET": 60, "MEZ": 60, "WAT": 60, "CEST": 120, "MEST": 120, "MESZ": 120,
	"EET": 120, "SAST": 120, "CAT": 120, "EEST": 180, "MSK": 180, "TRT": 180, "EAT": 180, "GST": 240, "PKT": 300, "IST": 330, "NPT": 345, "ICT": 420, "WIB": 420,
	"HKT": 480, "SGT": 480, "MYT": 480, "PHT": 480, "AWST": 480, "JST": 540, "KST": 540, "ACST": 570, "ACDT": 630, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
	"NST": -210, "NDT": -150, "AST": -240, "ADT": -180, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
	"AKST": -540, "AKDT": -480, "HST": -600, "BRT": -180, "ART": -180, "CLT": -240, "COT": -300, "PET": -300,
}

var (
	remark  = regexp.MustCompile(`\([^()]*\)`)
	isoDay  = regexp.MustCompile(`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[Tt](.+))?$`)
	clock   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(.*)$`)
	offset  = regexp.MustCompile(`^(?i:GMT|UTC|UT)?([-+])(\d{1,2})(?::?(\d{2}))?$`)
	ordinal = regexp.MustCompile(`^(\d{1,4})(?i:st|nd|rd|th)?\.?$`)
	dashed  = regexp.MustCompile(`^(\d{1,2})-([A-Za-z]{3,9})-(\d{2,4})$`)
	name    = regexp.MustCompile(`^[A-Za-z]+\.?$`)
)

// maxDate is how long a date is at most, bytes.
const maxDate = 100

// Date reads a date as feeds write it: of RFC 822, of RFC 3339, and what is alike, with or
// without weekday, time, seconds, zone and remarks. Without a zone it is of UTC. A date of
// which a word cannot be read, such as a zone that nobody knows, is none, which is zero.
func Date(text string) time.Time {
	if len(text) > maxDate {
		return time.Time{}
	}
	var w when
	for word := range strings.FieldsFuncSeq(remark.ReplaceAllString(text, " "), func(r rune) bool { return strings.ContainsRune(", \t\r\n\u00a0", r) }) {
		if !w.read(word) {
			return time.Time{}
		}
	}
	return w.time()
}

// when is what the words of a date have said.
type when struct {
	year, day            int
	month                time.Month
	hour, minute, second int
	half                 string // am, pm
	zone                 string // its name
	offset               *int   // in digits, which hold before a name; minutes
	clock                bool   // there is a time of the day
}

// read takes a word in; false is one that cannot be read.
func (w *when) read(word string) bool {
	if p := isoDay.FindStringSubmatch(word); p != nil && w.year == 0 {
		w.year, w.month, w.day = number(p[1]), time.Month(number(p[2])), number(p[3])
		return p[4] == "" || w.read(p[4])
	}
	if p := dashed.FindStringSubmatch(word); p != nil {
		return w.read(p[1]) && w.read(p[2]) && w.read(p[3])
	}
	if p := clock.FindStringSubmatch(word); p != nil && !w.clock {
		w.clock, w.hour, w.minute, w.second = true, number(p[1]), number(p[2]), number(p[3])
		return p[4] == "" || w.read(p[4])
	}
	if p := offset.FindStringSubmatch(word); p != nil && w.offset == nil {
		minutes := 60*number(p[2]) + number(p[3])
		if p[1] == "-" {
			minutes = -minutes
		}
		w.offset = &minutes
		return max(minutes, -minutes) < 15*60 && number(p[3]) < 60
	}
	if p := ordinal.FindStringSubmatch(word); p != nil {
		return w.number(p[1])
	}
	return name.MatchString(word) && w.name(strings.TrimSuffix(word, "."))
}

// number takes a day, or a year: what has four digits, or is behind a day.
func (w *when) number(digits string) bool {
	n := number(digits)
	switch {
	case len(digits) <= 2 && w.day == 0:
		w.day = n
	case len(digits) == 4 && w.year == 0:
		w.year = n
	case len(digits) == 2 && w.year == 0:
		w.year = 1900 + n
		if n < 70 {
			w.year += 100
		}
	default:
		return false
	}
	return true
}

// name takes a month, a weekday, which says nothing more, half a day, or a zone.
func (w *when) name(word string) bool {
	if len(word) >= 3 {
		for m := time.January; m <= time.December; m++ {
			if begins(m.String(), word) {
				fits := w.month == 0
				w.month = m
				return fits
			}
		}
		for d := time.Sunday; d <= time.Saturday; d++ {
			if begins(d.String(), word) {
				return true
			}
		}
	}
	switch word = strings.ToUpper(word); word {
	case "AM", "PM":
		w.half = word
		return w.clock && w.hour >= 1 && w.hour <= 12
	}
	_, known := zones[word]
	fits := known && (w.zone == "" || w.zone == word)
	w.zone = word
	return fits
}

// begins reports whether a name begins with a word, in letters of any case.
func begins(name, word string) bool {
	return len(word) <= len(name) && strings.EqualFold(name[:len(word)], word)
}

// time is what the words say together, zero where that is no date.
func (w *when) time() time.Time {
	hour, minutes := w.hour, zones[w.zone]
	if w.offset != nil {
		minutes = *w.offset
	}
	if w.half != "" {
		if hour %= 12; w.half == "PM" {
			hour += 12
		}
	}
	day := time.Date(w.year, w.month, w.day, 0, 0, 0, 0, time.UTC)
	if w.year == 0 || day.Day() != w.day || day.Month() != w.month || hour > 24 || w.minute > 59 || w.second > 60 {
		return time.Time{}
	}
	return time.Date(w.year, w.month, w.day, hour, w.minute-minutes, w.second, 0, time.UTC)
}

// number reads digits, at most four of them; none are 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // digits
	return n
}
