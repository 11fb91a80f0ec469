package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/api"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/testing/must"
)

// echo is a world in which every built endpoint of a function answers with nothing
// and keeps what was bound.
type echo struct {
	*apitest.World
	mu    sync.Mutex
	bound any // what the handler was last given, a pointer to a request struct
}

func newEcho(t *testing.T, function string) *echo {
	t.Helper()
	w := &echo{World: apitest.New(t, function)}
	for _, e := range catalog.Served(function) {
		if e.Planned {
			continue
		}
		answer := reflect.New(e.Out).Elem().Interface()
		if e.Out.Kind() == reflect.Slice && e.Out.Elem().Kind() == reflect.Uint8 {
			answer = reflect.ValueOf(json.RawMessage("null")).Convert(e.Out).Interface()
		}
		api.HandleAny(w.Family, e, func(_ context.Context, in any) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.bound = in
			return answer, nil
		})
	}
	return w
}

// take returns what was bound since it was last asked.
func (w *echo) take() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	bound := w.bound
	w.bound = nil
	return bound
}

// everyFunction runs a test on the endpoints of each function of the catalog.
func everyFunction(t *testing.T, test func(t *testing.T, w *echo, endpoints []*catalog.Endpoint)) {
	for _, function := range catalog.Functions() {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			test(t, newEcho(t, function), catalog.Served(function))
		})
	}
}

// A made key and what it may call.
type holder struct {
	name string
	key  apitest.Key
	// refuses returns the status and a part of the message with which an endpoint
	// refuses the key, 0 where it serves it.
	refuses func(e *catalog.Endpoint) (int, string)
}

// always refuses every endpoint that demands a signature.
func always(status int, message string) func(*catalog.Endpoint) (int, string) {
	return func(*catalog.Endpoint) (int, string) { return status, message }
}

// data refuses endpoints of data with 403, and those of management as any sub-key.
func data(message string) func(*catalog.Endpoint) (int, string) {
	return func(e *catalog.Endpoint) (int, string) {
		if e.Access.Kind == catalog.Management {
			return http.StatusForbidden, "not a distributor"
		}
		return http.StatusForbidden, message
	}
}

// holders makes a key of every kind.
func (w *echo) holders(t *testing.T) []holder {
	t.Helper()
	ctx, quota := t.Context(), int64(1_000_000)
	level := func(distributor apitest.Key, name string, actions ...string) {
		t.Helper()
		must.Do(t, w.Keys.PutLevel(ctx, distributor.AccessKey, name, keys.Allow(actions...)))
	}
	issue := func(distributor apitest.Key, level string, expiresIn int64) apitest.Key {
		t.Helper()
		return w.Issue(t, distributor, keys.NewSubKey{Name: level, Level: level, MonthlyQuota: &quota, ExpiresIn: expiresIn})
	}
	// Two levels share the actions, so that for each there is one that lacks it.
	lists := map[bool][]string{}
	lacks := map[string]bool{}
	for i, action := range catalog.Actions() {
		lists[i%2 == 0] = append(lists[i%2 == 0], action)
		lacks[action] = i%2 == 0
	}
	level(w.Primary, "even", lists[true]...)
	level(w.Primary, "odd", lists[false]...)
	level(w.Primary, "none")
	partly := func(even bool) func(*catalog.Endpoint) (int, string) {
		return func(e *catalog.Endpoint) (int, string) {
			switch {
			case e.Access.Kind == catalog.Management:
				return http.StatusForbidden, "not a distributor"
			case e.Access.Kind == catalog.ActionAccess && lacks[e.Access.Name] != even:
				return http.StatusForbidden, "does not list the action " + e.Access.Name
			}
			return 0, ""
		}
	}
	ungranted := w.Register(t, keys.Preset{Name: "Without grants", Level: "all", MaxSubKeys: 10, Grants: []string{}})
	level(ungranted, "all", catalog.Actions()...)
	closed := w.Register(t, keys.Preset{Name: "Disabled", Level: "all", MaxSubKeys: 10})
	level(closed, "all", catalog.Actions()...)
	ofClosed := issue(closed, "all", 0)
	must.Do(t, w.Keys.SetDisabled(ctx, closed.AccessKey, true))
	disabled, expired := issue(w.Primary, "all", 0), issue(w.Primary, "all", 1)
	must.Do(t, w.Keys.SetActive(ctx, w.Primary.AccessKey, []string{disabled.AccessKey}, false))
	w.Move(time.Second)
	const unsigned = "signature authentication failed"
	return []holder{
		{"no signature", apitest.Key{}, always(401, unsigned)},
		{"wrong secret", apitest.Key{AccessKey: w.SubKey.AccessKey, Secret: strings.Repeat("0", 32)}, always(401, unsigned)},
		{"unknown key", apitest.Key{AccessKey: strings.Repeat("0", 32), Secret: w.SubKey.Secret}, always(401, unsigned)},
		{"key of another kind of secret", apitest.Key{AccessKey: w.SubKey.AccessKey, Secret: w.Primary.Secret}, always(401, unsigned)},
		{"sub-key", w.SubKey, func(e *catalog.Endpoint) (int, string) {
			if e.Access.Kind == catalog.Management {
				return http.StatusForbidden, "not a distributor"
			}
			return 0, ""
		}},
		{"primary key", w.Primary, func(e *catalog.Endpoint) (int, string) {
			if e.Access.Kind == catalog.Management {
				return 0, ""
			}
			return http.StatusForbidden, "primary key"
		}},
		{"one half of the actions", issue(w.Primary, "even", 0), partly(true)},
		{"the other half", issue(w.Primary, "odd", 0), partly(false)},
		{"level without permissions", issue(w.Primary, "none", 0), data("has no permissions")},
		{"level of another distributor", issue(ungranted, "even", 0), data("is not configured")},
		{"distributor without grants", issue(ungranted, "all", 0), func(e *catalog.Endpoint) (int, string) {
			switch e.Access.Kind {
			case catalog.Management:
				return http.StatusForbidden, "not a distributor"
			case catalog.GrantAccess:
				return http.StatusForbidden, "has no grant " + e.Access.Name
			}
			return 0, ""
		}},
		{"disabled sub-key", disabled, data("the sub-key is disabled")},
		{"expired sub-key", expired, data("the sub-key has expired")},
		{"disabled distributor", closed, always(403, "the distributor is disabled")},
		{"sub-key of a disabled distributor", ofClosed, always(403, "the distributor is disabled")},
	}
}

// Every endpoint, built or to come, is open to whom the catalog says and to nobody
// else: whoever is refused does not reach a handler and is charged nothing.
func TestEveryEndpointDemandsItsPermission(t *testing.T) {
	t.Parallel()
	everyFunction(t, func(t *testing.T, w *echo, endpoints []*catalog.Endpoint) {
		all := w.holders(t)
		for _, e := range endpoints {
			r := apitest.Example(e)
			for _, h := range all {
				a := w.Call(t, h.key, e.Method, r.Target(), r.Body())
				reached := w.take() != nil
				status, message := h.refuses(e)
				if !e.Authorized() {
					status = 0
				}
				switch {
				case status != 0:
					a.Refused(t, status, message)
				case e.Planned:
					a.Refused(t, http.StatusNotImplemented, "not available yet")
				case a.Status != http.StatusOK:
					t.Errorf("%d %s", a.Status, a.Body)
				}
				if reached != (status == 0 && !e.Planned) {
					t.Errorf("its handler was reached: %v", reached)
				}
				if t.Failed() {
					t.Fatalf("%s with %s: %d", e, h.name, a.Status)
				}
			}
		}
	})
}

// invoke calls as a caller whom the authorizer let pass, without limits.
func (w *echo) invoke(t *testing.T, r apitest.Request) apitest.Answer {
	t.Helper()
	event := apitest.Event(t, r.Endpoint.Method, r.Target(), r.Body())
	event.RequestContext.Authorizer = admission.Caller{
		AccessKey: "k", Distributor: "d", Primary: r.Endpoint.Access.Kind == catalog.Management,
	}.Context()
	return w.Invoke(t, event)
}

// What an endpoint does not accept is a 400 that names the parameter.
func TestEveryParameterIsHeldToWhatItAccepts(t *testing.T) {
	t.Parallel()
	everyFunction(t, func(t *testing.T, w *echo, endpoints []*catalog.Endpoint) {
		for _, e := range endpoints {
			r := apitest.Example(e)
			refused := func(name string, bad apitest.Request, parts ...string) {
				t.Helper()
				a := w.invoke(t, bad)
				if of, ok := reflect.Zero(e.Out).Interface().(catalog.Refuser); ok {
					if status, text := of.Refusal(); a.Status != status || string(a.Body) != text {
						t.Errorf("%d %s", a.Status, a.Body)
					}
				} else {
					a.Refused(t, http.StatusBadRequest, parts...)
				}
				if w.take() != nil || t.Failed() {
					t.Fatalf("%s: %s: %d %s", e, name, a.Status, a.Body)
				}
			}
			for _, p := range apitest.Parameters(e) {
				r := reading(r, p)
				for _, value := range p.Invalid {
					refused(fmt.Sprintf("%s = %.50q", p.Name, value), r.With(p, value), "invalid "+p.Name)
				}
				if p.Required && p.In != "path" {
					refused("without "+p.Name, r.With(p, nil), "missing "+p.Name)
				}
				if p.In == "query" && !p.List {
					refused(p.Name+" twice", r.With(p, p.Valid).Also(p.Name, "other"), p.Name, "more than once")
				}
				accepted := func(name string, good apitest.Request) {
					t.Helper()
					if a := w.invoke(t, good); a.Status != http.StatusOK {
						t.Fatalf("%s: %s: %d %s", e, name, a.Status, a.Body)
					}
					w.take()
				}
				for _, name := range p.Names {
					spelled := p
					spelled.Name = name
					accepted(fmt.Sprintf("%s = %v", name, p.Valid), r.With(p, nil).With(spelled, p.Valid))
					if p.In == "query" && !p.List {
						accepted(p.Name+" and the same as "+name, r.With(p, p.Valid).Also(name, p.Valid))
					}
					if p.In == "query" && !p.List && name != p.Name {
						refused(p.Name+" and another as "+name, r.With(p, p.Valid).Also(name, "other"), p.Name+" and "+name, "different values")
					}
				}
			}
		}
	})
}

// reading is r as a request that reads p: of POST /info one of a type that does, and of pages
// of flashes one of such a mode.
func reading(r apitest.Request, p apitest.Parameter) apitest.Request {
	parameters := apitest.Parameters(r.Endpoint)
	named := func(name string) apitest.Parameter {
		return parameters[slices.IndexFunc(parameters, func(p apitest.Parameter) bool { return p.Name == name })]
	}
	switch r.Endpoint {
	case catalog.FlashPages.Endpoint:
		if mode := map[string]string{"jump_to_date": "jump", "start_date": "range", "end_date": "range"}[p.Name]; mode != "" {
			return r.With(named("date_mode"), mode)
		}
		return r
	case catalog.Info.Endpoint, catalog.VenueInfo.Endpoint:
	default:
		return r
	}
	kind := named("type")
	for _, t := range catalog.InfoTypes {
		if slices.Contains(t.Needs, p.Name) || slices.Contains(t.Takes, p.Name) {
			return r.With(kind, t.Name)
		}
	}
	return r
}

// What is left out is bound as the catalog says, or not at all.
func TestEveryDefaultIsBound(t *testing.T) {
	t.Parallel()
	everyFunction(t, func(t *testing.T, w *echo, endpoints []*catalog.Endpoint) {
		for _, e := range endpoints {
			if e.Planned {
				continue
			}
			if a := w.invoke(t, apitest.Example(e)); a.Status != http.StatusOK {
				t.Fatalf("%s: %d %s", e, a.Status, a.Body)
			}
			bound := reflect.ValueOf(w.take()).Elem()
			for _, p := range apitest.Parameters(e) {
				got := bound.FieldByName(p.Field)
				switch {
				case p.Required || p.Example:
					if got.IsZero() && fmt.Sprint(p.Valid) != "0" {
						t.Errorf("%s: %s was given and is not bound", e, p.Name)
					}
				case p.Default == "":
					if !got.IsZero() {
						t.Errorf("%s: %s was left out and is %v", e, p.Name, got)
					}
				default:
					want := p.Default
					var window catalog.Lookback
					if got.Type() == reflect.TypeOf(window) && window.UnmarshalText([]byte(want)) == nil {
						want = fmt.Sprint(window)
					}
					if fmt.Sprint(got) != want {
						t.Errorf("%s: %s was left out and is %v, want %s", e, p.Name, got, want)
					}
				}
			}
		}
	})
}
