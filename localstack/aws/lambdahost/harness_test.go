package lambdahost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"go.uber.org/goleak"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// This binary is its own Lambda function: with the variable set it runs the
// runtime of aws-lambda-go instead of the tests.
const actAsFunction = "LAMBDAHOST_TEST_FUNCTION"

func TestMain(m *testing.M) {
	switch os.Getenv(actAsFunction) {
	case "":
		goleak.VerifyTestMain(m)
	case "owner":
		ownAndWait()
	case "broken":
		fmt.Fprintln(os.Stderr, "this function never starts")
		os.Exit(3)
	case "hung":
		time.Sleep(time.Minute)
	default:
		lambda.Start(handle)
	}
}

// order says what the test function does.
type order struct {
	Do    string        `json:"do"`
	For   time.Duration `json:"for,omitempty"`
	Text  string        `json:"text,omitempty"`
	Bytes int           `json:"bytes,omitempty"`
}

// sight is what the test function saw.
type sight struct {
	PID       int           `json:"pid"`
	RequestID string        `json:"request_id"`
	ARN       string        `json:"arn"`
	TraceID   string        `json:"trace_id"`
	Left      time.Duration `json:"left"`
	Text      string        `json:"text"`
	Env       []string      `json:"env,omitempty"`
	Filler    string        `json:"filler,omitempty"`
}

var handling sync.Mutex

func handle(ctx context.Context, o order) (sight, error) {
	if !handling.TryLock() {
		return sight{}, errors.New("two events at once in one instance")
	}
	defer handling.Unlock()
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	s := sight{PID: os.Getpid(), RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn, TraceID: os.Getenv("_X_AMZN_TRACE_ID"), Left: time.Until(deadline), Text: o.Text}
	switch o.Do {
	case "sleep":
		fmt.Println("asleep")
		time.Sleep(o.For)
	case "wait": // until the file that Text names is there
		for {
			if _, err := os.Stat(o.Text); err == nil {
				return s, nil
			}
			time.Sleep(time.Millisecond)
		}
	case "fail":
		return sight{}, errors.New(o.Text)
	case "panic":
		panic(o.Text)
	case "exit":
		os.Exit(7)
	case "env":
		s.Env = os.Environ()
	case "ask": // for another event
		resp, err := http.Get("http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/next")
		if err != nil {
			return sight{}, err
		}
		resp.Body.Close()
		s.Text = strconv.Itoa(resp.StatusCode)
	case "print":
		fmt.Println(o.Text)
		fmt.Fprint(os.Stderr, "without an end")
	case "large":
		s.Filler = strings.Repeat("x", o.Bytes)
	case "spawn":
		child := exec.Command("sleep", "60")
		if err := child.Start(); err != nil {
			return sight{}, err
		}
		s.Text = strconv.Itoa(child.Process.Pid)
	}
	return s, nil
}

func function(edit ...func(*lambdahost.Function)) lambdahost.Function {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	f := lambdahost.Function{Path: path, Env: []string{actAsFunction + "=handler"}}
	for _, e := range edit {
		e(&f)
	}
	return f
}

// host runs one function named "probe" until the test ends.
func host(t testing.TB, edit ...func(*lambdahost.Config)) *lambdahost.Host {
	t.Helper()
	cfg := lambdahost.Config{Functions: map[string]lambdahost.Function{"probe": function()}}
	for _, e := range edit {
		e(&cfg)
	}
	h := must.Get(lambdahost.New(cfg))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := h.Close(ctx); err != nil && !errors.Is(err, lambdahost.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

func with(f lambdahost.Function) func(*lambdahost.Config) {
	return func(c *lambdahost.Config) { c.Functions = map[string]lambdahost.Function{"probe": f} }
}

func invoke(h *lambdahost.Host, o order) (sight, error) {
	event, err := json.Marshal(o)
	if err != nil {
		return sight{}, err
	}
	answer, err := h.Invoke(context.Background(), "probe", event)
	if err != nil {
		return sight{}, err
	}
	var s sight
	return s, json.Unmarshal(answer, &s)
}

func mustInvoke(t testing.TB, h *lambdahost.Host, o order) sight {
	t.Helper()
	return must.Get(invoke(h, o))(t)
}

// ownAndWait is a second owner in a process of its own: it starts an instance,
// prints its process id, and waits to be killed.
func ownAndWait() {
	h, err := lambdahost.New(lambdahost.Config{Functions: map[string]lambdahost.Function{"probe": function()}})
	if err != nil {
		panic(err)
	}
	s, err := invoke(h, order{})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.PID)
	time.Sleep(time.Minute)
}

// lockedBuffer is a writer that can be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		return 0, fmt.Errorf("not one line: %q", p)
	}
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func waitUntilGone(t *testing.T, pid int) {
	t.Helper()
	testenv.Until(t, fmt.Sprintf("process %d is gone", pid), func() bool { return !alive(pid) })
}

// alive is false for a process that is gone, or dead and not yet reaped by
// whoever inherited it.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
