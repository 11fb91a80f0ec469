package ecb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/ecb"
	"quotary/shared/market"
)

// file is a file of rates in the bank's form, with figures of our own making.
func file(days ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>
	<Cube>` + strings.Join(days, "") + `</Cube>
</gesmes:Envelope>`
}

func day(date, usd, cny string) string {
	return fmt.Sprintf(`<Cube time='%s'><Cube currency='USD' rate='%s'/><Cube currency='JPY' rate='160.5'/><Cube currency="CNY" rate="%s"/></Cube>`, date, usd, cny)
}

func text(days []market.DayRates) string {
	var b strings.Builder
	for _, d := range days {
		fmt.Fprintf(&b, "%s %s %s;", d.Date, d.USD, d.CNY)
	}
	return b.String()
}

func now() time.Time { return time.Date(2026, 11, 20, 23, 59, 59, 0, time.UTC) }

func TestAFile(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		file(day("2026-11-20", "1.0526", "7.6866")):                                               "2026-11-20 1.0526 7.6866; 0",
		file(day("2026-11-20", "1.0526", "7.6866"), day("2026-11-19", "1.06", "7.7")):             "2026-11-20 1.0526 7.6866;2026-11-19 1.06 7.7; 0",
		file(day("2026-11-20", "N/A", "7.6866"), day("x", "1", "1"), day("2026-11-19", "1", "7")): "2026-11-19 1 7; 2",
		file(day("2026-11-22", "1.06", "7.7"), day("2026-11-21", "1.0526", "7.6866")):             "2026-11-21 1.0526 7.6866; 1",
		file(day("9999-12-31", "1.06", "7.7")):                                                    "",
		file(day("2026-11-20", "0", "7.6866")):                                                    "",
		file(day("2026-11-20", "-1", "7.6866")):                                                   "",
		file():                                                                                    "", "": "", "<html><body>busy</body></html>": "", "{}": "",
	} {
		days, malformed, err := ecb.Parse([]byte(content), now())
		got := ""
		if err == nil {
			got = fmt.Sprint(text(days), " ", malformed)
		}
		if got != want {
			t.Errorf("%s: %q (%v), want %q", content, got, err, want)
		}
	}
}

func TestEveryCurrencyOfADayIsKept(t *testing.T) {
	t.Parallel()
	one := `<Cube time='2026-11-20'><Cube currency='HKD' rate='8.32'/><Cube currency='USD' rate='1.05'/><Cube currency='CNY' rate='7.6'/><Cube currency='JPY' rate='160.5'/>` +
		`<Cube currency='ISK' rate='N/A'/><Cube currency='gold' rate='2'/><Cube currency='KRW' rate='0'/><Cube currency='' rate='1'/></Cube>`
	days, malformed, err := ecb.Parse([]byte(file(one)), now())
	if err != nil || malformed != 0 || len(days) != 1 || fmt.Sprint(days[0].Others) != "map[hkd:8.32 jpy:160.5]" {
		t.Errorf("%+v, %d malformed: %v", days, malformed, err)
	}
	var many strings.Builder
	for n := range 26 * 26 {
		fmt.Fprintf(&many, "<Cube currency='X%c%c' rate='2'/>", 'A'+n/26, 'A'+n%26)
	}
	days, _, err = ecb.Parse([]byte(file(strings.Replace(one, "<Cube currency='HKD' rate='8.32'/>", many.String(), 1))), now())
	if err != nil || len(days) != 1 || len(days[0].Others) > 60 || !days[0].USD.IsPos() {
		t.Errorf("%d currencies of a day: %v", len(days[0].Others), err)
	}
}

func TestTheLast90DaysComeFirstAndAfterTroubleElseTheLastDay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		switch {
		case len(asked) == 1 || len(asked) == 4:
			http.Error(w, "busy", http.StatusForbidden) // is tried again
		case strings.Contains(r.URL.Path, "hist"):
			fmt.Fprint(w, file(day("2026-11-19", "1.06", "7.7"), day("2026-11-18", "1.05", "7.6")))
		default:
			fmt.Fprint(w, file(day("2026-11-20", "1.0526", "7.6866")))
		}
	}))
	defer server.Close()
	var got string
	enough := errors.New("enough")
	rates := &ecb.Rates{URL: server.URL, Every: time.Millisecond, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler), Now: now}
	err := rates.Follow(t.Context(), func(_ context.Context, days []market.DayRates) error {
		if got += text(days); strings.Count(got, "2026-11-20") == 2 {
			return enough
		}
		return nil
	})
	const (
		history = "2026-11-19 1.06 7.7;2026-11-18 1.05 7.6;"
		want    = history + "2026-11-20 1.0526 7.6866;" + history + "2026-11-20 1.0526 7.6866;"
	)
	if !errors.Is(err, enough) || got != want {
		t.Errorf("%v: %s", err, got)
	}
	const files = "/eurofxref-hist-90d.xml /eurofxref-hist-90d.xml /eurofxref-daily.xml /eurofxref-daily.xml /eurofxref-hist-90d.xml /eurofxref-daily.xml"
	if paths := strings.Join(asked, " "); paths != files {
		t.Errorf("asked for %s", paths)
	}
	if rates.Stats.Lines.Load() != 4 {
		t.Errorf("%d answers", rates.Stats.Lines.Load())
	}
}
