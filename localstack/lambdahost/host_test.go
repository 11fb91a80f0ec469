package lambdahost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"quotary/localstack/lambdahost"
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

// order tells the test function what to do.
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
	s := sight{PID: os.Getpid(), RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn, Left: time.Until(deadline), Text: o.Text}
	switch o.Do {
	case "sleep":
		time.Sleep(o.For)
	case "fail":
		return sight{}, errors.New(o.Text)
	case "panic":
		panic(o.Text)
	case "exit":
		os.Exit(7)
	case "env":
		s.Env = os.Environ()
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
	h, err := lambdahost.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
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
	s, err := invoke(h, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFunctionSeesItsEventItsIdentityAndItsDeadline(t *testing.T) {
	t.Parallel()
	h := host(t)
	s := mustInvoke(t, h, order{Text: "π and \x00"})
	if s.Text != "π and \x00" || len(s.RequestID) != 36 {
		t.Errorf("saw %+v", s)
	}
	if want := "arn:aws:lambda:us-east-1:000000000000:function:probe"; s.ARN != want {
		t.Errorf("ARN = %q, want %q", s.ARN, want)
	}
	if s.Left <= 0 || s.Left > lambdahost.DefaultTimeout {
		t.Errorf("%v left until the deadline, want up to %v", s.Left, lambdahost.DefaultTimeout)
	}
}

func TestAWarmInstanceIsUsedAgain(t *testing.T) {
	t.Parallel()
	h := host(t)
	first := mustInvoke(t, h, order{})
	second := mustInvoke(t, h, order{})
	if first.PID != second.PID {
		t.Errorf("the second event went to process %d, want %d", second.PID, first.PID)
	}
	if first.RequestID == second.RequestID {
		t.Error("two invocations have one request id")
	}
}

func TestAnInstanceNeverHoldsTwoEventsAndTheMaximumHolds(t *testing.T) {
	t.Parallel()
	const most = 3
	h := host(t, with(function(func(f *lambdahost.Function) { f.MaxInstances = most })))
	var mu sync.Mutex
	processes := map[int]int{}
	var callers sync.WaitGroup
	for range 32 {
		callers.Go(func() {
			for range 4 {
				s, err := invoke(h, order{Do: "sleep", For: time.Millisecond})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				processes[s.PID]++
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	if len(processes) > most {
		t.Errorf("%d processes served, want at most %d", len(processes), most)
	}
}

func TestWhatDoesNotFitTheQueueIsThrottled(t *testing.T) {
	t.Parallel()
	h := host(t, with(function(func(f *lambdahost.Function) { f.MaxInstances, f.MaxQueue = 1, 1 })))
	mustInvoke(t, h, order{})
	outcomes := make(chan error)
	for range 3 {
		go func() {
			_, err := invoke(h, order{Do: "sleep", For: 500 * time.Millisecond})
			outcomes <- err
		}()
	}
	// One runs and one waits: the third is refused at once, before either ends.
	if err := <-outcomes; !errors.Is(err, lambdahost.ErrThrottled) {
		t.Errorf("first outcome = %v, want %v", err, lambdahost.ErrThrottled)
	}
	for range 2 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
}

func TestAHandlerErrorArrivesAsLambdaWritesIt(t *testing.T) {
	t.Parallel()
	h := host(t)
	first := mustInvoke(t, h, order{})
	_, err := invoke(h, order{Do: "fail", Text: "no\nluck"})
	var failed *lambdahost.FunctionError
	if !errors.As(err, &failed) || failed.Message != "no\nluck" || failed.Type != "errorString" {
		t.Fatalf("error = %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the function's text is not escaped: %q", err)
	}
	if again := mustInvoke(t, h, order{}); again.PID != first.PID {
		t.Error("an error the handler returned must not cost the instance")
	}
}

func TestAProcessThatEndsFailsItsInvocationAndIsReplaced(t *testing.T) {
	t.Parallel()
	for do, wantType := range map[string]string{"exit": "Runtime.ExitError", "panic": "string"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			h := host(t)
			first := mustInvoke(t, h, order{})
			_, err := invoke(h, order{Do: do, Text: "boom"})
			var failed *lambdahost.FunctionError
			if !errors.As(err, &failed) || failed.Type != wantType {
				t.Fatalf("error = %v, want type %s", err, wantType)
			}
			var document map[string]any
			if json.Unmarshal(failed.Payload, &document) != nil || document["errorType"] != wantType || document["errorMessage"] == "" {
				t.Errorf("payload = %s", failed.Payload)
			}
			if next := mustInvoke(t, h, order{}); next.PID == first.PID {
				t.Error("the process that ended answered again")
			}
		})
	}
}

func TestAnInvocationPastItsDeadlineIsEnded(t *testing.T) {
	t.Parallel()
	h := host(t, with(function(func(f *lambdahost.Function) { f.Timeout = 2 * time.Second })))
	first := mustInvoke(t, h, order{})
	_, err := invoke(h, order{Do: "sleep", For: time.Minute})
	var failed *lambdahost.FunctionError
	if !errors.Is(err, lambdahost.ErrTimeout) || !errors.As(err, &failed) || failed.Type != "Sandbox.Timedout" {
		t.Fatalf("error = %v, want a timeout", err)
	}
	if !strings.HasSuffix(failed.Message, "Task timed out after 2.00 seconds") {
		t.Errorf("message = %q", failed.Message)
	}
	if next := mustInvoke(t, h, order{}); next.PID == first.PID {
		t.Error("the process that overran answered again")
	}
}

func TestAProcessThatDoesNotStartFailsItsInvocation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		function lambdahost.Function
		kind     string
	}{
		"no such file":    {lambdahost.Function{Path: "/does/not/exist"}, "Runtime.ExitError"},
		"ends at once":    {function(func(f *lambdahost.Function) { f.Env = []string{actAsFunction + "=broken"} }), "Runtime.ExitError"},
		"never asks work": {function(func(f *lambdahost.Function) { f.Env = []string{actAsFunction + "=hung"} }), "Sandbox.Timedout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, with(tt.function), func(c *lambdahost.Config) { c.InitTimeout = 500 * time.Millisecond })
			_, err := invoke(h, order{})
			var failed *lambdahost.FunctionError
			if !errors.As(err, &failed) || failed.Type != tt.kind {
				t.Errorf("error = %v, want type %s", err, tt.kind)
			}
		})
	}
}

func TestACallerThatLeavesDoesNotEndTheFunction(t *testing.T) {
	t.Parallel()
	h := host(t, with(function(func(f *lambdahost.Function) { f.MaxInstances = 1 })))
	first := mustInvoke(t, h, order{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := h.Invoke(ctx, "probe", []byte(`{"do":"sleep","for":300000000}`))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error = %v, want %v", err, context.DeadlineExceeded)
	}
	if next := mustInvoke(t, h, order{}); next.PID != first.PID {
		t.Error("the abandoned invocation cost the instance")
	}
}

func TestAnIdleInstanceIsStopped(t *testing.T) {
	t.Parallel()
	h := host(t, func(c *lambdahost.Config) { c.IdleTimeout = 50 * time.Millisecond })
	s := mustInvoke(t, h, order{})
	waitUntilGone(t, s.PID)
	if next := mustInvoke(t, h, order{}); next.PID == s.PID {
		t.Error("a stopped instance answered")
	}
}

func TestPayloadsHaveLambdasLimits(t *testing.T) {
	t.Parallel()
	h := host(t)
	if _, err := h.Invoke(context.Background(), "probe", make([]byte, lambdahost.MaxPayload+1)); !errors.Is(err, lambdahost.ErrPayloadTooLarge) {
		t.Errorf("event: error = %v, want %v", err, lambdahost.ErrPayloadTooLarge)
	}
	if s := mustInvoke(t, h, order{Do: "large", Bytes: 5 << 20}); len(s.Filler) != 5<<20 {
		t.Errorf("an answer of 5 MiB arrived with %d bytes", len(s.Filler))
	}
	_, err := invoke(h, order{Do: "large", Bytes: lambdahost.MaxPayload})
	var failed *lambdahost.FunctionError
	if !errors.As(err, &failed) || failed.Type != "Function.ResponseSizeTooLarge" {
		t.Errorf("answer: error = %v", err)
	}
}

func TestAnUnknownFunctionIsSaidToBeUnknown(t *testing.T) {
	t.Parallel()
	if _, err := host(t).Invoke(context.Background(), "nobody", nil); !errors.Is(err, lambdahost.ErrUnknownFunction) {
		t.Errorf("error = %v", err)
	}
	_, err := lambdahost.New(lambdahost.Config{Functions: map[string]lambdahost.Function{"a/b": {}}})
	if err == nil {
		t.Error("a name with a slash was taken")
	}
}

func TestTheOwnersEnvironmentStaysWithTheOwner(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the developer")
	h := host(t, with(function(func(f *lambdahost.Function) { f.Env = append(f.Env, "COLOR=blue") })))
	env := strings.Join(mustInvoke(t, h, order{Do: "env"}).Env, "\n")
	if strings.Contains(env, "of the developer") {
		t.Error("the function sees the owner's secret")
	}
	for _, want := range []string{"COLOR=blue", "AWS_LAMBDA_FUNCTION_NAME=probe", "AWS_REGION=us-east-1", "TZ=:UTC"} {
		if !strings.Contains(env, want) {
			t.Errorf("the function does not see %s", want)
		}
	}
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

func TestWhatFunctionsWriteArrivesLineByLine(t *testing.T) {
	t.Parallel()
	logs := new(lockedBuffer)
	h := host(t, func(c *lambdahost.Config) { c.Logs = logs })
	mustInvoke(t, h, order{Do: "print", Text: "one\ntwo"})
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one\n", "two\n", "without an end\n"} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("the log lacks %q: %q", want, logs)
		}
	}
}

func TestCloseLetsWorkFinishAndLeavesNoProcess(t *testing.T) {
	t.Parallel()
	h := host(t)
	grandchild, err := strconv.Atoi(mustInvoke(t, h, order{Do: "spawn"}).Text)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		sight
		err error
	}
	results := make(chan result)
	for range 2 {
		go func() {
			s, err := invoke(h, order{Do: "sleep", For: 300 * time.Millisecond})
			results <- result{s, err}
		}()
	}
	time.Sleep(100 * time.Millisecond) // so that at least one is under way
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		switch r := <-results; {
		case errors.Is(r.err, lambdahost.ErrClosed):
		case r.err != nil:
			t.Errorf("an invocation under way was cut short: %v", r.err)
		default:
			waitUntilGone(t, r.PID)
		}
	}
	waitUntilGone(t, grandchild)
	if _, err := invoke(h, order{}); !errors.Is(err, lambdahost.ErrClosed) {
		t.Errorf("after close: error = %v, want %v", err, lambdahost.ErrClosed)
	}
}

func TestCloseEndsWorkThatOutlastsItsPatience(t *testing.T) {
	t.Parallel()
	h := host(t)
	s := mustInvoke(t, h, order{})
	ended := make(chan error)
	go func() {
		_, err := invoke(h, order{Do: "sleep", For: time.Minute})
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := h.Close(ctx)
	if failed := new(lambdahost.FunctionError); !errors.As(<-ended, &failed) {
		t.Error("the invocation did not fail")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close = %v, want %v", err, context.DeadlineExceeded)
	}
	waitUntilGone(t, s.PID)
}

// ownAndWait is a second owner in a process of its own: it starts an instance,
// tells its process id, and waits to be killed.
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

func TestFunctionsDieWithAnOwnerThatIsKilled(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(path)
	owner.Env = append(os.Environ(), actAsFunction+"=owner")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	_, err = fmt.Fscan(out, &pid)
	_ = owner.Process.Kill()
	_, _ = io.Copy(io.Discard, out)
	_ = owner.Wait()
	if err != nil {
		t.Fatal(err)
	}
	waitUntilGone(t, pid)
}

func waitUntilGone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
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
