package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"quotary/localstack/lambdahost"
)

// Environment variables of a program that is run in place of docker: that it is,
// and the folder of the functions' programs.
const (
	AsContainer = "QUOTARY_WITNESS_CONTAINER"
	programs    = "QUOTARY_WITNESS_PROGRAMS"
)

// Container carries out those docker commands that cdk-local uses to run a
// function. A container is a process of this program that serves until rm ends
// it; its id is the number of the process.
func Container(args []string) error {
	if len(args) == 0 {
		return errors.New("no command")
	}
	switch args[0] {
	case "version":
		fmt.Println("28.0.0")
		return nil
	case "run":
		return runDetached(args[1:])
	case "serve":
		return serve(args[1], args[2], args[3])
	case "rm":
		return signalTo(args[len(args)-1], syscall.SIGTERM)
	case "logs": // a function's are of no interest here
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		return nil
	}
	return fmt.Errorf("docker %s is not known here", args[0])
}

// runDetached reads what a container would be run with, starts its process and
// prints its id.
func runDetached(args []string) error {
	var address string
	env := []string{"PATH=" + os.Getenv("PATH"), programs + "=" + os.Getenv(programs), AsContainer + "=1"}
	for i := 0; i < len(args)-1; i++ {
		switch args[i] {
		case "-p":
			host, port, _ := strings.Cut(args[i+1], ":")
			port, inside, _ := strings.Cut(port, ":")
			if inside == "8080" {
				address = net.JoinHostPort(host, port)
			}
		case "-e":
			name, _, given := strings.Cut(args[i+1], "=")
			if given {
				env = append(env, args[i+1])
			} else {
				env = append(env, name+"="+os.Getenv(name))
			}
		}
	}
	function := ""
	for _, entry := range env {
		if name, ok := strings.CutPrefix(entry, "AWS_LAMBDA_FUNCTION_NAME="); ok {
			function = name
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "serve", address, function, strconv.Itoa(os.Getppid()))
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(cmd.Process.Pid)
	return cmd.Process.Release()
}

// serve answers at an address as the runtime emulator in a function's image
// does, until it is asked to end or the process that wanted it has ended.
func serve(address, logicalID, owner string) error {
	path := filepath.Join(os.Getenv(programs), program(logicalID))
	host, err := lambdahost.New(lambdahost.Config{
		Functions: map[string]lambdahost.Function{"function": {Path: path, Env: os.Environ()}},
		Logs:      io.Discard, Region: os.Getenv("AWS_REGION"),
	})
	if err != nil {
		return err
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	server := &http.Server{Addr: address, Handler: named(host.InvokeAPI()), ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	watch := time.NewTicker(time.Second)
	defer watch.Stop()
	for alive := true; alive && err == nil; {
		select {
		case err = <-ended:
		case <-ctx.Done():
			alive = false
		case <-watch.C:
			alive = signalTo(owner, syscall.Signal(0)) == nil
		}
	}
	stopping, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	return errors.Join(err, server.Shutdown(stopping), host.Close(stopping))
}

// named puts right what the authorizer is asked: cdk-local gives the path in place
// of the resource, which on API Gateway has the names of the parameters.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, lambdahost.MaxPayload))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		var event map[string]any
		if json.Unmarshal(text, &event) == nil && event["type"] == "REQUEST" {
			path, _ := event["path"].(string)
			segments := strings.Split(path, "/")
			parameters, _ := event["pathParameters"].(map[string]any)
			for name, value := range parameters {
				if i := slices.Index(segments, fmt.Sprint(value)); i >= 0 {
					segments[i] = "{" + name + "}"
				}
			}
			event["resource"] = strings.Join(segments, "/")
			if text, err = json.Marshal(event); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		next.ServeHTTP(w, r)
	})
}

// program is the name of a function's program by its logical id:
// PerpMarketFunction is perp-market.
func program(logicalID string) string {
	var name strings.Builder
	for i, r := range strings.TrimSuffix(logicalID, "Function") {
		if i > 0 && unicode.IsUpper(r) {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// signalTo sends a signal to the process with a number.
func signalTo(id string, what os.Signal) error {
	number, err := strconv.Atoi(id)
	if err != nil {
		return fmt.Errorf("the container %q is not one of ours: %w", id, err)
	}
	process, err := os.FindProcess(number)
	if err != nil {
		return err
	}
	return process.Signal(what)
}
