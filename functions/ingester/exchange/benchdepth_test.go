package exchange

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// depthSession is what happened to one order book for a while: all of it at first, and what has
// changed in each step of its time. Every book that is pushed follows it.
type depthSession struct {
	t     testing.TB
	began time.Time // when it is pushed from
	steps []depthStep

	mu     sync.Mutex
	states map[int]depthState
	frames map[[2]int][2]string
}

const (
	depthStepMs = 100
	depthLength = time.Minute
)

// depthStep is what has changed, and the checksum of OKX behind it.
type depthStep struct {
	changes  depthState
	checksum int32
}

// depthState is a book or its changes: sizes by price, of bids and asks.
type depthState [2]map[string]string

// openDepth reads the session that was recorded, or makes one up: 1,000 levels a side of which 24
// change in a tenth of a second, near the best prices in most cases.
func openDepth(t testing.TB) *depthSession {
	var first depthState
	var changes []depthState
	if os.Getenv("QUOTARY_TESTDATA") != "" {
		first, changes = recordedDepth(t)
	} else {
		first, changes = madeUpDepth()
	}
	s := &depthSession{t: t, states: map[int]depthState{0: first}, frames: map[[2]int][2]string{}}
	now := first.clone()
	for _, changed := range changes {
		now.apply(changed)
		s.steps = append(s.steps, depthStep{changed, now.checksum(t)})
	}
	s.began = time.Now()
	return s
}

func madeUpDepth() (first depthState, changes []depthState) {
	r := rand.New(rand.NewPCG(1, 2))
	price := func(side, off int) string {
		return trimmed(fmt.Sprintf("%d.%d", (600_000+(2*side-1)*off)/10, (600_000+(2*side-1)*off)%10))
	}
	size := func() string { return trimmed(fmt.Sprintf("%d.%03d", r.IntN(4), 1+r.IntN(999))) }
	first = newDepth()
	for side := range first {
		for off := range 1000 {
			first[side][price(side, off+1)] = size()
		}
	}
	for range depthLength.Milliseconds() / depthStepMs {
		changed := newDepth()
		for n := range 24 {
			off := 1 + r.IntN(60)
			if r.IntN(4) == 0 {
				off = 1 + r.IntN(1000)
			}
			if changed[n%2][price(n%2, off)] = size(); r.IntN(3) == 0 {
				changed[n%2][price(n%2, off)] = "0"
			}
		}
		changes = append(changes, changed)
	}
	return first, changes
}

// recordedDepth is what was recorded of bitcoin's perpetual on Binance, behind its snapshot.
func recordedDepth(t testing.TB) (first depthState, changes []depthState) {
	lines := testenv.Recording(t, "exchanges/hftbacktest_binance_usdm_btcusdt_20240808.gz")
	type levels [][2]string
	var begins, last int64
	put := func(to depthState, bids, asks levels) {
		for side, list := range [...]levels{bids, asks} {
			for _, l := range list {
				to[side][trimmed(l[0])] = trimmed(l[1])
			}
		}
	}
	type frame struct {
		number, at int64
		bids, asks levels
	}
	var frames []frame
	for lines.Scan() {
		_, line, _ := strings.Cut(lines.Text(), " ")
		switch {
		case strings.HasPrefix(line, `{"lastUpdateId"`):
			var whole struct {
				LastUpdateID int64
				Bids, Asks   levels
			}
			must.Do(t, json.Unmarshal([]byte(line), &whole))
			first, last = newDepth(), whole.LastUpdateID
			put(first, whole.Bids, whole.Asks)
		case strings.Contains(line, `"depthUpdate"`):
			var f struct {
				Data struct {
					Number int64  `json:"u"`
					At     int64  `json:"T"`
					B, A   levels // in any letter case
				}
			}
			must.Do(t, json.Unmarshal([]byte(line), &f))
			frames = append(frames, frame{f.Data.Number, f.Data.At, f.Data.B, f.Data.A})
		}
	}
	for _, f := range frames {
		if f.number <= last {
			continue
		}
		if begins == 0 {
			begins = f.at
		}
		for step := int((f.at - begins) / depthStepMs); step >= len(changes); {
			changes = append(changes, newDepth())
		}
		put(changes[len(changes)-1], f.bids, f.asks)
	}
	return first, changes
}

func newDepth() depthState { return depthState{{}, {}} }

func (d depthState) clone() depthState { return depthState{maps.Clone(d[0]), maps.Clone(d[1])} }

// merge puts later changes over those of d.
func (d depthState) merge(changed depthState) {
	for side := range d {
		maps.Copy(d[side], changed[side])
	}
}

func (d depthState) apply(changed depthState) {
	for side := range d {
		for px, sz := range changed[side] {
			if d[side][px] = sz; sz == "0" {
				delete(d[side], px)
			}
		}
	}
}

// best are the best levels of a side, at most n.
func (d depthState) best(t testing.TB, side, n int) (levels [][2]string) {
	prices := map[string]market.Decimal{}
	for px := range d[side] {
		prices[px] = must.Get(market.ParseDecimal(px))(t)
	}
	sorted := slices.SortedFunc(maps.Keys(prices), func(a, b string) int { return (2*side - 1) * prices[a].Cmp(prices[b]) })
	for _, px := range sorted[:min(n, len(sorted))] {
		levels = append(levels, [2]string{px, d[side][px]})
	}
	return levels
}

// checksum is that of OKX: of the best 25 bids and asks in turn.
func (d depthState) checksum(t testing.TB) int32 {
	bids, asks := d.best(t, 0, 25), d.best(t, 1, 25)
	var parts []string
	for i := range max(len(bids), len(asks)) {
		for _, side := range [...][][2]string{bids, asks} {
			if i < len(side) {
				parts = append(parts, side[i][0], side[i][1])
			}
		}
	}
	return int32(crc32.ChecksumIEEE([]byte(strings.Join(parts, ":")))) //nolint:gosec // the bits are read as signed
}

// step is how many steps have passed, at least one.
func (s *depthSession) step() int {
	return min(1+int(time.Since(s.began).Milliseconds()/depthStepMs), len(s.steps))
}

// at is the book behind so many steps.
func (s *depthSession) at(step int) depthState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.states[step]; ok {
		return known
	}
	now := s.states[0].clone()
	for i := range step {
		now.apply(s.steps[i].changes)
	}
	s.states[step] = now
	return now
}

// between are the changes of a frame, those of a side as JSON, the best first.
func (s *depthSession) between(from, to int) (sides [2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]int{from, to}
	if known, ok := s.frames[key]; ok {
		return known
	}
	all := newDepth()
	for i := from; i < min(to, len(s.steps)); i++ {
		all.merge(s.steps[i].changes)
	}
	for side := range sides {
		sides[side] = levelsJSON(all.best(s.t, side, 1<<20))
	}
	s.frames[key] = sides
	return sides
}

func levelsJSON(levels [][2]string) string {
	b, _ := json.Marshal(levels) // of strings
	return strings.Replace(string(b), "null", "[]", 1)
}

// trimmed is a decimal without zeros at its end.
func trimmed(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// numberOf is that of the change behind so many steps.
func numberOf(step int) int { return 1_000_000 + step }

// snapshot answers what Binance is asked for.
func (s *depthSession) snapshot(limit int) string {
	step := s.step()
	return fmt.Sprintf(`{"lastUpdateId":%d,"E":%d,"T":%d,"bids":%s,"asks":%s}`, numberOf(step), time.Now().UnixMilli(), time.Now().UnixMilli(),
		levelsJSON(s.at(step).best(s.t, 0, limit)), levelsJSON(s.at(step).best(s.t, 1, limit)))
}

// topic pushes the book every so many steps from now on, each frame written by frame of a place:
// before the first place it is all of the book, of so many levels a side.
func (s *depthSession) topic(every, whole int, frame func(n int64, from, to int, sides [2]string) string) topic {
	begins := s.step()
	return topic{1000 / float64(every*depthStepMs), func(n, _ int64) string {
		if whole > 0 {
			if n == 1 {
				at := s.at(begins)
				return frame(n, 0, begins, [2]string{levelsJSON(at.best(s.t, 0, whole)), levelsJSON(at.best(s.t, 1, whole))})
			}
			n--
		}
		to := begins + int(n)*every
		return frame(n, to-every, to, s.between(to-every, to))
	}}
}

func (s *depthSession) binance(name, symbol string, every int, swap bool) topic {
	return s.topic(every, 0, func(_ int64, from, to int, sides [2]string) string {
		ms := time.Now().UnixMilli()
		more := ""
		if swap {
			more = fmt.Sprintf(`"T":%d,"pu":%d,`, ms, numberOf(from))
		}
		return fmt.Sprintf(`{"stream":%q,"data":{"e":"depthUpdate","E":%d,%s"s":%q,"U":%d,"u":%d,"b":%s,"a":%s}}`, name, ms, more, symbol, numberOf(from)+1, numberOf(to), sides[0], sides[1])
	})
}

func (s *depthSession) okx(symbol string) topic {
	return s.topic(1, 400, func(_ int64, from, to int, sides [2]string) string {
		action, before := "update", numberOf(from)
		if from == 0 {
			action, before = "snapshot", -1
		}
		return fmt.Sprintf(`{"arg":{"channel":"books","instId":%q},"action":%q,"data":[{"asks":%s,"bids":%s,"ts":"%d","checksum":%d,"seqId":%d,"prevSeqId":%d}]}`,
			symbol, action, sides[1], sides[0], time.Now().UnixMilli(), s.steps[max(0, min(to, len(s.steps))-1)].checksum, numberOf(to), before)
	})
}

func (s *depthSession) bybit(name, symbol string, every int) topic {
	begun := false
	return s.topic(every, 200, func(n int64, _, _ int, sides [2]string) string {
		kind, number := "delta", 100+n
		if !begun {
			begun, kind, number = true, "snapshot", 100
		}
		ms := time.Now().UnixMilli()
		return fmt.Sprintf(`{"topic":%q,"type":%q,"ts":%d,"data":{"s":%q,"b":%s,"a":%s,"u":%d,"seq":%d},"cts":%d}`, name, kind, ms, symbol, sides[0], sides[1], number, number, ms)
	})
}
