package positions_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/positions"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestPositionsSurviveTheirEncoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := new(market.Positions)
		for range rapid.IntRange(0, 30).Draw(t, "positions") {
			size := must.Get(market.ParseDecimal(rapid.StringMatching(`-?[0-9]{1,6}\.[0-9]{1,8}`).Draw(t, "size")))(t)
			one := market.Position{Coin: rapid.SampledFrom([]string{"BTC", "xyz:GOLD", `q"\`, "k\u00fc"}).Draw(t, "coin"), Size: size,
				Last: market.Order{Time: rapid.Int64Range(1, 1e13).Draw(t, "ms"), Seq: rapid.Int64().Draw(t, "seq"), Tid: rapid.Int64().Draw(t, "tid")}}
			binary.BigEndian.PutUint32(one.Account[:], rapid.Uint32Range(0, 20).Draw(t, "account"))
			p.Restore(one)
			p.RestoreNewest(one.Last.Time)
		}
		body := positions.Published.Encode(p)
		again := must.Get(positions.Published.Decode(body))(t)
		if w, g := string(body), string(positions.Published.Encode(again)); w != g || again.Len() != p.Len() {
			t.Fatalf("read again it is\n%s, was\n%s", g, w)
		}
		for _, coin := range p.Coins() {
			if w, g := fmt.Sprint(p.OpenInterest(coin)), fmt.Sprint(again.OpenInterest(coin)); w != g {
				t.Fatalf("%s: %s, was %s", coin, g, w)
			}
		}
	})
}

func TestWhatAreNoPositionsIsRefused(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0", 40)
	for _, body := range []string{`[]`, `{"coins":{"BTC":[7]}}`, `{"coins":{"BTC":["x 1.0 1 1 1"]}}`, `{"coins":{"BTC":["` + id + ` one 1 1 1"]}}`,
		`{"coins":{"BTC":["` + id + ` 1.0 1 1"]}}`, `{"coins":{"BTC":["` + id + ` 1.0 1 x 1"]}}`, `{"coins":{"BTC":["` + strings.Repeat("x", 40) + ` 1.0 1 1 1"]}}`} {
		if p, err := positions.Published.Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %+v", body, p)
		}
	}
}

// BenchmarkPositions measures what a snapshot of 300,000 positions costs to
// write and to read.
func BenchmarkPositions(b *testing.B) {
	var p market.Positions
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 300_000 {
		size := must.Get(market.ParseDecimal(fmt.Sprintf("%d.%05d", r.IntN(100), 1+r.IntN(99_998))))(b)
		one := market.Position{Coin: []string{"BTC", "ETH", "SOL"}[i%3], Size: size, Last: market.Order{Time: 1_773_532_740_000 + int64(i), Seq: int64(i), Tid: int64(i + 1)}}
		binary.BigEndian.PutUint64(one.Account[:], r.Uint64())
		binary.BigEndian.PutUint64(one.Account[8:], r.Uint64())
		p.Restore(one)
	}
	body := positions.Published.Encode(&p)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			body = positions.Published.Encode(&p)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			must.Get(positions.Published.Decode(body))(b)
		}
	})
}
