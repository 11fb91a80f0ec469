package lambdahost

import (
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// gracePeriod is what a process has between being asked to end and being ended.
const gracePeriod = 2 * time.Second

// process is a child process, in a group of its own: a Ctrl-C in the owner's
// terminal does not reach it, so that the owner decides when it ends, and what it
// starts itself ends with it.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *lineWriter

	mu      sync.Mutex
	started bool
	ended   bool // asked to end; also before it was started
	reaped  bool
	grace   *time.Timer
}

func newProcess(cmd *exec.Cmd, logs *lineSink) *process {
	p := &process{cmd: cmd, stdout: &lineWriter{sink: logs}, stderr: &lineWriter{sink: logs}}
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	cmd.WaitDelay = gracePeriod // a grandchild may hold the pipes open
	cmd.SysProcAttr = ownGroup()
	return p
}

// run starts the process and returns when it has ended, with what os/exec says of
// its end.
func (p *process) run(s *spawner) error {
	if err := s.do(p.start); err != nil {
		return err
	}
	err := p.cmd.Wait()
	p.mu.Lock()
	p.reaped = true
	if p.grace != nil {
		p.grace.Stop()
	}
	killGroup(p.cmd.Process) // what it started and left behind
	p.mu.Unlock()
	p.stdout.flush()
	p.stderr.flush()
	return err
}

func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return ErrClosed
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.started = true
	return nil
}

// terminate asks the process to end, and ends it if it has not after a while.
func (p *process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.started && !p.reaped {
		terminateGroup(p.cmd.Process)
		p.grace = time.AfterFunc(gracePeriod, p.kill)
	}
}

// kill ends the process.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.started && !p.reaped {
		killGroup(p.cmd.Process)
	}
}

// spawner starts processes from one thread that lives as long as the host does.
// Linux sends a child its parent-death signal when the thread that made it ends,
// and Go gives no other hold on threads than a goroutine locked to one.
type spawner struct {
	jobs chan func()
	done chan struct{}
}

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// do runs start on the spawner's thread.
func (s *spawner) do(start func() error) error {
	result := make(chan error, 1)
	s.jobs <- func() { result <- start() }
	return <-result
}

// stop ends the thread. Nothing may call do any more.
func (s *spawner) stop() {
	close(s.jobs)
	<-s.done
}
