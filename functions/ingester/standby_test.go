package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quotary/functions/ingester/perp"
	filldata "quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// task is one of several ingesters on the same tables.
type task struct {
	*process
	t   *testing.T
	url string // of its health
}

// task starts an ingester under a name of its own.
func (w *world) task(name string) *task {
	w.t.Helper()
	cmd := w.command("run")
	cmd.Env = append(cmd.Env, "QUOTARY_INGESTER_NAME="+name)
	stdout := must.Get(cmd.StdoutPipe())(w.t)
	must.Do(w.t, cmd.Start())
	p := &task{process: &process{cmd: cmd}, t: w.t}
	w.t.Cleanup(func() { p.end(syscall.SIGKILL) })
	lines := bufio.NewReader(stdout)
	first := must.Get(lines.ReadBytes('\n'))(w.t)
	var started struct{ Health string }
	if err := json.Unmarshal(first, &started); err != nil {
		w.t.Fatalf("%s: %v", first, err)
	}
	p.url = "http://" + started.Health
	go lines.WriteTo(logTo{w.t, name})
	return p
}

// logTo shows what a task says.
type logTo struct {
	t    *testing.T
	name string
}

func (l logTo) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil { // else the test has ended
		l.t.Logf("%s: %s", l.name, strings.TrimSpace(string(b)))
	}
	return len(b), nil
}

// role is what a task says of itself in the domain perp.
type role struct {
	Status, Role, Holder string
	Epoch                int64
}

func (p *task) role(path string) (r role) {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil))(p.t)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return role{}
	}
	defer res.Body.Close()
	var said struct {
		Status  string
		Domains map[string]role
	}
	must.Do(p.t, json.NewDecoder(res.Body).Decode(&said))
	r = said.Domains[perp.Name]
	r.Status = said.Status
	return r
}

// await waits until a task is active, or until it knows who is.
func (p *task) await(want string, epoch int64) {
	p.t.Helper()
	testenv.Until(p.t, fmt.Sprintf("it is %s in epoch %d", want, epoch), func() bool {
		r := p.role("/healthz")
		return r.Role == want && r.Epoch >= epoch // a busy machine may lose a lease besides
	})
}

// TestAStandbyTakesOverAndNothingIsLostOrDoubled lets a node write its files
// while the active ingester is killed, the next one is held up until another has
// taken over and then goes on, and the third is stopped.
func TestAStandbyTakesOverAndNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	node := t.TempDir()
	w.env = append(w.env, "QUOTARY_NODE_DIR="+node)
	path, fills := record(t, 4000)
	text := must.Get(os.ReadFile(path))(t)
	lines := strings.SplitAfter(strings.TrimSpace(string(text))+"\n", "\n")
	file := filepath.Join(node, "node_fills_by_block", "hourly", "20260202", "10")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	out := must.Get(os.Create(file))(t)
	defer out.Close()
	written := 0
	// write has the node write a part of its lines, one at a time.
	write := func(part int) {
		t.Helper()
		for end := written + len(lines)/part; written < min(end, len(lines)); written++ {
			must.Get(out.WriteString(lines[written]))(t)
			time.Sleep(time.Millisecond) // the node writes as it goes
		}
	}

	first := w.task("first")
	first.await("active", 1)
	second := w.task("second")
	second.await("standby", 1)
	if r := second.role("/readyz"); r.Status != "standby" || r.Role != "standby" || r.Holder != "first" {
		t.Errorf("the standby says %+v", r)
	}
	write(5)
	first.end(syscall.SIGKILL)
	write(5)
	second.await("active", 2)
	third := w.task("third")
	third.await("standby", 2)
	write(5)
	second.cmd.Process.Signal(syscall.SIGSTOP)
	write(5)
	third.await("active", 3)
	second.cmd.Process.Signal(syscall.SIGCONT)
	second.await("standby", 3)
	write(10)
	if err := third.end(syscall.SIGTERM); err != nil {
		// A slow engine takes longer than a stop may: the next one writes what is left.
		t.Logf("the third ended with %v", err)
	}
	second.await("active", 4)
	write(1)
	w.awaitRows(fills)
	if err := second.end(syscall.SIGTERM); err != nil {
		t.Logf("the second ended with %v", err)
	}
	w.checkCandles(fills)
	w.checkRows(fills)
}

// TestAnIngesterGivesWayToOneWhoseNodeIsUpToDate lets three follow what they have,
// nothing and two nodes of which one stops: whoever has a node that is up to date
// works, without any who has none, and nothing is lost or doubled.
func TestAnIngesterGivesWayToOneWhoseNodeIsUpToDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := append(w.env, "QUOTARY_NODE_BEHIND=3s")
	w.env = env
	none := w.task("none")
	none.await("active", 1)
	first := newNode(t, "")
	w.env = append(env, "QUOTARY_NODE_DIR="+first.dir)
	one := w.task("first")
	one.await("active", 2)
	none.await("standby", 2)
	w.awaitRows(fillsOf(t, first.written()))
	before := first.stop()
	none.await("active", 3)
	one.await("standby", 3)
	second := newNode(t, before)
	w.env = append(env, "QUOTARY_NODE_DIR="+second.dir, "QUOTARY_NODE_BEHIND=1h") // a slow machine stores its last fills later than in three seconds
	two := w.task("second")
	two.await("active", 4)
	none.await("standby", 4)
	testenv.Until(t, "the second node writes", func() bool { return len(second.written()) > len(before) })
	fills := fillsOf(t, second.stop())
	w.awaitRows(fills)
	if err := two.end(syscall.SIGTERM); err != nil {
		t.Logf("the second ended with %v", err) // a slow engine takes longer than a stop may
	}
	w.checkRows(fills)
	w.checkCandles(fills)
}

// node writes blocks of the present until it is stopped.
type node struct {
	dir    string
	cancel context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	text string // all that it has written
}

// newNode starts a node that has written some text already.
func newNode(t *testing.T, before string) *node {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	n := &node{dir: t.TempDir(), cancel: cancel, ended: make(chan struct{})}
	file := filepath.Join(n.dir, "node_fills_by_block", "hourly", "20260202", "10")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	out := must.Get(os.Create(file))(t)
	t.Cleanup(func() { n.stop() })
	go func() {
		defer close(n.ended)
		defer out.Close()
		next := before
		for b := strings.Count(before, "\n"); ; b++ {
			if _, err := out.WriteString(next); err != nil {
				t.Error(err)
				return
			}
			n.mu.Lock()
			n.text += next
			n.mu.Unlock()
			next = block(b, time.Now().UnixMilli())
			select {
			case <-ctx.Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return n
}

// written returns all that the node has written so far.
func (n *node) written() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}

// stop ends the node and returns all that it has written.
func (n *node) stop() string {
	n.cancel()
	<-n.ended
	return n.written()
}

// awaitRows waits until every fill can be read.
func (w *world) awaitRows(fills []market.Fill) {
	w.t.Helper()
	testenv.Until(w.t, fmt.Sprintf("%d rows are stored", len(fills)), func() bool {
		missing := must.Get(filldata.Missing(w.t.Context(), w.stores.Log, fills))(w.t)
		return missing == 0
	})
}

// checkRows holds the stored fills of every address against those of the node.
func (w *world) checkRows(fills []market.Fill) {
	w.t.Helper()
	want := map[string]map[string]bool{}
	for i := range fills {
		f := &fills[i]
		if want[f.Address] == nil {
			want[f.Address] = map[string]bool{}
		}
		want[f.Address][string(f.AppendJSON(nil))] = true
	}
	for address, written := range want {
		stored := 0
		for f := range must.All(w.t, filldata.Newest(w.t.Context(), w.stores.Log, address, "", 0)) {
			if stored++; !written[string(f.AppendJSON(nil))] {
				w.t.Errorf("no node wrote the fill %+v", f)
			}
		}
		if stored != len(written) {
			w.t.Errorf("%s has %d fills, want %d", address, stored, len(written))
		}
	}
}
