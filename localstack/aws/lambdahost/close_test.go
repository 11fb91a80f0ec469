package lambdahost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestCloseLetsWorkFinishAndLeavesNoProcess(t *testing.T) {
	t.Parallel()
	logs := new(lockedBuffer)
	h := host(t, func(c *lambdahost.Config) { c.Logs = logs })
	grandchild := must.Get(strconv.Atoi(mustInvoke(t, h, order{Do: "spawn"}).Text))(t)
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
	testenv.Until(t, "one is under way", func() bool { return strings.Contains(logs.String(), "asleep\n") })
	must.Do(t, h.Close(context.Background()))
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
	logs := new(lockedBuffer)
	h := host(t, func(c *lambdahost.Config) { c.Logs = logs })
	s := mustInvoke(t, h, order{})
	ended := make(chan error)
	go func() {
		_, err := invoke(h, order{Do: "sleep", For: time.Minute})
		ended <- err
	}()
	testenv.Until(t, "it is under way", func() bool { return strings.Contains(logs.String(), "asleep\n") })
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
	must.Do(t, owner.Start())
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
