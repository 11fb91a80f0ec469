package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// fillLine is a line of one fill whose trade id is n.
func fillLine(n int) string {
	return fmt.Sprintf(`["0x%040d",{"coin":"BTC","px":"1.0","sz":"2.0","side":"B","time":%d,"startPosition":"0.0","dir":"Open Long","closedPnl":"0.0","hash":"0x0","oid":1,"crossed":true,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`+"\n", n%7, 1770033590000+n, n)
}

// node is a folder that a node writes to.
type node struct {
	t   *testing.T
	dir string
}

func (n node) write(file, text string) {
	n.t.Helper()
	path := filepath.Join(n.dir, filepath.FromSlash(file))
	must.Do(n.t, os.MkdirAll(filepath.Dir(path), 0o700))
	f := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(n.t)
	defer f.Close()
	must.Get(f.WriteString(text))(n.t)
}

// follower runs Follow and returns what it delivers.
type follower struct {
	t          *testing.T
	stats      Stats
	deliveries chan Delivery
	cancel     context.CancelFunc
	ended      chan error
	last       Position
}

func follow(t *testing.T, dir string, from Position) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{t: t, deliveries: make(chan Delivery), cancel: cancel, ended: make(chan error, 1), last: from}
	files := &Files{Dir: dir, Stats: &f.stats, Log: quiet, Poll: 2 * time.Millisecond}
	go func() {
		f.ended <- files.Follow(ctx, from, func(ctx context.Context, d Delivery) error {
			select {
			case f.deliveries <- d:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	t.Cleanup(f.stop)
	return f
}

func (f *follower) stop() {
	f.cancel()
	if f.ended != nil {
		<-f.ended
		f.ended = nil
	}
}

// tids waits for so many fills and returns their trade ids.
func (f *follower) tids(n int) (tids []int) {
	f.t.Helper()
	for len(tids) < n {
		select {
		case d := <-f.deliveries:
			for _, fill := range d.Events.Fills {
				tids = append(tids, int(fill.Tid))
			}
			f.last = d.Position
		case <-time.After(5 * time.Minute):
			f.t.Fatalf("%d fills after five minutes, want %d", len(tids), n)
		}
	}
	return tids
}

func (f *follower) expect(from, to int) {
	f.t.Helper()
	tids := f.tids(to - from + 1)
	for i, tid := range tids {
		if tid != from+i {
			f.t.Fatalf("fills %v, want %d to %d in order", tids, from, to)
		}
	}
}

func fillLines(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		b.WriteString(fillLine(n))
	}
	return b.String()
}

func TestFilesAreFollowedHourByHourWhileTheyGrow(t *testing.T) {
	t.Parallel()
	n := node{t, filepath.Join(t.TempDir(), "late", "hourly")}
	f := follow(t, n.dir, Position{})
	n.write("20260202/9", fillLines(1, 3)) // the folder appears late
	f.expect(1, 3)
	n.write("20260202/9", fillLines(4, 4))
	f.expect(4, 4)
	n.write("20260202/10", fillLines(5, 6)) // 10 comes after 9
	f.expect(5, 6)
	n.write("20260203/0", fillLines(7, 7))
	f.expect(7, 7)
	n.write("20260203/notes", "no hour\n")
	n.write("scratch/1", fillLines(99, 99))
	n.write("20260203/1", fillLines(8, 8))
	f.expect(8, 8)
	if f.last.File != "20260203/1" || f.stats.Malformed.Load() != 0 {
		t.Fatalf("%+v, %d malformed", f.last, f.stats.Malformed.Load())
	}
}

func TestAHalfWrittenLineWaits(t *testing.T) {
	t.Parallel()
	n := node{t, t.TempDir()}
	f := follow(t, n.dir, Position{})
	line := fillLine(2)
	n.write("20260202/9", fillLine(1)+line[:50])
	f.expect(1, 1)
	select {
	case d := <-f.deliveries:
		t.Fatalf("half a line was delivered: %+v", d)
	case <-time.After(30 * time.Millisecond):
	}
	n.write("20260202/9", line[50:])
	f.expect(2, 2)
	// A line that nobody finishes does not hold up the next hour for ever; one
	// that lacks only its break counts.
	n.write("20260202/9", strings.TrimSuffix(fillLine(3), "\n"))
	n.write("20260202/10", fillLine(4)+`["0x`)
	f.expect(3, 4)
	n.write("20260202/11", fillLine(5))
	f.expect(5, 5)
	if f.stats.Malformed.Load() != 1 {
		t.Fatalf("%d malformed, want 1", f.stats.Malformed.Load())
	}
}

func TestAMalformedLineIsCountedAndSkipped(t *testing.T) {
	t.Parallel()
	n := node{t, t.TempDir()}
	n.write("20260202/9", fillLine(1)+"not\x00json\n\n   \n{}\n"+fillLine(2))
	f := follow(t, n.dir, Position{})
	f.expect(1, 2)
	if f.stats.Malformed.Load() != 2 || f.stats.Lines.Load() != 4 {
		t.Fatalf("%d malformed of %d lines", f.stats.Malformed.Load(), f.stats.Lines.Load())
	}
}

func TestFollowingGoesOnFromAnyPosition(t *testing.T) {
	t.Parallel()
	n := node{t, t.TempDir()}
	n.write("20260202/9", fillLines(1, 5))
	n.write("20260202/10", fillLines(6, 9))
	f := follow(t, n.dir, Position{File: "20260202/9", Offset: int64(len(fillLines(1, 3)))})
	f.expect(4, 9)
	at := f.last
	f.stop()
	n.write("20260202/10", fillLines(10, 11))
	f = follow(t, n.dir, at)
	f.expect(10, 11)
	f.stop()

	f = follow(t, n.dir, Position{File: "20260202/8", Offset: 500}) // deleted since
	f.expect(1, 11)
	f.stop()
	f = follow(t, n.dir, Position{File: "20260202/10", Offset: 1 << 30}) // replaced by a shorter one
	f.expect(1, 11)
}

func TestASinkThatFailsEndsFollowing(t *testing.T) {
	t.Parallel()
	n := node{t, t.TempDir()}
	n.write("20260202/9", fillLine(1))
	files := &Files{Dir: n.dir, Stats: new(Stats), Log: quiet, Poll: time.Millisecond}
	want := errors.New("full")
	if err := files.Follow(t.Context(), Position{}, func(context.Context, Delivery) error { return want }); !errors.Is(err, want) {
		t.Fatal(err)
	}
}

func TestATooLongLineIsSkipped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 1000
		var text strings.Builder
		var want []string
		var starts []int64
		long := int64(0)
		for i := range rapid.IntRange(1, 6).Draw(t, "lines") {
			n := rapid.SampledFrom([]int{0, 1, 10, most - 1, most, 3 * chunk}).Draw(t, "length")
			if n > most {
				long++
			} else {
				want = append(want, strings.Repeat(string(rune('a'+i)), n))
				starts = append(starts, int64(text.Len()))
			}
			text.WriteString(strings.Repeat(string(rune('a'+i)), n) + "\n")
		}
		var r io.Reader = strings.NewReader(text.String())
		if rapid.Bool().Draw(t, "small reads") {
			r = iotest.HalfReader(r)
		}
		l := &lines{r: r, max: most}
		for i := 0; ; i++ {
			line, err := l.next()
			if errors.Is(err, io.EOF) {
				if i != len(want) || l.offset != int64(text.Len()) || l.tooLong > long {
					t.Fatalf("%d lines, offset %d, %d too long", i, l.offset, l.tooLong)
				}
				break
			}
			// A long line that came with its break in one read is no harm.
			if len(line) > most {
				i--
				continue
			}
			if err != nil || i >= len(want) || string(line) != want[i] || l.offset-int64(len(line))-1 != starts[i] {
				t.Fatalf("line %d: %d bytes, %v", i, len(line), err)
			}
		}
	})
}

func TestFilesAreReadCompletelyWhateverTheReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	starts := []int64{0} // of the line of each fill
	for n := 1; n <= 3000; n++ {
		starts = append(starts, starts[n-1])
		starts[n] += int64(len(fillLine(n)))
	}
	text := strings.TrimSuffix(fillLines(1, 3000), "\n")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	for _, from := range []int{0, rand.IntN(2999)} {
		var stats Stats
		next := from + 1
		var at Position
		err := ReadFile(t.Context(), path, "name", starts[from], &stats, quiet, func(_ context.Context, d Delivery) error {
			for _, f := range d.Events.Fills {
				if f.Tid != int64(next) || f.Seq != starts[next-1] {
					return fmt.Errorf("fill %d at %d, want %d", f.Tid, f.Seq, next)
				}
				next++
			}
			at = d.Position
			return nil
		})
		if err != nil || next != 3001 || at.File != "name" || at.Offset != int64(len(text)) || at.Time != 1770033593000 {
			t.Fatalf("%v, next %d, %+v", err, next, at)
		}
	}
}

func TestTheRecordingIsReadWithoutALoss(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"testdata/node_fills.jsonl": 285, filepath.Join(os.Getenv("QUOTARY_TESTDATA"), "hyperliquid", "node_fills_sample.jsonl"): 1388} {
		if strings.HasPrefix(path, "hyperliquid") {
			continue // no genuine recording here
		}
		var stats Stats
		fills := 0
		err := ReadFile(t.Context(), path, path, 0, &stats, quiet, func(_ context.Context, d Delivery) error { fills += len(d.Events.Fills); return nil })
		if err != nil || fills != want || stats.Malformed.Load() != 0 {
			t.Errorf("%s: %d fills, %d malformed, %v", path, fills, stats.Malformed.Load(), err)
		}
	}
}

// TestAnEventOfTheFutureIsSkipped: one wrong clock would make all that follows old.
func TestAnEventOfTheFutureIsSkipped(t *testing.T) {
	t.Parallel()
	ahead := time.Now().Add(time.Hour).UnixMilli()
	path := filepath.Join(t.TempDir(), "0")
	text := fillLine(1) + strings.Replace(fillLine(2), "1770033590002", fmt.Sprint(ahead), 1) + fillLine(3)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	var stats Stats
	var tids []int64
	err := ReadFile(t.Context(), path, "name", 0, &stats, quiet, func(_ context.Context, d Delivery) error {
		for i := range d.Events.Fills {
			tids = append(tids, d.Events.Fills[i].Tid)
		}
		if d.Position.Time >= ahead {
			t.Error("the position is of the future")
		}
		return nil
	})
	if err != nil || fmt.Sprint(tids) != "[1 3]" || stats.Malformed.Load() != 1 {
		t.Errorf("fills %v, %d malformed, %v", tids, stats.Malformed.Load(), err)
	}
}
