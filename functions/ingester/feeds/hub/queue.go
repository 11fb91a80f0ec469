package hub

// ring is a first-in-first-out queue that keeps its memory while it is in use.
type ring struct {
	buf  []item // its length is 0 or a power of two
	head int
	n    int
	peak int // the most it held since it was empty
}

// ringKept is the capacity that a ring keeps whatever it holds. Beyond that it
// gives up half each time it turns out to need less than a quarter.
const ringKept = 64

func (r *ring) push(it item) {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = it
	r.n++
	r.peak = max(r.peak, r.n)
}

func (r *ring) front() *item { return &r.buf[r.head] }

func (r *ring) pop() item {
	it := r.buf[r.head]
	r.buf[r.head] = item{}
	r.head = (r.head + 1) & (len(r.buf) - 1)
	if r.n--; r.n == 0 {
		if len(r.buf) > ringKept && r.peak < len(r.buf)/4 {
			r.buf, r.head = make([]item, len(r.buf)/2), 0
		}
		r.peak = 0
	}
	return it
}

// unpop puts back what was popped last.
func (r *ring) unpop(it item) {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.head = (r.head - 1) & (len(r.buf) - 1)
	r.buf[r.head] = it
	r.n++
	r.peak = max(r.peak, r.n)
}

func (r *ring) grow() {
	grown := make([]item, max(4, 2*r.n))
	for i := range r.n {
		grown[i] = r.buf[(r.head+i)&(r.n-1)]
	}
	r.buf, r.head = grown, 0
}

// stateList links the subscriptions of which something waits, oldest first.
type stateList struct {
	head, tail *subscription
	n          int
}

func (l *stateList) push(s *subscription) {
	s.waiting, s.prev, s.next = true, l.tail, nil
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.next = s
	}
	l.tail = s
	l.n++
}

func (l *stateList) remove(s *subscription) {
	if s.prev == nil {
		l.head = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.tail = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.waiting, s.prev, s.next, s.frame = false, nil, nil, nil
	l.n--
}
