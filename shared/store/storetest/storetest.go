// Package storetest gives tests a real DynamoDB engine and a real S3 protocol.
//
// The engine is dynoxide, one process for a test binary, in memory, started by
// the first test that asks and ended with the test process, however that ends.
// QUOTARY_DYNAMODB_ENDPOINT puts any other DynamoDB in its place, for example
// Amazon's DynamoDB Local. QUOTARY_DYNOXIDE names another dynoxide binary.
package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"quotary/shared/aws/awsclient"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

// DynamoDB returns a client of the engine.
func DynamoDB(t testing.TB) *dynamodb.Client {
	t.Helper()
	return Client(t, Endpoint(t))
}

// Client returns a client of the DynamoDB at an endpoint, with made-up
// credentials. Its idle connections are closed when the test ends.
func Client(t testing.TB, endpoint string) *dynamodb.Client {
	return awsclient.DynamoDB(aws.Config{
		BaseEndpoint: &endpoint,
		Region:       "eu-west-1",
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:   httpClient(t),
	})
}

// Tables creates every table of schema.Tables under a prefix that no other test
// has, and returns the prefix. The tables are deleted when the test ends.
func Tables(t testing.TB, db *dynamodb.Client) (prefix string) {
	t.Helper()
	prefix = "t" + rand.Text()[:12] + "-"
	specs := schema.Tables(prefix)
	must.Do(t, schema.Create(t.Context(), db, specs))
	t.Cleanup(func() {
		for _, spec := range specs {
			_, err := db.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &spec.Name})
			if err != nil {
				t.Errorf("delete table %s: %v", spec.Name, err)
			}
		}
	})
	return prefix
}

// S3 returns a client of an empty in-memory S3 of the test's own, and a bucket
// in it.
func S3(t testing.TB) (client *s3.Client, bucket string) {
	t.Helper()
	client = S3Client(t, S3Handler())
	bucket = "views"
	must.Do(t, schema.CreateBucket(t.Context(), client, bucket))
	return client, bucket
}

// S3Handler returns an empty in-memory S3, for tests that put something between
// it and the client.
func S3Handler() http.Handler { return gofakes3.New(s3mem.New()).Server() }

// S3Client serves the handler on the loopback until the test ends and returns a
// client of it that tries every request once.
func S3Client(t testing.TB, handler http.Handler) *s3.Client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return s3.New(s3.Options{
		BaseEndpoint:     &server.URL,
		Region:           "eu-west-1",
		Credentials:      credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:       httpClient(t),
		UsePathStyle:     true,
		RetryMaxAttempts: 1,
	})
}

func httpClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Endpoint returns the URL of the engine, for programs that a test starts.
func Endpoint(t testing.TB) string {
	t.Helper()
	if endpoint := os.Getenv("QUOTARY_DYNAMODB_ENDPOINT"); endpoint != "" {
		return endpoint
	}
	e := must.Get(shared())(t)
	return e.endpoint
}

// shared starts the engine once for the process. It runs until the process
// ends, because no single test knows that it is the last.
var shared = sync.OnceValues(func() (*engine, error) { return start() })

// engine is a running dynoxide. It ends when life is closed, so whoever needs it
// must hold it: the garbage collector closes what nobody holds.
type engine struct {
	endpoint string
	life     io.Closer
	cmd      *exec.Cmd
}

// OnDisk starts an engine of the test's own that keeps its tables in a file, as
// the local stack does, and returns its URL. It ends with the test.
func OnDisk(t testing.TB) string {
	t.Helper()
	e := must.Get(start("--db-path", filepath.Join(t.TempDir(), "engine.db")))(t)
	t.Cleanup(e.stop)
	return e.endpoint
}

// Binary finds the dynoxide program: QUOTARY_DYNOXIDE, else what npm installed
// in the repository's localstack folder.
func Binary() (string, error) {
	if path := os.Getenv("QUOTARY_DYNOXIDE"); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory: set QUOTARY_DYNOXIDE to the dynoxide program")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "localstack", "node_modules", "@dynoxide", platform(), "dynoxide")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if !exists(path) {
		return "", fmt.Errorf("no DynamoDB engine at %s: run make tools, or set QUOTARY_DYNAMODB_ENDPOINT to a running DynamoDB", path)
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// platform is this machine in npm's words.
func platform() string {
	return strings.NewReplacer("windows", "win32").Replace(runtime.GOOS) + "-" +
		strings.NewReplacer("amd64", "x64").Replace(runtime.GOARCH)
}

// start runs the engine on a free port of the loopback.
func start(args ...string) (*engine, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	for range 3 { // another program may take the free port first
		var e *engine
		if e, err = startAt(binary, args); err == nil {
			return e, nil
		}
	}
	return nil, err
}

// guard is a shell that stands between this process and the engine: it ends the
// engine when its standard input closes, which happens when stop is called or
// when this process ends in whatever way.
const guard = `trap '' INT; "$@" & cat >/dev/null; kill $!; wait $!`

func startAt(binary string, args []string) (*engine, error) {
	host, port, err := freeAddress()
	if err != nil {
		return nil, err
	}
	output, err := os.CreateTemp("", "dynoxide-*.log")
	if err != nil {
		return nil, err
	}
	defer os.Remove(output.Name())
	defer output.Close()

	args = append([]string{"-c", guard, "sh", binary, "serve", "--host", host, "--port", port}, args...)
	e := &engine{endpoint: "http://" + net.JoinHostPort(host, port), cmd: exec.Command("/bin/sh", args...)}
	e.cmd.Stdout, e.cmd.Stderr = output, output
	if e.life, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start dynoxide: %w", err)
	}
	if err := await(output.Name()); err != nil {
		e.stop()
		said, _ := os.ReadFile(output.Name())
		return nil, fmt.Errorf("start dynoxide: %w; it said: %s", err, said)
	}
	return e, nil
}

func (e *engine) stop() {
	e.life.Close()
	_ = e.cmd.Wait() // how it ended is of no interest
}

func freeAddress() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	return net.SplitHostPort(l.Addr().String())
}

// await returns when the engine says in its output that it listens. That its
// address answers is not enough: a program that took the port first may do so.
func await(output string) error {
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		said, err := os.ReadFile(output)
		switch {
		case err != nil:
			return err
		case bytes.Contains(said, []byte("listening on")):
			return nil
		case bytes.Contains(said, []byte("error")):
			return errors.New("it could not begin")
		case time.Now().After(deadline):
			return errors.New("it does not listen after 15 s")
		}
	}
}
