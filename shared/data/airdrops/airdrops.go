// Package airdrops is the view of airdrops and similar campaigns of exchanges, of which
// lists are answered, and the log of every entry, in which their whole texts are and of
// which the view is made again if it is lost.
//
// # Rows
//
// An entry is one immutable row under its airdrop ([Entry.AirdropID]), at the time at which
// its file was put, or it was announced. The view holds each airdrop's entry of the last
// place, without the content, which is read from the row of that place ([Content]).
package airdrops

import (
	"cmp"
	"context"
	_ "embed" // the schema
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the dataset, of the view, and of the drops that hold airdrops.
const Name = "airdrops"

// Listed is how many airdrops the view holds: the newest.
const Listed = 2000

// Schema is the JSON Schema of a line of a drop.
//
//go:embed airdrops.schema.json
var Schema []byte

// Airdrop is an entry with its place.
type Airdrop struct {
	Entry
	Place drop.Place `json:"place"`
}

// log has a row of every entry, under its airdrop.
var log = dataset.Log[Airdrop]{Name: Name, Row: row, Decode: DecodeRow}

func row(a *Airdrop) store.Row { return dataset.PlaceRow(a.AirdropID, a.Place, dataset.JSON(a)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, list []Airdrop) []store.Row { return log.AppendRows(rows, list) }

var errRow = errors.New("a stored airdrop has no id, programme, exchange, project, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Airdrop, error) {
	a, err := dataset.FromJSON[Airdrop](r.Body)
	if err == nil && !a.valid() {
		err = errRow
	}
	return a, err
}

func (a *Airdrop) valid() bool {
	return a.AirdropID != "" && a.Source != "" && a.Exchange != "" && a.ProjectName != "" && a.Place.File != "" && a.Place.Line >= 1
}

// Content returns the whole text of a listed airdrop, as Markdown: "" where it has none.
func Content(ctx context.Context, l *store.Log, a *Airdrop, in Language) (string, error) {
	at := time.UnixMilli(a.Place.Time).UTC()
	for have, err := range log.Read(ctx, l, dataset.Query{Subject: a.AirdropID, From: at, To: at}) {
		if err != nil {
			return "", err
		}
		if have.Place == a.Place {
			return have.Content(in), nil
		}
	}
	return "", nil
}

// View is the newest airdrops, newest first: by when they begin, those of one moment by
// their ids. Some are hidden; none has its content.
type View struct {
	Airdrops []Airdrop `json:"airdrops"`
}

// NewView returns the view of airdrops of different ids.
func NewView(list []Airdrop) View {
	slices.SortFunc(list, func(a, b Airdrop) int {
		return cmp.Or(cmp.Compare(b.Begins(), a.Begins()), strings.Compare(a.AirdropID, b.AirdropID))
	})
	return View{Airdrops: list[:min(len(list), Listed)]}
}

// WithoutContent is the airdrop as the view holds it.
func (a Airdrop) WithoutContent() Airdrop {
	a.ContentEN, a.ContentCN, a.ContentTC = "", "", ""
	return a
}

// Shown yields the airdrops that are not hidden, in their order.
func (v View) Shown() iter.Seq[*Airdrop] {
	return func(yield func(*Airdrop) bool) {
		for i := range v.Airdrops {
			if a := &v.Airdrops[i]; !a.Hidden && !yield(a) {
				return
			}
		}
	}
}

// Find returns the shown airdrop of a programme that a client names by its id, the id of
// its project or, in any case, the short name of what is given away: of several the newest.
func (v View) Find(source, token string) (*Airdrop, bool) {
	matches := []func(*Airdrop) bool{
		func(a *Airdrop) bool { return a.AirdropID == token },
		func(a *Airdrop) bool { return a.ProjectID == token },
		func(a *Airdrop) bool { return strings.EqualFold(a.TokenSymbol, token) },
	}
	for _, is := range matches {
		for a := range v.Shown() {
			if a.Source == source && is(a) {
				return a, true
			}
		}
	}
	return nil, false
}

// Banners returns the airdrops to put forward at a time, so many at most: those with a
// rank that are not finished, or else the newest that are not.
func (v View) Banners(now time.Time, most int) (list []*Airdrop) {
	ranked := false
	for a := range v.Shown() {
		if a.StatusAt(now) != Finished {
			list, ranked = append(list, a), ranked || a.BannerRank > 0
		}
	}
	if ranked {
		list = slices.DeleteFunc(list, func(a *Airdrop) bool { return a.BannerRank == 0 })
		slices.SortStableFunc(list, func(a, b *Airdrop) int { return cmp.Compare(a.BannerRank, b.BannerRank) })
	}
	return list[:min(len(list), most)]
}

// Published is how the view is stored. Airdrops change seldom.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second}
