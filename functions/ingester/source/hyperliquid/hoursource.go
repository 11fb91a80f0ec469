package hyperliquid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/backoff"
	"quotary/shared/market"
)

// HoursDelivery is a run of events of the venue's hours, and where their source stands after it.
type HoursDelivery struct {
	Events   market.Events
	Position HoursPosition

	// Late says that the events are of an hour that was passed over, or read in another version: later
	// ones have come, and some or all of these.
	Late bool
	// Old says that the hour ended so long ago that nobody waits for it any more: it is of what is
	// read at the first start, or behind an outage.
	Old bool
}

// HoursSink takes deliveries in order.
type HoursSink func(context.Context, HoursDelivery) error

// Hours follows what the venue publishes of its nodes' files hour by hour, an hour or two late: the fills,
// ledger updates and payments of every account. It is the source for whoever has no node.
//
// An hour is emitted in the order of its blocks, fills and misc events together, when both of its files
// are there and whole: their frames have ended, their checksums are right, no number of a block of the
// fills is missing, neither between two lines nor behind the hour before. What is missing or broken is asked for
// again. Six hours behind the end of the hour it is passed over: what is whole of it is emitted, and
// the rest when it comes, as late. A file of the last 48 hours that has another ETag than when it was read,
// and other events, is read again, as late too. A bucket that refuses to be read says nothing of an hour: it is
// asked until it does not.
//
// Of an hour the compressed files are in memory, 64 MB each at most, and a line of each.
type Hours struct {
	Bucket HourBucket
	Since  time.Duration // how far back the first start begins
	Stats  *Stats
	Log    *slog.Logger
	Poll   time.Duration // between questions for what is not there; 0 means 5 minutes
	Held   int64         // bytes of a file that are kept in memory; 0 means 64 MB
	Coins  *Names        // that are taken; nil takes any
	Most   int           // events of a delivery before it ends with a block; 0 means 1,000

	Figures HoursFigures

	taken  atomic.Int64 // ms: everything before was emitted, is, or was passed over; 0 before that is known
	at     HoursPosition
	listed map[string]listedDay  // by prefix
	faults map[string]*hourFault // of files, by key

	fetched map[string]fetchedHour // by key
}

// HoursFigures may be read at any time.
type HoursFigures struct {
	Hours   atomic.Int64 // that were read, in their order or late
	Passed  atomic.Int64 // files that were passed over since the start
	Owed    atomic.Int64 // files that were passed over, or, beside a node, hours in which it lacks blocks, and have not come yet
	Refused atomic.Int64 // 1 while the bucket refuses to be read
	Until   atomic.Int64 // ms: up to where everything was read or passed over; 0 before it is known
}

// hourPauses are those after trouble. What is missing is asked for once in a poll.
var hourPauses = backoff.Backoff{Min: time.Second, Max: 5 * time.Minute}

// Follow delivers all hours behind from, and then those that come. It ends with ctx or with an
// error of the sink.
func (h *Hours) Follow(ctx context.Context, from HoursPosition, sink HoursSink) error {
	h.forget()
	if h.at = from; h.at.Hour == "" {
		h.at.Hour = hourAt(time.Now().Add(-h.Since)).String()
	}
	return h.rounds(ctx, func() error {
		h.note()
		return h.round(ctx, sink)
	})
}

// forget begins with nothing known of files.
func (h *Hours) forget() {
	h.listed, h.faults, h.fetched = map[string]listedDay{}, map[string]*hourFault{}, map[string]fetchedHour{}
}

// rounds asks again and again, after a pause, until ctx ends or a sink fails.
func (h *Hours) rounds(ctx context.Context, round func() error) error {
	for try := 0; ; {
		err := round()
		if err := final(ctx, err); err != nil {
			return err
		}
		pause := h.jittered()
		if err == nil {
			try = 0
			h.Figures.Refused.Store(0)
		} else {
			clear(h.listed)
			h.trouble(err)
			pause, try = min(pause, hourPauses.Delay(try)), try+1
		}
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Awaited is since when all that happens is still to come with hours: nothing of it was emitted, or is being. It may
// be called at any time.
func (h *Hours) Awaited(now time.Time) time.Time {
	current := hourAt(now).begins() // no hour is published before it has ended
	if ms := h.taken.Load(); ms > 0 {
		if taken := time.UnixMilli(ms).UTC(); taken.Before(current) {
			return taken
		}
	}
	return current
}

func (h *Hours) poll() time.Duration {
	if h.Poll > 0 {
		return h.Poll
	}
	return 5 * time.Minute
}

// jittered is a pause of about a poll.
func (h *Hours) jittered() time.Duration {
	return h.poll()*3/4 + rand.N(h.poll()/2)
}

// note shows where the source stands.
func (h *Hours) note() {
	h.Figures.Owed.Store(int64(len(h.at.Owed)))
	h.Figures.Until.Store(h.at.Until())
	h.taken.Store(max(h.taken.Load(), h.at.begunUntil()))
}

func (h *Hours) trouble(err error) {
	if errors.Is(err, ErrHoursRefused) {
		h.Figures.Refused.Store(1)
		h.Log.Error("may not read the venue's hours; asking again", "error", excerpt(err.Error()))
		return
	}
	h.Log.Warn("cannot read the venue's hours; trying again", "hour", h.at.Hour, "error", excerpt(err.Error()))
}

// round reads what there is: hours in their order, and then those that come late.
func (h *Hours) round(ctx context.Context, sink HoursSink) error {
	for ctx.Err() == nil {
		read, err := h.inOrder(ctx, sink)
		if err == nil && !read {
			read, err = h.late(ctx, sink)
		}
		if err != nil || !read {
			return err
		}
		h.Figures.Hours.Add(1)
		h.note()
	}
	return context.Cause(ctx)
}

// inOrder reads the hour that comes next, if it is there or has been waited for long enough.
func (h *Hours) inOrder(ctx context.Context, sink HoursSink) (read bool, err error) {
	hour, err := parseHour(h.at.Hour)
	if err != nil {
		return false, fmt.Errorf("go on with the venue's hours: %w", err)
	}
	overdue := time.Since(hour.ends())
	if overdue < 0 {
		return false, nil
	}
	files, err := h.files(ctx, hour)
	if err != nil || overdue < passAfter && !h.hopeful(&files, hour) {
		return false, err
	}
	copies, missing, err := h.copies(ctx, hour, &files)
	if err != nil {
		return false, err
	}
	for i, c := range copies {
		if fault := h.at.follows(i, c); fault != nil {
			missing = append(missing, fault.Error())
			h.faults[c.key] = &hourFault{etag: c.file.ETag, tries: brokenTries, err: fault, whole: true}
		}
	}
	if len(missing) > 0 && overdue < passAfter {
		h.Log.Info("an hour of the venue is not whole yet", "hour", h.at.Hour, "missing", missing)
		return false, nil
	}
	var passed []string
	for i, c := range copies {
		if c == nil {
			passed = append(passed, hourStreams[i].key(hour))
		}
	}
	if len(missing) > 0 {
		h.Figures.Passed.Add(1)
		h.Log.Error("an hour of the venue is passed over: what is whole of it is read, the rest when it comes", "hour", h.at.Hour, "missing", missing)
	}
	return true, h.readInOrder(ctx, hour, copies, passed, overdue >= passAfter, sink)
}

func (h *Hours) readInOrder(ctx context.Context, hour hourFile, copies [len(hourStreams)]*hourCopy, passed []string, old bool, sink HoursSink) error {
	h.taken.Store(hour.ends().UnixMilli())
	etags := etagsOf(copies)
	if old {
		h.at = h.at.renumbered(copies)
	}
	h.at = h.at.reading(etags)
	run := hourRun{h: h, after: h.at.Blocks, deliver: func(e market.Events, to byStream) error {
		at := h.at
		at.Blocks = to
		if err := sink(ctx, HoursDelivery{Events: e, Position: at, Old: old}); err != nil {
			return source.OfSink(err)
		}
		h.at = at
		return nil
	}}
	if err := run.read(ctx, copies); err != nil {
		return err
	}
	at := h.at.done(hour, copies, passed, time.Now())
	if err := sink(ctx, HoursDelivery{Position: at, Old: old}); err != nil {
		return source.OfSink(err)
	}
	h.at = at
	return nil
}

// late reads the first hour that was passed over or has been replaced, and is there.
func (h *Hours) late(ctx context.Context, sink HoursSink) (read bool, err error) {
	for _, hour := range h.at.before(time.Now()) {
		files, err := h.files(ctx, hour)
		if err != nil {
			return false, err
		}
		for i := range files {
			if key := hourStreams[i].key(hour); !h.at.awaits(key, files[i].ETag) || h.isFaulty(key, files[i].ETag) {
				files[i] = HourFile{}
			}
		}
		copies, missing, err := h.copies(ctx, hour, &files)
		if err != nil {
			return false, err
		}
		known, err := h.takeKnown(ctx, &copies, sink)
		if err != nil {
			return false, err
		}
		if len(etagsOf(copies)) > 0 {
			h.Log.Warn("an hour of the venue came late, or was replaced: reading it", "hour", hour.String(), "missing", missing)
			return true, h.readLate(ctx, hour, copies, sink)
		}
		if known {
			return true, nil
		}
	}
	return false, nil
}

// takeKnown takes those of some files out that have in them what was read of the versions before, in other
// frames: to read one again would have all accounts in it made again.
func (h *Hours) takeKnown(ctx context.Context, copies *[len(hourStreams)]*hourCopy, sink HoursSink) (known bool, err error) {
	at := h.at
	at.Read = maps.Clone(at.Read)
	for i, c := range copies {
		if h.at.knows(c) {
			at.Read[c.key], copies[i], known = c.file.ETag, nil, true
		}
	}
	if !known {
		return false, nil
	}
	if err := sink(ctx, HoursDelivery{Position: at, Late: true}); err != nil {
		return false, source.OfSink(err)
	}
	h.at = at
	return true, nil
}

func (h *Hours) readLate(ctx context.Context, hour hourFile, copies [len(hourStreams)]*hourCopy, sink HoursSink) error {
	if etags := etagsOf(copies); h.at.Late == nil || h.at.Late.Hour != hour.String() || !maps.Equal(h.at.Late.ETags, etags) {
		h.at.Late = &LateHour{Hour: hour.String(), ETags: etags}
	}
	run := hourRun{h: h, after: h.at.Late.Blocks, deliver: func(e market.Events, to byStream) error {
		at, late := h.at, *h.at.Late
		late.Blocks, at.Late = to, &late
		if err := sink(ctx, HoursDelivery{Events: e, Position: at, Late: true}); err != nil {
			return source.OfSink(err)
		}
		h.at = at
		return nil
	}}
	if err := run.read(ctx, copies); err != nil {
		return err
	}
	at := h.at.doneLate(hour, copies, time.Now())
	if err := sink(ctx, HoursDelivery{Position: at, Late: true}); err != nil {
		return source.OfSink(err)
	}
	h.at = at
	maps.DeleteFunc(h.faults, func(_ string, f *hourFault) bool { return f.whole }) // they may follow now
	return nil
}
