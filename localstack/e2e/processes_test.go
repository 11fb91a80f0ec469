package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// ingester is one of the stack, as its health reports it.
type ingester struct {
	Role  string
	Epoch int64

	url    string
	status int // of /readyz
	pid    int // 0 where the system does not show its processes as files
}

// ingesters are those that answer.
func ingesters(t *testing.T) (all []ingester) {
	t.Helper()
	addresses := map[string]int{}
	for _, pid := range children("ingester") {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		for _, setting := range strings.Split(string(text), "\x00") {
			if address, ok := strings.CutPrefix(setting, "QUOTARY_INGESTER_ADDR="); ok {
				addresses["http://"+address] = pid
			}
		}
	}
	asking := http.Client{Timeout: soon}
	for _, at := range world.State.Ingesters {
		res, err := asking.Get(at + "/readyz")
		if err != nil {
			continue // it is being started again
		}
		one := ingester{url: at, status: res.StatusCode, pid: addresses[at]}
		var said struct{ Domains map[string]ingester }
		err = json.NewDecoder(res.Body).Decode(&said)
		res.Body.Close()
		one.Role, one.Epoch = said.Domains["perp"].Role, said.Domains["perp"].Epoch
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// active waits for the ingester that works, in a later epoch than the one given.
func active(t *testing.T, after int64) (holder ingester) {
	t.Helper()
	testenv.Until(t, fmt.Sprint("an ingester works in an epoch after ", after), func() bool {
		for _, one := range ingesters(t) {
			if one.Role == "active" && one.Epoch > after {
				holder = one
			}
		}
		return holder.url != ""
	})
	return holder
}

// children are the children of this process that run a program; none where the
// system does not show its processes as files.
func children(program string) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range processes {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pid, parent int
		var name, state string
		if _, err := fmt.Sscan(string(text), &pid, &name, &state, &parent); err == nil && parent == os.Getpid() && name == "("+program+")" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killed ends a program, or skips the test where the system does not show its
// processes.
func killed(t *testing.T, program string) {
	t.Helper()
	if kill(t, program) == 0 {
		t.Skip("the processes of the stack cannot be seen on this system")
	}
}

// kill ends the children of this process that run a program, without warning, and
// returns how many.
func kill(t *testing.T, program string) int {
	t.Helper()
	pids := children(program)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	return len(pids)
}

// killActive kills the ingester that works, or skips the test where the system does
// not show its processes.
func killActive(t *testing.T) (holder ingester, at time.Time) {
	t.Helper()
	if holder = active(t, 0); holder.pid == 0 {
		t.Skip("the processes of the stack cannot be seen on this system")
	}
	must.Do(t, syscall.Kill(holder.pid, syscall.SIGKILL))
	return holder, time.Now()
}

// takenOver waits until another ingester than the killed one works.
func takenOver(t *testing.T, killed ingester, at time.Time) {
	t.Helper()
	active(t, killed.Epoch)
	t.Logf("the standby took over after %v", time.Since(at).Round(time.Millisecond))
}
