package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/text/visible"
)

// Announcer is an exchange that can be asked for what it announces.
type Announcer interface {
	// Categories are those that are asked for, as the exchange calls them.
	Categories() []string

	// Announcements returns a page of a category in a language, newest first: pages count from
	// 1, and one behind the last is empty. The ID of an announcement is the same in both.
	Announcements(ctx context.Context, language AnnouncementLanguage, category string, page int) ([]market.Announcement, error)
}

// AnnouncementLanguage is one in which exchanges are asked.
type AnnouncementLanguage string

// The languages, as exchanges write them.
const (
	AnnouncedEnglish AnnouncementLanguage = "en-US"
	AnnouncedChinese AnnouncementLanguage = "zh-CN"
)

// Announcements polls an exchange.
type Announcements struct {
	Of    Announcer
	Every time.Duration
	Stats *Stats
	Log   *slog.Logger

	states int64 // until when those that were delivered are used up: see [States]
}

// AnnouncementsAt is which announcements of an exchange are known: by category and id, as
// one may be in several categories. It is changed by nobody once it was delivered.
type AnnouncementsAt map[string]AnnouncementMark

// AnnouncementMark is what is remembered of an announcement.
type AnnouncementMark struct {
	Published int64  `json:"at"`           // ms
	Digest    string `json:"is"`           // of all that it says in English
	Chinese   string `json:"cn,omitempty"` // of all that it says in Chinese; "" where it was not said
	Revised   int64  `json:"re,omitempty"` // until when its changes are used up, Unix s: see [Revisions]
}

// announcementsKept is how many are remembered of each category: the newest. They are more than
// are read of it. They are counted by category, as a busy one would push out what the first page
// of a slow one still shows, which then would be delivered again and again.
const announcementsKept = 100

// announcementPages are as many pages as are read of a category to find where those begin
// that are known; at a start that is none of them. Of a page so many are read that all of them
// are remembered.
const (
	announcementPages   = 3
	announcementsOfPage = announcementsKept / announcementPages
)

// AnnouncementSink takes announcements in order, and what is known behind them; none says,
// once, that the exchange has been asked for all that it announces. It blocks while its
// consumer is behind.
type AnnouncementSink func(context.Context, []market.Announcement, AnnouncementsAt) error

// Follow delivers announcements that are not known, and again those that have changed, until
// ctx ends or the sink fails. What cannot be asked for is logged and asked for again at the
// next turn. It runs in the caller's goroutine.
func (a *Announcements) Follow(ctx context.Context, known AnnouncementsAt, sink AnnouncementSink) error {
	asked := false // for all categories
	return Poll(ctx, a.Every, a.Log, "announcements", func(ctx context.Context) error {
		var faults []error
		for _, category := range a.Of.Categories() {
			err := a.poll(ctx, category, &known, sink)
			if SinkError(err) != nil || ctx.Err() != nil {
				return err
			}
			faults = append(faults, err)
		}
		err := errors.Join(faults...)
		if err == nil && !asked {
			asked = true
			if err := sink(ctx, nil, known); err != nil {
				return OfSink(err)
			}
		}
		return err
	})
}

// poll reads pages of a category up to one on which nothing is new.
func (a *Announcements) poll(ctx context.Context, category string, known *AnnouncementsAt, sink AnnouncementSink) error {
	shown := map[string]bool{}
	for page := 1; page <= announcementPages; page++ {
		list, err := a.page(ctx, category, page)
		if err != nil {
			return err
		}
		var fresh []market.Announcement
		marks := AnnouncementsAt{}
		newest, now := int64(0), time.Now()
		for i := range list {
			one, err := checkAnnouncement(list[i], now)
			if err != nil {
				a.Stats.Malformed.Add(1)
				a.Log.Warn("skipped an announcement", "error", err.Error())
				continue
			}
			newest = max(newest, one.Published)
			key := category + "#" + one.ID
			shown[key] = true
			mark, before := markOf(&one), (*known)[key]
			if mark.Digest == before.Digest && (mark.Chinese == "" || mark.Chinese == before.Chinese) {
				continue
			}
			if one.Revised = before.Digest != ""; one.Revised {
				var may bool
				if mark.Revised, may = Revisions.Take(before.Revised, now); !may {
					continue // it stays known as it was, so that it is looked at again
				}
			}
			states, may := States.Take(a.states, now)
			if !may {
				continue
			}
			a.states = states
			fresh, marks[key] = append(fresh, one), mark
		}
		a.Stats.Seen(now, newest)
		if len(fresh) == 0 {
			return nil
		}
		next := known.with(marks, shown)
		if err := sink(ctx, fresh, next); err != nil {
			return OfSink(err)
		}
		*known = next
	}
	return nil
}

// page returns a page in English with what it says in Chinese, joined by the ids of the
// exchange. One that says nothing in Chinese is counted, logged, and read in English alone.
func (a *Announcements) page(ctx context.Context, category string, page int) ([]market.Announcement, error) {
	list, err := a.Of.Announcements(ctx, AnnouncedEnglish, category, page)
	if err != nil {
		if ctx.Err() == nil {
			a.Stats.Malformed.Add(1)
		}
		return nil, err
	}
	a.Stats.Lines.Add(1)
	if len(list) == 0 {
		return nil, nil
	}
	if beyond := len(list) - announcementsOfPage; beyond > 0 {
		a.Stats.Malformed.Add(int64(beyond))
		list = list[:announcementsOfPage]
	}
	chinese, err := a.Of.Announcements(ctx, AnnouncedChinese, category, page)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		a.Stats.Malformed.Add(1)
		a.Log.Warn("cannot read announcements in Chinese", "category", category, "error", err.Error())
	}
	words := map[string]market.AnnouncementText{}
	for i := range chinese {
		words[chinese[i].ID] = chinese[i].AnnouncementText
	}
	for i := range list {
		if said := words[list[i].ID]; said.Title != list[i].Title {
			list[i].Chinese = said
		}
	}
	return list, nil
}

// with returns what is known besides: of each category those that are shown now, which would be
// new again at the next look, and the newest others.
func (at AnnouncementsAt) with(marks AnnouncementsAt, shown map[string]bool) AnnouncementsAt {
	all := maps.Clone(at)
	if all == nil {
		all = AnnouncementsAt{}
	}
	maps.Copy(all, marks)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		switch {
		case shown[a] == shown[b]:
			return cmp.Or(cmp.Compare(all[b].Published, all[a].Published), cmp.Compare(a, b))
		case shown[a]:
			return -1
		}
		return 1
	})
	kept := map[string]int{} // by category
	for _, key := range keys {
		category, _, _ := strings.Cut(key, "#")
		if kept[category]++; kept[category] > announcementsKept {
			delete(all, key)
		}
	}
	return all
}

func markOf(a *market.Announcement) AnnouncementMark {
	mark := AnnouncementMark{Published: a.Published, Digest: digestOf(a.Venue, a.ID, a.Listing, a.Title, a.Text, a.URL, a.Published, a.Start, a.End)}
	if a.Chinese != (market.AnnouncementText{}) {
		mark.Chinese = digestOf(a.Chinese.Title, a.Chinese.Text, a.Chinese.URL)
	}
	return mark
}

// digestOf is a short digest of texts, numbers and flags in their order. Digests are stored:
// what a field is called is in none.
func digestOf(said ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", said))
	return hex.EncodeToString(sum[:6])
}

// Bounds of an announcement.
const (
	maxTitle    = 300  // runes
	maxSummary  = 2000 // runes
	maxAddress  = 2048 // bytes
	maxID       = 48   // bytes
	clockAhead  = 10 * time.Minute
	leastMoment = 1_230_768_000_000 // ms: there were no exchanges of coins before 2009
)

var (
	errNoAnnouncement     = errors.New("an announcement has no id or no title")
	errAnnouncementMoment = errors.New("an announcement is of a time that cannot be true")
)

// checkAnnouncement bounds what an exchange announces, and takes out what is of no use.
func checkAnnouncement(a market.Announcement, now time.Time) (market.Announcement, error) {
	a.AnnouncementText, a.Chinese = checkWords(a.AnnouncementText), checkWords(a.Chinese)
	if !plainID(a.ID) || a.Title == "" {
		return a, errNoAnnouncement
	}
	if a.Published < leastMoment || a.Published > now.Add(clockAhead).UnixMilli() {
		return a, errAnnouncementMoment
	}
	if a.Start < leastMoment || a.End <= a.Start {
		a.Start, a.End = 0, 0
	}
	return a, nil
}

// checkWords are words on one line, which without a title are none.
func checkWords(w market.AnnouncementText) market.AnnouncementText {
	w.Title, w.Text = oneLine(w.Title, maxTitle), oneLine(w.Text, maxSummary)
	if w.Title == "" {
		return market.AnnouncementText{}
	}
	u, err := url.Parse(strings.TrimSpace(w.URL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || len(w.URL) > maxAddress {
		w.URL = ""
	} else {
		w.URL = u.String()
	}
	return w
}

func plainID(id string) bool {
	return id != "" && len(id) <= maxID && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// oneLine is a text on one line, at most so many runes.
func oneLine(text string, most int) string {
	text = visible.Headline(text)
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

// MillisOf is a time in Unix ms that an exchange writes as a number or as its text; 0, which
// cannot be true, for anything else.
func MillisOf(text lenient.Text) int64 {
	ms, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return ms
}

// AnnouncementID is an id for an announcement of which an exchange gives only the address.
func AnnouncementID(address, title string) string {
	sum := sha256.Sum256([]byte(cmp.Or(address, title)))
	return hex.EncodeToString(sum[:12])
}
