package hyperliquid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pierrec/lz4/v4"

	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// busyHour is an hour as large as one of the venue's: 52,000 blocks with 420,000 fills, both sides of each
// trade, and what 60,000 positions paid.
func busyHour(tb testing.TB, at hourFile) (fills, misc []byte) {
	tb.Helper()
	const blocks, trades, positions = 52_000, 210_000, 60_000
	r := rand.New(rand.NewPCG(1, 2))
	coins := []string{"BTC", "ETH", "HYPE", "SOL", "kPEPE", "FARTCOIN", "xyz:TSLA", "@107"}
	address := func() string { return fmt.Sprintf("0x%016x%016x%08x", r.IntN(20_000), 77, 5) }
	pack := func(write func(add func(string))) []byte {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		write(func(text string) { must.Get(w.Write([]byte(text)))(tb) })
		must.Do(tb, w.Close())
		return b.Bytes()
	}
	stamp := func(block int) (string, string) {
		when := at.begins().Add(time.Duration(block) * time.Hour / (blocks + 1))
		return when.Format(wire.NodeTime), fmt.Sprintf(`{"local_time":%q,"block_time":%q,"block_number":%d,"events":[`, when.Add(200*time.Millisecond).Format(wire.NodeTime), when.Format(wire.NodeTime), 923_950_857+block)
	}
	fills = pack(func(add func(string)) {
		tid := 0
		for block := range blocks {
			when, head := stamp(block)
			ms := must.Get(time.Parse(wire.NodeTime, when))(tb).UnixMilli()
			add(head)
			hash := fmt.Sprintf("0x%016x%016x%016x%016x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
			for separator := ""; tid < trades*(block+1)/blocks; tid++ {
				coin, px, sz := coins[r.IntN(len(coins))], 90_000+r.IntN(300), r.IntN(50)
				for side := range 2 {
					add(separator + fmt.Sprintf(`[%q,{"coin":%q,"px":"%d.5","sz":"%d.25","side":"%c","time":%d,"startPosition":"%d.0","dir":"Open Long","closedPnl":"%d.125","hash":%q,"oid":%d,"crossed":%t,"fee":"0.%06d","tid":%d,"feeToken":"USDC","twapId":null}]`,
						address(), coin, px, sz, "BA"[side], ms, r.IntN(90_000), r.IntN(90_000), hash, r.IntN(1<<38), side == 0, r.IntN(1_000_000), int64(tid)*7919))
					separator = ","
				}
			}
			add("]}\n")
		}
	})
	misc = pack(func(add func(string)) {
		for block := range blocks {
			when, head := stamp(block)
			add(head)
			if block == 0 {
				add(fmt.Sprintf(`{"time":%q,"hash":"0x0","inner":{"Funding":{"deltas":[`, when))
				for i := range positions {
					add(strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"user":%q,"coin":%q,"funding_amount":"-%d.%06d","szi":"%d.5","funding_rate":"0.0000125"}`, address(), coins[i%len(coins)], i, i, i))
				}
				add(`]}}}`)
			}
			add("]}\n")
		}
	})
	return fills, misc
}

// BenchmarkAnHourLikeTheVenues is read, looked through and parsed; what is done with it comes on top. It should
// take less than 30 s of one core and 300 MB.
//
//	35.3 MB of LZ4, 420,000 fills    1.4 s of processor, 230 MB
func BenchmarkAnHourLikeTheVenues(b *testing.B) {
	at := hourAt(time.Now().Add(-90 * time.Minute))
	fills, misc := busyHour(b, at)
	bucket := &hourBucket{gets: map[string]int{}, files: map[string][]byte{hourStreams[fillStream].key(at): fills, hourStreams[0].key(at): misc}}
	enough := errors.New("the hour is read")
	for b.Loop() {
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		before, most, events := memory.HeapAlloc, uint64(0), 0
		h := &Hours{Bucket: bucket, Since: 90 * time.Minute, Stats: new(Stats), Log: quiet}
		deliveries := 0
		err := h.Follow(context.Background(), HoursPosition{Hour: at.String()}, func(_ context.Context, d HoursDelivery) error {
			events += len(d.Events.Fills)
			if deliveries++; deliveries%20 == 0 {
				runtime.ReadMemStats(&memory)
				most = max(most, memory.HeapAlloc)
			}
			if d.Position.Hour != at.String() {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || events != 420_000 {
			b.Fatalf("%d fills, %v", events, err)
		}
		b.ReportMetric(float64(most-before)/1e6, "MB")
	}
	b.ReportMetric(float64(len(fills)+len(misc))/1e6, "MB-packed")
}
