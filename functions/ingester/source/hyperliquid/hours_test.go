package hyperliquid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pierrec/lz4/v4"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// hourBucket is a bucket in memory.
type hourBucket struct {
	mu    sync.Mutex
	files map[string][]byte
	fault error                  // of every question
	body  func([]byte) io.Reader // nil for all of a file
	gets  map[string]int         // by key
	open  func(key string)       // is called before a file is opened, without the lock
}

func (b *hourBucket) List(_ context.Context, prefix string) (map[string]HourFile, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	files := map[string]HourFile{}
	for key, body := range b.files {
		if strings.HasPrefix(key, prefix) {
			files[key] = HourFile{ETag: etagOf(body), Size: int64(len(body))}
		}
	}
	return files, b.fault
}

func (b *hourBucket) Get(_ context.Context, key, etag string) (io.ReadCloser, error) {
	if b.open != nil {
		b.open(key)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault != nil {
		return nil, b.fault
	}
	b.gets[key]++
	body, ok := b.files[key]
	if !ok || etagOf(body) != etag {
		return nil, ErrHourReplaced
	}
	if b.body != nil {
		return io.NopCloser(b.body(body)), nil
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

func etagOf(body []byte) string { return fmt.Sprintf("\"%08x\"", crc32.ChecksumIEEE(body)) }

func (b *hourBucket) put(key string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[key] = body
}

func (b *hourBucket) refuse(fault error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// hourBlocks is how many blocks an hour of the tests has.
const hourBlocks = 12

// madeHour is an hour of blocks that were made up, the first of them of the number hour*hourBlocks+1: of the
// fills a line for each, and of the misc events one for every second.
type madeHour struct {
	at          hourFile
	fills, misc []string
}

func makeHour(at hourFile, hour int) (m madeHour) {
	m.at = at
	for i := range hourBlocks {
		number := hour*hourBlocks + i + 1
		when := at.begins().Add(time.Duration(i) * 5 * time.Minute)
		line := func(events ...string) string {
			return fmt.Sprintf(`{"local_time":%q,"block_time":%q,"block_number":%d,"events":[%s]}`+"\n",
				when.Add(200*time.Millisecond).Format(wire.NodeTime), when.Format(wire.NodeTime), number, strings.Join(events, ","))
		}
		var fills []string
		for n := range i % 4 {
			tid := number*10 + n
			fills = append(fills, fmt.Sprintf(`["0x%040d",{"coin":"BTC","px":"1.0","sz":"2.0","side":"B","time":%d,"startPosition":"0.0","dir":"Open Long","closedPnl":"0.0","hash":"0x0","oid":1,"crossed":true,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`, n, when.UnixMilli(), tid))
		}
		m.fills = append(m.fills, line(fills...))
		switch i % 4 {
		case 0:
			m.misc = append(m.misc, line(fmt.Sprintf(`{"time":%q,"hash":"0x0","inner":{"Funding":{"deltas":[{"user":"0x%040d","coin":"BTC","funding_amount":"-%d.5","szi":"2.0","funding_rate":"0.0000125"}]}}}`, when.Format(wire.NodeTime), i, number)))
		case 2:
			m.misc = append(m.misc, line(fmt.Sprintf(`{"time":%q,"hash":"0x%d","inner":{"LedgerUpdate":{"users":["0x%040d"],"delta":{"type":"deposit","usdc":"%d.0"}}}}`, when.Format(wire.NodeTime), number, i, number)))
		}
	}
	return m
}

// events are what the lines of an hour hold, as the readers of a node's files find it.
func (m *madeHour) events(t testing.TB) (e market.Events) {
	t.Helper()
	for _, line := range m.misc {
		must.Get(ReadMisc(&e, line, 0))(t)
	}
	for _, line := range m.fills {
		must.Get(readFills(&e, line, 0))(t)
	}
	return e
}

func (m *madeHour) fillsKey() string { return hourStreams[fillStream].key(m.at) }
func (m *madeHour) miscKey() string  { return hourStreams[0].key(m.at) }

// framed is a text as a frame, without a checksum of its content.
func framed(t testing.TB, lines ...string) []byte {
	t.Helper()
	return frameOf(t, strings.Join(lines, ""), lz4.ChecksumOption(false))
}

func frameOf(t testing.TB, text string, options ...lz4.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	must.Do(t, w.Apply(options...))
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

// hoursTest is a source of hours in a bubble, whose clock begins at midnight.
type hoursTest struct {
	t      *testing.T
	bucket *hourBucket
	source *Hours
	hours  []madeHour // the first begins three hours before the test

	held int64 // [Hours.Held]

	stop func()
	turn sync.Mutex // held while got is changed, and by the test whenever time goes by
	got  []HoursDelivery
	at   HoursPosition // that was stored last
	most int           // deliveries that are accepted, 0 for all
}

// hoursOf makes a test of so many hours, none of them in the bucket.
func hoursOf(t *testing.T, n int) *hoursTest {
	t.Helper()
	h := &hoursTest{t: t, bucket: &hourBucket{files: map[string][]byte{}, gets: map[string]int{}}}
	at := hourAt(time.Now().Add(-3 * time.Hour))
	for i := range n {
		h.hours = append(h.hours, makeHour(at, i))
		at = at.next()
	}
	return h
}

// publish puts both files of an hour into the bucket.
func (h *hoursTest) publish(hours ...int) {
	for _, i := range hours {
		m := &h.hours[i]
		h.bucket.put(m.fillsKey(), framed(h.t, m.fills...))
		h.bucket.put(m.miscKey(), framed(h.t, m.misc...))
	}
}

var errKilled = errors.New("killed")

// start begins where the last one stopped.
func (h *hoursTest) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.source = &Hours{Bucket: h.bucket, Since: 3 * time.Hour, Stats: new(Stats), Log: quiet, Most: 2, Held: h.held}
	var from HoursPosition
	must.Do(h.t, json.Unmarshal(must.Get(json.Marshal(h.at))(h.t), &from))
	ended := make(chan error, 1)
	go func() {
		ended <- h.source.Follow(ctx, from, func(_ context.Context, d HoursDelivery) error {
			h.turn.Lock()
			defer h.turn.Unlock()
			if h.most > 0 && len(h.got) == h.most {
				return errKilled
			}
			h.got, h.at = append(h.got, d), d.Position
			return nil
		})
	}()
	h.stop = func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, errKilled) {
			h.t.Errorf("following ended with %v", err)
		}
	}
}

// pass lets time go by.
func (h *hoursTest) pass(d time.Duration) {
	h.turn.Lock() // what was looked at before is not being changed
	h.turn.Unlock()
	time.Sleep(d)
	synctest.Wait()
	h.turn.Lock()
	h.turn.Unlock()
}

// killedBehind has the source killed behind so many deliveries, and begun again.
func (h *hoursTest) killedBehind(most int) {
	for _, h.most = range [...]int{most, 0} {
		h.start()
		h.pass(10 * time.Minute)
		h.stop()
	}
}

// events are those that were delivered, late or not.
func (h *hoursTest) events(late bool) (all market.Events) {
	for _, d := range h.got {
		if d.Late == late {
			all.Merge(&d.Events)
		}
	}
	return all
}

// wants compares what was delivered with what some hours hold, in this order.
func (h *hoursTest) wants(what string, late bool, hours ...int) {
	h.t.Helper()
	var want market.Events
	for _, i := range hours {
		e := h.hours[i].events(h.t)
		want.Merge(&e)
	}
	if diff := cmp.Diff(want, h.events(late)); diff != "" {
		h.t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}

// hoursTests are run in a bubble each.
func inBubble(t *testing.T, n int, do func(t *testing.T, h *hoursTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := hoursOf(t, n)
		do(t, h)
		h.stop()
	})
}

func TestHoursAreReadInOrderFillsAndMiscTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, 5, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1, 2)
		h.start()
		h.pass(time.Minute)
		h.wants("what is there at the start", false, 0, 1, 2)
		newest := int64(0) // a delivery has blocks behind those of the one before
		for _, d := range h.got {
			oldest := int64(1 << 62)
			times := func(ms int64) { oldest, newest = min(oldest, ms), max(newest, ms) }
			before := newest
			for _, f := range d.Events.Fills {
				times(f.Time)
			}
			for _, l := range d.Events.Ledgers {
				times(l.Time)
			}
			for _, p := range d.Events.Payments {
				times(p.Time)
			}
			if oldest <= before {
				t.Errorf("a delivery has something of %d behind one that ended at %d", oldest, before)
			}
		}
		h.pass(time.Hour) // the fourth hour has begun and ended
		h.publish(3)
		h.pass(30 * time.Minute)
		h.wants("and what came", false, 0, 1, 2, 3)
		if until := h.source.Figures.Until.Load(); until != h.hours[4].at.begins().UnixMilli() {
			t.Errorf("known until %s", time.UnixMilli(until).UTC())
		}
		if len(h.events(true).Fills) > 0 || h.source.Figures.Passed.Load() != 0 || h.source.Figures.Owed.Load() != 0 {
			t.Error("something counts as late")
		}
	})
}

// TestHoursSurviveAKillAtAnyBlock: whatever is the last delivery that was stored, the next life goes on
// behind it.
func TestHoursSurviveAKillAtAnyBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deliveries := 0
		for most := 1; deliveries == 0 || most <= deliveries; most++ {
			h := hoursOf(t, 3)
			h.publish(0, 1, 2)
			h.killedBehind(most)
			h.wants(fmt.Sprintf("killed behind %d deliveries", most), false, 0, 1, 2)
			deliveries = len(h.got)
		}
		if deliveries < 20 {
			t.Errorf("there were %d deliveries", deliveries)
		}
	})
}

func TestAnHourIsWaitedForSixHours(t *testing.T) {
	t.Parallel()
	inBubble(t, 8, func(t *testing.T, h *hoursTest) {
		h.publish(0, 2)
		h.start()
		h.pass(3*time.Hour + 30*time.Minute) // the second hour ended an hour before the start
		h.wants("while it is waited for", false, 0)
		h.publish(1)
		h.pass(30 * time.Minute)
		h.wants("when it has come", false, 0, 1, 2)
		if h.source.Figures.Passed.Load() != 0 {
			t.Error("an hour counts as passed over")
		}
	})
}

func TestAnHourThatIsMissingIsPassedOverAndTakenWhenItComes(t *testing.T) {
	t.Parallel()
	inBubble(t, 12, func(t *testing.T, h *hoursTest) {
		h.publish(0, 2, 3)
		h.start()
		h.pass(4*time.Hour + 30*time.Minute)
		h.wants("before six hours", false, 0)
		h.pass(time.Hour)
		h.wants("behind six hours", false, 0, 2, 3)
		if h.source.Figures.Passed.Load() != 1 || h.source.Figures.Owed.Load() != 2 {
			t.Errorf("%d hours were passed over, %d files are owed", h.source.Figures.Passed.Load(), h.source.Figures.Owed.Load())
		}
		if missing := h.at.Missing(); !slices.Equal(missing, []int64{h.hours[1].at.begins().UnixMilli()}) {
			t.Errorf("missing are %v", missing)
		}
		h.stop() // what is owed outlives the process
		h.start()
		h.pass(72 * time.Hour)
		h.publish(1)
		h.pass(15 * time.Minute)
		h.wants("when it comes after days", true, 1)
		if slices.Contains(h.at.Owed, h.hours[1].fillsKey()) || slices.Contains(h.at.Owed, h.hours[1].miscKey()) {
			t.Error("it is still owed")
		}
		if slices.Contains(h.at.Missing(), h.hours[1].at.begins().UnixMilli()) {
			t.Error("it is still missing")
		}
		h.pass(24 * time.Hour)
		h.wants("and it comes once", true, 1)
	})
}

// TestOfAnHourThatLacksAFileTheOtherIsReadInTime covers each of the two.
func TestOfAnHourThatLacksAFileTheOtherIsReadInTime(t *testing.T) {
	t.Parallel()
	for _, lacks := range []string{"misc", "fills"} {
		inBubble(t, 3, func(t *testing.T, h *hoursTest) {
			h.publish(0, 1, 2)
			hour := &h.hours[1]
			key, lines, kept := hour.miscKey(), hour.misc, &hour.misc
			if lacks == "fills" {
				key, lines, kept = hour.fillsKey(), hour.fills, &hour.fills
			}
			delete(h.bucket.files, key)
			*kept = nil
			h.start()
			h.pass(6 * time.Hour)
			h.wants("without "+lacks, false, 0, 1, 2)
			h.bucket.put(key, framed(t, lines...))
			hour.fills, hour.misc = nil, nil
			*kept = lines
			h.pass(time.Hour)
			h.wants("what came of "+lacks, true, 1)
		})
	}
}

func TestAFileThatIsNotWholeIsAskedForAgain(t *testing.T) {
	t.Parallel()
	type of = func(h *hoursTest, whole []byte) []byte
	for name, spoil := range map[string]of{
		"nothing":                 func(*hoursTest, []byte) []byte { return []byte{} },
		"cut":                     func(_ *hoursTest, b []byte) []byte { return b[:len(b)/2] },
		"without an end mark":     func(_ *hoursTest, b []byte) []byte { return b[:len(b)-4] },
		"with bytes behind":       func(_ *hoursTest, b []byte) []byte { return append(bytes.Clone(b), "more"...) },
		"of two frames, one cut":  func(_ *hoursTest, b []byte) []byte { return append(bytes.Clone(b), b[:len(b)-8]...) },
		"with a wrong checksum":   func(h *hoursTest, _ []byte) []byte { return h.spoiltSum(1) },
		"with no lines":           func(h *hoursTest, _ []byte) []byte { return framed(h.t, "") },
		"with lines of something": func(h *hoursTest, _ []byte) []byte { return framed(h.t, "{}\n[]\nabc\n") },
		"with a block missing": func(h *hoursTest, _ []byte) []byte {
			return framed(h.t, slices.Delete(slices.Clone(h.hours[1].fills), 5, 6)...)
		},
		"without its first block":     func(h *hoursTest, _ []byte) []byte { return framed(h.t, h.hours[1].fills[1:]...) },
		"which is that before":        func(h *hoursTest, _ []byte) []byte { return framed(h.t, h.hours[0].fills...) },
		"which is that which follows": func(h *hoursTest, _ []byte) []byte { return framed(h.t, h.hours[2].fills...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 3, func(t *testing.T, h *hoursTest) {
				h.publish(0, 1, 2)
				key := h.hours[1].fillsKey()
				whole := h.bucket.files[key]
				h.bucket.put(key, spoil(h, whole))
				h.start()
				h.pass(4 * time.Hour)
				h.wants("while it is broken", false, 0)
				if n := h.bucket.gets[key]; n == 0 || n > brokenTries {
					t.Errorf("one version was paid for %d times", n)
				}
				h.bucket.put(key, whole)
				h.pass(30 * time.Minute)
				h.wants("when it is whole", false, 0, 1, 2)
				if h.source.Figures.Passed.Load() != 0 || len(h.events(true).Fills) > 0 {
					t.Error("something counts as late")
				}
			})
		})
	}
}

// spoiltSum is the file of an hour's fills with a wrong checksum of the content.
func (h *hoursTest) spoiltSum(hour int) []byte {
	b := frameOf(h.t, strings.Join(h.hours[hour].fills, ""))
	b[len(b)-1] ^= 1
	return b
}

// TestWhatIsBrokenForSixHoursIsPassedOver with what it has, where its frames are whole.
func TestWhatIsBrokenForSixHoursIsPassedOver(t *testing.T) {
	t.Parallel()
	inBubble(t, 4, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1, 2)
		lacks, all := slices.Delete(slices.Clone(h.hours[1].fills), 5, 6), h.hours[1].fills
		h.bucket.put(h.hours[1].fillsKey(), framed(t, lacks...))
		h.bucket.put(h.hours[2].fillsKey(), h.spoiltSum(2))
		spoilt := h.hours[2].fills
		h.start()
		h.pass(7 * time.Hour)
		h.hours[1].fills, h.hours[2].fills = lacks, nil
		h.wants("behind six hours", false, 0, 1, 2)
		if h.source.Figures.Passed.Load() != 2 || h.source.Figures.Owed.Load() != 1 {
			t.Errorf("%d hours were passed over, %d files are owed", h.source.Figures.Passed.Load(), h.source.Figures.Owed.Load())
		}
		h.bucket.put(h.hours[1].fillsKey(), framed(t, all...))
		h.bucket.put(h.hours[2].fillsKey(), framed(t, spoilt...))
		h.pass(time.Hour)
		h.hours[1].fills, h.hours[2].fills = all, spoilt
		h.hours[1].misc, h.hours[2].misc = nil, nil // which were read
		h.wants("when they come", true, 1, 2)
	})
}

// TestAnHourThatEndsEarlyIsFoundByTheNext and read to its end when it is replaced, so that the next
// follows it.
func TestAnHourThatEndsEarlyIsFoundByTheNext(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1, 2)
		all := h.hours[1].fills
		h.hours[1].fills = all[:7]
		h.bucket.put(h.hours[1].fillsKey(), framed(t, all[:7]...))
		h.start()
		h.pass(2 * time.Hour)
		h.wants("of the hour that ends early", false, 0, 1)
		h.bucket.put(h.hours[1].fillsKey(), framed(t, all...))
		h.pass(30 * time.Minute)
		h.wants("of the next", false, 0, 1, 2)
		h.hours[1].fills, h.hours[1].misc = all, nil
		h.wants("of what replaced it", true, 1)
		if h.source.Figures.Passed.Load() != 0 {
			t.Error("an hour counts as passed over")
		}
	})
}

func TestAnHourThatHasEachBlockTwiceIsReadOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1, 2)
		for _, key := range []string{h.hours[1].fillsKey(), h.hours[1].miscKey()} {
			h.bucket.put(key, append(bytes.Clone(h.bucket.files[key]), h.bucket.files[key]...))
		}
		h.start()
		h.pass(time.Hour)
		h.wants("doubled", false, 0, 1, 2)
	})
}

func TestAFileThatIsReplacedIsReadAgainForTwoDays(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1, 2)
		h.start()
		h.pass(40 * time.Hour)
		h.wants("in order", false, 0, 1, 2)
		h.bucket.put(h.hours[1].fillsKey(), framed(t, strings.ReplaceAll(strings.Join(h.hours[1].fills, ""), `"local_time":"2000`, `"local_time":"2001`))) // of another node
		h.pass(time.Hour)
		if e := h.events(true); e.Len() > 0 {
			t.Errorf("%d events that are known are read again", e.Len())
		}
		h.hours[1].fills[3] = strings.ReplaceAll(h.hours[1].fills[3], `"px":"1.0"`, `"px":"1.5"`) // that is what the venue says now
		whole := framed(t, h.hours[1].fills...)
		h.bucket.put(h.hours[1].fillsKey(), whole)
		h.pass(time.Hour)
		misc := h.hours[1].misc
		h.hours[1].misc = nil
		h.wants("what replaced it", true, 1)

		h.got = nil
		h.bucket.put(h.hours[1].fillsKey(), whole[:9]) // a broken one changes nothing, and costs little
		h.pass(2 * time.Hour)
		if n := h.bucket.gets[h.hours[1].fillsKey()]; n > 3+brokenTries {
			t.Errorf("what is broken was fetched %d times", n)
		}
		h.pass(24 * time.Hour)
		h.bucket.put(h.hours[1].miscKey(), framed(t, misc[:1]...))
		h.pass(2 * time.Hour)
		if e := h.events(true); e.Len() > 0 {
			t.Errorf("%d events of what was replaced after three days, or is broken", e.Len())
		}
	})
}

// Each version of a file is paid for, whole or not.
func TestAFileThatIsReplacedAgainAndAgainIsFetchedSeldom(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1)
		replaced, broken := h.hours[1].fillsKey(), h.hours[2].fillsKey()
		whole := h.bucket.files[replaced]
		h.start()
		for n := range 40 {
			h.bucket.put(replaced, append(bytes.Clone(whole), bytes.Repeat(framed(t, ""), n)...))
			h.bucket.put(broken, whole[:9+n])
			h.pass(15 * time.Minute)
		}
		if n := h.bucket.gets[replaced]; n != mostVersions {
			t.Errorf("40 versions of a file are fetched %d times", n)
		}
		if n := h.bucket.gets[broken]; n == 0 || n > mostVersions*brokenTries {
			t.Errorf("40 broken versions of a file are fetched %d times", n)
		}
		if next, err := parseHour(h.at.Hour); err != nil || next.compare(h.hours[2].at) <= 0 {
			t.Errorf("it is still at %s", h.at.Hour)
		}
	})
}

// TestALateHourSurvivesAKillAtAnyBlock as one that is in time does.
func TestALateHourSurvivesAKillAtAnyBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deliveries := 0
		for most := 1; deliveries == 0 || most <= deliveries; most++ {
			h := hoursOf(t, 3)
			h.publish(0, 1, 2)
			hour := &h.hours[1]
			body := h.bucket.files[hour.fillsKey()]
			h.bucket.put(hour.fillsKey(), framed(t, strings.Replace(strings.Join(hour.fills, ""), `"events":[`, `"events": [`, 1)))
			h.start()
			h.pass(time.Minute)
			h.stop()
			h.wants("in order", false, 0, 1, 2)
			h.got = nil
			h.bucket.put(hour.fillsKey(), body)
			h.killedBehind(most)
			hour.misc = nil
			h.wants(fmt.Sprintf("killed behind %d deliveries", most), true, 1)
			deliveries = len(h.got)
		}
		if deliveries < 5 {
			t.Errorf("there were %d deliveries", deliveries)
		}
	})
}

// TestAFileThatIsReplacedWhileItIsReadIsReadAgain: what was emitted of the first version stays, and all of the
// second comes.
func TestAFileThatIsReplacedWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1)
		h.most = 12
		h.start()
		h.pass(time.Minute)
		h.stop()
		if h.at.Hour != h.hours[1].at.String() || len(h.at.Read) < 4 {
			t.Fatalf("it was killed at %s, of %v", h.at.Hour, h.at.Read)
		}
		key := h.hours[1].fillsKey()
		h.bucket.put(key, append(h.bucket.files[key], framed(t, "")...))
		h.most = 0
		h.start()
		h.pass(10 * time.Minute)
		h.wants("in order", false, 0, 1)
		h.hours[1].misc = nil
		h.wants("and again", true, 1)
	})
}

// TestABucketThatRefusesSaysNothingOfAnHour however long it does.
func TestABucketThatRefusesSaysNothingOfAnHour(t *testing.T) {
	t.Parallel()
	inBubble(t, 3, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1)
		h.bucket.refuse(fmt.Errorf("list: %w", ErrHoursRefused))
		h.start()
		h.pass(20 * time.Hour)
		if h.source.Figures.Refused.Load() != 1 || h.source.Figures.Passed.Load() != 0 || len(h.got) > 0 {
			t.Errorf("refused %d, passed %d, %d deliveries", h.source.Figures.Refused.Load(), h.source.Figures.Passed.Load(), len(h.got))
		}
		h.bucket.refuse(nil)
		h.publish(2)
		h.pass(30 * time.Minute)
		h.wants("when it does not any more", false, 0, 1, 2)
		if h.source.Figures.Refused.Load() != 0 {
			t.Error("it still counts as refused")
		}
	})
}

// TestAConnectionThatIsLostBreaksNoFile however often.
func TestAConnectionThatIsLostBreaksNoFile(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1)
		lost := true
		h.bucket.body = func(body []byte) io.Reader {
			switch half := bytes.NewReader(body[:len(body)/2]); {
			case !lost:
				return bytes.NewReader(body)
			case h.bucket.gets[h.hours[0].miscKey()]%2 == 0:
				return half
			default:
				return io.MultiReader(half, iotest.ErrReader(errStalled))
			}
		}
		h.start()
		h.pass(10 * time.Hour)
		if h.source.Figures.Passed.Load() != 0 || len(h.got) > 0 {
			t.Errorf("%d hours were passed over", h.source.Figures.Passed.Load())
		}
		h.bucket.mu.Lock()
		lost = false
		h.bucket.mu.Unlock()
		h.pass(time.Hour)
		h.wants("when it holds", false, 0, 1)
	})
}

// TestALargeFileIsAskedForTwice and never mixed of two versions.
func TestALargeFileIsAskedForTwice(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, h *hoursTest) {
		h.publish(0, 1)
		key := h.hours[1].fillsKey()
		h.bucket.open = func(of string) {
			if of == key && h.bucket.gets[key] == 1 {
				h.bucket.put(key, append(h.bucket.files[key], framed(t, "")...))
			}
		}
		h.held = 1
		h.start()
		h.pass(time.Hour)
		h.wants("of the second version", false, 0, 1)
		if h.bucket.gets[key] < 3 {
			t.Errorf("it was asked for %d times", h.bucket.gets[key])
		}
	})
}

func TestTheNumberOfABlockIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int64{
		`{"local_time":"a","block_time":"b","block_number":923950857,"events":[]}`:      923950857,
		`{"events":[{"block_number":5}],"block_number":7}`:                              7,
		`{"x":{"block_number":5},"block_number":7,"events":[]}`:                         7,
		`{"events":[],"x":{"block_number":5},"block_number":7}`:                         7,
		`{"events":["]\"block_number\":5}"],"block_number":7,"x":null}`:                 7,
		`{"block_number": 7 ,"events":[]}`:                                              7,
		`{"block_number":7}`:                                                            7,
		`{"note":"\"block_number\":5,","block_number":7,"events":["\"block_number\""]}`: 7,
		`{"block_number":0,"events":[]}`:                                                0,
		`{"block_number":-1,"events":[]}`:                                               0,
		`{"block_number":9999999999999999,"events":[]}`:                                 0,
		`{"block_number":99999999999999999999,"events":[]}`:                             0,
		`{"block_number":"7","events":[]}`:                                              0,
		`{"time":"a","events":[]}`:                                                      0,
		`["0x",{}]`:                                                                     0,
		`{"block_number":7,"events":[`:                                                  7, // its reader refuses it
		``:                                                                              0,
	} {
		got, ok, found := blockOf([]byte(line))
		if !found {
			got, ok = blockWithin([]byte(line))
		}
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%s: %d, %t; want %d", line, got, ok, want)
		}
	}
}

// TestTheRecordedBlocksAreReadAsFromANodesFile packs them as an hour.
func TestTheRecordedBlocksAreReadAsFromANodesFile(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	text := string(must.Get(os.ReadFile(filepath.Join(dir, "hyperliquid", "node_fills_sample.jsonl")))(t))
	var want market.Events
	for line := range strings.Lines(text) {
		must.Get(readFills(&want, strings.TrimSpace(line), 0))(t)
	}
	at := hourFile{20260315, 0}
	bucket := &hourBucket{gets: map[string]int{}, files: map[string][]byte{hourStreams[fillStream].key(at): frameOf(t, text), hourStreams[0].key(at): frameOf(t, "")}}
	h, enough := &Hours{Bucket: bucket, Stats: new(Stats), Log: quiet}, errors.New("the hour is read")
	var got market.Events
	err := h.Follow(t.Context(), HoursPosition{Hour: at.String()}, func(_ context.Context, d HoursDelivery) error {
		if got.Merge(&d.Events); d.Position.Hour != at.String() {
			return enough
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, enough) || len(got.Fills) != 1388 || h.Stats.Malformed.Load() != 0 {
		t.Errorf("%d fills, %v (-node's file +hour):\n%.2000s", len(got.Fills), err, diff)
	}
}

// A megabyte of a file can be hundreds of millions of lines: an hour of them takes no longer to look
// through than one that is real.
func TestAnHourOfEndlessLinesIsBroken(t *testing.T) {
	t.Parallel()
	const key = "node_fills_by_block/hourly/20260315/7.lz4"
	for lines, whole := range map[int]bool{mostHourLines - 1: true, 3 * mostHourLines: false} {
		body := framed(t, strings.Repeat("\n", lines))
		bucket := &hourBucket{files: map[string][]byte{key: body}, gets: map[string]int{}}
		_, err := copyHour(t.Context(), bucket, key, HourFile{ETag: etagOf(body), Size: int64(len(body))}, heldMost)
		if (err == nil) != whole || !whole && (!isBroken(err) || !errors.Is(err, errHourText)) {
			t.Errorf("%d lines in %d bytes: %v", lines, len(body), err)
		}
	}
	text := &boundedText{of: strings.NewReader("0123456789"), left: 5}
	if n, err := io.Copy(io.Discard, iotest.OneByteReader(text)); n != 5 || !errors.Is(err, errHourText) {
		t.Errorf("of five bytes that may be read %d are, %v", n, err)
	}
}

// What an hour has brought, or may have, stays as it is; what it is still to bring may be shown before.
func TestSinceWhenAllIsStillToComeWithHours(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 15, 9, 20, 0, 0, time.UTC)
	at := func(hour int) time.Time { return time.Date(2026, 3, 15, hour, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		position HoursPosition
		want     time.Time
	}{
		"before it is known where they stand": {HoursPosition{}, at(9)},
		"an hour is awaited":                  {HoursPosition{Hour: "20260315/7"}, at(7)},
		"an hour was begun":                   {HoursPosition{Hour: "20260315/7", Read: map[string]string{hourStreams[fillStream].key(hourFile{20260315, 7}): "a"}}, at(8)},
		"the hour before may be replaced":     {HoursPosition{Hour: "20260315/7", Read: map[string]string{hourStreams[fillStream].key(hourFile{20260315, 6}): "a"}}, at(7)},
		"the clock is behind":                 {HoursPosition{Hour: "20260315/11"}, at(9)},
	} {
		h := &Hours{at: c.position}
		h.note()
		if got := h.Awaited(now); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	h := &Hours{at: HoursPosition{Hour: "20260315/7"}}
	h.taken.Store(at(8).UnixMilli())
	if h.note(); !h.Awaited(now).Equal(at(8)) {
		t.Error("an hour that failed while it was read may have brought something")
	}
}
