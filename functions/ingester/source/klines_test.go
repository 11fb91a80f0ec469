package source_test

import (
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func TestAWindowMakesARunOfRowsThatComeNewestFirst(t *testing.T) {
	t.Parallel()
	const from, minute = int64(1_790_000_040_000), int64(60_000)
	row := func(place int64, size string, ended bool) source.KlineRow {
		r := must.Get(source.NewKlineRow("1790000040000", "10", "12", "9", "11", size, "5"))(t)
		r.OpenTime, r.Ended = from+place*minute, ended
		return r
	}
	w := source.NewKlineWindow(market.Minute1, from, 4, 300) // and a fifth to see the end
	for _, c := range []struct {
		name          string
		rows          []source.KlineRow
		to            int64 // minutes; -1 for an error
		candles, open int   // open: 1 when there is an open candle
	}{
		{"a full page", []source.KlineRow{row(4, "1", true), row(3, "1", true), row(2, "1", true), row(1, "1", true), row(0, "1", true)}, 4, 4, 1},
		{"until the open one", []source.KlineRow{row(2, "1", false), row(1, "1", true), row(0, "1", true)}, 2, 2, 1},
		{"minutes without a trade, and without a row", []source.KlineRow{row(3, "1", true), row(1, "0", true)}, 4, 1, 0},
		{"one behind an open one", []source.KlineRow{row(2, "1", true), row(1, "1", false)}, -1, 0, 0},
		{"oldest first", []source.KlineRow{row(0, "1", true), row(1, "1", true)}, -1, 0, 0},
		{"one twice", []source.KlineRow{row(1, "1", true), row(1, "1", true)}, -1, 0, 0},
		{"one from before", []source.KlineRow{row(0, "1", true), row(-1, "1", true)}, -1, 0, 0},
		{"one from behind", []source.KlineRow{row(5, "1", true)}, -1, 0, 0},
	} {
		run, err := w.Run("btcusdt:okex", c.rows)
		if c.to < 0 {
			if err == nil {
				t.Errorf("%s: %+v", c.name, run)
			}
			continue
		}
		if err != nil || run.From != from || run.To != from+c.to*minute || len(run.Candles) != c.candles || run.Open.Empty() != (c.open == 0) {
			t.Errorf("%s: %+v, %v", c.name, run, err)
		}
	}
	for newest, to := range map[int64]int64{from - minute: from, from + 2*minute: from + 2*minute, from + 90*minute: from + 4*minute} {
		if run := w.EmptyRun("btcusdt:okex", newest); run.To != to {
			t.Errorf("without rows, the newest at %d: it ends at %d, want %d", newest, run.To, to)
		}
	}
}
