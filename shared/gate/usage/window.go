package usage

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"quotary/shared/aws/attr"
	"quotary/shared/lru"
)

// A rate is held by buckets of six seconds. The item of a key or of a shard holds the number of
// its newest bucket, what that has counted, and what the ten before it have: these
// are final. So one conditional write that compares the newest bucket alone bounds
// all eleven together, and with them every 60 s, which never touch more than eleven.
const (
	bucketSeconds = 6
	pastBuckets   = 10
)

// window is what has been counted at an item within the last 66 s.
type window struct {
	bucket int64              // number of the newest bucket, Unix seconds / 6
	n      int64              // requests in it
	past   [pastBuckets]int64 // requests in those before it, the newest first
}

// bucketAt is the number of the bucket of a moment.
func bucketAt(t time.Time) int64 { return t.Unix() / bucketSeconds }

func bucketStart(bucket int64) time.Time { return time.Unix(bucket*bucketSeconds, 0).UTC() }

// allowed is how many requests eleven buckets may count under a rate a minute: a
// tenth more than the rate, for they are a tenth longer.
func allowed(rate int64) int64 { return rate + rate/10 }

// at is the window as it is in a later bucket, without a request in that.
func (w window) at(bucket int64) window {
	later := window{bucket: bucket}
	for i := range later.past {
		switch age := bucket - 1 - int64(i); { // the bucket that past[i] counts
		case age == w.bucket:
			later.past[i] = w.n
		case age < w.bucket && w.bucket-age <= pastBuckets:
			later.past[i] = w.past[w.bucket-age-1]
		}
	}
	return later
}

// before is how many requests the buckets before the newest have counted.
func (w window) before() (sum int64) {
	for _, n := range w.past {
		sum += n
	}
	return sum
}

// left is how many more requests the newest bucket admits when all eleven may count so
// many.
func (w window) left(most int64) int64 { return max(most-w.before()-w.n, 0) }

// opens is when the next request is admitted if none comes until then: the start of the
// first bucket that has room.
func (w window) opens(most int64) time.Time {
	for bucket := w.bucket + 1; ; bucket++ {
		if later := w.at(bucket); later.left(most) > 0 || bucket > w.bucket+pastBuckets {
			return bucketStart(bucket)
		}
	}
}

// frees is when the oldest request that still counts ceases to.
func (w window) frees() time.Time {
	for i := pastBuckets - 1; i >= 0; i-- {
		if w.past[i] > 0 {
			return bucketStart(w.bucket - 1 - int64(i) + pastBuckets + 1)
		}
	}
	return bucketStart(w.bucket + pastBuckets + 1)
}

// figures are what is left at a moment of a rate a minute, of which 0 is none.
func (w window) figures(rate int64, now time.Time) (f Figures) {
	if rate > 0 {
		if bucket := bucketAt(now); bucket > w.bucket {
			w = w.at(bucket)
		}
		f.RateLeft, f.RateFrees = min(w.left(allowed(rate)), rate), w.frees()
	}
	return f
}

// Attributes of an item that hold its window.
const (
	attrBucket = "w"
	attrCount  = "n"
	attrPast   = "h" // numbers separated by commas, the newest first
)

// windowOf reads the window of an item; ok is false for one without.
func windowOf(item attr.Item) (w window, ok bool, err error) {
	if item[attrBucket] == nil {
		return window{}, false, nil
	}
	w.bucket, w.n = attr.Int(item, attrBucket), attr.Int(item, attrCount)
	counts := strings.Split(attr.Text(item, attrPast), ",")
	if len(counts) != pastBuckets {
		return window{}, false, fmt.Errorf("a window holds %d buckets, not %d", len(counts), pastBuckets)
	}
	for i, text := range counts {
		if w.past[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return window{}, false, fmt.Errorf("a bucket of a window: %w", err)
		}
	}
	return w, true, nil
}

func (w window) pastText() string {
	var b []byte
	for i, n := range w.past {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}

// windows remembers the window of each item as this instance saw it last. So the first
// write usually has the form that fits, and a bucket that is full needs none. Forgetting
// costs a write at most.
type windows struct {
	mu    sync.Mutex // of set
	byKey lru.Cache[string, window]
}

func (w *windows) get(key string) (window, bool) { return w.byKey.Get(key) }

// set keeps what was seen, unless something newer was: within a bucket counts grow.
func (w *windows) set(key string, seen window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if have, ok := w.byKey.Get(key); ok && (have.bucket > seen.bucket || have.bucket == seen.bucket && have.n > seen.n) {
		return
	}
	w.byKey.Set(key, seen)
}

// forget drops what was seen, which a refund has changed.
func (w *windows) forget(key string) { w.byKey.Delete(key) }
