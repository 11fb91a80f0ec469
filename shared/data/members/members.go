// Package members is the authors of posts: the log of every entry that an operator has
// loaded, and the view of all of them, in which they are searched by name.
package members

import (
	"cmp"
	_ "embed" // the schema
	"errors"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the dataset, of the view, and of the drops that hold members.
const Name = "members"

// Listed is how many members the view holds: those with the most followers.
const Listed = 10_000

// Entry is a line of a drop of members: an author of posts, or an exchange. It adds one, or
// replaces the one with the same member_id.
type Entry struct {
	// Identifier, by which a later line replaces this one.
	MemberID string `json:"member_id" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Name, by which members are searched.
	Name string `json:"name" required:"true" maxlen:"100"`
	// What it is: social is an author of posts.
	Type string `json:"type" maxlen:"32" pattern:"^[a-z0-9_-]*$"`
	// Address of a picture.
	Avatar string `json:"avatar" maxlen:"2048"`
	// How many follow it.
	Followers int64 `json:"followers" min:"0" max:"9007199254740991"`
	// A few words about it.
	Describe string `json:"describe" maxlen:"1000"`
	// Labels with commas between them, such as analyst, exchange.
	Labels string `json:"labels" maxlen:"500"`
	// Whether it is shown nowhere. A later line without it shows the member again.
	Hidden bool `json:"hidden"`
}

// TypeSocial is the type of an author of posts, and of an entry that names none.
const TypeSocial = "social"

var (
	lines = drop.TypeOf[Entry]()

	// Schema is the JSON Schema of a line of a drop.
	//
	//go:embed members.schema.json
	Schema []byte

	errRow = errors.New("a stored member has no id, name, type, file or line")
)

// Parse reads a line of a drop. The error says what is wrong, for whoever wrote it.
func Parse(line []byte) (Entry, error) {
	e, err := lines.Decode(line)
	if err != nil {
		return e, err
	}
	e.Type = cmp.Or(e.Type, TypeSocial)
	return e, drop.CheckAddress("avatar", e.Avatar)
}

// LabelList is the labels.
func (e *Entry) LabelList() (list []string) {
	for label := range strings.SplitSeq(e.Labels, ",") {
		if label = strings.TrimSpace(label); label != "" {
			list = append(list, label)
		}
	}
	return list
}

// Member is an entry with its place.
type Member struct {
	Entry
	Place drop.Place `json:"place"`
}

// log has a row of every entry, under its member.
var log = dataset.Log[Member]{Name: Name, Row: row, Decode: DecodeRow}

func row(m *Member) store.Row { return dataset.PlaceRow(m.MemberID, m.Place, dataset.JSON(m)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, list []Member) []store.Row { return log.AppendRows(rows, list) }

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Member, error) {
	m, err := dataset.FromJSON[Member](r.Body)
	if err == nil && (m.MemberID == "" || m.Name == "" || m.Type == "" || m.Place.File == "" || m.Place.Line < 1) {
		err = errRow
	}
	return m, err
}

// View is the members with the most followers first. Some are hidden.
type View struct {
	Members []Member `json:"members"`
}

// NewView returns the view of members of different ids.
func NewView(list []Member) View {
	slices.SortFunc(list, func(a, b Member) int {
		return cmp.Or(cmp.Compare(b.Followers, a.Followers), strings.Compare(a.MemberID, b.MemberID))
	})
	return View{Members: list[:min(len(list), Listed)]}
}

// Search returns the members of a type whose names hold a word in any case, those whose
// names begin with it first.
func (v View) Search(kind, word string) (list []*Member) {
	word = strings.ToLower(strings.TrimSpace(word))
	var others []*Member
	for i := range v.Members {
		m := &v.Members[i]
		name := strings.ToLower(m.Name)
		switch {
		case m.Hidden || m.Type != kind || !strings.Contains(name, word):
		case strings.HasPrefix(name, word):
			list = append(list, m)
		default:
			others = append(others, m)
		}
	}
	return append(list, others...)
}

// Published is how the view is stored. Members change seldom.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second}
