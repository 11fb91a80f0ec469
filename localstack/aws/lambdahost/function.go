package lambdahost

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// function schedules the invocations of one function over its instances.
type function struct {
	host *Host
	name string
	arn  string
	spec Function

	mu        sync.Mutex
	closed    bool
	instances map[string]*instance // every live process, by its token
	starting  int                  // of those, the ones that have not asked for work yet
	returning int                  // and the ones that have answered, and will ask at any moment
	idle      []*instance          // waiting for work; the last was used last
	queue     []*invocation        // waiting for an instance, oldest first
	processes sync.WaitGroup       // one for each instance, until it is reaped
}

// invocation is one event on its way. done has room for its single outcome, so
// that whoever reports it never waits for a caller that has gone.
type invocation struct {
	id      string
	payload []byte
	done    chan outcome
}

type outcome struct {
	answer []byte
	err    error
}

func newFunction(h *Host, name string, spec Function) *function {
	if spec.MaxInstances <= 0 {
		spec.MaxInstances = DefaultMaxInstances
	}
	if spec.MaxQueue == 0 {
		spec.MaxQueue = DefaultQueue * spec.MaxInstances
	}
	if spec.Timeout <= 0 {
		spec.Timeout = DefaultTimeout
	}
	return &function{
		host:      h,
		name:      name,
		arn:       "arn:aws:lambda:" + h.cfg.Region + ":" + h.cfg.AccountID + ":function:" + name,
		spec:      spec,
		instances: make(map[string]*instance),
	}
}

func (f *function) invoke(ctx context.Context, requestID string, payload []byte) ([]byte, error) {
	inv := &invocation{id: requestID, payload: payload, done: make(chan outcome, 1)}
	queued, err := f.submit(inv)
	if err != nil {
		return nil, err
	}
	var patience <-chan time.Time
	if queued {
		timer := time.NewTimer(f.host.cfg.InitTimeout + f.spec.Timeout)
		defer timer.Stop()
		patience = timer.C
	}
	for {
		select {
		case out := <-inv.done:
			return out.answer, out.err
		case <-ctx.Done():
			f.withdraw(inv)
			return nil, ctx.Err()
		case <-patience:
			if f.withdraw(inv) {
				return nil, ErrThrottled
			}
			patience = nil // it has begun; its own deadline bounds it now
		}
	}
}

// submit assigns an invocation to an idle instance, or queues it and sees to it
// that an instance is on its way.
func (f *function) submit(inv *invocation) (queued bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch last := len(f.idle) - 1; {
	case f.closed:
		return false, ErrClosed
	case last >= 0:
		inst := f.idle[last]
		f.idle = f.idle[:last]
		f.assign(inst, inv)
		return false, nil
	case len(f.queue) >= max(f.spec.MaxQueue, 0)+f.returning:
		return false, ErrThrottled
	}
	f.queue = append(f.queue, inv)
	f.grow()
	return true, nil
}

// requeue takes an invocation that could not be sent to its instance back into the
// queue, as its first, and ends the instance.
func (f *function) requeue(inst *instance, inv *invocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	inst.process.kill()
	if inst.current == inv {
		inst.current = nil
		f.queue = slices.Insert(f.queue, 0, inv)
		f.refuseWhenClosed()
		f.grow()
	}
}

// hungUp ends an instance that closed the connection on which it waited for work: it
// would never take its event.
func (f *function) hungUp(inst *instance) {
	f.mu.Lock()
	f.idle = slices.DeleteFunc(f.idle, func(other *instance) bool { return other == inst })
	f.mu.Unlock()
	inst.process.kill()
	select {
	case next := <-inst.events: // assigned at the same moment
		f.requeue(inst, next.invocation)
	default:
	}
}

// withdraw takes an invocation out of the queue; false if it has left it.
func (f *function) withdraw(inv *invocation) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.queue, inv)
	if i < 0 {
		return false
	}
	f.queue = slices.Delete(f.queue, i, i+1)
	return true
}

// assign gives an instance its next invocation. Called with f.mu held, for an
// instance that holds none.
func (f *function) assign(inst *instance, inv *invocation) {
	inst.state, inst.current = busy, inv
	inst.expireIn(f.spec.Timeout)
	inst.events <- event{inv, f.host.cfg.Now().Add(f.spec.Timeout)}
}

// grow starts an instance for each queued invocation that none is about to take:
// between an answer and the next question lie microseconds, a start takes
// milliseconds. Called with f.mu held.
func (f *function) grow() {
	for !f.closed && f.starting+f.returning < len(f.queue) && len(f.instances) < f.spec.MaxInstances {
		inst := newInstance(f)
		f.instances[inst.token] = inst
		f.starting++
		f.processes.Add(1)
		go inst.run()
	}
}

// instance finds a live instance by its token.
func (f *function) instance(token string) *instance {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.instances[token]
}

// ready notes that an instance asks for work: it gets the oldest invocation of the
// queue, else it is idle.
func (f *function) ready(inst *instance) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed || inst.state == gone:
		return ErrClosed
	case inst.state == busy || inst.state == idle:
		return fmt.Errorf("asked for another event while %s", inst.state)
	case inst.state == starting:
		f.starting--
	case inst.state == answered:
		f.returning--
	}
	if len(f.queue) > 0 {
		inv := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		f.assign(inst, inv)
		return nil
	}
	inst.state = idle
	inst.expireIn(f.host.cfg.IdleTimeout)
	f.idle = append(f.idle, inst)
	return nil
}

// finish ends an instance's current invocation and returns it, for the caller to
// report its outcome; nil when the instance does not hold it. The timer stays set:
// the instance has to ask for its next event before it fires.
func (f *function) finish(inst *instance, requestID string) *invocation {
	f.mu.Lock()
	defer f.mu.Unlock()
	inv := inst.current
	if inst.state != busy || inv == nil || inv.id != requestID {
		return nil
	}
	inst.state, inst.current = answered, nil
	f.returning++
	return inv
}

// exited forgets an instance whose process is gone. The invocation that it held fails.
func (f *function) exited(inst *instance, exit error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	inst.timer.Stop()
	delete(f.instances, inst.token)
	if i := slices.Index(f.idle, inst); i >= 0 {
		f.idle = slices.Delete(f.idle, i, i+1)
	}
	victim := inst.current
	switch inst.state {
	case answered:
		f.returning--
	case starting:
		f.starting--
		// It was started for an invocation in the queue, and would fail for the
		// next one in the same way: the oldest learns of it, as on AWS.
		if len(f.queue) > 0 {
			victim = f.queue[0]
			f.queue = slices.Delete(f.queue, 0, 1)
		}
	}
	if victim != nil {
		cause := inst.exitError(victim.id, exit)
		f.host.cfg.Log.Warn("a function process ended at work", "function", f.name, "request", victim.id,
			"type", cause.Type, "reason", cause.Message)
		victim.done <- outcome{err: cause}
	}
	inst.state, inst.current = gone, nil
	f.refuseWhenClosed()
	f.grow()
}

// refuseWhenClosed answers what still waits when nothing will be started for it.
// Called with f.mu held.
func (f *function) refuseWhenClosed() {
	if !f.closed {
		return
	}
	for _, inv := range f.queue {
		inv.done <- outcome{err: ErrClosed}
	}
	f.queue = nil
}

// shutDown refuses what waits, stops the idle, and leaves the busy to finish.
func (f *function) shutDown() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.refuseWhenClosed()
	for _, inst := range f.instances {
		if inst.state != busy {
			inst.process.terminate()
		}
	}
}

// wait returns when every process is reaped; from the end of ctx they are killed.
func (f *function) wait(ctx context.Context) error {
	reaped := make(chan struct{})
	go func() {
		f.processes.Wait()
		close(reaped)
	}()
	select {
	case <-reaped:
		return nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	for _, inst := range f.instances {
		inst.process.kill()
	}
	f.mu.Unlock()
	<-reaped
	return ctx.Err()
}
