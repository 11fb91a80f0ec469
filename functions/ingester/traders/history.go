package traders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"quotary/functions/ingester/objects"
	"quotary/functions/ingester/publication"
	"quotary/shared/data/accountchanges"
	"quotary/shared/data/routes"
	"quotary/shared/data/traderfacts"
	"quotary/shared/data/traderhistory"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

const (
	// keepHistory is for how long an hour is there: for a year, and what questions may be behind.
	keepHistory = 400 * 24 * time.Hour
	// mostDeeds is of how many accounts and hours rows are kept before files are made of them.
	mostDeeds = 100_000
)

// history makes the next version of the history: it takes in what accounts did, and replaces the files
// of the hours in which they did it, and of the days and weeks that these are in.
type history struct {
	bucket  *publication.Bucket
	version int64 // of the next manifest, ms
	next    traderhistory.Manifest
	before  []tablefile.Named // of the last manifest

	recent  int64                            // from when on all hours are looked at of which more is known, ms
	since   traderhistory.Accounts           // from when on that is so of an account
	did     map[int64]map[table.Address]bool // who did something in an hour, as far as that is looked at
	deeds   map[int64][]traderhistory.Did    // by hours, what is in no file yet
	count   int                              // of deeds
	touched map[int64]bool                   // hours whose files were replaced
	leftOut int                              // traders of one of them for whom there was no room in what builders routed
	whole   bool                             // accounts are looked at as a whole
	today   int64                            // its beginning, ms
	worth   []traderhistory.Worth            // by then
	weighed addresses                        // whose that is

	late       late
	mostRoutes int // bytes
}

// openHistory opens the history for the next version; whole says that accounts are looked at as a whole.
func (w *Work) openHistory(ctx context.Context, now time.Time, whole bool) (h *history, err error) {
	h = &history{bucket: w.bucket, whole: whole, mostRoutes: w.MostRoutes, since: traderhistory.Accounts{}, did: map[int64]map[table.Address]bool{}, deeds: map[int64][]traderhistory.Did{}, touched: map[int64]bool{}, weighed: addresses{}}
	if h.next, err = traderhistory.Newest.Load(ctx, w.Views); err != nil {
		return nil, fmt.Errorf("read the history that was published last: %w", err)
	}
	h.before, h.today = h.next.All(), market.Day1.StartMs(now.UnixMilli())
	if len(h.next.Units) > 0 { // else all files are made for the first time
		h.recent = market.Hour1.StartMs(now.UnixMilli()) - recentHours*hourMs
	}
	h.version = max(now.UnixMilli(), h.next.Version+1)
	return h, h.readLate(ctx)
}

// note notes that more is known of what an account did since a time, as was noted at another. What it did before
// the recent hours waits.
func (h *history) note(at time.Time, of accountchanges.Did) {
	since := max(of.Since, h.today-keepHistory.Milliseconds())
	if since < h.recent {
		h.late.changed = h.late.Wait(of.Address, since, at.UnixMilli()) || h.late.changed
		since = h.recent
	}
	h.since.Add(of.Address, since)
}

// leave leaves what files have of an account as it is.
func (h *history) leave(a table.Address) {
	delete(h.since, a)
	delete(h.late.accounts, a)
}

// sinceOf is from when on more is known of what an account did, as far as that is not long ago, ms.
func (h *history) sinceOf(a table.Address) int64 {
	if since, ok := h.since[a]; ok {
		return since
	}
	return math.MaxInt64
}

// looksAt reports whether the files are to have what an account did in an hour.
func (h *history) looksAt(a table.Address, hour int64) bool {
	return hour >= h.sinceOf(a) || h.late.looksAt(a, hour)
}

// add takes in what an account did in the recent hours, as far as more is known of that.
func (h *history) add(ctx context.Context, a table.Address, did *traderfacts.Did) error {
	since := h.sinceOf(a)
	return h.takeIn(ctx, a, did, func(hour int64) bool { return hour >= since })
}

// takeIn takes in what an account did in those hours that are looked at.
func (h *history) takeIn(ctx context.Context, a table.Address, did *traderfacts.Did, looksAt func(hour int64) bool) error {
	for _, hours := range [...]market.FactsByHour{did.Days, did.Hours} {
		for hour, f := range hours {
			if looksAt(hour) {
				h.deeds[hour] = append(h.deeds[hour], traderhistory.Did{Address: a, Facts: f})
				h.count++
				if h.did[hour] == nil {
					h.did[hour] = map[table.Address]bool{}
				}
				h.did[hour][a] = true
			}
		}
	}
	if h.count < mostDeeds {
		return nil
	}
	return h.write(ctx)
}

// value takes in what an account was worth at the beginning of the day, once, where accounts are looked at as
// a whole.
func (h *history) value(a table.Address, c market.Curve) {
	if !h.whole || h.weighed[a] {
		return
	}
	h.weighed[a] = true
	h.worth = append(h.worth, traderhistory.WorthOf(a, c, h.today))
}

// writeWorth replaces the file of what accounts were worth at the beginning of the day: of those that
// were not looked at since it is as it was the day before. They hold nothing whose price moves.
func (h *history) writeWorth(ctx context.Context) error {
	at := h.next.WorthAt(h.today)
	if at == nil {
		at = h.next.WorthAt(h.today - 1)
	}
	var files []*tablefile.File
	if at != nil {
		var err error
		if files, err = publication.Open(ctx, h.bucket, []tablefile.Named{at.Named()}); err != nil {
			return err
		}
	}
	part, err := tablefile.Merge(ctx, traderhistory.WorthColumns(), files, traderhistory.WorthPart(h.worth), nil)
	if err != nil {
		return fmt.Errorf("merge what accounts were worth: %w", err)
	}
	if len(part.Addresses) == 0 {
		return nil
	}
	return h.put(ctx, h.today, traderhistory.Moment, part, nil)
}

// undone reports of an hour whether an account has done nothing in it that may have done something.
func (h *history) undone(hour int64) func(table.Address) bool {
	return func(a table.Address) bool { return h.looksAt(a, hour) && !h.did[hour][a] }
}

// write replaces the files of the hours in which something was done that was taken in.
func (h *history) write(ctx context.Context) error {
	for _, hour := range slices.Sorted(maps.Keys(h.deeds)) {
		if err := h.replace(ctx, hour); err != nil {
			return err
		}
	}
	h.deeds, h.count = map[int64][]traderhistory.Did{}, 0
	return nil
}

// replace replaces the file of an hour.
func (h *history) replace(ctx context.Context, hour int64) error {
	files, err := h.open(ctx, hour, traderhistory.Hour)
	if err != nil {
		return err
	}
	did := h.deeds[hour]
	slices.SortFunc(did, func(a, b traderhistory.Did) int { return market.CompareAccounts(a.Address, b.Address) })
	part, err := tablefile.Merge(ctx, traderhistory.Columns(), files, traderhistory.Part(did), h.undone(hour))
	if err != nil {
		return fmt.Errorf("merge what was done: %w", err)
	}
	routed, err := h.routes(ctx, hour)
	if err != nil {
		return err
	}
	h.touched[hour] = true
	return h.put(ctx, hour, traderhistory.Hour, traderhistory.Routed(part, routed), routed)
}

// routes is what builders routed in an hour, by what is known now.
func (h *history) routes(ctx context.Context, hour int64) (known *routes.Routes, err error) {
	known = routes.New(1, h.mostRoutes)
	if at, ok := h.next.Find(hour, traderhistory.Hour); ok && h.next.Units[at].Routes > 0 {
		named := h.next.Units[at].NamedRoutes()
		body, err := h.bucket.Range(ctx, named.Key, 0, named.Bytes)
		if err == nil {
			known, err = routes.Decode(body, 1, h.mostRoutes)
		}
		if err != nil {
			return nil, fmt.Errorf("read what builders routed in the hour: %w", err)
		}
	}
	undone := h.undone(hour)
	for _, a := range known.Traders() {
		if undone(a) {
			known.Set(a, nil)
		}
	}
	for _, did := range h.deeds[hour] {
		known.Set(did.Address, did.Facts.Builders)
	}
	h.leftOut = max(h.leftOut, known.LeftOut())
	return known, nil
}

// correct replaces the files of hours that have rows of accounts which did nothing in them, as is known
// by now.
func (h *history) correct(ctx context.Context) error {
	oldest := h.oldest()
	for _, u := range slices.Clone(h.next.Units) {
		late := len(h.late.accounts) > 0 && u.From >= h.late.from && u.From < h.late.to
		if u.Hours != traderhistory.Hour || h.touched[u.From] || u.From < oldest && !late {
			continue
		}
		files, err := h.open(ctx, u.From, traderhistory.Hour)
		if err != nil {
			return err
		}
		addresses, err := files[0].Addresses(ctx)
		if err != nil {
			return fmt.Errorf("read who did something: %w", err)
		}
		if slices.ContainsFunc(addresses, h.undone(u.From)) {
			if err := h.replace(ctx, u.From); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldest is from when on more is known of what anybody did, ms.
func (h *history) oldest() int64 {
	ms := int64(market.MaxTime)
	for _, since := range h.since {
		ms = min(ms, since)
	}
	return ms
}

// open opens the file of a time; none where there is none.
func (h *history) open(ctx context.Context, from, hours int64) ([]*tablefile.File, error) {
	at, ok := h.next.Find(from, hours)
	if !ok {
		return nil, nil
	}
	return publication.Open(ctx, h.bucket, []tablefile.Named{h.next.Units[at].Named()})
}

// put writes a file and what builders routed (nil is nothing), and names them in place of those of its time.
// What a process that ended before its manifest has left under the same name is not touched: the version
// is another then.
func (h *history) put(ctx context.Context, from, hours int64, part *tablefile.Part, routed *routes.Routes) error {
	of := *part
	of.Version, of.Tier = h.version, tiers[hours]
	columns := traderhistory.Columns()
	if hours == traderhistory.Moment {
		columns = traderhistory.WorthColumns()
	}
	body, err := tablefile.Bytes(columns, &of)
	if err != nil {
		return fmt.Errorf("make the file of %s: %w", time.UnixMilli(from).UTC(), err)
	}
	u := traderhistory.Unit{From: from, Hours: hours, Version: h.version, Bytes: int64(len(body))}
	var object []byte
	if routed != nil && len(routed.Traders()) > 0 {
		object = routed.Encode()
		u.Routes = int64(len(object))
	}
	for {
		var err error
		if object != nil {
			err = h.bucket.Create(ctx, u.NamedRoutes().Key, object)
		}
		if err == nil {
			err = h.bucket.Create(ctx, u.Named().Key, body)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, objects.ErrExists) {
			return fmt.Errorf("write the file of %s: %w", time.UnixMilli(from).UTC(), err)
		}
		h.version++
		u.Version = h.version
	}
	h.next.Put(u)
	return nil
}

var tiers = map[int64]string{traderhistory.Moment: "moment", traderhistory.Hour: "hour", traderhistory.Day: "day", traderhistory.Week: "week"}

// sum makes a file of a time anew of those of shorter times in it.
func (h *history) sum(ctx context.Context, from, hours, of int64) error {
	var files []*tablefile.File
	for at := from; at < from+hours*hourMs; at += of * hourMs {
		some, err := h.open(ctx, at, of)
		if err != nil {
			return err
		}
		files = append(files, some...)
	}
	if len(files) == 0 {
		return nil
	}
	part, err := traderhistory.Sum(ctx, from, files)
	if err != nil {
		return err
	}
	return h.put(ctx, from, hours, part, nil)
}

// publish writes the files that are to be replaced, and then the manifest. now is in the hour that runs.
func (h *history) publish(ctx context.Context, now time.Time) error {
	if err := h.write(ctx); err != nil {
		return err
	}
	if err := h.correct(ctx); err != nil {
		return err
	}
	if h.whole {
		if err := h.writeWorth(ctx); err != nil {
			return err
		}
	}
	for _, width := range [...]struct{ hours, of int64 }{{traderhistory.Day, traderhistory.Hour}, {traderhistory.Week, traderhistory.Day}} {
		for _, from := range h.due(width.hours, market.Hour1.StartMs(now.UnixMilli())) {
			if err := h.sum(ctx, from, width.hours, width.of); err != nil {
				return err
			}
		}
	}
	if err := h.writeLate(ctx); err != nil {
		return err
	}
	oldest := now.Add(-keepHistory).UnixMilli()
	h.next.Units = slices.DeleteFunc(h.next.Units, func(u traderhistory.Unit) bool { return u.To() < oldest })
	h.next.Left = publication.Left(h.next.Left, h.before, h.next.All(), h.version, h.version-keep.Milliseconds())
	h.next.Version = h.version
	if err := h.bucket.Views.Publish(ctx, traderhistory.Name, traderhistory.Newest.Encode(h.next)); err != nil {
		return fmt.Errorf("publish the history: %w", err)
	}
	return nil
}

// due are the beginnings of days or weeks that are over at a time, ms, and have no file or one that an
// hour has been replaced in.
func (h *history) due(hours, now int64) []int64 {
	due := map[int64]bool{}
	for _, u := range h.next.Units {
		from := traderhistory.StartOf(u.From, hours)
		if u.Hours != traderhistory.Hour || from+hours*hourMs > now {
			continue
		}
		if _, known := h.next.Find(from, hours); !known || h.touched[u.From] {
			due[from] = true
		}
	}
	return slices.Sorted(maps.Keys(due))
}

// tidy removes the files that no manifest of the last while has named.
func (h *history) tidy(ctx context.Context) error {
	return publication.Tidy(ctx, h.bucket, traderhistory.Prefix, h.version-keep.Milliseconds(), h.next.All(), h.next.Left)
}
