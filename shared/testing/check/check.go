// Package check compares what a test found with what it wants, and lets the test go on.
package check

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
)

// T is a test, a benchmark or a property.
type T interface {
	Helper()
	Error(args ...any)
}

// Equal requires that got is want, by the rules of go-cmp, and reports where they differ.
func Equal(t T, want, got any) {
	t.Helper()
	Equalf(t, want, got, "it differs")
}

// Equalf is [Equal] that says of what it compares.
func Equalf(t T, want, got any, format string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(fmt.Sprintf(format, args...) + " (-want +got):\n" + diff)
	}
}
