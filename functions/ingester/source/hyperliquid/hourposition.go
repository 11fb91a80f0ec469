package hyperliquid

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/market"
)

// hourStream is a stream of which the venue publishes hours.
type hourStream struct {
	name string // its folder
	read func(e *market.Events, line string, offset int64) (skipped int, err error)

	// dense says that it has a line for each block, one without events too. Of fills the recorded
	// lines show it; of the other nothing does.
	dense bool
}

// hourStreams are those of which hours are read. The events of a block are emitted in their order: it begins with
// the funding.
var hourStreams = [...]hourStream{
	{name: "misc_events_by_block", read: ReadMisc},
	{name: "node_fills_by_block", read: readFills, dense: true},
}

const fillStream = 1 // of hourStreams

// key is where a stream's file of an hour is.
func (s *hourStream) key(h hourFile) string { return s.day(h) + fmt.Sprint(h.hour) + ".lz4" }

// day is what the keys of a day begin with.
func (s *hourStream) day(h hourFile) string { return fmt.Sprintf("%s/hourly/%08d/", s.name, h.day) }

// byStream has something of each stream.
type byStream [len(hourStreams)]int64

// HoursPosition is a place in the hours that the venue publishes.
type HoursPosition struct {
	Hour   string   `json:"hour,omitempty"`   // that is read or waited for, e.g. 20260315/7; "" before the first
	Blocks byStream `json:"blocks,omitempty"` // number of the last block of each stream that was emitted, 0 before the first

	// Torn says that the fills of the hour before were not read: those of this one need not follow
	// the last block.
	Torn bool `json:"torn,omitempty"`

	Read map[string]string `json:"read,omitempty"` // ETags by key: of what was read and may be replaced yet, and of what is being read
	Sums map[string]string `json:"sums,omitempty"` // of what those of Read have in them, as far as they were read to the end
	Owed []string          `json:"owed,omitempty"` // keys of files that were passed over, sorted

	Late *LateHour `json:"late,omitempty"` // an hour before that is being read
}

// Until is up to when, ms, everything was read or passed over; 0 before the first hour.
func (p *HoursPosition) Until() int64 {
	hour, err := parseHour(p.Hour)
	if err != nil {
		return 0
	}
	return hour.begins().UnixMilli()
}

// Missing are the hours, each by its beginning, ms, that were passed over, in whole or in part, and have not come.
func (p *HoursPosition) Missing() (hours []int64) {
	for _, key := range p.Owed {
		if h, ok := hourOf(key); ok {
			hours = append(hours, h.begins().UnixMilli())
		}
	}
	slices.Sort(hours)
	return slices.Compact(hours)
}

// begunUntil is up to when, ms, something may have been emitted; 0 before the first hour.
func (p *HoursPosition) begunUntil() int64 {
	hour, err := parseHour(p.Hour)
	if err != nil {
		return 0
	}
	for i := range hourStreams {
		if _, begun := p.Read[hourStreams[i].key(hour)]; begun {
			return hour.ends().UnixMilli()
		}
	}
	return p.Until()
}

// LateHour is a place in an hour that came when it had been passed over, or that is read again as it
// was replaced.
type LateHour struct {
	Hour   string            `json:"hour"`
	ETags  map[string]string `json:"etags"` // of what is read of it, by key
	Blocks byStream          `json:"blocks"`
}

const (
	// passAfter is how long behind its end an hour is waited for.
	passAfter = 6 * time.Hour
	// replacedFor is how long a file may be replaced behind the end of its hour.
	replacedFor = 48 * time.Hour
	// mostOwed bounds the files that were passed over and are still looked for: those of two weeks.
	mostOwed = 14 * 24 * len(hourStreams)
)

// hourAt is the hour of a time.
func hourAt(t time.Time) hourFile {
	y, m, d := t.UTC().Date()
	return hourFile{day: y*10_000 + int(m)*100 + d, hour: t.UTC().Hour()}
}

func (h hourFile) begins() time.Time {
	return time.Date(h.day/10_000, time.Month(h.day/100%100), h.day%100, h.hour, 0, 0, 0, time.UTC)
}

func (h hourFile) ends() time.Time { return h.begins().Add(time.Hour) }
func (h hourFile) next() hourFile  { return hourAt(h.ends()) }

// parseHour reads what [hourFile.String] has written.
func parseHour(name string) (h hourFile, err error) {
	if _, err = fmt.Sscanf(name, "%d/%d", &h.day, &h.hour); err != nil || hourAt(h.begins()) != h || h.String() != name {
		return h, fmt.Errorf("%q is no hour", name)
	}
	return h, nil
}

// hourOf is the hour of a file's key.
func hourOf(key string) (h hourFile, ok bool) {
	_, name, _ := strings.Cut(strings.TrimSuffix(key, ".lz4"), "/hourly/")
	h, err := parseHour(name)
	return h, err == nil
}

// done is the position behind an hour that was read in its order, of which files were read and others were
// passed over.
func (p HoursPosition) done(h hourFile, copies [len(hourStreams)]*hourCopy, passed []string, now time.Time) HoursPosition {
	p.Hour = h.next().String()
	p.Torn = slices.Contains(passed, hourStreams[fillStream].key(h))
	p.Owed = append(slices.Clone(p.Owed), passed...)
	return p.reading(etagsOf(copies)).summed(copies).tidy(now)
}

// summed is the position of whoever has read some files to the end.
func (p HoursPosition) summed(copies [len(hourStreams)]*hourCopy) HoursPosition {
	all := maps.Clone(p.Sums)
	for _, c := range copies {
		if c == nil {
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		if all[c.key] = c.sum; p.Read[c.key] != c.file.ETag { // it was begun in another version
			delete(all, c.key)
		}
	}
	p.Sums = all
	return p
}

// knows reports whether a file has in it what was read of the version before.
func (p *HoursPosition) knows(c *hourCopy) bool {
	return c != nil && c.sum == p.Sums[c.key] && !slices.Contains(p.Owed, c.key)
}

// reading is the position of whoever begins with some files. Of one that was begun in another version
// the first stays, so that it is read again.
func (p HoursPosition) reading(files map[string]string) HoursPosition {
	all := maps.Clone(files)
	maps.Copy(all, p.Read)
	p.Read = all
	return p
}

// renumbered is the position before an hour that was waited for in vain. Of a file that ends before the last
// block that was read all is read: that number was wrong, or the numbers begin again. Else nothing
// would be read any more.
func (p HoursPosition) renumbered(copies [len(hourStreams)]*hourCopy) HoursPosition {
	for i, c := range copies {
		if c == nil {
			continue
		}
		if _, begun := p.Read[c.key]; !begun && 0 < c.last && c.last <= p.Blocks[i] {
			p.Blocks[i] = 0
		}
	}
	return p
}

// doneLate is the position behind an hour that came late. If it is the one before that which comes next, the fills of
// that follow these.
func (p HoursPosition) doneLate(hour hourFile, copies [len(hourStreams)]*hourCopy, now time.Time) HoursPosition {
	read := maps.Clone(p.Late.ETags)
	for key, etag := range p.Read {
		if read[key] == "" {
			read[key] = etag
		}
	}
	owed := slices.DeleteFunc(slices.Clone(p.Owed), func(key string) bool { return p.Late.ETags[key] != "" })
	if hour.next().String() == p.Hour {
		for i, c := range copies {
			if c == nil {
				continue
			}
			if p.Blocks[i] = max(p.Blocks[i], c.last); i == fillStream {
				p.Torn = false
			}
		}
	}
	p.Read, p.Owed, p.Late = read, owed, nil
	return p.summed(copies).tidy(now)
}

// awaits reports whether a version of a file behind which others were read is to be read.
func (p *HoursPosition) awaits(key, etag string) bool {
	had, read := p.Read[key]
	return etag != "" && (read && had != etag || slices.Contains(p.Owed, key))
}

// before are the hours before the next one of which something may come, the first one first.
func (p *HoursPosition) before(now time.Time) (hours []hourFile) {
	next, err := parseHour(p.Hour)
	if err != nil {
		return nil
	}
	for _, key := range slices.AppendSeq(slices.Clone(p.Owed), maps.Keys(p.Read)) {
		h, ok := hourOf(key)
		if ok && h.compare(next) < 0 && (h.replaceable(now) || slices.Contains(p.Owed, key)) {
			hours = append(hours, h)
		}
	}
	slices.SortFunc(hours, hourFile.compare)
	return slices.Compact(hours)
}

// tidy leaves out what is not looked for any more.
func (p HoursPosition) tidy(now time.Time) HoursPosition {
	at, err := parseHour(p.Hour)
	if err != nil {
		return p
	}
	maps.DeleteFunc(p.Read, func(key, _ string) bool {
		h, ok := hourOf(key)
		return !ok || h.compare(at) < 0 && !h.replaceable(now)
	})
	maps.DeleteFunc(p.Sums, func(key, _ string) bool { return p.Read[key] == "" })
	slices.SortFunc(p.Owed, func(a, b string) int {
		x, _ := hourOf(a)
		y, _ := hourOf(b)
		return cmp.Or(x.compare(y), cmp.Compare(a, b))
	})
	p.Owed = slices.Compact(p.Owed)
	if n := len(p.Owed) - mostOwed; n > 0 {
		p.Owed = slices.Delete(p.Owed, 0, n)
	}
	return p
}

// replaceable reports whether another version of an hour's files is looked for.
func (h hourFile) replaceable(now time.Time) bool { return now.Sub(h.ends()) < replacedFor }
