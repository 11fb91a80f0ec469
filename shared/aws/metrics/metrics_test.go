package metrics_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/aws/metrics"
)

func at() time.Time { return time.UnixMilli(1_800_000_000_123) }

func TestALineIsInTheEmbeddedMetricFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metrics.New(&out, "quotary-prod", at)
	w.Write([]metrics.Label{{Name: "Source", Value: "a \"b\"\n"}},
		metrics.Metric{Name: "Lag", Unit: metrics.Milliseconds, Value: 1500}, metrics.Metric{Name: "Reconnects", Unit: metrics.Count, Value: 0})
	w.Count("ColdStarts")
	const want = `{"_aws":{"Timestamp":1800000000123,"CloudWatchMetrics":[{"Namespace":"Quotary","Dimensions":[["Deployment","Source"]],` +
		`"Metrics":[{"Name":"Lag","Unit":"Milliseconds"},{"Name":"Reconnects","Unit":"Count"}]}]},` +
		`"Deployment":"quotary-prod","Source":"a \"b\"\n","Lag":1500,"Reconnects":0}` + "\n" +
		`{"_aws":{"Timestamp":1800000000123,"CloudWatchMetrics":[{"Namespace":"Quotary","Dimensions":[["Deployment"]],` +
		`"Metrics":[{"Name":"ColdStarts","Unit":"Count"}]}]},"Deployment":"quotary-prod","ColdStarts":1}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestWithoutADeploymentNothingIsWritten(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := metrics.New(&out, "", at)
	w.Count("ColdStarts")
	metrics.New(&out, "quotary-dev", at).Write(nil) // no figures, no line
	if out.Len() > 0 {
		t.Errorf("it wrote %s", out.String())
	}
}

// lines takes each line in one call, as a log shared with others needs.
type lines struct {
	t  *testing.T
	mu sync.Mutex
	n  int
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; !json.Valid(b) || strings.Count(string(b), "\n") != 1 {
		l.t.Errorf("no whole line: %q", b)
	}
	return len(b), nil
}

func TestLinesOfSeveralGoroutinesDoNotMix(t *testing.T) {
	t.Parallel()
	out := &lines{t: t}
	w := metrics.New(out, "quotary-prod", at)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				w.Count("Denials", metrics.Label{Name: "Reason", Value: "rate"})
			}
		})
	}
	group.Wait()
	if out.n != 800 {
		t.Errorf("%d lines, want 800", out.n)
	}
}

func BenchmarkCount(b *testing.B) {
	w := metrics.New(io.Discard, "quotary-prod", time.Now)
	b.ReportAllocs()
	for b.Loop() {
		w.Count("Denials", metrics.Label{Name: "Reason", Value: "rate"})
	}
}
