package perp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/hyperliquid"
	filldata "quotary/shared/data/fills"
	"quotary/shared/data/openinterest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/venue/wire"
)

// nodeFiles is the folder of a stream that a node writes, a line a fill.
type nodeFiles struct {
	t   *testing.T
	dir string
	all []market.Fill
}

// write appends a fill of both sides at a time, in the file of its hour.
func (n *nodeFiles) write(at time.Time) {
	n.t.Helper()
	at = at.UTC()
	path := filepath.Join(n.dir, at.Format("20060102"), fmt.Sprint(at.Hour()))
	must.Do(n.t, os.MkdirAll(filepath.Dir(path), 0o700))
	file := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(n.t)
	defer file.Close()
	tid := int64(len(n.all))
	var text strings.Builder
	for side, address := range [2]int64{tid % 5, 10 + tid%3} {
		fmt.Fprintf(&text, `["0x%040x",{"coin":"C%d","px":"%d.5","sz":"1.25","side":"%c","time":%d,"startPosition":"%d.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":%d,"crossed":%t,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`+"\n",
			address, tid%3, 100+tid%7, "BA"[side], at.UnixMilli(), tid, 2*tid+int64(side), side == 0, 1000+tid)
	}
	offset := must.Get(file.Seek(0, 2))(n.t)
	for line := range strings.Lines(text.String()) {
		var fault error
		if n.all, _, fault = wire.ParseFills(n.all, strings.TrimSpace(line), offset); fault != nil {
			n.t.Fatal(fault)
		}
		offset += int64(len(line))
	}
	must.Get(file.WriteString(text.String()))(n.t)
}

// sources are those of the stream in one life of the pipeline.
func (n *nodeFiles) sources() []engine.Source[*Batch] {
	files := &hyperliquid.Files{Dir: n.dir, Stats: new(hyperliquid.Stats), Log: quiet, Poll: 5 * time.Millisecond}
	return Config{Logger: quiet}.stream("node", "node", files, nil)
}

// TestWhatHappensNowGoesBeforeThePast follows a node that has written for three days,
// and then stops for long, through lives that end at any place: the newest fill is
// stored first, and in the end every row is that of all fills.
func TestWhatHappensNowGoesBeforeThePast(t *testing.T) {
	t.Parallel()
	stores := newStores(t)
	n := &nodeFiles{t: t, dir: t.TempDir()}
	present := func() time.Time { return time.Now().Add(-3 * time.Hour) } // hours before events of the future
	start := present().Add(-72 * time.Hour)
	for minute := range 600 {
		n.write(start.Add(time.Duration(minute) * 7 * time.Minute))
	}

	// The past is held up, and the present goes on.
	held := n.sources()
	past := held[1].Follow
	release := make(chan struct{})
	held[1].Follow = func(ctx context.Context, from engine.Position, sink engine.Sink[*Batch]) error {
		return past(ctx, from, func(ctx context.Context, d engine.Delivery[*Batch]) error {
			if d.Batch != nil {
				select {
				case <-release:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return sink(ctx, d)
		})
	}
	p := newPipeline(stores, held...)
	stop := run(t, p)
	now := len(n.all)
	testenv.Until(t, "the present is stored while the past waits", func() bool {
		n.write(present())
		missing, err := filldata.Missing(t.Context(), stores.Log, n.all[now:])
		return err == nil && missing < len(n.all)-now
	})
	select {
	case <-p.PastRead():
		t.Error("the past counts as read")
	default:
		if p.Status().PastLeft != 1 {
			t.Errorf("%d sources have a past left", p.Status().PastLeft)
		}
	}
	if _, _, _, err := stores.Views.Fetch(t.Context(), openinterest.Name, ""); err == nil {
		t.Error("open interest is shown of some of the fills")
	}
	must.Do(t, stop())
	if missing, err := filldata.Missing(t.Context(), stores.Log, n.all[:now]); missing != now || err != nil {
		t.Errorf("%d of %d fills of the past wait, %v", missing, now, err)
	}

	// Lives that end anywhere in the past, and a long outage before the last.
	for events := int64(200); events < 800; events += 200 {
		p := newPipeline(stores, n.sources()...)
		stop := run(t, p)
		testenv.Until(t, "some of the past is stored", func() bool { return p.Stats.Events.Load() >= events || p.Status().PastLeft == 0 })
		must.Do(t, stop())
	}
	n.write(present().Add(time.Hour))
	n.write(present().Add(2 * time.Hour))
	last := newPipeline(stores, n.sources()...)
	stop = run(t, last)
	testenv.Until(t, "all of the past is stored", func() bool {
		select {
		case <-last.PastRead():
			return true
		default:
			return false
		}
	})
	if missing, err := filldata.Missing(t.Context(), stores.Log, n.all); missing != 0 || err != nil || last.Status().PastLeft != 0 {
		t.Errorf("%d fills are not stored when the past counts as read, %v", missing, err)
	}
	must.Do(t, stop())
	checkRows(t, contents(t, stores, n.all), n.all)
}

// TestWhatWasMissedIsReadOnce covers crashes around the place where a span is saved.
func TestWhatWasMissedIsReadOnce(t *testing.T) {
	t.Parallel()
	at := func(file string, ms int64) hyperliquid.Position { return hyperliquid.Position{File: file, Time: ms} }
	for name, c := range map[string]struct {
		have   []span
		missed span
		want   []span
	}{
		"the first start":                          {nil, span{To: 100}, []span{{To: 100}}},
		"a crash before the end was saved as read": {[]span{{To: 100}}, span{To: 120}, []span{{To: 120}}},
		"a crash, with some of the span read":      {[]span{{at("1/1", 40), 100}}, span{at("1/0", 10), 120}, []span{{at("1/1", 40), 120}}},
		"another outage while the past is read":    {[]span{{at("1/1", 40), 100}}, span{at("1/2", 150), 300}, []span{{at("1/1", 40), 100}, {at("1/2", 150), 300}}},
	} {
		if got := addSpan(slices.Clone(c.have), c.missed); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
