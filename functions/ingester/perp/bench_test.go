package perp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/fills"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// blocks makes lines of a by-block file: 16 trades a block, four blocks a
// second, 60 coins of which a few take most of the flow, and 2,000 accounts whose
// positions open, turn and close.
func blocks(n int) []string {
	lines := make([]string, n)
	held := map[string]int{} // by account and coin, thousandths
	for b := range lines {
		var s strings.Builder
		ms := int64(base) + int64(b)*250
		fmt.Fprintf(&s, `{"local_time":"2026-03-15T00:00:00.196239755","block_time":"2026-03-14T23:59:59.991006841","block_number":%d,"events":[`, 900_000_000+b)
		for i := range 16 {
			k := b*16 + i
			coin := fmt.Sprintf("C%d", (k*k+k/7)%60)
			if i < 8 {
				coin = [...]string{"BTC", "ETH", "SOL", "HYPE"}[k%4]
			}
			sz := k%50*1000 + 1 + k%999
			px, size := fmt.Sprintf("%d.%d", 1000+k%97, k%10), thousandths(sz)
			for side, who := range [...]int{(k * k) % 1000, 1000 + (k*7)%1000} {
				address := fmt.Sprintf("0x%040x", who)
				start, pnl := held[address+coin], "0.0"
				if start != 0 && (start < 0) == (side == 0) {
					pnl = "1.25"
				}
				held[address+coin] = start + sz - 2*side*sz
				if i+side > 0 {
					s.WriteByte(',')
				}
				fmt.Fprintf(&s, `["%s",{"coin":"%s","px":"%s","sz":"%s","side":"%c","time":%d,"startPosition":"%s","dir":"Open Long","closedPnl":"%s","hash":"0xe9ceeec0f592c513eb480437125f090202ac00a69095e3e58d979a13b4969efe","oid":%d,"crossed":%t,"fee":"-0.000461","tid":%d,"cloid":"0x00000000000000000000019ced6ba96e","feeToken":"USDC","twapId":null}]`,
					address, coin, px, size, "BA"[side], ms, thousandths(start), pnl, 349162667230+2*k+side, side == k%2, 868180814349127+k)
			}
		}
		s.WriteString(`]}`)
		lines[b] = s.String()
	}
	return lines
}

// thousandths is the text of a quantity.
func thousandths(n int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000)
}

// BenchmarkReplay measures what a replay costs but for the stores: reading the
// lines, all projections, and the rows and views to be written, in batches as
// the ingester makes them.
func BenchmarkReplay(b *testing.B) {
	lines := blocks(4000)
	const linesPerBatch = 156 // about 5,000 fills
	read, rows := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		s := newSet()
		for from := 0; from < len(lines); from += linesPerBatch {
			e := NewBatch()
			for _, line := range lines[from:min(from+linesPerBatch, len(lines))] {
				var err error
				if e.Fills, _, err = wire.ParseFills(e.Fills, line, 0); err != nil {
					b.Fatal(err)
				}
			}
			now := e.Fills[len(e.Fills)-1].When()
			must.Get(s.apply(e, now, nil))(b)
			c := s.changes(now.Add(time.Second), false)
			read += len(e.Fills)
			rows += len(fills.AppendRows(nil, e.Fills)) + len(c.Coarse) + len(c.Fine)
		}
		if n := of[*accountStates](s).figures.gaps.Load(); n > 0 {
			b.Fatalf("%d gaps: the accounts are not folded", n)
		}
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "fills/s")
	b.ReportMetric(float64(rows)/float64(read), "rows/fill")
}
