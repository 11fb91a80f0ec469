package keys

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"quotary/shared/text/visible"
)

// The largest numbers accepted. A million sub-keys of the largest quota still
// sum up within an int64.
const (
	maxQuota     = 1_000_000_000_000 // requests per month
	maxSubKeys   = 1_000_000
	maxCount     = 1_000_000_000 // requests per minute, connections, subscriptions
	maxSeconds   = 3_153_600_000 // 100 years
	minTotalRate = 60            // requests per minute of a distributor
	maxNameRunes = 64
	maxMetadata  = 4096 // bytes
)

func checkName(parameter, name string) error {
	switch n := utf8.RuneCountInString(name); {
	case !utf8.ValidString(name):
		return invalid("%s must be valid UTF-8", parameter)
	case n < 1 || n > maxNameRunes:
		return invalid("%s must have 1 to %d characters, not %d", parameter, maxNameRunes, n)
	case !visible.Name(name):
		return invalid("%s must not contain control characters, or others that show nothing", parameter)
	}
	return nil
}

func checkLevelName(name string) error {
	const accepted = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	if len(name) < 1 || len(name) > 64 || strings.Trim(name, accepted) != "" {
		return invalid("level must have 1 to 64 letters, digits, _ or -")
	}
	return nil
}

func checkMetadata(text string) error {
	switch {
	case len(text) > maxMetadata:
		return invalid("metadata must have at most %d bytes, not %d", maxMetadata, len(text))
	case text != "" && (!utf8.ValidString(text) || !json.Valid([]byte(text))):
		return invalid("metadata must be a string that holds valid JSON")
	}
	return nil
}

func checkNumber(parameter string, n, least, most int64) error {
	if n < least || n > most {
		return invalid("%s must be a whole number from %d to %d, not %d", parameter, least, most, n)
	}
	return nil
}

// checkTotalRate holds the rate of a distributor to what its shards can share evenly.
func checkTotalRate(rate *int64) error {
	if rate != nil && (*rate < 0 || *rate > 0 && *rate < minTotalRate || *rate > maxCount) {
		return invalid("rate_limit must be 0 or a whole number from %d to %d, not %d", minTotalRate, int64(maxCount), *rate)
	}
	return nil
}

// number is a parameter beside what is accepted for it.
type number struct {
	parameter   string
	value       *int64
	least, most int64
}

func checkNumbers(numbers ...number) error {
	for _, n := range numbers {
		if n.value == nil {
			continue
		}
		if err := checkNumber(n.parameter, *n.value, n.least, n.most); err != nil {
			return err
		}
	}
	return nil
}

// checkCaps holds the WebSocket limits of a sub-key against the caps of its
// distributor. 0 needs no check: it means as many as the cap allows.
func checkCaps(d *Distributor, conns, subs int64) error {
	switch {
	case d.WSConnLimit > 0 && conns > d.WSConnLimit:
		return invalid("ws_conn_limit must be at most %d, the connection cap of this distributor, not %d", d.WSConnLimit, conns)
	case d.WSSubLimit > 0 && subs > d.WSSubLimit:
		return invalid("ws_sub_limit must be at most %d, the subscription cap of this distributor, not %d", d.WSSubLimit, subs)
	}
	return nil
}

// expiry returns the moment so many seconds after now, or zero for 0.
func expiry(now time.Time, seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds) * time.Second)
}

// maxQuoted is how many names a message about a list without a small bound shows.
const maxQuoted = 10

// quoteList shows names that a caller sent, escaped, at most so many, long ones cut.
func quoteList(names []string, most int) string {
	const longest = 64
	var b strings.Builder
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if r := []rune(name); len(r) > longest {
			name = string(r[:longest]) + "..."
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}
