package members

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/store"
)

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "members.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"member_id":"a","name":"A"}`: "",
		`{"member_id":"a","name":"A","type":"exchange","followers":5,"labels":"one, two","avatar":"https://a.example/x.png"}`: "",
		`{"name":"A"}`:      "member_id is missing",
		`{"member_id":"a"}`: "name is missing",
		`{"member_id":"a","name":"A","followers":-1}`:      "followers must be a whole number from 0 to",
		`{"member_id":"a","name":"A","avatar":"ftp://a"}`:  "avatar must be an address",
		`{"member_id":"a","name":"A","type":"An Analyst"}`: "type must be a text",
	} {
		e, err := Parse([]byte(line))
		if want == "" && (err != nil || e.Type == "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func drawMember(t *rapid.T) Member {
	return Member{
		Entry: Entry{MemberID: fmt.Sprint("m", rapid.Int64Range(1, 9).Draw(t, "id")), Name: rapid.StringMatching(`[a-c]{1,3}`).Draw(t, "name"), Type: TypeSocial,
			Followers: rapid.Int64Range(0, 3).Draw(t, "followers"), Labels: rapid.SampledFrom([]string{"", "x", "x, y,"}).Draw(t, "labels"), Hidden: rapid.Bool().Draw(t, "hidden")},
		Place: drop.Place{Time: 1_795_000_000_000, File: "a", Line: rapid.Int64Range(1, 9).Draw(t, "line")},
	}
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Member]{
		Values: rapid.Custom(drawMember),
		Encode: func(m Member) []byte { return row(&m).Body },
		Decode: func(body []byte) (Member, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			return NewView(rapid.SliceOfNDistinct(rapid.Custom(drawMember), 0, 6, func(m Member) string { return m.MemberID }).Draw(t, "members"))
		}),
		Encode: Published.Encode, Decode: Published.Decode, Use: func(v View) { v.Search(TypeSocial, "a") },
	}.Test(t)
}

func TestMembersAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	member := func(id, name string, followers int64) Member {
		return Member{Entry: Entry{MemberID: id, Name: name, Type: TypeSocial, Followers: followers, Labels: " x ,, y"}}
	}
	hidden, exchange := member("h", "Satoshi hidden", 99), member("e", "Satoshi exchange", 99)
	hidden.Hidden, exchange.Type = true, "exchange"
	v := NewView([]Member{member("a", "Old Satoshi", 50), member("b", "satoshi", 1), member("c", "SATOSHI two", 9), member("d", "Nobody", 7), hidden, exchange})
	var got []string
	for _, m := range v.Search(TypeSocial, " Satoshi ") {
		got = append(got, m.MemberID)
	}
	if want := []string{"c", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := v.Members[0].LabelList(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("%q", got)
	}
}
