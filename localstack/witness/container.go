package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// AsContainer is the environment variable of a program that is run in place of
// docker: the address of the witness.
const AsContainer = "QUOTARY_WITNESS"

// Container carries out those docker commands that cdk-local uses to run a
// function. A container is an address at which the witness listens.
func Container(args []string) error {
	if len(args) == 0 {
		return errors.New("no command")
	}
	witness := os.Getenv(AsContainer)
	switch args[0] {
	case "version":
		fmt.Println("28.0.0")
		return nil
	case "run":
		address, function := placeOf(args[1:])
		return askWitness(http.MethodPost, witness+"/containers?"+url.Values{"address": {address}, "function": {function}}.Encode())
	case "rm":
		return askWitness(http.MethodDelete, witness+"/containers/"+args[len(args)-1])
	case "logs": // a function's are in the log of the stack
		return askWitness(http.MethodGet, witness+"/logs")
	}
	return fmt.Errorf("docker %s is not known here", args[0])
}

// placeOf reads where a container listens, and with which function, from the
// options that it is run with.
func placeOf(args []string) (address, function string) {
	for i := 0; i < len(args)-1; i++ {
		switch args[i] {
		case "-p":
			host, port, _ := strings.Cut(args[i+1], ":")
			if port, inside, _ := strings.Cut(port, ":"); inside == "8080" {
				address = net.JoinHostPort(host, port)
			}
		case "-e":
			if name, value, given := strings.Cut(args[i+1], "="); name == "AWS_LAMBDA_FUNCTION_NAME" {
				if function = value; !given {
					function = os.Getenv(name)
				}
			}
		}
	}
	return address, function
}

// askWitness prints what the witness answers.
func askWitness(method, address string) error {
	req, err := http.NewRequest(method, address, nil) //nolint:noctx // whoever runs docker ends it
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = errors.New(string(text))
	}
	if err != nil {
		return fmt.Errorf("ask the witness: %w", err)
	}
	_, err = os.Stdout.Write(text)
	return err
}

// docker is the other end of [Container].
func (w *Witness) docker() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /containers", w.runContainer)
	mux.HandleFunc("DELETE /containers/{id}", func(_ http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		server := w.containers[r.PathValue("id")]
		delete(w.containers, r.PathValue("id"))
		w.mu.Unlock()
		if server != nil {
			_ = server.Close() // what it was doing is of no interest any more
		}
	})
	mux.HandleFunc("GET /logs", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-w.running.Done():
		}
	})
	return mux
}

func (w *Witness) runContainer(out http.ResponseWriter, r *http.Request) {
	var listen net.ListenConfig
	listener, err := listen.Listen(context.WithoutCancel(r.Context()), "tcp", r.FormValue("address"))
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	function := functionOf(r.FormValue("function"))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/function/invocations", func(out http.ResponseWriter, r *http.Request) { w.invocation(out, r, function) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	w.mu.Lock()
	w.started++
	id := strconv.Itoa(w.started)
	w.containers[id] = server
	w.mu.Unlock()
	w.tasks.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	fmt.Fprintln(out, id)
}

func (w *Witness) removeContainers() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, server := range w.containers {
		_ = server.Close()
	}
}

// functionOf is the name of a function by its logical id: PerpMarketFunction is
// perp-market.
func functionOf(logicalID string) string {
	var name strings.Builder
	for i, r := range strings.TrimSuffix(logicalID, "Function") {
		if i > 0 && unicode.IsUpper(r) {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
