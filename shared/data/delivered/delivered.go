// Package delivered is the view, one for each domain of the ingester, of which datasets a
// source has ever spoken: an empty answer means that there is nothing only then.
package delivered

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/store"
)

// View is what a domain records, by [catalog.Need.Key]. Of a dataset that is not listed no
// source is configured.
type View map[string]State

// State is that of a dataset, or of the part of a platform.
type State struct {
	Since   int64    `json:"since,omitempty"`   // when a source spoke of it first, ms; 0 while none ever has
	Sources []string `json:"sources,omitempty"` // that are configured to, sorted
	Until   int64    `json:"until,omitempty"`   // up to when all that happened has come, ms, where it comes some time later; else 0
	Missing []int64  `json:"missing,omitempty"` // hours before that of which not all has come, each by its beginning, ms, sorted
}

// Known is up to when something is whole that comes some time later. The zero value is of what comes as it happens.
type Known struct {
	Until   time.Time
	Missing []time.Time // hours before that of which not all has come, each by its beginning
}

const (
	// period is how long a domain is believed that has not spoken of what is asked for.
	period = time.Second
	// untilPeriod is how long it is believed up to when what comes by the hour has come.
	untilPeriod = 30 * time.Second
)

// Name is that of a domain's view.
func Name(domain string) string { return "delivered-" + domain }

// Published is how the view of a domain is stored.
func Published(domain string) store.ViewType[View] {
	return store.ViewType[View]{Name: Name(domain), Period: period}
}

// Awaited is why a request cannot be answered: no source has spoken of any of the datasets
// that it needs.
type Awaited struct {
	Reasons    []string // of each one, a sentence without its end
	Configured bool     // a source of one of them is configured
}

// Error joins the reasons.
func (a *Awaited) Error() string { return strings.Join(a.Reasons, "; ") }

// Reader answers whether sources have spoken. What was spoken of once is not looked for
// again. It is safe for concurrent use.
type Reader struct {
	views map[string]*store.View[View] // by domain
	until map[string]*store.View[View] // the same, as they were of late
	spoke sync.Map                     // keys of what a source has spoken of
	whole sync.Map                     // domains of which every dataset that has a source was spoken of
}

// Open returns a reader of the domains that datasets belong to.
func Open(views *store.Views, clock func() time.Time) *Reader {
	r := &Reader{views: map[string]*store.View[View]{}, until: map[string]*store.View[View]{}}
	for _, d := range catalog.Datasets() {
		if name := d.Domain.Name; r.views[name] == nil {
			r.views[name] = Published(name).Open(views, clock)
			r.until[name] = store.ViewType[View]{Name: Name(name), Period: untilPeriod}.Open(views, clock)
		}
	}
	return r
}

// Check returns nil where a source has spoken of one of the alternatives, or there is none,
// else an [*Awaited], or why the views cannot be read.
func (r *Reader) Check(ctx context.Context, alternatives []catalog.Need) error {
	if len(alternatives) == 0 || slices.ContainsFunc(alternatives, r.known) {
		return nil
	}
	awaited := &Awaited{}
	for _, need := range alternatives {
		v, err := r.views[need.Domain.Name].Get(ctx)
		begun := !errors.Is(err, store.ErrNoView)
		if err != nil && begun {
			return err
		}
		r.remember(need.Domain.Name, v)
		state, listed := v[need.Key()]
		if !listed { // of a platform that nobody follows there is what there is of all
			state, listed = v[need.Name]
		}
		switch {
		case state.Since > 0 || listed && need.OnDemand:
			return nil
		case !begun:
			awaited.add(true, "%s have not arrived yet: no ingester has begun on them", need.Holds)
		case len(state.Sources) == 0:
			awaited.add(false, "%s are not configured in this deployment: they take %s", need.Holds, need.Takes)
		default:
			awaited.add(true, "%s have not arrived yet: nothing has come from %s", need.Holds, strings.Join(state.Sources, ", "))
		}
	}
	return awaited
}

// Until is up to when what a request needs is whole, where that comes some time later from all who bring it;
// zero where it comes as it happens, and before the first of it has come.
func (r *Reader) Until(ctx context.Context, alternatives []catalog.Need) (known Known, err error) {
	if slices.ContainsFunc(alternatives, func(n catalog.Need) bool { return !n.Hourly }) {
		return Known{}, nil
	}
	missing := map[int64]bool{}
	for _, need := range alternatives {
		v, err := store.OrZero(r.until[need.Domain.Name].Get(ctx))
		if err != nil {
			return Known{}, err
		}
		state := v[need.Key()]
		if state.Until == 0 {
			return Known{}, nil
		}
		if at := time.UnixMilli(state.Until).UTC(); known.Until.IsZero() || at.Before(known.Until) {
			known.Until = at
		}
		for _, hour := range state.Missing {
			missing[hour] = true
		}
	}
	for _, hour := range slices.Sorted(maps.Keys(missing)) {
		known.Missing = append(known.Missing, time.UnixMilli(hour).UTC())
	}
	return known, nil
}

// Since is when the last of the platforms that speak of a dataset did so first, or the one of a
// key: of what nobody tells the past of nothing is known before. It is zero where none has.
func (r *Reader) Since(ctx context.Context, d *catalog.Dataset, platform string) (since time.Time, err error) {
	v, err := store.OrZero(r.views[d.Domain.Name].Get(ctx))
	for key, state := range v {
		name, of, part := strings.Cut(key, "/")
		if !part || name != d.Name || platform != "" && of != platform || state.Since == 0 {
			continue
		}
		if at := time.UnixMilli(state.Since).UTC(); at.After(since) {
			since = at
		}
	}
	return since, err
}

// remember keeps what was spoken of.
func (r *Reader) remember(domain string, v View) {
	whole := len(v) > 0
	for key, state := range v {
		if state.Since > 0 {
			r.spoke.Store(key, true)
		} else {
			whole = false
		}
	}
	if whole {
		r.whole.Store(domain, true)
	}
}

// known reports whether no view need be looked at.
func (r *Reader) known(need catalog.Need) bool {
	if _, spoke := r.spoke.Load(need.Key()); spoke || need.Part == "" {
		return spoke
	}
	_, whole := r.whole.Load(need.Domain.Name)
	_, spoke := r.spoke.Load(need.Name)
	return whole && spoke
}

func (a *Awaited) add(configured bool, format string, args ...any) {
	a.Configured = a.Configured || configured
	if reason := fmt.Sprintf(format, args...); !slices.Contains(a.Reasons, reason) {
		a.Reasons = append(a.Reasons, reason)
	}
}
