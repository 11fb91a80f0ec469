package lru

import "testing"

func TestTheLeastRecentlyUsedValueGoesFirst(t *testing.T) {
	t.Parallel()
	c := Cache[string, int]{Size: 2}
	c.Set("a", 1)
	c.Set("b", 2)
	c.Get("a")
	c.Set("c", 3)
	c.Set("a", 4)
	for key, want := range map[string]int{"a": 4, "b": 0, "c": 3} {
		if got, ok := c.Get(key); got != want || ok != (want != 0) {
			t.Errorf("%s: got %d, %t, want %d", key, got, ok, want)
		}
	}
	c.Delete("a")
	c.Delete("a")
	if _, ok := c.Get("a"); ok || len(c.entries) != 1 || c.order.Len() != 1 {
		t.Errorf("%d entries and %d in order after a was deleted, want 1 and 1", len(c.entries), c.order.Len())
	}
}
