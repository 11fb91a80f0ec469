package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

func TestPartsHaveEachRowOnceAndNoMillisecondInTwo(t *testing.T) {
	t.Parallel()
	l, _, _ := newLog(t)
	var rows []store.Row
	for i, ms := range []int64{1000, 1001, 1001, 1001, 1001, 1001, 1002, 1003, 1003, 1004} {
		rows = append(rows, store.Row{Subject: "alice", Time: at(ms), ID: fmt.Sprint(9 - i), Seq: int64(i), Body: []byte("{}")})
	}
	other := store.Row{Subject: "bob", Time: at(1002), ID: "1", Body: []byte("{}")}
	must.Do(t, l.Put(t.Context(), "word", append(slices.Clone(rows), other)))
	for from, first := range map[int64]int{1000: 0, 1001: 1, 1003: 7, 1005: len(rows)} {
		for _, most := range []int{1, 2, 3, 100} {
			var got []store.Row
			parts := 0
			for next := at(from); !next.IsZero(); parts++ {
				part := must.Get(l.Part(t.Context(), "word", "alice", next, most))(t)
				got, next = append(got, part.Rows...), part.Next
			}
			if !slices.EqualFunc(got, rows[first:], func(a, b store.Row) bool { return a.ID == b.ID }) || most == 100 && parts != 1 {
				t.Errorf("from %d, %d a part: %d rows in %d parts, want %d", from, most, len(got), parts, len(rows)-first)
			}
		}
	}
}

func TestAPartReportsWhatIsNoRow(t *testing.T) {
	t.Parallel()
	l, db, table := newLog(t)
	good := store.Row{Subject: "alice", Time: at(1000), ID: "1", Body: []byte("{}")}
	must.Do(t, l.Put(t.Context(), "word", []store.Row{good}))
	bad := attr.Item{"pk": attr.S("word#alice"), "sk": attr.S("0000000001000#2"), "seq": attr.S("seven")}
	must.Get(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: bad}))(t)
	part, err := l.Part(t.Context(), "word", "alice", time.Time{}, 10)
	if err != nil || len(part.Rows) != 1 || part.Rows[0].ID != "1" || len(part.Unreadable) != 1 || part.Unreadable[0].Dataset != "word" {
		t.Errorf("%+v, %v", part, err)
	}
}
