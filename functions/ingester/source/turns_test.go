package source

import (
	"fmt"
	"strings"
	"testing"
)

// serveAll serves n times one of those who wait, and returns the line of each. Each line has
// as many as are served, each of its cost.
func serveAll(turns *Turns[string, int], n int, costs map[string]int) string {
	lines := map[string][]int{}
	for line := range costs {
		lines[line] = make([]int, n)
	}
	var order []string
	turns.Serve(lines, strings.Compare, func(_ int, line string) (cost int, ok bool) {
		if len(order) == n {
			return 0, false
		}
		order = append(order, line)
		return costs[line], true
	})
	return strings.Join(order, "")
}

func TestTurnsAreByWhatTheyCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		costs map[string]int
		want  string
	}{
		{map[string]int{"a": 1}, "aaaa"},
		{map[string]int{"a": 1, "b": 1, "c": 1}, "abcabc"},
		{map[string]int{"a": 2, "b": 20}, "abaaaaaaaaaab"},
	} {
		if got := serveAll(new(Turns[string, int]), len(c.want), c.costs); got != c.want {
			t.Errorf("of costs %v are served %s, want %s", c.costs, got, c.want)
		}
	}
}

func TestWhoWasAwayIsOwedNothing(t *testing.T) {
	t.Parallel()
	var turns Turns[string, int]
	serveAll(&turns, 100, map[string]int{"a": 1})
	if got, want := serveAll(&turns, 6, map[string]int{"a": 1, "b": 1}), "bababa"; got != want {
		t.Errorf("served are %s, want %s", got, want)
	}
	for i := range 1000 {
		serveAll(&turns, 1, map[string]int{fmt.Sprint("once ", i): 1})
	}
	serveAll(&turns, 3, map[string]int{"a": 1})
	if len(turns.at) > 3 {
		t.Errorf("turns of %d lines are kept", len(turns.at))
	}
}

func TestWhoIsInTwoLinesIsServedOnce(t *testing.T) {
	t.Parallel()
	served := map[int]bool{}
	var order []string
	left := map[string][]int{"a": {1, 2, 3}, "b": {1, 4}}
	new(Turns[string, int]).Serve(left, strings.Compare, func(one int, line string) (cost int, ok bool) {
		if served[one] {
			return 0, true
		}
		if one == 3 {
			return 0, false
		}
		served[one] = true
		order = append(order, fmt.Sprint(line, one))
		return 1, true
	})
	if got, want := strings.Join(order, " "), "a1 b4 a2"; got != want || fmt.Sprint(left) != "map[a:[3]]" {
		t.Errorf("served are %s, want %s; %v are left", got, want, left)
	}
}
