package keys

import "testing"

func TestTheLeastRecentlyUsedValueGoesFirst(t *testing.T) {
	t.Parallel()
	l := newLRU[string, int](2)
	l.set("a", 1)
	l.set("b", 2)
	l.get("a")
	l.set("c", 3)
	l.set("a", 4)
	for key, want := range map[string]int{"a": 4, "b": 0, "c": 3} {
		if got, ok := l.get(key); got != want || ok != (want != 0) {
			t.Errorf("%s: got %d, %t, want %d", key, got, ok, want)
		}
	}
	l.drop("a")
	l.drop("a")
	if _, ok := l.get("a"); ok || len(l.entries) != 1 || l.order.Len() != 1 {
		t.Errorf("%d entries and %d in order after a was dropped, want 1 and 1", len(l.entries), l.order.Len())
	}
}
