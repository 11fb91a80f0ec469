// Package metrics writes figures as log lines that CloudWatch reads metrics from:
// its embedded metric format.
//
// A line costs the program one write and no request. Every combination of
// labels is a metric of its own that is paid for by the month, so labels take
// values of a small set that the program knows: never an address, a key or
// anything else that a caller chooses.
package metrics

import (
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"
)

// Namespace is where CloudWatch keeps the metrics.
const Namespace = "Quotary"

// Deployment is the label that every metric has.
const Deployment = "Deployment"

// Unit is CloudWatch's word for what a value counts.
type Unit string

// The units in use.
const (
	Count        Unit = "Count"
	Milliseconds Unit = "Milliseconds"
)

// Label distinguishes metrics of one name.
type Label struct{ Name, Value string }

// Metric is one figure.
type Metric struct {
	Name  string
	Unit  Unit
	Value int64
}

// Writer writes metrics of one deployment. A nil Writer writes nothing. It may be
// used by several goroutines.
type Writer struct {
	out        io.Writer
	deployment string
	clock      func() time.Time

	mu   sync.Mutex
	line []byte
}

// New returns a writer of lines to out, which gets each line in one call; nil
// when the deployment has no name.
func New(out io.Writer, deployment string, clock func() time.Time) *Writer {
	if deployment == "" {
		return nil
	}
	return &Writer{out: out, deployment: deployment, clock: clock}
}

// Write writes a line of metrics with the same labels. CloudWatch takes at most
// 100 of them, and 30 labels.
func (w *Writer) Write(labels []Label, metrics ...Metric) {
	if w == nil || len(metrics) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b := strconv.AppendInt(append(w.line[:0], `{"_aws":{"Timestamp":`...), w.clock().UnixMilli(), 10)
	b = append(b, `,"CloudWatchMetrics":[{"Namespace":"`+Namespace+`","Dimensions":[["`+Deployment+`"`...)
	for _, l := range labels {
		b = appendText(append(b, ','), l.Name)
	}
	b = append(b, `]],"Metrics":[`...)
	for i, m := range metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"Name":`...), m.Name)
		b = appendText(append(b, `,"Unit":`...), string(m.Unit))
		b = append(b, '}')
	}
	b = appendText(append(b, `]}]},"`+Deployment+`":`...), w.deployment)
	for _, l := range labels {
		b = append(appendText(append(b, ','), l.Name), ':')
		b = appendText(b, l.Value)
	}
	for _, m := range metrics {
		b = append(appendText(append(b, ','), m.Name), ':')
		b = strconv.AppendInt(b, m.Value, 10)
	}
	w.line = append(b, '}', '\n')
	_, _ = w.out.Write(w.line) // a log that is not there is no reason to fail
}

// Count writes a line that says that something happened.
func (w *Writer) Count(name string, labels ...Label) {
	w.Write(labels, Metric{name, Count, 1})
}

func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // cannot happen for a string
		return append(b, `""`...)
	}
	return append(b, text...)
}
