package lambdahost

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// state is where an instance is in its life.
type state string

const (
	starting state = "starting" // the process runs, or is about to; it has not asked for work
	idle     state = "idle"     // it waits for an event
	busy     state = "busy"     // it holds an event
	answered state = "answered" // it has answered, and has not asked for the next event
	gone     state = "gone"     // the process has ended
)

// event is an invocation on its way to the process.
type event struct {
	*invocation
	deadline time.Time
}

// instance is one process of a function. All but fn, token and process is guarded
// by fn.mu.
type instance struct {
	fn      *function
	token   string // its part of the Runtime API address; unguessable
	process *process

	state      state
	events     chan event  // takes the process its next event; holds one at most
	current    *invocation // while busy
	timer      *time.Timer
	expires    time.Time // when the timer fires, to recognise a firing that came late
	timedOut   bool
	initReport []byte // what the process said of its own failed start
}

func newInstance(f *function) *instance {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	inst := &instance{
		fn:      f,
		token:   hex.EncodeToString(token[:]),
		state:   starting,
		events:  make(chan event, 1),
		expires: time.Now().Add(f.host.cfg.InitTimeout),
	}
	cmd := exec.Command(f.spec.Path, f.spec.Args...)
	cmd.Dir = f.spec.Dir
	cmd.Env = inst.environment()
	inst.process = newProcess(cmd, f.host.logs)
	inst.timer = time.AfterFunc(f.host.cfg.InitTimeout, inst.expire)
	return inst
}

// run starts the process and stays until it is reaped.
func (inst *instance) run() {
	defer inst.fn.processes.Done()
	err := inst.process.run(inst.fn.host.spawner)
	inst.fn.exited(inst, err)
}

// expireIn sets the instance's one timer again. Called with fn.mu held.
func (inst *instance) expireIn(d time.Duration) {
	inst.expires = time.Now().Add(d)
	inst.timer.Reset(d)
}

// expire runs when the timer fires: an idle instance has been idle long enough,
// any other has taken too long over what it does.
func (inst *instance) expire() {
	f := inst.fn
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().Before(inst.expires) {
		return // set again while this call was on its way
	}
	if inst.state != idle {
		inst.timedOut = true
		inst.process.kill()
		return
	}
	if i := slices.Index(f.idle, inst); i >= 0 {
		f.idle = slices.Delete(f.idle, i, i+1)
	}
	inst.process.terminate()
}

// exitError words the end of a process as Lambda would to the caller whose
// invocation ended with it. Called with fn.mu held.
func (inst *instance) exitError(requestID string, exit error) *FunctionError {
	switch {
	case inst.timedOut && inst.state == starting:
		return failure(requestID, "Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Init timed out after %.2f seconds",
			requestID, inst.fn.host.cfg.InitTimeout.Seconds()), ErrTimeout)
	case inst.timedOut:
		return failure(requestID, "Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds",
			requestID, inst.fn.spec.Timeout.Seconds()), ErrTimeout)
	case inst.initReport != nil:
		return reported(requestID, inst.initReport)
	case exit != nil:
		return failure(requestID, "Runtime.ExitError", fmt.Sprintf("RequestId: %s Error: Runtime exited with error: %v",
			requestID, exit), nil)
	}
	return failure(requestID, "Runtime.ExitError", fmt.Sprintf("RequestId: %s Error: Runtime exited without providing a reason",
		requestID), nil)
}

// environment is what the process sees: Lambda's own variables, the few that any
// program needs, and the function's. Later entries win.
func (inst *instance) environment() []string {
	f := inst.fn
	cfg := f.host.cfg
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	env = append(env,
		// A function of this size has less than one processor on AWS; and on two
		// cores the idle spinning of many Go runtimes costs a quarter of them.
		"GOMAXPROCS=1",
		"TZ=:UTC",
		"AWS_REGION="+cfg.Region,
		"AWS_DEFAULT_REGION="+cfg.Region,
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_LAMBDA_FUNCTION_NAME="+f.name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/"+f.name,
		"AWS_LAMBDA_LOG_STREAM_NAME="+cfg.Now().UTC().Format("2006/01/02")+"/[$LATEST]"+inst.token,
	)
	env = append(env, f.spec.Env...)
	return append(env, "AWS_LAMBDA_RUNTIME_API="+f.host.address+"/"+f.name+"/"+inst.token)
}
