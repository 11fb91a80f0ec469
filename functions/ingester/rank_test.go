package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheRankIsThatOfWhatAProcessHas(t *testing.T) {
	t.Parallel()
	rank := func(r *ranking) int64 {
		r.look()
		return r.known.Load()
	}
	if rank := rank(new(ranking)); rank != noNode {
		t.Errorf("without a node it is %d", rank)
	}
	dir := t.TempDir()
	r := &ranking{settings: settings{nodeDir: dir, behind: time.Hour}}
	file := filepath.Join(dir, "node_fills_by_block", "hourly", "20260202", "10")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		age  time.Duration // of the node's newest fill, 0 for no file
		want int64
	}{
		{0, nodeLags}, {50 * time.Minute, nodeLags}, {10 * time.Minute, nodeTells}, {50 * time.Minute, nodeTells},
		{70 * time.Minute, nodeLags}, {50 * time.Minute, nodeLags}, {time.Second, nodeTells},
	} {
		if c.age > 0 {
			if err := os.WriteFile(file, []byte(block(1, time.Now().Add(-c.age).UnixMilli())), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if rank := rank(r); rank != c.want {
			t.Errorf("step %d: the rank is %d at an age of %s", i, rank, c.age)
		}
	}
}
