package service

import (
	"math"
	"runtime/debug"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// Garbage that nobody collects would end a function of which little is in use.
func TestAFunctionKeepsToItsMemory(t *testing.T) { //nolint:paralleltest // the limit and the environment are those of the process
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv(catalog.EnvTablePrefix, "test-")
	for size, want := range map[string]int64{"512": 429_496_729, "3538": 2_967_889_510, "": math.MaxInt64, "many": math.MaxInt64, "0": math.MaxInt64} {
		debug.SetMemoryLimit(math.MaxInt64)
		t.Setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", size)
		must.Get(Open(t.Context(), catalog.FunctionSocket))(t)
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("with %q MB it keeps to %d bytes, want %d", size, got, want)
		}
	}
}
