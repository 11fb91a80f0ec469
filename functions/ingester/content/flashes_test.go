package content

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/drop"
	"quotary/shared/data/flashes"
	"quotary/shared/store"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// drawFlash draws a state of a flash. What stands in a line follows from its place.
func drawFlash(t *rapid.T) flashes.Flash {
	line := rapid.Int64Range(1, 60).Draw(t, "line")
	return flashes.Flash{
		Entry: flashes.Entry{ID: 1 + line%4, Time: 1_795_000_000 + line%5, Language: "en", Platform: flashes.House, Title: fmt.Sprint("T", line), Hidden: line%7 == 0},
		Place: drop.Place{Time: line / 9, File: "a", Line: line},
	}
}

// A file is taken once; its flashes are listed and found, and a later line replaces one.
func TestFlashesOfAFileAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := func(file, text string) {
		t.Helper()
		key := drop.Key(flashes.Name, file)
		must.Get(w.objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &w.bucket, Key: &key, Body: strings.NewReader(text)}))(t)
	}
	line := func(id int, title string) string {
		return fmt.Sprintf(`{"id":%d,"time":1795000000,"language":"en","title":%q}`+"\n", id, title)
	}
	listed := func() (list []string) {
		v, err := flashes.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		for _, f := range v.Flashes {
			list = append(list, fmt.Sprint(f.ID, " ", f.Title))
		}
		return list
	}
	put("a.ndjson", line(1, "First")+`{"id":2}`+"\n"+line(1, "Second")+line(3, "Third"))
	stop := w.start(t, w.pipeline(w.stores))
	testenv.Until(t, "the flashes are listed", func() bool { return slices.Equal(listed(), []string{"3 Third", "1 Second"}) })
	put("b.ndjson", line(1, "Later"))
	testenv.Until(t, "a later line replaces one", func() bool { return slices.Equal(listed(), []string{"3 Third", "1 Later"}) })
	if f, ok, err := flashes.ByID(t.Context(), w.stores.Log, 1); err != nil || !ok || f.Title != "Later" {
		t.Errorf("it is found as %+v, %t, %v", f, ok, err)
	}
	stop()
}

// BenchmarkDropOfFlashes reads a drop of a million lines into all logs and projections of the
// domain, in batches of a thousand, of which twenty are a second's: then their changes are
// asked for. The store is excluded, and what is measured is the CPU, whoever else has some.
func BenchmarkDropOfFlashes(b *testing.B) {
	const lines, batch, second = 1_000_000, 1000, 20
	of, text, bytes := flashEntries.drops(), []byte(nil), 0
	began := cpu(b)
	for b.Loop() {
		all, logs := Projections()
		rows := []store.Row(nil)
		for n := range lines / batch {
			to, r := NewBatch(), engine.NewReads()
			for i := range batch {
				id := n*batch + i + 1
				text = fmt.Appendf(text[:0], `{"id":%d,"time":%d,"language":"en","title":"Bitcoin rises to %d dollars, says w%d","content":"A short text of some words about the w%d market, written by nobody, 比特币上涨 %d.","tab":3}`,
					id, 1_795_000_000+id, id%90_000, id%5003, id%7001, id%900)
				must.Do(b, of.Append(to, text, drop.Place{Time: 1_800_000_000_000, File: "a", Line: int64(id)}))
			}
			for _, log := range logs {
				rows = log.Append(rows[:0], to)
			}
			for _, p := range all {
				p.Prefetch(to, r)
			}
			r.Fill(nil, nil)
			for _, p := range all {
				must.Do(b, p.Apply(to, r, time.Now()))
			}
			if n%second == second-1 {
				for _, p := range all {
					for _, v := range p.Changes(time.Now(), false).Views {
						bytes += len(v.Body)
					}
				}
			}
		}
	}
	b.ReportMetric(float64(lines*b.N)/(cpu(b)-began).Seconds(), "lines/s")
	b.ReportMetric(float64(bytes)/float64(b.N)/1e6, "MB")
}

// cpu is the time for which the process has had a CPU.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
