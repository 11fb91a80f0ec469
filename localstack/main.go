// The local stack runs the whole product on this machine: see package stack.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"quotary/localstack/client"
	"quotary/localstack/stack"
)

// cli is the command line; every setting is also an environment variable.
type cli struct {
	Data     string `env:"QUOTARY_DATA" help:"Folder of everything the stack keeps: .local by default to run, and that of the stack that started last for all else."`
	Programs string `env:"QUOTARY_PROGRAMS" default:"bin" help:"Folder of the built programs."`

	Run    run    `cmd:"" default:"withargs" help:"Run the stack until Ctrl-C."`
	URL    sign   `cmd:"" name:"url" help:"Print a signed address of an endpoint, valid for 30 seconds and one request."`
	Follow follow `cmd:"" help:"Follow a WebSocket feed and print its frames, a line each, until Ctrl-C."`
	Env    env    `cmd:"" help:"Print the running stack's addresses and demo keys as shell assignments."`
	Replay replay `cmd:"" help:"Replay a recording of node fills into the running stack."`
	Load   load   `cmd:"" help:"Load a file of a dataset into the running stack."`
	Share  share  `cmd:"" help:"Let containers reach the running stack's database and objects, until Ctrl-C."`
	Oracle oracle `cmd:"" help:"Run a command against Amazon's DynamoDB Local."`
}

type run struct {
	Port     int    `env:"QUOTARY_PORT" default:"8080" help:"First of eleven ports, and one more for each further ingester; 0 picks free ones."`
	Tools    string `env:"QUOTARY_TOOLS" default:"localstack" help:"Folder in which npm installed the DynamoDB engine."`
	DynamoDB string `env:"QUOTARY_DYNAMODB_ENDPOINT" help:"Endpoint of another DynamoDB to use."`
	Upstream string `env:"QUOTARY_UPSTREAM" default:"simulated" enum:"simulated,hyperliquid,none" help:"Where market data comes from: ${enum}."`
	Node     string `env:"QUOTARY_NODE" default:"simulated" enum:"simulated,none" help:"Whether the files of a node of the simulated venue are followed, or the hours that it publishes: ${enum}."`
	Sources  string `env:"QUOTARY_SOURCES" default:"chosen" enum:"chosen,free" help:"Beside the real venue: the sources that are set in the environment, or all that take no money and no key: ${enum}."`
	Seed     uint64 `env:"QUOTARY_SEED" default:"1" help:"Seed of the simulated venue."`
	History  int    `env:"QUOTARY_HISTORY_DAYS" default:"14" help:"Days of history that the simulated venue lays down on its first start."`
	MaxEach  int    `env:"QUOTARY_MAX_INSTANCES" default:"8" help:"Most processes of one function."`
	Parallel bool   `env:"QUOTARY_PARALLEL_MESSAGES" help:"Carry out the messages of one WebSocket connection at once, as AWS does, not in their order."`

	Retention string `env:"QUOTARY_RETENTION" help:"For how long rows of log datasets can be read, as in fills=90d,orders=30d; for ever by default."`
	Ingesters int    `env:"QUOTARY_INGESTERS" default:"1" help:"How many ingesters run; all but one stand by."`
}

type sign struct {
	Path string `arg:"" optional:"" help:"Path after the base address, with business parameters: /upgrade/v2/hl/tickers, or with --ws /upgrade/v2/hl/ws."`
	WS   bool   `name:"ws" help:"Sign the address of a WebSocket feed."`
}

// Paths that are signed when none is given.
const (
	somePath = "/upgrade/v2/hl/tickers"
	someFeed = "/upgrade/v2/hl/ws"
)

type env struct{}

type replay struct {
	File string `arg:"" type:"existingfile" help:"Recording: one block, or one fill, in JSON per line."`
}

type load struct {
	Dataset string `arg:"" help:"Dataset to load."`
	File    string `arg:"" type:"existingfile" help:"File of one JSON object a line, plain or with gzip."`
	Again   bool   `help:"Take the lines although a file with the same content was taken before."`
}

type share struct {
	Address string `arg:"" optional:"" help:"Address of this machine that containers reach; by default that of Docker's bridge."`
}

type oracle struct {
	Tools   string   `env:"QUOTARY_TOOLS" default:"localstack" help:"Folder in which npm installed the engines."`
	Command []string `arg:"" passthrough:"" help:"Command that finds the engine in QUOTARY_DYNAMODB_ENDPOINT."`
}

// defaultData is where a stack keeps its data unless it is told otherwise.
const defaultData = ".local"

// running is the state of the stack that a command is about.
func (c *cli) running() (stack.State, error) {
	if c.Data != "" {
		return stack.Read(c.Data)
	}
	return stack.ReadLast(c.Programs, defaultData)
}

func main() {
	var c cli
	parsed := kong.Parse(&c, kong.Name("localstack"), kong.Description("Run Quotary on this machine."), kong.Vars{"feed": someFeed})
	if err := parsed.Run(&c); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Run starts the stack and waits for Ctrl-C.
func (r *run) Run(c *cli) error {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	fmt.Println("Starting Quotary")
	running, err := stack.Start(ctx, stack.Config{
		Port: r.Port, Data: cmp.Or(c.Data, defaultData), Programs: c.Programs, Tools: r.Tools, Progress: os.Stdout,
		DynamoDB: r.DynamoDB, Upstream: r.Upstream, Node: r.Node, Sources: r.Sources, Seed: r.Seed, History: r.History, MaxEach: r.MaxEach,
		Ingesters: r.Ingesters, Retention: r.Retention,
	})
	if err != nil {
		return err
	}
	if err := stack.Remember(c.Programs, running.State.DataDir); err != nil {
		return errors.Join(err, running.Stop(ctx))
	}
	welcome(running.State, r.Upstream)
	failed := running.Wait(ctx)
	release() // a second Ctrl-C ends the program at once
	fmt.Println("\nStopping")
	stopping, done := context.WithTimeout(context.Background(), 15*time.Second)
	defer done()
	if err := running.Stop(stopping); err != nil {
		return err
	}
	return failed
}

// Run prints a signed address for the running stack's demo sub-key.
func (s *sign) Run(c *cli) error {
	state, err := c.running()
	if err != nil {
		return err
	}
	base, path := state.BaseURL, cmp.Or(s.Path, somePath)
	if s.WS {
		base, path = state.WSBaseURL, cmp.Or(s.Path, someFeed)
	}
	address, err := signed(base, path, state.Demo.SubKey)
	if err != nil {
		return err
	}
	fmt.Println(address)
	return nil
}

// Run prints assignments for a shell's eval. All values are of letters, digits
// and : / . so that none needs quoting.
func (env) Run(c *cli) error {
	state, err := c.running()
	if err != nil {
		return err
	}
	fmt.Printf("BASE=%s\nLAMBDA=%s\nAK=%s\nSK=%s\n", state.BaseURL, state.LambdaURL, state.Demo.SubKey.AccessKey, state.Demo.SubKey.SecretKey)
	return nil
}

// Run passes the recording to the ingester's own command, set up for the running
// stack, and returns when every row is readable.
func (r *replay) Run(c *cli) error {
	return ingester(c, "replay", r.File)
}

// Run passes the file to the ingester's own command, set up for the running stack.
func (l *load) Run(c *cli) error {
	return ingester(c, "load", l.Dataset, l.File, fmt.Sprintf("--again=%t", l.Again))
}

// ingester runs a command of the ingester's program for the running stack.
func ingester(c *cli, args ...string) error {
	state, err := c.running()
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(c.Programs, "ingester"), args...)
	cmd.Env = append(os.Environ(), state.Environment()...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// Run shares until Ctrl-C.
func (s *share) Run(c *cli) error {
	state, err := c.running()
	if err != nil {
		return err
	}
	if s.Address == "" {
		if s.Address, err = stack.Bridge(); err != nil {
			return err
		}
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	return stack.Share(ctx, state, s.Address, func() { fmt.Println("The stack's database and objects can be reached at", s.Address) })
}

// Run runs the command while the engine runs.
func (o *oracle) Run() error {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	command := o.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("name the command to run")
	}
	return stack.WithOracle(ctx, o.Tools, command)
}

// signed is the address of a path, with or without its first slash.
func signed(base, path string, key client.Key) (string, error) {
	req, err := http.NewRequest(http.MethodGet, base+"/"+strings.TrimPrefix(path, "/"), nil)
	if err != nil {
		return "", err
	}
	query := req.URL.Query()
	for name, values := range key.Sign(time.Now(), rand.Text()) {
		query[name] = values
	}
	req.URL.RawQuery = query.Encode()
	return req.URL.String(), nil
}

func welcome(s stack.State, upstream string) {
	address, err := signed(s.BaseURL, somePath, s.Demo.SubKey)
	if err != nil {
		address = err.Error()
	}
	source := "simulated venue, exchange, publisher and source of prices, not a real market: all of it is made up"
	switch upstream {
	case "hyperliquid":
		source = "Hyperliquid's public API"
	case "none":
		source = "none: replay recordings with make replay FILE=..."
	}
	fmt.Printf(`
Quotary is ready. Ctrl-C stops it; its data stays in %s.

  API          %s
  WebSockets   %s
  Lambda       %s
  Market data  %s

  Demo distributor  %s
  Demo sub-key      %s
  (their secrets are in %s)

A signed request, valid for 30 seconds (make url P=/path signs another):

  curl '%s'

A feed (make url WS=1 signs its address for a client of yours):

  bin/localstack follow '{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}'

`, s.DataDir, s.BaseURL, s.WSBaseURL, s.LambdaURL, source, s.Demo.Primary.AccessKey, s.Demo.SubKey.AccessKey,
		filepath.Join(s.DataDir, stack.StateFile), address)
}
