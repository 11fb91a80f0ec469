package lambdahost_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
)

// BenchmarkColdStart is a first invocation: process, runtime, event, answer.
func BenchmarkColdStart(b *testing.B) {
	for b.Loop() {
		h := must.Get(lambdahost.New(lambdahost.Config{Functions: map[string]lambdahost.Function{"probe": function()}}))(b)
		mustInvoke(b, h, order{})
		b.StopTimer()
		must.Do(b, h.Close(context.Background()))
		b.StartTimer()
	}
}

// BenchmarkWarmInvoke is one event at a time through one warm process.
func BenchmarkWarmInvoke(b *testing.B) {
	h := host(b)
	mustInvoke(b, h, order{})
	event := []byte(`{"text":"hello"}`)
	took := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		must.Get(h.Invoke(context.Background(), "probe", event))(b)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
