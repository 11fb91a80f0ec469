// Package must ends a test at an error that the test is not about: what it prepares has
// failed.
package must

import "iter"

// T is a test, a benchmark or a property.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do requires that a call succeeds: must.Do(t, views.Publish(...)).
func Do(t T, err error) {
	if err != nil {
		t.Helper() // only now, as it takes longer than what some benchmarks measure
		t.Fatal(err)
	}
}

// Get returns the value of a call that has to succeed: must.Get(os.ReadFile(path))(t).
func Get[V any](value V, err error) func(t T) V {
	return func(t T) V {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return value
	}
}

// All returns the values of a sequence that has to have no error.
func All[V any](t T, list iter.Seq2[V, error]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for value, err := range list {
			Do(t, err)
			if !yield(value) {
				return
			}
		}
	}
}

// Get2 returns the two values of a call that has to succeed.
func Get2[V, W any](v V, w W, err error) func(t T) (V, W) {
	return func(t T) (V, W) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v, w
	}
}
