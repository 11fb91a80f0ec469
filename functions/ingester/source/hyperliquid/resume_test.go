package hyperliquid

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// blockLine is a line of one block as a node wrote it, with one fill of a trade id
// at a time in ms. Nodes write the same block at times that differ in value and
// length; pad is room that all nodes write.
func blockLine(tid int, ms int64, written string, pad int) string {
	fill := fmt.Sprintf(`["0x%040d",{"coin":"BTC","px":"1.0","sz":"2.0","side":"B","time":%d,"startPosition":"0.0","dir":"Open Long","closedPnl":"0.0","hash":"0x0","oid":1,"crossed":true,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`,
		tid%7, ms, tid)
	return fmt.Sprintf(`{"local_time":"%s","block_time":"x%s","block_number":%d,"events":[%s]}`, written, strings.Repeat("x", pad), tid, fill) + "\n"
}

// emptyLine is a block without a fill.
func emptyLine(n int, written string) string {
	return fmt.Sprintf(`{"local_time":"%s","block_time":"x","block_number":%d,"events":[]}`, written, n) + "\n"
}

// upTo follows a node until it has emitted so many fills, and returns their ids and
// the position behind.
func upTo(t testing.TB, dir string, from Position, n int) (tids []int64, at Position) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	at = from
	files := &Files{Dir: dir, Stats: new(Stats), Log: quiet, Poll: time.Millisecond}
	err := files.Follow(ctx, from, func(_ context.Context, d Delivery) error {
		for _, fill := range d.Events.Fills {
			tids = append(tids, fill.Tid)
		}
		if at = d.Position; len(tids) >= n {
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Fatalf("%d fills of %d: %v", len(tids), n, err)
	}
	return tids, at
}

// Whatever of a stream was read from one node, another node's files have the rest:
// nothing is skipped, and little is emitted twice.
func TestNothingIsLostBetweenTheFilesOfTwoNodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dirs := [2]string{t.TempDir(), t.TempDir()}
		blocks := rapid.IntRange(1, testenv.Amount(60, 300)).Draw(r, "blocks")
		pad := rapid.SampledFrom([]int{0, 30_000}).Draw(r, "pad") // with it files are longer than a search looks at
		start := time.Date(2026, 2, 2, 9, 59, 0, 0, time.UTC)
		texts := [2]map[string]string{{}, {}}
		var times []int64
		at, fills, lateBy := start, 0, rapid.IntRange(0, 3000).Draw(r, "late by, ms")
		for n := range blocks {
			at = at.Add(time.Duration(rapid.IntRange(0, 2000).Draw(r, "ms")) * time.Millisecond)
			empty := rapid.IntRange(0, 3).Draw(r, "empty") == 0 && n < blocks-1
			if !empty {
				fills++
				times = append(times, at.UnixMilli())
			}
			for i := range texts {
				written := at.Add(time.Duration(i*lateBy) * time.Millisecond)
				file := fmt.Sprintf("%s/%d", written.Format("20060102"), written.Hour())
				stamp := written.Format("2006-01-02T15:04:05.999999999")
				if empty {
					texts[i][file] += emptyLine(n, stamp)
				} else {
					texts[i][file] += blockLine(fills, at.UnixMilli(), stamp, pad)
				}
			}
		}
		for i, dir := range dirs {
			for file, text := range texts[i] {
				(&node{t, dir}).write(file, text)
			}
		}
		first := rapid.IntRange(0, 1).Draw(r, "first node")
		read, where := upTo(t, dirs[first], Position{}, rapid.IntRange(1, fills).Draw(r, "read"))
		if len(read) == fills {
			return
		}
		rest, _ := upTo(t, dirs[1-first], where, 1)
		// Deliveries end where they end: what matters is where the second begins.
		begun := rest[0]
		if begun > read[len(read)-1]+1 {
			r.Fatalf("after fill %d comes %d", read[len(read)-1], begun)
		}
		since, early := times[len(read)-1]-overlap.Milliseconds(), 0
		for n := begun; times[n-1] < since; n++ {
			early += pad + 400 // bytes of a line, about
		}
		if early > 2*searchMost {
			r.Fatalf("%d bytes are read again that are older than needed", early)
		}
	})
}

func TestTheSameFileIsGoneOnWithToTheByte(t *testing.T) {
	t.Parallel()
	n := node{t, t.TempDir()}
	for i := 1; i <= 20; i++ {
		n.write("20260202/9", blockLine(i, 1770033590000+int64(i), "9", 0)+emptyLine(i, "9"))
	}
	tids, at := upTo(t, n.dir, Position{}, 20)
	n.write("20260202/9", blockLine(21, 1770033590021, "9", 0))
	again, _ := upTo(t, n.dir, at, 1)
	if len(tids) != 20 || !slices.Equal(again, []int64{21}) {
		t.Errorf("%v, then %v", tids, again)
	}
	// The last line of a file may lack its break.
	n.write("20260202/10", strings.TrimSuffix(blockLine(22, 1770033590022, "9", 0), "\n"))
	n.write("20260202/11", blockLine(23, 1770033590023, "9", 0))
	_, at = upTo(t, n.dir, at, 2)
	if at.File != "20260202/10" {
		t.Fatalf("%+v", at)
	}
	if again, _ = upTo(t, n.dir, at, 1); !slices.Equal(again, []int64{23}) {
		t.Errorf("then %v", again)
	}
}

func TestAnotherNodeMayLackTheHour(t *testing.T) {
	t.Parallel()
	one, two := node{t, t.TempDir()}, node{t, t.TempDir()}
	const ms = 1770033590000
	one.write("20260202/11", blockLine(1, ms, "11", 0)+blockLine(2, ms+1000, "11", 0))
	_, at := upTo(t, one.dir, Position{}, 2)
	two.write("20260202/9", blockLine(100, ms-7_200_000, "9", 0))
	two.write("20260202/12", blockLine(2, ms+1000, "12", 0)+blockLine(3, ms+2000, "12", 0))
	tids, _ := upTo(t, two.dir, at, 3)
	if tids[len(tids)-1] != 3 || !slices.Contains(tids, 2) {
		t.Errorf("%v", tids)
	}
	must.Do(t, os.RemoveAll(filepath.Join(two.dir, "20260202")))
	two.write("20260203/0", blockLine(4, ms+3000, "0", 0))
	if tids, _ := upTo(t, two.dir, at, 1); tids[0] != 4 {
		t.Errorf("%v", tids)
	}
}

func TestOfAnHourOnlyItsEndIsReadAgain(t *testing.T) {
	t.Parallel()
	one, two := node{t, t.TempDir()}, node{t, t.TempDir()}
	const ms, pad, blocks = 1770033590000, 30_000, 300
	var texts [2]strings.Builder
	for n := 1; n <= blocks; n++ {
		texts[0].WriteString(blockLine(n, ms+int64(n)*1000, "9", pad))
		texts[1].WriteString(blockLine(n, ms+int64(n)*1000, "9.5", pad))
	}
	two.write("20260202/8", blockLine(1000, ms-3_600_000, "8", 0))
	one.write("20260202/9", texts[0].String())
	two.write("20260202/9", texts[1].String())
	_, at := upTo(t, one.dir, Position{}, blocks)
	tids, _ := upTo(t, two.dir, at, 1)
	if from, want := int(tids[0]), blocks-int(overlap.Seconds()); from > want || (want-from)*pad > 2*searchMost {
		t.Errorf("%d blocks are read again, want %d and at most %d bytes more", blocks-from, blocks-want, 2*searchMost)
	}
}
