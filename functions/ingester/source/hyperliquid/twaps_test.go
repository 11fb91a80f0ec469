package hyperliquid

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const activatedTwap = `{"time":"2026-06-02T09:59:59.398971110","twap_id":1430699,"state":{"coin":"HYPE","user":"0x31CA8395cf837de08b24da3f660e77761dfb974b","side":"A","sz":"108.36",` +
	`"executedSz":"0.0","executedNtl":"0.0","minutes":10,"reduceOnly":false,"randomize":false,"timestamp":1780394399398},"status":"activated"}`

var failedTwap = strings.NewReplacer(`"activated"`, `{"error":"Insufficient margin to place order."}`, "1430699", "1430700").Replace(activatedTwap)

func TestTwapStatusesAreReadFromABlockAndAlone(t *testing.T) {
	t.Parallel()
	state := market.Twap{Coin: "HYPE", Side: market.Sell, Sz: "108.36", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 10, Timestamp: 1780394399398}
	want := market.TwapStatus{Address: "0x31ca8395cf837de08b24da3f660e77761dfb974b", TwapID: new(int64(1430699)), Time: 1780394399398, Status: "activated", Twap: state}
	for name, of := range map[string]struct {
		line string
		seq  int64
	}{
		"a block":                 {blockHead + activatedTwap + `]}`, 1_000_000},
		"one event":               {activatedTwap, 77},
		"events without a number": {`{"events":[` + activatedTwap + `]}`, 77},
	} {
		var e market.Events
		if skipped, err := ReadTwaps(&e, of.line, 77); err != nil || skipped != 0 {
			t.Fatalf("%s: %d skipped, %v", name, skipped, err)
		}
		want.Seq = of.seq
		check.Equalf(t, []market.TwapStatus{want}, e.Twaps, "%s", name)
	}
}

func TestWhatIsNoTwapStatusIsCountedAndTheRestKept(t *testing.T) {
	t.Parallel()
	var e market.Events
	skipped, err := ReadTwaps(&e, blockHead+`{"status":"finished","twap_id":5},{"time":"x"},7,null,`+failedTwap+`]}`, 0)
	if skipped != 4 || err == nil || len(e.Twaps) != 1 || e.Twaps[0].Seq != 1_000_004 || e.Twaps[0].Status != "error" || e.Twaps[0].Error == "" {
		t.Errorf("%d skipped, error %v, kept %+v", skipped, err, e.Twaps)
	}
	for _, line := range []string{`{"events":["activated"`, blockHead + activatedTwap + `]} {}`, `[]`, ``, `{"block_number":-1,"events":[]}`, strings.Repeat("[", 100_000)} {
		var e market.Events
		if skipped, err := ReadTwaps(&e, line, 0); skipped != 1 || err == nil || len(e.Twaps) > 0 {
			t.Errorf("%.80q: %d skipped, error %v, %d kept", line, skipped, err, len(e.Twaps))
		}
	}
}

// A stream of TWAPs is followed like any other: what a life has read the next one does not read
// again, another node's files are resumed by their time, and what is ahead of the clock is left out.
func TestTheStreamOfTwapsIsResumedWhereItStood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now().Add(-time.Hour).UTC()
	block := func(n int, at time.Time) string {
		one := strings.NewReplacer("2026-06-02T09:59:59.398971110", at.Format("2006-01-02T15:04:05.000000000"), "1780394399398", fmt.Sprint(at.UnixMilli()), "1430699", fmt.Sprint(n)).Replace(activatedTwap)
		return fmt.Sprintf(`{"local_time":"x","block_number":%d,"events":[%s]}`, n, one) + "\n"
	}
	write := func(dir, text string) {
		path := filepath.Join(dir, began.Format("20060102"), fmt.Sprint(began.Hour()))
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		file := must.Get(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
		must.Get(file.WriteString(text))(t)
		must.Do(t, file.Close())
	}
	read := func(dir string, from Position) (ids []int64, at Position) {
		f := &Files{Dir: dir, Stats: new(Stats), Log: slog.New(slog.DiscardHandler), Read: ReadTwaps, ends: true}
		must.Do(t, f.Follow(t.Context(), from, func(_ context.Context, d Delivery) error {
			for _, s := range d.Events.Twaps {
				ids = append(ids, *s.TwapID)
			}
			at = d.Position
			return nil
		}))
		return ids, at
	}
	write(dir, block(1, began)+block(2, began.Add(time.Minute)))
	ids, at := read(dir, Position{})
	check.Equal(t, []int64{1, 2}, ids)
	write(dir, block(3, began.Add(2*time.Minute))+block(4, began.Add(3*time.Hour)))
	ids, _ = read(dir, at)
	check.Equalf(t, []int64{3}, ids, "behind the position, without the one of the future")
	other := t.TempDir()
	write(other, strings.Repeat("\n", 5000)+block(1, began.Add(-time.Second))+block(2, began.Add(time.Minute))+block(3, began.Add(2*time.Minute)))
	ids, _ = read(other, at)
	if len(ids) == 0 || ids[len(ids)-1] != 3 {
		t.Errorf("of another node %v are read", ids)
	}
}
