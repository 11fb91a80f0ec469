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
// that whoever settles it never waits for a caller that has gone.
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

// submit hands an invocation to an idle instance, or queues it and sees to it
// that an instance is on its way.
func (f *function) submit(inv *invocation) (queued bool, err error) {
	over, queued, err := f.place(inv)
	if over != nil && !over.send() {
		f.giveBack(over)
	}
	return queued, err
}

// place finds an invocation its instance, or its place in the queue.
func (f *function) place(inv *invocation) (over *handover, queued bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch last := len(f.idle) - 1; {
	case f.closed:
		return nil, false, ErrClosed
	case last >= 0:
		inst := f.idle[last]
		f.idle = f.idle[:last]
		return f.hand(inst, inv), false, nil
	case len(f.queue) >= max(f.spec.MaxQueue, 0)+f.returning:
		return nil, false, ErrThrottled
	}
	f.queue = append(f.queue, inv)
	f.grow()
	return nil, true, nil
}

// giveBack puts an invocation that its instance could not be sent back into the
// queue. The instance is as good as gone.
func (f *function) giveBack(over *handover) {
	f.mu.Lock()
	defer f.mu.Unlock()
	over.inst.process.kill()
	if over.inst.current == over.invocation {
		over.inst.current = nil
		f.queue = slices.Insert(f.queue, 0, over.invocation)
		f.refuseWhenClosed()
		f.grow()
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

// hand gives an instance its next invocation, which is then to be sent. Called
// with f.mu held, for an instance that holds none.
func (f *function) hand(inst *instance, inv *invocation) *handover {
	over := &handover{inst: inst, to: inst.waits, invocation: inv, deadline: f.host.cfg.Now().Add(f.spec.Timeout)}
	inst.state, inst.waits, inst.current = busy, nil, inv
	inst.alarm(f.spec.Timeout)
	return over
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

// ready takes an instance that asks for work on a connection: it is handed the
// oldest invocation of the queue, else it is idle.
func (f *function) ready(inst *instance, c *conn) (*handover, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed || inst.state == gone:
		return nil, ErrClosed
	case inst.state == busy || inst.state == idle:
		return nil, fmt.Errorf("asked for another event while %s", inst.state)
	case inst.state == starting:
		f.starting--
	case inst.state == answered:
		f.returning--
	}
	inst.waits = c
	if len(f.queue) > 0 {
		inv := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		return f.hand(inst, inv), nil
	}
	inst.state = idle
	inst.alarm(f.host.cfg.IdleTimeout)
	f.idle = append(f.idle, inst)
	return nil, nil
}

// take ends an instance's current invocation, for whoever settles it. The alarm
// stays set: the instance has to ask for its next event before it rings.
func (f *function) take(inst *instance, requestID string) *invocation {
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

// exited forgets an instance whose process is gone and settles what it leaves.
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
		cause := inst.obituary(victim.id, exit)
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
