package hyperliquid

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// listedDay is an answer of the bucket.
type listedDay struct {
	files map[string]HourFile
	at    time.Time
}

// hourFault is what is wrong with a version of a file.
type hourFault struct {
	etag  string
	tries int // how often it was found
	err   error
	whole bool // it is whole by itself, and does not follow what was read before
}

const (
	// brokenTries is how often one version of a file is fetched to find it broken: each time is paid for.
	brokenTries = 3
	// mostVersions is how many versions of a file are fetched: who replaces all files of two days every few
	// minutes would have them paid for as often, and all accounts in them made again.
	mostVersions = 3
	// mostFetched is of how many files it is known how many versions were fetched: of all that are looked for.
	mostFetched = 2 * mostOwed
)

// fetchedHour is what was fetched of a file.
type fetchedHour struct {
	etag     string // of the last version
	versions int
}

var errReplaced = fmt.Errorf("it was replaced again and again: no more than %d versions of it are read", mostVersions)

// isReplacedTooOften reports whether another version of a file is fetched no more.
func (h *Hours) isReplacedTooOften(key, etag string) bool {
	f := h.fetched[key]
	return f.etag != etag && f.versions >= mostVersions
}

// noteFetched notes that a version of a file is fetched.
func (h *Hours) noteFetched(key, etag string) {
	if f := h.fetched[key]; f.etag != etag {
		h.fetched[key] = fetchedHour{etag, f.versions + 1}
	}
	if len(h.fetched) > mostFetched {
		maps.DeleteFunc(h.fetched, func(key string, _ fetchedHour) bool {
			hour, ok := hourOf(key)
			return !ok || time.Since(hour.ends()) > time.Duration(mostOwed)*time.Hour
		})
	}
}

// hourFiles are the files of an hour, one of each stream; without an ETag it is not there.
type hourFiles [len(hourStreams)]HourFile

// files are those of an hour, as the bucket listed them within half a poll.
func (h *Hours) files(ctx context.Context, hour hourFile) (files hourFiles, err error) {
	for i := range hourStreams {
		s := &hourStreams[i]
		prefix := s.day(hour)
		day, ok := h.listed[prefix]
		if !ok || time.Since(day.at) >= h.poll()/2 {
			list, err := h.Bucket.List(ctx, prefix)
			if err != nil {
				return files, err
			}
			day = listedDay{list, time.Now()}
			h.listed[prefix] = day
		}
		files[i] = day.files[s.key(hour)]
	}
	return files, nil
}

// isFaulty reports whether nothing is expected of a version of a file any more.
func (h *Hours) isFaulty(key, etag string) bool {
	f := h.faults[key]
	return f != nil && f.etag == etag && f.tries >= brokenTries || h.isReplacedTooOften(key, etag)
}

// hopeful reports whether all files of an hour are there, and nothing is known against them: else none
// is fetched, as each time is paid for.
func (h *Hours) hopeful(files *hourFiles, hour hourFile) bool {
	for i, f := range files {
		if f.ETag == "" || h.isFaulty(hourStreams[i].key(hour), f.ETag) {
			return false
		}
	}
	return true
}

// copies are the files of an hour that are whole, nil for the others. Of each of these missing says why.
func (h *Hours) copies(ctx context.Context, hour hourFile, files *hourFiles) (copies [len(hourStreams)]*hourCopy, missing []string, err error) {
	for i, f := range files {
		key := hourStreams[i].key(hour)
		if f.ETag == "" {
			missing = append(missing, key+" is not there")
			continue
		}
		copies[i], err = h.fetch(ctx, key, f)
		if isBroken(err) {
			missing = append(missing, err.Error())
		} else if err != nil {
			return copies, nil, err
		}
	}
	return copies, missing, nil
}

// fetch fetches a version of a file, unless it is known to be broken.
func (h *Hours) fetch(ctx context.Context, key string, f HourFile) (*hourCopy, error) {
	if h.isReplacedTooOften(key, f.ETag) {
		return nil, broken(fmt.Errorf("%s: %w", key, errReplaced))
	}
	h.noteFetched(key, f.ETag)
	fault := h.faults[key]
	if fault == nil || fault.etag != f.ETag || fault.whole {
		fault = &hourFault{etag: f.ETag}
	}
	held := h.Held
	if held == 0 {
		held = heldMost
	}
	for try := 0; fault.tries < brokenTries; try++ {
		c, err := copyHour(ctx, h.Bucket, key, f, held)
		if !isBroken(err) {
			return c, err
		}
		fault.tries, fault.err = fault.tries+1, err
		h.faults[key] = fault
		h.Log.Warn("a file of the venue's hours is broken", "key", key, "etag", f.ETag, "try", fault.tries, "error", excerpt(err.Error()))
		if err := hourPauses.Wait(ctx, try); err != nil {
			return nil, err
		}
	}
	return nil, fault.err
}

// follows says what is wrong with a file that is whole by itself: it leaves out blocks, or has none that
// come behind the hour before.
func (p *HoursPosition) follows(stream int, c *hourCopy) error {
	if c == nil {
		return nil // which is said already
	}
	last, dense := p.Blocks[stream], hourStreams[stream].dense
	_, begun := p.Read[c.key] // then the last block is one of its own
	switch {
	case !begun && c.last <= last && (dense || c.last > 0):
		return fmt.Errorf("%s has no block behind %d", c.key, last)
	case dense && c.holes > 0:
		return fmt.Errorf("%s lacks %d blocks between %d and %d", c.key, c.holes, c.first, c.last)
	case dense && last > 0 && !p.Torn && c.first > last+1:
		return fmt.Errorf("%s begins with block %d, not behind %d", c.key, c.first, last)
	}
	return nil
}

// etagsOf are those of the files that are there.
func etagsOf(copies [len(hourStreams)]*hourCopy) map[string]string {
	etags := map[string]string{}
	for _, c := range copies {
		if c != nil {
			etags[c.key] = c.file.ETag
		}
	}
	return etags
}
