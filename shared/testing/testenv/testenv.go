// Package testenv is what tests of all packages share: waiting on a condition,
// the programs of the product, built once for a run, and whether the run is a
// proof (make prove), in which the same tests do much more.
package testenv

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience is how long Until waits. It is no measure of the product: a condition
// that comes within milliseconds on an idle machine has this long on a busy one.
const patience = 6 * time.Minute

// Until waits until a condition holds, and fails the test when it does not within
// six minutes: what names the condition in that failure.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; !holds(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(pause)
	}
}

// Prove reports whether this run is a proof: QUOTARY_PROVE is set.
func Prove() bool { return os.Getenv("QUOTARY_PROVE") != "" }

// Amount is how much of something a test does: short in a normal run, long in a
// proof.
func Amount[T any](short, long T) T {
	if Prove() {
		return long
	}
	return short
}

// Root is the folder of the repository: the one above the test's that says so, because a
// program that was built with -trimpath does not know where its sources are.
var Root = func() string {
	folder, _ := os.Getwd() // where there is none the files of it are not found
	for {
		module, _ := os.ReadFile(filepath.Join(folder, "go.mod"))
		above := filepath.Dir(folder)
		if bytes.HasPrefix(module, []byte("module quotary\n")) || above == folder {
			return folder
		}
		folder = above
	}
}()

// Programs returns the folder of the functions' programs, the ingester and the
// local stack. make test has built them and names the folder in QUOTARY_PROGRAMS;
// else they are built at the first call, as far as they are stale.
func Programs() (folder string, err error) {
	if folder := os.Getenv("QUOTARY_PROGRAMS"); folder != "" {
		return folder, nil
	}
	return filepath.Join(Root, "bin"), build()
}

var build = sync.OnceValue(func() error {
	unlock, err := lock(filepath.Join(os.TempDir(), fmt.Sprintf("quotary-build-%d", os.Getuid())))
	if err != nil {
		return fmt.Errorf("wait for another build: %w", err)
	}
	defer func() { _ = unlock() }() // the end of the process unlocks too
	command := exec.Command(cmp.Or(os.Getenv("MAKE"), "make"), "--no-print-directory", "-C", Root, "tools", "build")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
})
