// Package flashes is short news and posts of social networks: the log of every state of
// every one, and the view of the newest, from which lists are answered.
//
// # Rows
//
// Each entry is one immutable row under its flash, at the time at which the flash was
// published; so its row of the last place is its newest state ([ByID]). Index A has those of
// a platform and a language by time, index B those that are versions of a flash in a language.
// Where a later entry gave a flash another time, its
// older rows are still there: [Before] asks of each row whether it is the newest.
package flashes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the dataset, of the view, and of the drops that hold flashes.
const Name = "flashes"

// Listed is how many flashes of each platform and language the view holds: the newest.
const Listed = 1000

// Flash is an entry with its place, by which of two states of a flash the newer is known.
type Flash struct {
	Entry
	Place drop.Place `json:"place"`
}

// log has a row of every entry, under its flash.
var log = dataset.Log[Flash]{Name: Name, Row: row, Decode: DecodeRow}

func row(f *Flash) store.Row {
	r := dataset.PlaceRow(strconv.FormatInt(f.ID, 10), f.Place, dataset.JSON(f))
	r.Time, r.Index = f.Published(), [4]string{list(f.Platform, f.Language)}
	if f.VersionOf != 0 {
		r.Index[1] = version(f.VersionOf, f.Language)
	}
	return r
}

// list is the key of the flashes of a platform and a language.
func list(platform, language string) string { return platform + " " + language }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, all []Flash) []store.Row { return log.AppendRows(rows, all) }

var errRow = errors.New("a stored flash has no id, time, platform, language, file or line")

// DecodeRow reads a row. What a line may hold was checked when it came, by the rules of then.
func DecodeRow(r store.Row) (Flash, error) {
	f, err := dataset.FromJSON[Flash](r.Body)
	if err == nil && (f.ID < 1 || f.Time < 1 || f.Platform == "" || f.Language == "" || f.Place.File == "" || f.Place.Line < 1) {
		err = errRow
	}
	return f, err
}

// maxStates is how many states of a flash are looked through for the newest.
const maxStates = 1000

// Newest returns the newest state of a flash, which may be hidden; ok is false where there is
// none.
func Newest(ctx context.Context, l *store.Log, id int64) (newest Flash, ok bool, err error) {
	for f, err := range log.Read(ctx, l, dataset.Query{Subject: strconv.FormatInt(id, 10), Limit: maxStates, Expect: 2}) {
		if err != nil {
			return Flash{}, false, err
		}
		if newest.Place.Compare(f.Place) < 0 {
			newest = f
		}
	}
	return newest, newest.ID != 0, nil
}

// ByID returns the newest state of a flash; ok is false where there is none, or it is hidden.
func ByID(ctx context.Context, l *store.Log, id int64) (newest Flash, ok bool, err error) {
	newest, ok, err = Newest(ctx, l, id)
	return newest, ok && !newest.Hidden, err
}

// ByIDs returns the newest states of flashes that are there, in the order of their numbers.
func ByIDs(ctx context.Context, l *store.Log, ids []int64) ([]Flash, error) {
	found := make([]Flash, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i, id := range ids {
		group.Go(func() error {
			f, ok, err := ByID(ctx, l, id)
			if ok {
				found[i] = f
			}
			return err
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(found, func(f Flash) bool { return f.ID == 0 }), err
}

// Selection says which flashes of a list are wanted, newest first.
type Selection struct {
	Platform, Language string
	From, To           time.Time         // both inclusive; zero is open
	Behind             *Flash            // only those behind this one
	Without            string            // a language: those in whose place a version in it is shown are left out
	Keep               func(*Flash) bool // nil keeps all
	Limit              int
}

// Compare orders flashes newest first, those of one second by falling number.
func (f *Flash) Compare(g *Flash) int {
	return cmp.Or(cmp.Compare(g.Time, f.Time), cmp.Compare(g.ID, f.ID))
}

// keeps reports whether a flash is selected, whose platform and language are.
func (s *Selection) keeps(f *Flash) bool {
	at := f.Published()
	return !f.Hidden && (s.From.IsZero() || !at.Before(s.From)) && (s.To.IsZero() || !at.After(s.To)) &&
		(s.Behind == nil || s.Behind.Compare(f) < 0) && (s.Keep == nil || s.Keep(f))
}

// maxScan is how many rows of the log are looked through for a page.
const maxScan = 5000

// Before returns the stored flashes that are selected, newest first: fewer than Limit where
// there are no more, or none among so many rows that no more are looked through.
func Before(ctx context.Context, l *store.Log, s Selection) (page []Flash, err error) {
	to := s.To
	if s.Behind != nil && (to.IsZero() || s.Behind.Published().Before(to)) {
		to = s.Behind.Published()
	}
	var second []Flash // rows of one second, whose order in the log is another
	take := func() error {
		slices.SortFunc(second, func(a, b Flash) int { return cmp.Or(a.Compare(&b), b.Place.Compare(a.Place)) })
		second = slices.CompactFunc(second, func(a, b Flash) bool { return a.ID == b.ID })
		var ids []int64
		for i := range second {
			if s.keeps(&second[i]) {
				ids = append(ids, second[i].ID)
			}
		}
		newest, err := ByIDs(ctx, l, ids)
		if err == nil && s.Without != "" {
			newest, err = withoutVersion(ctx, l, newest, &s)
		}
		for i := range newest {
			f := &newest[i]
			if len(page) < s.Limit && f.Time == second[0].Time && list(f.Platform, f.Language) == list(s.Platform, s.Language) && s.keeps(f) {
				page = append(page, *f)
			}
		}
		second = second[:0]
		return err
	}
	scanned := 0
	for f, err := range log.Read(ctx, l, dataset.Query{Subject: list(s.Platform, s.Language), Index: store.A, From: s.From, To: to, Newest: true, Limit: maxScan, Expect: 2 * s.Limit}) {
		if err != nil {
			return nil, err
		}
		if len(second) > 0 && second[0].Time != f.Time {
			if err := take(); err != nil || len(page) == s.Limit {
				return page, err
			}
		}
		second = append(second, f)
		scanned++
	}
	if scanned < maxScan { // else the last second may not be whole
		err = take()
	}
	return page, err
}

// View is the newest flashes of each platform and language, newest first. Some are hidden.
type View struct {
	Flashes []Flash `json:"flashes"`
}

// NewView returns the view of flashes of different numbers.
func NewView(all []Flash) View {
	slices.SortFunc(all, func(a, b Flash) int { return a.Compare(&b) })
	count := map[string]int{}
	return View{Flashes: slices.DeleteFunc(all, func(f Flash) bool {
		key := list(f.Platform, f.Language)
		count[key]++
		return count[key] > Listed
	})}
}

// ByID returns the state of a flash that the view holds, which may be hidden; ok is false for
// one that it does not hold.
func (v View) ByID(id int64) (f Flash, ok bool) {
	i := slices.IndexFunc(v.Flashes, func(f Flash) bool { return f.ID == id })
	if i < 0 {
		return Flash{}, false
	}
	return v.Flashes[i], true
}

// Select returns the flashes of the view that are selected. whole is false where there may
// be more of them than the view holds.
func (v View) Select(s Selection) (page []Flash, whole bool) {
	held, versions := 0, map[int64]bool(nil)
	if s.Without != "" {
		versions = v.versions(&s)
	}
	for i := range v.Flashes {
		f := &v.Flashes[i]
		if f.Platform != s.Platform || f.Language != s.Language {
			continue
		}
		held++
		if s.keeps(f) && !versions[f.ID] {
			if page = append(page, *f); len(page) == s.Limit {
				return page, true
			}
		}
		if !s.From.IsZero() && f.Published().Before(s.From) {
			return page, true
		}
	}
	return page, held < Listed
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second}
