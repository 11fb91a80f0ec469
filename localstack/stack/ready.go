package stack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"quotary/localstack/client"
	"quotary/shared/catalog"
)

const (
	// dataWithin is how long a start waits for what happened before to be written: a
	// first start has two weeks of it. Then it goes on, and says what is missing.
	dataWithin = 5 * time.Minute
	// sourcesWithin is how long it waits for sources that have not said anything: one that
	// cannot be reached may never. Then it says without which it goes on.
	sourcesWithin = time.Minute
	// answersWithin is how long it then waits for endpoints that have nothing to show.
	answersWithin = 6 * time.Minute

	readyPoll  = 100 * time.Millisecond
	readyPrint = 3 * time.Second
)

// errGoesOn is why a step of the start is not ready, and has said so: the start goes on without.
var errGoesOn = errors.New("the start goes on without")

// awaitData returns when every domain is ready in one of the ingesters: what happened
// before is written, what happens now is followed, and each source has said something.
func (s *Stack) awaitData(ctx context.Context) error {
	began := time.Now()
	printed, most := began, int64(0)
	for {
		now := s.notReady(ctx)
		waited := time.Since(began)
		left := now.left
		if waited < cmp.Or(s.cfg.SourcesWithin, sourcesWithin) {
			left = slices.Concat(now.left, now.awaited)
		}
		if len(left) == 0 {
			if len(now.awaited) > 0 {
				fmt.Fprintf(s.cfg.Progress, "  %-12s going on without, after %s: %s\n", "data", waited.Round(time.Second), strings.Join(now.awaited, "; "))
				return errGoesOn
			}
			return nil
		}
		most = max(most, now.bytes)
		if waited > dataWithin {
			fmt.Fprintf(s.cfg.Progress, "  %-12s going on without all of it after %s: %s\n", "data", dataWithin, strings.Join(left, "; "))
			return errGoesOn
		}
		if time.Since(printed) >= readyPrint {
			printed = time.Now()
			fmt.Fprintf(s.cfg.Progress, "  %-12s %s\n", "data", progressOf(left, now.bytes, most-now.bytes, waited))
		}
		if err := pause(ctx, readyPoll); err != nil {
			return fmt.Errorf("waiting for: %s: %w", strings.Join(left, "; "), err)
		}
	}
}

// progressOf says what is left, with an estimate where bytes of it were read.
func progressOf(left []string, bytes, read int64, in time.Duration) string {
	if bytes == 0 {
		return strings.Join(left, "; ")
	}
	text := fmt.Sprintf("%.1f MB of what happened before are left", float64(bytes)/1e6)
	if read > 0 {
		text += fmt.Sprintf(", about %s", time.Duration(in.Seconds()*float64(bytes)/float64(read)*float64(time.Second)).Round(time.Second))
	}
	return text
}

// waiting is what ingesters wait for.
type waiting struct {
	left    []string // why domains are not ready, but for
	awaited []string // the sources that have not said anything yet
	bytes   int64    // of the past that are left to read
}

// notReady is what the ingesters wait for.
func (s *Stack) notReady(ctx context.Context) (now waiting) {
	domains := map[string]bool{} // whether somebody works in each
	for _, ingester := range s.State.Ingesters {
		var condition struct {
			Domains map[string]struct {
				Role             string
				Reasons, Awaited []string
			}
		}
		var figures struct {
			Domains map[string]struct {
				Sources map[string]struct{ Backlog int64 }
			}
		}
		if err := fetch(ctx, ingester+"/readyz", &condition); err != nil {
			return waiting{left: []string{"an ingester does not answer: its log is in the logs folder"}}
		}
		_ = fetch(ctx, ingester+"/metrics", &figures) // only for the estimate
		for name, d := range condition.Domains {
			domains[name] = domains[name] || d.Role == "active"
			for _, reason := range d.Reasons {
				now.left = append(now.left, name+": "+reason)
			}
			for _, source := range d.Awaited {
				now.awaited = append(now.awaited, name+": "+source)
			}
		}
		for _, d := range figures.Domains {
			for _, source := range d.Sources {
				now.bytes += source.Backlog
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		if !domains[name] {
			now.left = append(now.left, name+": no ingester works in it yet")
		}
	}
	slices.Sort(now.left)
	slices.Sort(now.awaited)
	return now
}

// fetch decodes the JSON answer of an address, whatever its status.
func fetch(ctx context.Context, address string, into any) error {
	ctx, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return json.NewDecoder(res.Body).Decode(into)
}

// samples stand in for the parameters of paths that every market knows.
var samples = strings.NewReplacer("{coin}", "BTC", "{interval}", "1h", "{window}", "day")

// Question is a request for data that names no account and no order.
type Question struct {
	Method, Path string
	Query        url.Values // nil without one
	Body         any        // nil without one
}

// Questions are one of each built GET endpoint that asks for a market, a pair, or nothing,
// and one of each type of info that needs nothing else.
func Questions() (all []Question) {
	for _, e := range catalog.All() {
		path := samples.Replace(e.Documented())
		switch {
		case e.Planned || !e.Access.Charged():
		case e == catalog.VenueInfo.Endpoint: // the same without an envelope
		case e.In == reflect.TypeFor[catalog.InfoIn]():
			for _, t := range catalog.InfoTypes {
				if len(t.Needs) == 0 && t.Weight == 0 {
					all = append(all, Question{Method: e.Method, Path: path, Body: map[string]string{"type": t.Name}})
				}
			}
		case e.Method == http.MethodGet && !strings.Contains(path, "{"):
			all = append(all, Question{Method: e.Method, Path: path, Query: ofPair(e)})
		}
	}
	return all
}

// ofPair are the documented examples of what an endpoint has to be told, where that is a pair and
// at most figures beside it; else nothing, which it refuses.
func ofPair(e *catalog.Endpoint) url.Values {
	query := url.Values{}
	for _, p := range catalog.Parameters(e.In) {
		switch p.Field.Type {
		case reflect.TypeFor[catalog.PairKey](), reflect.TypeFor[catalog.Decimal]():
			if p.Required {
				query.Set(p.Names[0], p.Field.Tag.Get("example"))
			}
		default:
			if p.Required {
				return nil
			}
		}
	}
	return query
}

func names(questions []Question) string {
	var list []string
	for _, q := range questions {
		name := q.Method + " " + q.Path
		if q.Body != nil {
			name += fmt.Sprintf(" %v", q.Body)
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// awaitAnswers returns when all questions are answered with something.
func (s *Stack) awaitAnswers(ctx context.Context) error {
	if !s.simulated() {
		return nil
	}
	waiting := Questions()
	api := client.Client{BaseURL: s.State.BaseURL}
	began, within := time.Now(), answersWithin
	if s.nodeless() {
		within = sourcesWithin // no hour has orders or TWAPs
	}
	for printed := began; ; {
		var empty []Question
		for _, q := range waiting {
			answer, err := api.Do(ctx, s.State.Demo.SubKey, q.Method, q.Path, q.Query, q.Body)
			if err != nil {
				return err
			}
			if !Shows(answer) {
				empty = append(empty, q)
			}
		}
		if waiting = empty; len(waiting) == 0 {
			return nil
		}
		if time.Since(began) > within {
			fmt.Fprintf(s.cfg.Progress, "  %-12s nothing to show yet: %s\n", "answers", names(waiting))
			return nil
		}
		if time.Since(printed) >= readyPrint {
			printed = time.Now()
			fmt.Fprintf(s.cfg.Progress, "  %-12s %d without anything to show yet: %s\n", "answers", len(waiting), names(waiting))
		}
		if err := pause(ctx, readyPoll); err != nil {
			return fmt.Errorf("waiting for an answer of %s: %w", names(waiting), err)
		}
	}
}

// Shows reports whether an endpoint answers with data, or says what parameter it needs,
// or that it is not built.
func Shows(answer client.Answer) bool {
	switch answer.Status {
	case http.StatusNotImplemented, http.StatusBadRequest:
		return true
	case http.StatusOK:
	default:
		return false
	}
	if bytes.HasPrefix(answer.Body, []byte("<?xml")) {
		return bytes.Contains(answer.Body, []byte("<item>"))
	}
	var data json.RawMessage
	if err := answer.Data(&data); err != nil {
		return false
	}
	text := string(data)
	return text != "" && text != "null" && text != "[]" && text != "{}"
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
