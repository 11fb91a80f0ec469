package witness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// program is a cdk-local that runs.
type program struct {
	command  string
	assembly string // that it serves
	docker   string // address of the one that starts containers
	log      string // file of what it says

	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
}

// start serves APIs, named by their paths in the assembly, and returns their
// addresses in its order.
func (p *program) start(ctx context.Context, apis []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(p.command, append(append([]string{"start-api"}, apis...), "--app", p.assembly, "--port", "0", "--no-pull", "--per-lambda-concurrency", "4")...)
	p.cmd.Env = append(os.Environ(), "CDK_DOCKER="+self, AsContainer+"="+p.docker)
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.ended = make(chan struct{})
	listening := make(chan []string, 1)
	go func() {
		defer close(p.ended)
		defer log.Close()
		listening <- readAddresses(io.TeeReader(out, log))
		_, _ = io.Copy(log, out)
		_ = p.cmd.Wait() // how it ended stands in its log
	}()
	var addresses []string
	select {
	case addresses = <-listening:
	case <-ctx.Done():
	}
	if len(addresses) != len(apis) {
		err = errors.Join(ctx.Err(), p.stop(ctx))
		said, _ := os.ReadFile(p.log)
		return nil, errors.Join(fmt.Errorf("it serves %d of %d APIs: %.2000s", len(addresses), len(apis), said), err)
	}
	return addresses, nil
}

// readAddresses reads where cdk-local says that it listens, up to its last word
// on that.
func readAddresses(from io.Reader) (addresses []string) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "^C to stop") {
			return addresses
		}
		if at, ok := strings.CutPrefix(lines.Text(), "Server listening on "); ok {
			at, _, _ = strings.Cut(at, " ")
			addresses = append(addresses, at)
		}
	}
	return nil // it has ended
}

// stop ends it, with its containers.
func (p *program) stop(ctx context.Context) error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-ctx.Done():
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return nil
}
