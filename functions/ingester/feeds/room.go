package feeds

import (
	"container/list"
	"iter"
)

// room bounds what some things take in memory together. Who adds to it drops what
// [room.excess] names. The zero value has none.
type room[T any] struct {
	most  int // bytes
	taken int
	order list.List // of *place[T]: the one used last in front
}

// place is what a thing takes of a room. The zero value is outside.
type place[T any] struct {
	of    T
	bytes int
	at    *list.Element
}

// use notes that a thing was used, and brings it in where it is not.
func (r *room[T]) use(p *place[T], of T, bytes int) {
	if p.at == nil {
		p.of, p.at = of, r.order.PushFront(p)
	} else {
		r.order.MoveToFront(p.at)
	}
	r.resize(p, bytes)
}

// resize notes what a thing takes now, where it is in.
func (r *room[T]) resize(p *place[T], bytes int) {
	if p.at != nil {
		r.taken += bytes - p.bytes
		p.bytes = bytes
	}
}

// leave takes a thing out, where it is in.
func (r *room[T]) leave(p *place[T]) {
	if p.at != nil {
		r.order.Remove(p.at)
		r.taken -= p.bytes
		*p = place[T]{}
	}
}

// excess are those that were used longest ago, for as long as all of them take too much. The one
// at hand may leave meanwhile.
func (r *room[T]) excess() iter.Seq[T] {
	return func(yield func(T) bool) {
		for at := r.order.Back(); at != nil && r.taken > r.most; {
			p := at.Value.(*place[T])
			if at = at.Prev(); !yield(p.of) {
				return
			}
		}
	}
}
