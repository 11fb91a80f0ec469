package source

import (
	"cmp"
	"iter"
	"maps"
)

// Turns divides what is scarce among lines, by what each of them has had: a line is served
// whose next turn comes first, and the turn behind that is the later the more it has cost. A
// line that was empty has its turn at once, and none is owed to it for the time before. The
// zero value is ready to use.
type Turns[L comparable, T any] struct {
	at   map[L]int64 // next turns
	last int64       // of the line that was served last
}

// Serve serves those who wait in lines, each line in its order, and takes them out. Of lines
// that have their turn at once the least by compare goes first. What serve returns is what one
// has cost, 0 where it has been served in another line already; ok is false where nothing is
// left to be divided: then that one keeps its place.
func (t *Turns[L, T]) Serve(lines map[L][]T, compare func(a, b L) int, serve func(T, L) (cost int, ok bool)) {
	for {
		line, some := t.first(maps.Keys(lines), compare)
		if !some {
			return
		}
		cost, ok := serve(lines[line][0], line)
		if !ok {
			return
		}
		if lines[line] = lines[line][1:]; len(lines[line]) == 0 {
			delete(lines, line)
		}
		if cost > 0 {
			t.served(line, cost)
		}
	}
}

// ServeOne serves the one whose turn it is, of those who wait first in their lines, and reports
// whether there is any.
func (t *Turns[L, T]) ServeOne(lines map[L]T, compare func(a, b L) int, serve func(T) (cost int)) (some bool) {
	line, some := t.first(maps.Keys(lines), compare)
	if some {
		t.served(line, serve(lines[line]))
	}
	return some
}

// first is the line whose turn it is.
func (t *Turns[L, T]) first(lines iter.Seq[L], compare func(a, b L) int) (first L, some bool) {
	for line := range lines {
		if !some || cmp.Or(cmp.Compare(t.turn(line), t.turn(first)), compare(line, first)) < 0 {
			first, some = line, true
		}
	}
	return first, some
}

func (t *Turns[L, T]) turn(line L) int64 { return max(t.at[line], t.last) }

func (t *Turns[L, T]) served(line L, cost int) {
	if t.at == nil {
		t.at = map[L]int64{}
	}
	t.last = t.turn(line)
	t.at[line] = t.last + int64(cost)
	for other, at := range t.at {
		if at <= t.last { // as good as none
			delete(t.at, other)
		}
	}
}
