package lambdahost_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
)

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
	if !regexp.MustCompile(`^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$`).MatchString(s.TraceID) {
		t.Errorf("trace id = %q", s.TraceID)
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
	release := filepath.Join(t.TempDir(), "release")
	for range 3 {
		go func() {
			_, err := invoke(h, order{Do: "wait", Text: release})
			outcomes <- err
		}()
	}
	// One runs and one is queued, neither can end: the third is refused.
	if err := <-outcomes; !errors.Is(err, lambdahost.ErrThrottled) {
		t.Errorf("first outcome = %v, want %v", err, lambdahost.ErrThrottled)
	}
	must.Do(t, os.WriteFile(release, nil, 0o600))
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
		patience time.Duration
		kind     string
	}{
		"no such file":    {lambdahost.Function{Path: "/does/not/exist"}, time.Minute, "Runtime.ExitError"},
		"ends at once":    {function(func(f *lambdahost.Function) { f.Env = []string{actAsFunction + "=broken"} }), time.Minute, "Runtime.ExitError"},
		"never asks work": {function(func(f *lambdahost.Function) { f.Env = []string{actAsFunction + "=hung"} }), 100 * time.Millisecond, "Sandbox.Timedout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host(t, with(tt.function), func(c *lambdahost.Config) { c.InitTimeout = tt.patience })
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

func TestWhatFunctionsWriteArrivesLineByLine(t *testing.T) {
	t.Parallel()
	logs := new(lockedBuffer)
	h := host(t, func(c *lambdahost.Config) { c.Logs = logs })
	mustInvoke(t, h, order{Do: "print", Text: "one\ntwo"})
	must.Do(t, h.Close(context.Background()))
	text := logs.String()
	for _, want := range []string{"one\n", "two\n", "without an end"} { // its runtime may say more on the last line
		if !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("the log lacks %q: %q", want, text)
		}
	}
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("the last line has no end: %q", text)
	}
}
