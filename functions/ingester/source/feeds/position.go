package feeds

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/source"
)

// Position is what was seen of a feed. It is bounded, whatever the feed does.
type Position struct {
	Validators

	// Seen has a digest of each item of the last answer, and of those that have left it, by a
	// digest of its key: what differs is new, or has changed. Of one that another feed of the
	// publisher tells it has [repeats], and whatever becomes of it, it is left out.
	Seen map[string]string `json:"seen,omitempty"`

	// Left are items that were in an answer before the last: since when they are not, Unix s.
	// A feed that several caches answer shows and hides them.
	Left map[string]int64 `json:"left,omitempty"`

	// Revised is until when the changes of an item are used up, Unix s: see [source.Revisions].
	Revised map[string]int64 `json:"revised,omitempty"`

	// States is until when those that were delivered are used up, Unix s: see [source.States].
	States int64 `json:"states,omitempty"`

	// Twins are the items of the last answer by what other feeds know them by.
	Twins map[string]string `json:"twins,omitempty"`

	// Newest is the newest date of an item so far, Unix s.
	Newest int64 `json:"newest,omitempty"`

	// Cut is set where a page could not be read: by a digest of its key, each item of the
	// pages before that was not seen before. They do not show where those items begin that
	// are known.
	Cut map[string]bool `json:"cut,omitempty"`
}

// Bounds of what a position holds beyond the last answer.
const (
	maxLeft  = maxItems
	keepLeft = 24 * time.Hour
)

// repeats stands for the digest of an item that another feed of the publisher tells.
const repeats = "repeats"

// knows reports whether an item is known, and so are those behind it.
func (p *Position) knows(item Item) bool {
	key := digest([]byte(item.Key))
	return p.Seen[key] != "" && !p.Cut[key]
}

// follow returns the position behind an answer that was seen at now, and those of its items
// that are new or have changed. Later is whether some have changed too often, or there are too
// many of them: they are known in their former state, or not at all, until their time has come, also
// where the feed does not change again.
func (p *Position) follow(doc *Document, now time.Time, twins *Twins, of *Source) (next Position, items []Item, later bool) {
	next = Position{Seen: map[string]string{}, Left: map[string]int64{}, Revised: map[string]int64{}, Twins: map[string]string{}, Newest: p.Newest, States: p.States}
	elsewhere := twins.begin(of)
	for i := range doc.Items {
		item := &doc.Items[i]
		key, content := digests(item, doc.Image)
		twin := twinOf(item)
		switch known := p.Seen[key]; {
		case known == repeats || known == "" && elsewhere(twin, key):
			content = repeats
		case known == content:
		case !next.take(p, key, known != "", now):
			if content, later = known, true; known == "" {
				continue
			}
		default:
			items = append(items, *item)
			items[len(items)-1].Revised = known != ""
			items[len(items)-1].Neighbour = neighbour(doc.Items, i, now, p.Newest)
		}
		next.Seen[key] = content
		if twin != "" && content != repeats {
			next.Twins[twin] = key
		}
		if isDate(item.Published, now) {
			next.Newest = max(next.Newest, item.Published.Unix())
		}
	}
	next.leave(p, now)
	for key, until := range p.Revised {
		if next.Seen[key] != "" && next.Revised[key] == 0 && until > now.Unix() {
			next.Revised[key] = until
		}
	}
	twins.end(of, next.Twins)
	return next, items, later
}

// take reports whether a state of an item may be taken now, and counts it. Revised is whether the
// item was seen before.
func (p *Position) take(before *Position, key string, revised bool, now time.Time) bool {
	states, may := source.States.Take(p.States, now)
	if may && revised {
		var until int64
		if until, may = source.Revisions.Take(before.Revised[key], now); may {
			p.Revised[key] = until
		}
	}
	if may {
		p.States = states
	}
	return may
}

// leave keeps what was known before and is not in the last answer, for a while.
func (p *Position) leave(before *Position, now time.Time) {
	since := func(key string) int64 { return cmp.Or(before.Left[key], now.Unix()) }
	var left []string
	for key := range before.Seen {
		if p.Seen[key] == "" && since(key) > now.Add(-keepLeft).Unix() {
			left = append(left, key)
		}
	}
	slices.SortFunc(left, func(a, b string) int { return cmp.Or(cmp.Compare(since(b), since(a)), cmp.Compare(a, b)) })
	for _, key := range left[:min(len(left), maxLeft)] {
		p.Seen[key], p.Left[key] = before.Seen[key], since(key)
	}
}

// empty is the position behind an answer without items: a feed that is empty for a moment.
func (p *Position) empty(validators Validators) Position {
	next := *p
	next.Validators = validators
	if len(p.Cut) > 0 { // pages are to be read also where nothing changes
		next.Validators = p.Validators
	}
	return next
}

// cut is the position behind the first pages of an answer, of which the others are to be
// read next time: up to what was known before, and not only where something has changed.
func (p Position) cut(before *Position) Position {
	p.Validators, p.Cut = Validators{}, map[string]bool{}
	for key := range maps.Keys(p.Seen) {
		if before.Seen[key] == "" || before.Cut[key] {
			p.Cut[key] = true
		}
	}
	return p
}

// neighbour is about when an item without a date was published: when the next dated item
// behind it was, as feeds begin with the newest, else the next before it, else the newest
// ever seen; zero where nothing says.
func neighbour(items []Item, n int, now time.Time, newest int64) time.Time {
	if !items[n].Published.IsZero() {
		return time.Time{}
	}
	for _, item := range items[n+1:] {
		if isDate(item.Published, now) {
			return item.Published
		}
	}
	for i := n - 1; i >= 0; i-- {
		if isDate(items[i].Published, now) {
			return items[i].Published
		}
	}
	if newest == 0 {
		return time.Time{}
	}
	return time.Unix(newest, 0).UTC()
}

// isDate reports whether a time of publication can be true.
func isDate(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }
