package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// hourly writes files of a line a minute, each a fill whose tid is its minute, and
// returns what follows them.
func hourly(t *testing.T, hours int) *Files {
	t.Helper()
	f := &Files{Dir: t.TempDir(), Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Most: 7}
	for hour := range hours {
		text := ""
		for minute := range 60 {
			n := hour*60 + minute
			text += fmt.Sprintf(`["0x%040x",{"coin":"C","px":"1.5","sz":"2.0","side":"B","time":%d,"startPosition":"0.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":1,"crossed":true,"fee":"0.0","tid":%d,"feeToken":"USDC","twapId":null}]`+"\n", 1, 60_000*(n+1), n)
		}
		if hour == hours-1 {
			text += `["0x00` // which the node is still writing
		}
		path := filepath.Join(f.Dir, "20260315", fmt.Sprint(hour))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return f
}

func tids(fills []market.Fill) (list []int64) {
	for i := range fills {
		list = append(list, fills[i].Tid)
	}
	return list
}

// TestThePastIsReadUpToItsEnd reads from several places to several times, and what
// comes behind the end.
func TestThePastIsReadUpToItsEnd(t *testing.T) {
	t.Parallel()
	f := hourly(t, 3)
	end, err := f.End()
	if err != nil || end.File != "20260315/2" || end.Time != 180*60_000 {
		t.Fatalf("the end is %+v, %v", end, err)
	}
	read := func(from Position, until int64) (fills []market.Fill, last Position) {
		t.Helper()
		must.Do(t, f.ReadPast(t.Context(), from, until, func(_ context.Context, d Delivery) error {
			if len(d.Events.Fills) > f.Most {
				t.Errorf("a delivery of %d fills", len(d.Events.Fills))
			}
			fills, last = append(fills, d.Events.Fills...), d.Position
			return nil
		}))
		return fills, last
	}
	all, last := read(Position{}, end.Time)
	if len(all) != 180 || last.Offset != end.Offset {
		t.Errorf("%d fills up to %+v: %v", len(all), last, tids(all))
	}
	some, at := read(Position{}, 70*60_000)
	if n := len(some); n < 70 || n > 70+2*f.Most || at.File != "20260315/1" {
		t.Errorf("%d fills up to %+v", n, at)
	}
	rest, _ := read(at, end.Time)
	if len(some)+len(rest) != 180 || rest[0].Tid != some[len(some)-1].Tid+1 {
		t.Errorf("%d and %d fills", len(some), len(rest))
	}
	refused := errors.New("refused")
	if err := f.ReadPast(t.Context(), Position{}, end.Time, func(context.Context, Delivery) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("a sink that fails ends it with %v", err)
	}
	if left := f.Stats.Backlog.Load(); left < end.Offset {
		t.Errorf("%d bytes are left of three files of more than %d", left, end.Offset)
	}
	none := &Files{Dir: t.TempDir(), Stats: new(Stats), Log: f.Log}
	if at, err := none.End(); at != (Position{}) || err != nil {
		t.Errorf("without files the end is %+v, %v", at, err)
	}
	if err := none.ReadPast(t.Context(), Position{}, 1, func(context.Context, Delivery) error { return refused }); err != nil {
		t.Error(err)
	}
}
