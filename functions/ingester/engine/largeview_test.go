package engine

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/shared/aws/metrics"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// hoard publishes a view that is too large until it has heard "enough", and one of the last
// word.
type hoard struct {
	Defaults[*words]
	large []byte
	last  string
}

func (*hoard) Name() string { return "hoard" }

func (h *hoard) Apply(w *words, _ *Reads, _ time.Time) error {
	for _, word := range w.list {
		h.last = word
	}
	return nil
}

func (h *hoard) Changes(time.Time, bool) Changes {
	large := h.large
	if h.last == "enough" {
		large = []byte("{}")
	}
	return Changes{Views: []View{{"large", large}, {"last", encode(h.last)}}}
}

// TestAViewThatIsTooLargeIsLeftOutAlone: the other views, rows and checkpoints of the domain are
// written, it is said once, and no more when the view is one that can be stored again.
func TestAViewThatIsTooLargeIsLeftOutAlone(t *testing.T) {
	t.Parallel()
	stores, next := newStores(t), make(chan string)
	p := newPipeline(stores, Source[*words]{Name: "source", Stats: new(source.Stats), Follow: func(ctx context.Context, _ Position, sink Sink[*words]) error {
		for {
			select {
			case word := <-next:
				if err := sink(ctx, Delivery[*words]{Batch: &words{[]string{word}}, Position: encode(word)}); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}})
	p.Projections = append(p.Projections, &hoard{large: make([]byte, 256<<20+1)})
	var log, out bytes.Buffer
	p.Logger = slog.New(slog.NewTextHandler(&log, nil))
	stop := run(t, p)
	runner := &Runner{Domain: Domain{Name: p.Domain}, Lease: new(lease.Lease), work: p}
	health := &Health{Runners: []*Runner{runner}, Now: time.Now}
	report := &Report{Runner: runner, Out: metrics.New(&out, "quotary-test", time.Now), Now: time.Now}
	ready := func() string {
		w := httptest.NewRecorder()
		health.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return w.Body.String()
	}
	for _, word := range []string{"ant", "bee", "enough"} {
		next <- word
		testenv.Until(t, "the checkpoint behind "+word, func() bool {
			return string(must.Get(stores.Series.Checkpoint(t.Context(), Checkpoint(p.Domain, "source", "")))(t)) == `"`+word+`"`
		})
		if body, _, _, err := stores.Views.Fetch(t.Context(), "last", ""); err != nil || string(body) != `"`+word+`"` {
			t.Errorf("the other view is %s (%v) after %s", body, err, word)
		}
		want, stopped := []string{"large"}, 1
		if word == "enough" {
			want, stopped = nil, 0
		}
		if got := p.Status().Unpublished; !slices.Equal(got, want) {
			t.Errorf("not published are %q after %s, want %q", got, word, want)
		}
		if got := strings.Count(ready(), "view large is not published"); got != stopped {
			t.Errorf("after %s readiness says %d times that the view is not published: %s", word, got, ready())
		}
		if got := reported(t, report, &out)[""][metrics.Stopped]; got != float64(stopped) {
			t.Errorf("after %s the metric of what is stopped is %v, want %d", word, got, stopped)
		}
	}
	must.Do(t, stop())
	if got := stored(t, stores, "vocabulary", "a"); got != "ant" {
		t.Errorf("stored is %q", got)
	}
	if n := strings.Count(log.String(), "a view is not published"); n != 1 {
		t.Errorf("it is logged %d times", n)
	}
}
