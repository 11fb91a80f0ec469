package drop

import (
	"fmt"
	"net/url"
)

// Times that can be true, ms: from before there were coins to the end of year 9999.
const (
	earliest = 1_230_768_000_000
	latest   = 253_402_300_799_999
)

// CheckTime refuses times of a member that cannot be true, ms: most are of another unit. 0 is
// none.
func CheckTime(name string, ms int64) error {
	if ms != 0 && (ms < earliest || ms > latest) {
		return fmt.Errorf("%s must be a time in Unix milliseconds from 2009 to 9999", name)
	}
	return nil
}

// CheckAddress refuses addresses of a member that are not of the web, and those with a
// password. An empty one is none.
func CheckAddress(name, address string) error {
	if address == "" {
		return nil
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("%s must be an address of http or https", name)
	}
	return nil
}
