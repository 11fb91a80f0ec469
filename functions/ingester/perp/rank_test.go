package perp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quotary/shared/testing/must"
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
	r := &ranking{dir: dir, behind: time.Hour}
	file := filepath.Join(dir, "node_fills_by_block", "hourly", "20260202", "10")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	for i, c := range []struct {
		age  time.Duration // of the node's newest fill, 0 for no file
		want int64
	}{
		{0, nodeLags}, {50 * time.Minute, nodeLags}, {10 * time.Minute, nodeUpToDate}, {50 * time.Minute, nodeUpToDate},
		{70 * time.Minute, nodeLags}, {50 * time.Minute, nodeLags}, {time.Second, nodeUpToDate},
	} {
		if c.age > 0 {
			must.Do(t, os.WriteFile(file, []byte(fillLine(time.Now().Add(-c.age))), 0o600))
		}
		if rank := rank(r); rank != c.want {
			t.Errorf("step %d: the rank is %d at an age of %s", i, rank, c.age)
		}
	}
}

// fillLine is a line of a node with one fill.
func fillLine(at time.Time) string {
	return fmt.Sprintf(`["0x%040x",{"coin":"BTC","px":"1.5","sz":"2.5","side":"B","time":%d,"startPosition":"0.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":1,"crossed":true,"fee":"0.0","tid":5,"feeToken":"USDC","twapId":null}]`+"\n", 1, at.UnixMilli())
}
