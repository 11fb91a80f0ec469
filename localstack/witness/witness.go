package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Config says what a gateway serves, and with what.
type Config struct {
	Command  string   // cdk-local's program, cdkl
	Assembly string   // folder that CDK has synthesized for the environment dev
	Programs string   // folder of the functions' programs, built for this machine
	Env      []string // of the functions
	Folder   string   // for what it writes
}

// Start serves the REST API and returns its base address and a function that
// ends it. The calling program is run again in place of docker, with
// [AsContainer] set: it must then call [Container].
func Start(ctx context.Context, cfg Config) (base string, stop func(context.Context) error, err error) {
	assembly := filepath.Join(cfg.Folder, "assembly")
	if err := Unroll(cfg.Assembly, assembly); err != nil {
		return "", nil, err
	}
	variables := make(map[string]string)
	for _, entry := range cfg.Env {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	text, err := json.Marshal(map[string]any{"Parameters": variables})
	if err != nil {
		return "", nil, err
	}
	environment := filepath.Join(cfg.Folder, "environment.json")
	if err := os.WriteFile(environment, text, 0o600); err != nil {
		return "", nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	logs, err := os.Create(filepath.Join(cfg.Folder, "cdk-local.log"))
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(cfg.Command, "start-api", "quotary-dev-api/Api", "--app", assembly,
		"--port", port, "--no-pull", "--env-vars", environment, "--per-lambda-concurrency", "4")
	cmd.Env = append(os.Environ(), "CDK_DOCKER="+self, AsContainer+"=1", programs+"="+cfg.Programs)
	cmd.Stdout, cmd.Stderr = logs, logs
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start cdk-local: %w", errors.Join(err, logs.Close()))
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		close(ended)
	}()
	stop = func(ctx context.Context) error {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			<-ended
		}
		return logs.Close()
	}
	if err := listening(ctx, "127.0.0.1:"+port, ended); err != nil {
		said, _ := os.ReadFile(logs.Name())
		return "", nil, errors.Join(fmt.Errorf("cdk-local: %w: %.2000s", err, said), stop(ctx))
	}
	return "http://127.0.0.1:" + port, stop, nil
}

// listening returns when something listens at an address.
func listening(ctx context.Context, address string, ended <-chan struct{}) error {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
