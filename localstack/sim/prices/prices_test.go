package prices

import (
	"testing"
	"time"
)

func TestAWalkStaysAroundItsStart(t *testing.T) {
	t.Parallel()
	most := int64(0)
	for _, wave := range waves {
		most += wave.far
	}
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli()
	for coin, start := range starts {
		w, same, other := WalkOf(1, coin), true, WalkOf(2, coin)
		if !w.Known() || w.Start(9) != start {
			t.Errorf("%s begins at %d", coin, w.Start(9))
		}
		for ms := at; ms < at+400*day; ms += 7 * hour {
			price := w.At(ms, 9)
			if off := (price - start) * 1000 / start; off > most/1000 || off < -most/1000 {
				t.Fatalf("%s is at %d, begun at %d", coin, price, start)
			}
			if next := w.At(ms+60_000, 9); (next-price)*1000/start > 1 || (next-price)*1000/start < -1 {
				t.Fatalf("%s goes from %d to %d in a minute", coin, price, next)
			}
			same = same && price == other.At(ms, 9)
		}
		if same {
			t.Errorf("another seed makes the same prices of %s", coin)
		}
	}
	if btc := WalkOf(1, "BTC"); btc.Start(1) != 980_000 || btc.At(at, 2)/10 != btc.At(at, 1) {
		t.Errorf("%d, %d", btc.At(at, 2), btc.At(at, 1))
	}
	if none := WalkOf(1, "NONE"); none.Known() || none.At(at, 9) != 0 {
		t.Errorf("%+v", none)
	}
}
