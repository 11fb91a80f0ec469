package bybit

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"quotary/internal/testenv"
	"quotary/shared/source"
)

// read is what a file of frames holds.
type read struct{ frames, trades, answers int }

func (r *read) add(t *testing.T, line []byte) {
	t.Helper()
	var f source.Frame
	if err := parse(string(line), &f); err != nil {
		t.Errorf("%v: %.200s", err, line)
	}
	r.frames++
	r.trades += len(f.Events.Trades)
	if f.Answered {
		r.answers++
	}
}

func TestRecordedFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want read
		each func(t *testing.T, line []byte, got *read)
	}{
		"bybit_wsTicker.jsonl": {read{8, 0, 0}, func(t *testing.T, line []byte, got *read) { got.add(t, line) }},
		"venue_ws_frames.jsonl": {read{39, 9, 0}, func(t *testing.T, line []byte, got *read) {
			var l struct {
				Venue string
				Frame json.RawMessage
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(l.Venue, "bybit") {
				got.add(t, l.Frame)
			}
		}},
		"liquidation_ws_frames_2026.jsonl": {read{1, 0, 0}, func(t *testing.T, line []byte, got *read) {
			var l struct {
				Venue string
				Frame json.RawMessage
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(l.Venue, "bybit") {
				got.add(t, l.Frame)
			}
		}},
		"fixtures/ws.jsonl": {read{22, 3, 7}, func(t *testing.T, line []byte, got *read) {
			var l struct {
				Venue  string
				Frames []struct {
					Dir   string
					Frame json.RawMessage
				}
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			for _, f := range l.Frames {
				if l.Venue == "bybit" && f.Dir != "out" {
					if f.Dir == "ack" {
						f.Frame = []byte(strings.ReplaceAll(string(f.Frame), `|1|`, `1`)) // a place holder
					}
					got.add(t, f.Frame)
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got read
			lines := testenv.Recording(t, "exchanges/"+name)
			for lines.Scan() {
				c.each(t, lines.Bytes(), &got)
			}
			if lines.Err() != nil {
				t.Fatal(lines.Err())
			}
			if got != c.want {
				t.Errorf("%+v were read, want %+v", got, c.want)
			}
		})
	}
}

// The documentation's examples: of instruments those that trade, and the rows of K-lines.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	markets := Open("", slog.New(slog.DiscardHandler))
	lines := testenv.Recording(t, "exchanges/fixtures/bybit.jsonl")
	rows, keys := 0, []string{}
	for lines.Scan() {
		var l struct {
			Path     string
			Response json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		switch l.Path {
		case "/v5/market/kline":
			var a answer[[]string]
			if err := json.Unmarshal(l.Response, &a); err != nil {
				t.Fatal(err)
			}
			for _, fields := range a.Result.List {
				if _, err := klineRow(fields); err != nil {
					t.Errorf("%v: %v", fields, err)
				}
				rows++
			}
		case "/v5/market/instruments-info":
			var a struct {
				Result struct {
					Category string
					List     []instrument
				}
			}
			if err := json.Unmarshal(l.Response, &a); err != nil {
				t.Fatal(err)
			}
			for i := range a.Result.List {
				for _, m := range markets {
					if pair, ok := m.pair(&a.Result.List[i]); ok && m.category == a.Result.Category {
						keys = append(keys, pair.Key)
					}
				}
			}
		}
	}
	if got := strings.Join(keys, " "); rows != 3 || got != "btcswapusdt:bybit btcusdt:bybit" {
		t.Errorf("%d rows, want 3; pairs %s", rows, got)
	}
}
