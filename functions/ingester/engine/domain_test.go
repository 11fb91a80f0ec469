package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/lease"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestTroubleInOneDomainDoesNotHoldUpAnother runs two domains in one process. The
// log table of one does not exist: the other goes on, and the first does too, by
// itself and without a gap, when the table is there.
func TestTroubleInOneDomainDoesNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	objects, bucket := storetest.S3(t)
	good := Stores{Log: store.NewLog(db, prefix+schema.LogTable), Series: store.NewSeries(db, prefix+schema.SeriesTable), Views: store.NewViews(objects, bucket)}
	bad := good
	later := prefix + "later-"
	bad.Log = store.NewLog(db, later+schema.LogTable)

	pipelines := map[string]*Pipeline[*words]{}
	var mu sync.Mutex
	var runners []*Runner
	for name, stores := range map[string]Stores{"good": good, "bad": bad} {
		begin := func(_ context.Context, term *lease.Term) (Work, error) {
			p := newPipeline(stores.Under(term), say("source", "ant", "bee", "ape"))
			p.Domain, p.Term, p.Projections = name, term, []Projection[*words]{newVocabulary("vocabulary of " + name)}
			mu.Lock()
			defer mu.Unlock()
			pipelines[name] = p
			return p, nil
		}
		l := &lease.Lease{DB: db, Table: prefix + schema.SeriesTable, Name: LeaseName(name), Owner: "one", Timing: lease.Standard, Log: quiet}
		runners = append(runners, &Runner{Domain: Domain{Name: name, Begin: begin}, Lease: l, Logger: quiet})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	for _, r := range runners {
		ended.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Errorf("%s ended with %v", r.Domain.Name, err)
			}
		})
	}
	of := func(name string) *Pipeline[*words] {
		mu.Lock()
		defer mu.Unlock()
		return pipelines[name]
	}
	testenv.Until(t, "the good domain stores all", func() bool { return stored(t, good, "vocabulary of good", "a") == "ant,ape" })
	testenv.Until(t, "the bad domain is refused", func() bool {
		p := of("bad")
		return p != nil && strings.Join(p.Status().Refused(time.Now()), "") == "write word rows"
	})
	soon := &Health{Runners: runners, Now: func() time.Time { return time.Now().Add(2 * silentFor) }}
	w := httptest.NewRecorder()
	soon.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if body := w.Body.String(); w.Code != http.StatusServiceUnavailable || strings.Count(body, "the stores refuse: write word rows") != 1 || strings.Count(body, `"role":"active"`) != 2 {
		t.Errorf("/readyz: %d %s", w.Code, body)
	}
	if got := stored(t, good, "vocabulary of bad", "a"); got != "" {
		t.Errorf("rows are ahead of their log: %s", got)
	}

	must.Do(t, schema.Create(t.Context(), db, schema.Tables(later)))
	testenv.Until(t, "the bad domain stores all", func() bool { return stored(t, good, "vocabulary of bad", "a") == "ant,ape" })
	if left := of("bad").Status().Refused(time.Now()); len(left) > 0 {
		t.Errorf("refused are still %v", left)
	}
	cancel()
	ended.Wait()
}

// broken is a work that fails; without an error it does nothing until it is to end.
type broken struct{ err error }

func (b broken) Run(ctx context.Context) error {
	if b.err == nil {
		<-ctx.Done()
	}
	return b.err
}

func (b broken) Status() Status { return Status{Flushed: 1} }

func TestAWorkThatFailsBeginsAgain(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	begun := 0
	r := &Runner{Logger: quiet, Lease: &lease.Lease{DB: db, Table: prefix + schema.SeriesTable, Name: "test", Owner: "one", Timing: lease.Standard, Log: quiet}}
	again := make(chan struct{})
	r.Domain = Domain{Name: "small", Begin: func(context.Context, *lease.Term) (Work, error) {
		if begun++; begun == 2 {
			close(again)
			return broken{}, nil
		}
		return broken{errors.New("fault")}, nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	testenv.Until(t, "the fault is reported", func() bool {
		return strings.Join(r.condition(time.Now()).Reasons, "") == "the work failed: fault"
	})
	<-again
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestADomainWhoseBeginFailsComesUpByItself, while another one works.
func TestADomainWhoseBeginFailsComesUpByItself(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	stores := newStores(t)
	var tries atomic.Int64
	begin := map[string]func(context.Context, *lease.Term) (Work, error){
		"good": func(_ context.Context, term *lease.Term) (Work, error) {
			p := newPipeline(stores, say("source", "ant"))
			p.Projections = []Projection[*words]{newVocabulary("good")}
			return p, nil
		},
		"late": func(context.Context, *lease.Term) (Work, error) {
			if tries.Add(1) <= 2 {
				return nil, errors.New("no table")
			}
			return broken{}, nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	runners := map[string]*Runner{}
	for name, begin := range begin {
		r := &Runner{Domain: Domain{Name: name, Begin: begin}, Logger: quiet,
			Lease: &lease.Lease{DB: db, Table: prefix + schema.SeriesTable, Name: LeaseName(name), Owner: "one", Timing: lease.Standard, Log: quiet}}
		runners[name] = r
		ended.Go(func() {
			if err := r.Run(ctx); err != nil {
				t.Errorf("%s ended with %v", name, err)
			}
		})
	}
	testenv.Until(t, "health says why it has not begun", func() bool {
		return strings.Join(runners["late"].condition(time.Now()).Reasons, "") == "the work failed: begin: no table"
	})
	testenv.Until(t, "the other domain stores its word", func() bool { return stored(t, stores, "good", "a") == "ant" })
	testenv.Until(t, "it comes up", func() bool {
		c := runners["late"].condition(time.Now())
		return c.Role == active && len(c.Reasons) == 0
	})
	if n := tries.Load(); n != 3 {
		t.Errorf("it was begun %d times", n)
	}
	cancel()
	ended.Wait()
}

// TestOnlyFailuresAreWaitedFor: after takeovers the first failure has the shortest
// pause, and a work that is fenced does not spin.
func TestOnlyFailuresAreWaitedFor(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	prefix := storetest.Tables(t, db)
	for _, fault := range []error{errors.New("fault"), store.ErrFenced} {
		var log bytes.Buffer
		var begun atomic.Int64
		paused := make(chan struct{})
		r := &Runner{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Lease: &lease.Lease{DB: db, Table: prefix + schema.SeriesTable, Name: fault.Error(), Owner: "one", Timing: lease.Standard, Log: quiet}}
		const takeovers = 8
		r.Domain = Domain{Name: "small", Begin: func(context.Context, *lease.Term) (Work, error) {
			switch n := begun.Add(1); {
			case n <= takeovers:
				return broken{lease.ErrAsked}, nil
			case n == takeovers+1:
				return broken{fault}, nil
			case n == takeovers+2:
				close(paused)
			}
			return broken{}, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		<-paused
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%v: it ended with %v", fault, err)
		}
		var pauses []time.Duration
		for line := range bytes.Lines(log.Bytes()) {
			var said struct{ In string }
			must.Do(t, json.Unmarshal(line, &said))
			if said.In == "" {
				continue
			}
			pause := must.Get(time.ParseDuration(said.In))(t)
			pauses = append(pauses, pause)
		}
		if len(pauses) != 1 || pauses[0] > restarts.Min {
			t.Errorf("%v: the pauses were %v, want one of %s at most", fault, pauses, restarts.Min)
		}
	}
}
