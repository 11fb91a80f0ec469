package sourcetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Frames is how an adapter reads the frames of a connection.
type Frames func() source.Parser

// Read reads frames of one connection; what is returned is said by the last.
func (p Frames) Read(lines ...string) (f source.Frame, err error) {
	parse := p()
	for _, line := range lines {
		f.Reset()
		if err := parse(line, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Is holds a frame, the first of its connection, to what it says.
func (p Frames) Is(t *testing.T, name, line string, want source.Frame) {
	t.Helper()
	check.Equalf(t, want, must.Get(p.Read(line))(t), "%s", name)
}

// Refuses holds changes of a frame, each of what is replaced by what, to being refused: as a
// whole, or in the one row that is changed, which is counted and costs no other.
func (p Frames) Refuses(t *testing.T, line string, changes map[string][2]string) {
	t.Helper()
	sound := must.Get(p.Read(line))(t)
	for name, change := range changes {
		changed := strings.Replace(line, change[0], change[1], 1)
		if changed == line {
			t.Fatalf("%s changes nothing", name)
		}
		if f, err := p.Read(changed); err == nil && (f.Bad != 1 || f.Events.Len() != sound.Events.Len()-1) {
			t.Errorf("%s: %+v, %d rows left out", name, f.Events, f.Bad)
		}
	}
}

// leastTime is the first time, ms, that an event may have.
const leastTime = 1_400_000_000_000

// Fuzz holds whatever comes behind a frame to being refused, or to being what can be: is says
// what that is of the exchange besides.
func (p Frames) Fuzz(f *testing.F, before string, is func(*source.Frame) bool, lines ...string) {
	for _, line := range append(lines, "", before, `{"data":[]}`, `[]`) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := p.Read(before, line)
		if err != nil {
			return
		}
		sound := is(&got)
		for _, one := range got.Events.Trades {
			sound = sound && one.Pair != "" && one.Count > 0 && one.Px.IsPos() && one.Sz.IsPos() && one.Time >= leastTime
		}
		for _, one := range got.Events.Fundings {
			sound = sound && one.Pair != "" && !one.Paid && one.Due >= 0 && one.Period >= 0 && one.Time >= leastTime
		}
		for _, one := range got.Events.Liquidations {
			sound = sound && one.Pair != "" && one.Px.IsPos() && one.Sz.IsPos() && one.Time >= leastTime
		}
		if b := &got.Book; b.Symbol != "" {
			sound = sound && b.Time >= leastTime && (b.Snapshot || b.First <= b.Last+1)
			for _, l := range slices.Concat(b.Bids, b.Asks) {
				sound = sound && l.Px.IsPos() && !l.Sz.IsNeg()
			}
		}
		if !sound {
			t.Fatalf("%+v", got)
		}
	})
}

// Benchmark measures how frames are read, again and again in one connection that has read one
// before.
func (p Frames) Benchmark(b *testing.B, before string, frames map[string][]string) {
	for name, lines := range frames {
		b.Run(name, func(b *testing.B) {
			var f source.Frame
			parse := p()
			must.Do(b, parse(before, &f))
			text := make([][]byte, len(lines))
			for i, line := range lines {
				text[i] = []byte(line)
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				f.Reset()
				if err := parse(string(text[n%len(text)]), &f); err != nil || f.Bad > 0 {
					b.Fatal(err, f.Bad)
				}
			}
		})
	}
}

// Recorded is what a file of frames holds: how many are refused, or have rows that are left out,
// and what the others say.
type Recorded struct{ Frames, Refused, Rows, Answers, Trades, Fundings, Longs, Shorts, Books int }

// Recordings holds files of recorded frames to what they hold, each read as one connection. Of
// those of several venues the frames of one are read, by the beginning of its name.
func (p Frames) Recordings(t *testing.T, venue string, files map[string]Recorded) {
	for name, want := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got Recorded
			parse := p()
			lines := testenv.Recording(t, "exchanges/"+name)
			for lines.Scan() {
				for _, frame := range framesOf(t, venue, lines.Bytes()) {
					got.add(t, parse, string(frame))
				}
			}
			must.Do(t, lines.Err())
			if got != want {
				t.Errorf("%+v were read, want %+v", got, want)
			}
		})
	}
}

// framesOf are the frames in a line, without those that were sent and answers of REST. A line
// is a frame, or has one, or several.
func framesOf(t *testing.T, venue string, line []byte) (frames []json.RawMessage) {
	t.Helper()
	type received struct {
		Dir   string
		Frame json.RawMessage
	}
	var l struct {
		Venue string
		received
		Frames []received
	}
	must.Do(t, json.Unmarshal(line, &l))
	switch {
	case !strings.HasPrefix(l.Venue, venue) && l.Venue != "":
		return nil
	case l.Venue == "" && l.Dir == "":
		return []json.RawMessage{line}
	}
	for _, f := range append(l.Frames, l.received) {
		if f.Frame != nil && f.Dir != "out" && f.Dir != "http" {
			frames = append(frames, []byte(strings.ReplaceAll(string(f.Frame), `"|1|"`, `"1"`))) // a place holder
		}
	}
	return frames
}

func (r *Recorded) add(t *testing.T, parse source.Parser, line string) {
	t.Helper()
	var f source.Frame
	if err := parse(line, &f); err != nil {
		t.Logf("%v: %.200s", err, line)
		r.Refused++
		f.Reset()
	}
	r.Frames++
	r.Rows += f.Bad
	r.Trades += len(f.Events.Trades)
	r.Fundings += len(f.Events.Fundings)
	for _, l := range f.Events.Liquidations {
		if l.Long {
			r.Longs++
		} else {
			r.Shorts++
		}
	}
	if f.Book.Symbol != "" {
		r.Books++
	}
	if f.Answered {
		r.Answers++
	}
}
