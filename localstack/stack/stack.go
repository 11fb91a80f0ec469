// Package stack runs the whole product on one machine: a DynamoDB engine, an
// S3, the functions behind a gateway, the ingester and a simulated venue, each
// as close to its deployed form as a laptop allows.
//
// The functions and the ingester are the same programs that a deployment
// builds, run as processes of their own. What they need they get through
// environment variables, exactly as there.
package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/gateway"
	"quotary/localstack/lambdahost"
	"quotary/localstack/venue"
	"quotary/shared/catalog"
)

// Config says where a stack lives and what it runs.
type Config struct {
	Port     int    // of the API; the other services take the ports after it. 0 picks free ports
	Data     string // folder of everything the stack keeps
	Programs string // folder of the built functions and the ingester
	Tools    string // folder of the DynamoDB engine as npm installs it
	Progress io.Writer

	DynamoDB string // endpoint of another DynamoDB, which others may use too; empty for the stack's own
	Upstream string // "simulated" (default), "hyperliquid" or "none"
	Seed     uint64 // of the simulated venue
	History  int    // days of history that the simulated venue lays down first
	MaxEach  int    // most processes of one function, 0 for the default

	// Ingesters is how many run: one works, the others stand by. 0 means one.
	Ingesters int

	// FunctionEnv is added to the environment of every function, IngesterEnv to
	// that of the ingester.
	FunctionEnv, IngesterEnv []string
}

// State is what a running stack publishes, in stack.json of its folder.
type State struct {
	BaseURL   string   `json:"base_url"`    // of the HTTPS endpoints, ends with /api
	WSBaseURL string   `json:"ws_base_url"` // of the WebSocket feeds
	LambdaURL string   `json:"lambda_url"`  // of the Lambda Invoke API
	Demo      Demo     `json:"demo"`
	DataDir   string   `json:"data_dir"`
	VenueURL  string   `json:"venue_url,omitempty"` // of the simulated venue
	Ingesters []string `json:"ingester_urls"`       // of their health
	DynamoDB  string   `json:"dynamodb_url"`
	Tables    string   `json:"table_prefix"` // of the names of this stack's tables
	S3        string   `json:"s3_url"`
	Process   int      `json:"pid"`
}

// Demo is a distributor that may everything, and a sub-key of its own.
type Demo struct {
	Primary client.Key `json:"primary"`
	SubKey  client.Key `json:"sub_key"`
}

// Names of the deployment that the stack imitates.
const (
	tablePrefix = "quotary-" // in an engine of the stack's own
	viewsBucket = "quotary-views"
	region      = "us-east-1"
)

// StateFile is the name of the file that a ready stack writes into its folder.
const StateFile = "stack.json"

// Stack is a running stack.
type Stack struct {
	State State
	Venue *venue.Venue // nil with another upstream

	cfg     Config
	log     *slog.Logger
	host    *lambdahost.Host
	stops   []func(context.Context) error // undone in reverse
	failure chan error                    // a part that ended by itself
}

// Start starts everything and returns when signed requests are answered. On an
// error everything that was started has ended again.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	if cfg.Progress == nil {
		cfg.Progress = io.Discard
	}
	data, err := filepath.Abs(cfg.Data)
	if err != nil {
		return nil, err
	}
	cfg.Data = data
	s := &Stack{cfg: cfg, failure: make(chan error, 8)}
	s.State.DataDir = data
	s.State.Process = os.Getpid()
	if err := s.start(ctx); err != nil {
		stopping, done := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer done()
		return nil, errors.Join(err, s.Stop(stopping))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.folders(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"database", s.startDynamoDB},
		{"objects", s.startS3},
		{"tables", s.createTables},
		{"functions", s.startFunctions},
		{"gateway", s.startGateway},
		{"venue", s.startVenue},
		{"ingester", s.startIngesters},
		{"demo keys", s.registerDemo},
	} {
		started := time.Now()
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(s.cfg.Progress, "  %-12s ready (%d ms)\n", step.name, time.Since(started).Milliseconds())
	}
	return s.writeState()
}

// Wait returns when ctx ends, with nil, or when a part of the stack has ended
// by itself, with the reason.
func (s *Stack) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failure:
		return err
	}
}

// Stop ends every part, the last started first, and waits for it.
func (s *Stack) Stop(ctx context.Context) error {
	var faults []error
	for len(s.stops) > 0 {
		stop := s.stops[len(s.stops)-1]
		s.stops = s.stops[:len(s.stops)-1]
		faults = append(faults, stop(ctx))
	}
	return errors.Join(faults...)
}

// onStop has a part ended by Stop.
func (s *Stack) onStop(stop func(context.Context) error) { s.stops = append(s.stops, stop) }

// lockFile is the name of the file that a running stack has locked in its folder.
const lockFile = "lock"

// folders makes the data folder, takes it for this stack alone and opens the
// log.
func (s *Stack) folders() error {
	if err := os.MkdirAll(s.cfg.Data, 0o700); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(s.cfg.Data, lockFile))
	if err != nil {
		return fmt.Errorf("another stack runs on %s: end it, or set QUOTARY_DATA to another folder (%w)", s.cfg.Data, err)
	}
	s.onStop(func(context.Context) error { return unlock() })
	if err := checkLayout(s.cfg.Data); err != nil {
		return err
	}
	for _, name := range []string{"logs", "node", "spool", "venue"} {
		if err := os.MkdirAll(filepath.Join(s.cfg.Data, name), 0o700); err != nil {
			return err
		}
	}
	s.onStop(func(context.Context) error { return ignoreMissing(os.Remove(filepath.Join(s.cfg.Data, StateFile))) })
	file, err := s.logFile("stack")
	if err != nil {
		return err
	}
	s.log = slog.New(slog.NewJSONHandler(file, nil))
	return s.dataKeys()
}

// logFile opens a log of its own name, empty at each start.
func (s *Stack) logFile(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(s.cfg.Data, "logs", name+".log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s.onStop(func(context.Context) error { return file.Close() })
	return file, nil
}

func keyFile(data string) string { return filepath.Join(data, "data-keys.json") }

// dataKeys makes the file of the key that seals secrets, once.
func (s *Stack) dataKeys() error {
	if _, err := os.Stat(keyFile(s.cfg.Data)); err == nil {
		return nil
	}
	var key [32]byte
	_, _ = rand.Read(key[:])
	text, err := json.Marshal(map[string]any{"current": "local-1", "keys": map[string][]byte{"local-1": key[:]}})
	if err != nil {
		return err
	}
	return os.WriteFile(keyFile(s.cfg.Data), text, 0o600)
}

// environmentOf returns what a function gets: of the stack's settings those that its
// program declares to read, and the endpoints of AWS.
func (s State) environmentOf(p catalog.Program) []string {
	reads := map[string]bool{}
	for _, name := range p.Environment() {
		reads[name] = true
	}
	reads[catalog.EnvDataKeysFile] = reads[catalog.EnvDataKeys]
	return slices.DeleteFunc(s.Environment(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return strings.HasPrefix(name, "QUOTARY_") && !reads[name]
	})
}

// Environment returns what every program of the product gets, to run one beside
// the stack.
func (s State) Environment() []string {
	return []string{
		"AWS_REGION=" + region,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_ENDPOINT_URL_DYNAMODB=" + s.DynamoDB,
		"AWS_ENDPOINT_URL_DYNAMODB_STREAMS=" + s.DynamoDB,
		"AWS_ENDPOINT_URL_S3=" + s.S3,
		"QUOTARY_TABLE_PREFIX=" + s.Tables,
		"QUOTARY_VIEWS_BUCKET=" + viewsBucket,
		"QUOTARY_DATA_KEYS_FILE=" + keyFile(s.DataDir),
		"QUOTARY_SPOOL_DIR=" + filepath.Join(s.DataDir, "spool"),
	}
}

// Read reads the state of the stack that runs on a data folder.
func Read(data string) (State, error) {
	path := filepath.Join(data, StateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return State{}, fmt.Errorf("no running stack: start one with make run (%w)", err)
	}
	var state State
	if err := json.Unmarshal(text, &state); err != nil {
		return State{}, fmt.Errorf("read %s: %w", path, err)
	}
	return state, nil
}

// startFunctions opens the host of the functions; a process starts with the
// first invocation that needs it.
func (s *Stack) startFunctions(context.Context) error {
	logs, err := s.logFile("functions")
	if err != nil {
		return err
	}
	functions := make(map[string]lambdahost.Function)
	for _, p := range catalog.Programs() {
		if p.InvokedBy == catalog.Nobody || p.DataKey { // data keys lie in a file here
			continue
		}
		program := s.program(p.Name)
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("the program %s is not built: run make build (%w)", p.Name, err)
		}
		functions[p.Name] = lambdahost.Function{
			Path: program, MaxInstances: s.cfg.MaxEach,
			Env: append(s.State.environmentOf(p), s.cfg.FunctionEnv...),
		}
	}
	host, err := lambdahost.New(lambdahost.Config{Functions: functions, Logs: logs, Log: s.log, Region: region})
	if err != nil {
		return err
	}
	s.onStop(host.Close)
	s.host = host
	listener, err := s.listen(offsetLambda)
	if err != nil {
		return err
	}
	s.State.LambdaURL = "http://" + listener.Addr().String()
	s.serve(listener, host.InvokeAPI())
	return nil
}

// CustomDomain is a host name by which the gateway is reached as behind a deployed
// custom domain: base path /api mapped to the stage. Any other name is the stage's
// own address.
const CustomDomain = "quotary.localhost"

// startGateway opens the API in front of the functions.
func (s *Stack) startGateway(context.Context) error {
	var routes []gateway.Route
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			routes = append(routes, gateway.Route{Method: e.Method, Path: e.Path, Function: e.Function(), Authorize: e.Authorized()})
		}
	}
	var responses []gateway.Response
	for _, r := range catalog.GatewayResponses() {
		responses = append(responses, response(r))
	}
	listener, err := s.listen(offsetAPI)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	api, err := gateway.New(gateway.Config{
		Stage: "api", Domains: []gateway.Domain{{Name: CustomDomain, BasePath: catalog.BasePath}},
		Routes: routes, Sockets: sockets("http://" + address + catalog.BasePath), Authorizer: catalog.FunctionAuthorizer, Functions: s.host,
		Responses: responses, MethodNotAllowed: response(catalog.MethodNotAllowed()),
		MaxBody: 1 << 20, Log: s.log, Region: region,
	})
	if err != nil {
		listener.Close()
		return err
	}
	s.State.BaseURL = "http://" + address + catalog.BasePath
	s.State.WSBaseURL = "ws://" + address + catalog.BasePath
	s.background(func(ctx context.Context) error { return api.Serve(ctx, listener) })
	return nil
}

// sockets are the WebSocket APIs. Each names its feed, and the management API
// that reaches its clients, in its stage variables.
func sockets(management string) []gateway.SocketAPI {
	var apis []gateway.SocketAPI
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			continue
		}
		name := path.Base(e.Path)
		apis = append(apis, gateway.SocketAPI{
			Path: e.Path, Function: e.Function(), Authorize: e.Authorized(), APIID: "local-" + name,
			StageVariables: map[string]string{"feed": name, "management": management},
		})
	}
	return apis
}

// background runs a part until Stop cancels it; it ending by itself ends the
// stack.
func (s *Stack) background(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil {
			s.failure <- err
		}
		ended <- err
	}()
	s.onStop(func(stopping context.Context) error {
		cancel()
		select {
		case err := <-ended:
			if errors.Is(err, context.Canceled) || errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return err
		case <-stopping.Done():
			return stopping.Err()
		}
	})
}

func response(r catalog.GatewayResponse) gateway.Response {
	return gateway.Response{
		Type: r.Type, Status: r.Status, Template: r.Template,
		Headers: map[string]string{"X-Request-Id": "$context.requestId", "Cache-Control": "no-store"},
	}
}

// The services in the order of their ports, from Config.Port on.
const (
	offsetAPI = iota
	offsetLambda
	offsetDynamoDB
	offsetS3
	offsetVenue
	offsetIngester // and after it the others
)

// address returns where the service at an offset listens; with port 0 the
// system picks.
func (s *Stack) address(offset int) string {
	port := 0
	if s.cfg.Port > 0 {
		port = s.cfg.Port + offset
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func (s *Stack) listen(offset int) (net.Listener, error) {
	listener, err := net.Listen("tcp", s.address(offset))
	if err != nil {
		return nil, fmt.Errorf("port %d is taken: set QUOTARY_PORT to the first of %d free ports (%w)", s.cfg.Port+offset, offsetIngester+max(1, s.cfg.Ingesters), err)
	}
	return listener, nil
}

// serve runs an HTTP server until Stop.
func (s *Stack) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failure <- err
		}
	}()
	s.onStop(func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return server.Close()
		}
		return err
	})
}

// writeState publishes stack.json at once: a reader never sees half of it.
func (s *Stack) writeState() error {
	text, err := json.MarshalIndent(s.State, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.cfg.Data, StateFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
