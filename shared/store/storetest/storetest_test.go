package storetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// The test runs itself as another process, which is killed while its engine
// runs: nothing may be left behind.
func TestTheEngineEndsWithAKilledProcess(t *testing.T) {
	if os.Getenv("STORETEST_CHILD") != "" {
		storetest.OnDisk(t)
		os.Stdout.WriteString("up\n")
		time.Sleep(time.Minute) // longer than it may live
	}
	if os.Getenv("QUOTARY_DYNAMODB_ENDPOINT") != "" {
		t.Skip("the engine is not ours")
	}
	binary := must.Get(storetest.Binary())(t)
	// The name that the engine runs under distinguishes it from those of other tests.
	link := filepath.Join(t.TempDir(), "engine")
	if err := os.Symlink(binary, link); err != nil {
		t.Skip(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestTheEngineEndsWithAKilledProcess$")
	child.Env = append(os.Environ(), "STORETEST_CHILD=1", "QUOTARY_DYNOXIDE="+link, "TMPDIR="+t.TempDir())
	out := must.Get(child.StdoutPipe())(t)
	must.Do(t, child.Start())
	must.Get(out.Read(make([]byte, 3)))(t)
	if !running(t, link) {
		t.Fatal("no engine runs")
	}
	must.Do(t, child.Process.Kill())
	child.Wait()
	testenv.Until(t, "the engine of a killed process has ended", func() bool { return !running(t, link) })
}

// running reports whether a process has the path as an argument.
func running(t *testing.T, path string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Skip("no /proc on this platform")
	}
	for _, line := range lines {
		words, err := os.ReadFile(line)
		if err == nil && strings.HasPrefix(string(words), path+"\x00") {
			return true
		}
	}
	return false
}
