package topfills

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFewJoinsTheNearestAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var spans []span
		covered := map[int64]bool{}
		for range rapid.IntRange(0, 30).Draw(rt, "n") {
			from := rapid.Int64Range(0, 200).Draw(rt, "from")
			s := span{from, from + rapid.Int64Range(0, 5).Draw(rt, "width")}
			spans = append(spans, s)
			for ms := s.from; ms < s.to; ms++ {
				covered[ms] = true
			}
		}
		joined := merged(slices.Clone(spans))
		if len(joined) > maxSpans {
			rt.Fatalf("%d spans", len(joined))
		}
		total := 0
		for i, s := range joined {
			if s.from >= s.to || i > 0 && s.from <= joined[i-1].to {
				rt.Fatalf("%v is not in order", joined)
			}
			for ms := s.from; ms < s.to; ms++ {
				if covered[ms] {
					total++
				}
			}
		}
		if total != len(covered) {
			rt.Fatalf("%v covers %d of %d", joined, total, len(covered))
		}
	})
	far := merged([]span{{0, 1}, {100, 101}, {103, 104}, {200, 201}, {300, 301}, {400, 401}, {500, 501}, {600, 601}, {700, 701}})
	if len(far) != maxSpans || far[1] != (span{100, 104}) {
		t.Errorf("%v, want the two nearest joined", far)
	}
}

func TestAnUnreadableRowIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`x`, `{}`, `[1]`, `[`, `[{"side":"B"}]`, `[{"val":"x"}]`, `[{"val":"1","endPosition":""}]`, `[{"val":"1","endPosition":"1","side":"C"}]`} {
		if top, err := Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %+v", body, top)
		}
	}
}
