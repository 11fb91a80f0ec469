package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// sizedBucket has files of some sizes, by key, of which nobody may read any.
type sizedBucket map[string]int64

func (b sizedBucket) List(_ context.Context, prefix string) (map[string]hyperliquid.HourFile, error) {
	listed := map[string]hyperliquid.HourFile{}
	for key, size := range b {
		if strings.HasPrefix(key, prefix) {
			listed[key] = hyperliquid.HourFile{ETag: "a", Size: size}
		}
	}
	return listed, nil
}

func (sizedBucket) Get(context.Context, string, string) (io.ReadCloser, error) {
	panic("a file is read")
}

// An hour of the venue has some 27 MB of fills.
func TestThePriceOfHoursIsKnownBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	bucket := sizedBucket{
		"node_fills_by_block/hourly/20261121/22.lz4": 26_000_000, "misc_events_by_block/hourly/20261121/22.lz4": 4_000_000,
		"node_fills_by_block/hourly/20261121/23.lz4": 27_000_000, "misc_events_by_block/hourly/20261121/23.lz4": 4_000_000,
		"node_fills_by_block/hourly/20261122/0.lz4": 27_000_000, // the other one is not there yet
		"node_fills_by_block/hourly/20261122/1.lz4": 99_000_000,
	}
	var from, to hourText
	must.Do(t, from.UnmarshalText([]byte("2026-11-21T22")))
	must.Do(t, to.UnmarshalText([]byte("2026-11-22T01")))
	size := must.Get(hyperliquid.MeasureHours(t.Context(), bucket, from.Time, to.Time))(t)
	check.Equal(t, hyperliquid.HoursSize{Hours: 3, Files: 5, Fills: 80_000_000, Misc: 8_000_000}, size)
	var out bytes.Buffer
	must.Do(t, printPrice(&out, "ap-northeast-1", &size))
	check.Equal(t, strings.TrimSpace(`
5 of 6 files are there, 0.09 GB; some 1.2 million fills, at 64 bytes each

                                    US dollars  once  a month of such hours
                                      requests  0.00                   0.00
                transfer within ap-northeast-1  0.00                   0.00
                   or to another region of AWS  0.01                   2.31
                                 or out of AWS  0.01                   2.93
                               writes of fills  2.34                 684.38
        reads of those that may be provisional  0.16                  45.62
   writes of provisional fills, as they happen  none                 456.25
  writes of funding, at 300,000 open positions  3.75                1095.00
    keeping the fills, each month from then on  0.47                 136.88
`), strings.TrimSpace(strings.ReplaceAll(out.String(), "  \n", "\n")))
}

func TestHoursAreNamedByDayOrHour(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-11-21": "2026-11-21T00:00:00Z", "2026-11-21T07": "2026-11-21T07:00:00Z", "21.11.2026": "", "2026-11-21T24": "", "2026-11-21T07:30": "",
	} {
		var c hoursPriceCommand
		_, err := must.Get(kong.New(&c, kong.Exit(func(int) {}), kong.Writers(io.Discard, os.Stderr)))(t).Parse([]string{text, "2026-11-22"})
		switch {
		case want == "" && err == nil:
			t.Errorf("%s is taken for %s", text, c.From)
		case want != "" && (err != nil || c.From.Format(time.RFC3339) != want):
			t.Errorf("%s: %s, %v", text, c.From, err)
		}
	}
	for _, c := range [][2]string{{"2026-11-22", "2026-11-22"}, {"2026-11-22", "2026-11-21"}, {"2020-01-01", "2026-11-21"}} {
		var price hoursPriceCommand
		must.Do(t, price.From.UnmarshalText([]byte(c[0])))
		must.Do(t, price.To.UnmarshalText([]byte(c[1])))
		if err := price.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "a year at most") {
			t.Errorf("%v: %v", c, err)
		}
	}
}
