package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/batch"
)

// Part is a part of the rows of a subject, oldest first.
type Part struct {
	Rows       []Row
	Unreadable []UnreadableRow
	Next       time.Time // from when the next part goes on, zero after the last
}

// Part returns the rows of a subject from a time on, inclusive, in the order of
// [Log.Rows]: about most of them, and all of each millisecond that it has any of. Other
// than Rows it is strongly consistent, knows no retention, and reports an item that
// cannot be read as a row beside the others: it is for who makes state again from all
// that is stored. What DynamoDB refuses for lack of capacity is tried again until ctx
// ends.
func (l *Log) Part(ctx context.Context, dataset, subject string, from time.Time, most int) (Part, error) {
	part, err := l.part(ctx, Query{Dataset: dataset, Subject: subject, From: from, PageSize: most + 1})
	if err != nil {
		return Part{}, fmt.Errorf("read %s rows of %q: %w", dataset, subject, err)
	}
	return part, nil
}

func (l *Log) part(ctx context.Context, q Query) (part Part, err error) {
	in, err := l.queryInput(q)
	if in == nil || err != nil {
		return part, err
	}
	in.ConsistentRead = aws.Bool(true)
	for {
		var out *dynamodb.QueryOutput
		err := batch.WhileThrottled(ctx, pauses, func() (err error) {
			out, err = query(ctx, l.db, in)
			return err
		})
		if err != nil {
			return Part{}, err
		}
		for _, it := range out.Items {
			r, err := row(it)
			if err != nil {
				part.Unreadable = append(part.Unreadable, unreadable(q.Dataset, it, err))
				continue
			}
			part.Rows = append(part.Rows, r)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) == 0 {
			sortRows(part.Rows, false)
			return part, nil
		}
		if complete := lastMillis(part.Rows); complete > 0 {
			part.Next = part.Rows[complete].Time
			part.Rows = part.Rows[:complete]
			sortRows(part.Rows, false)
			return part, nil
		}
	}
}
