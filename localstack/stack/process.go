package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"quotary/shared/catalog"
)

// process is a program that the stack keeps running.
type process struct {
	mu      sync.Mutex
	cmd     *exec.Cmd
	ended   chan struct{} // closed when cmd has ended
	stopped bool
	stops   chan struct{} // closed when stopped
}

// child prepares a program whose output goes to logs.
func child(logs *os.File, program string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = logs, logs
	cmd.SysProcAttr = childAttributes()
	return cmd
}

// keep runs the command that prepare makes until Stop, and again when it ends
// by itself, after a pause that grows to five seconds.
func (s *Stack) keep(name string, prepare func() *exec.Cmd) error {
	p := &process{stops: make(chan struct{})}
	if err := p.start(prepare()); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause := 200 * time.Millisecond
		for {
			started := time.Now()
			<-p.ended
			if p.isStopped() {
				return
			}
			s.log.Warn("a program ended and is started again", "program", name)
			if time.Since(started) > time.Minute {
				pause = 200 * time.Millisecond
			}
			select {
			case <-time.After(pause):
			case <-p.stops:
				return
			}
			pause = min(2*pause, 5*time.Second)
			if err := p.start(prepare()); err != nil {
				s.failure <- fmt.Errorf("start %s again: %w", name, err)
				return
			}
		}
	}()
	s.onStop(func(ctx context.Context) error {
		p.stop(ctx)
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stop %s: %w", name, ctx.Err())
		}
	})
	return nil
}

func (p *process) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		p.ended = make(chan struct{})
		close(p.ended)
		return nil
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() {
		_ = cmd.Wait() // how it ended stands in its own log
		close(ended)
	}()
	return nil
}

func (p *process) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// stop asks the process to end, waits, and kills it when ctx ends first.
func (p *process) stop(ctx context.Context) {
	p.mu.Lock()
	if !p.stopped {
		p.stopped = true
		close(p.stops)
	}
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = cmd.Process.Kill()
	}
	select {
	case <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Kill()
		<-ended
	}
}

// program is the path of a function's program, or the ingester's.
func (s *Stack) program(name string) string {
	return filepath.Join(s.cfg.Programs, catalog.ProgramFile(name))
}
