package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Count is how many rows q selects, at most so many: those that [Log.Rows] returns, but
// counted in the store, by pages of a megabyte of which nothing is sent. It costs as much
// capacity as reading them.
func (l *Log) Count(ctx context.Context, q Query, most int) (int, error) {
	n, err := l.count(ctx, q, most)
	if err != nil {
		return 0, fmt.Errorf("count %s rows of %q: %w", q.Dataset, q.Subject, err)
	}
	return min(n, most), nil
}

func (l *Log) count(ctx context.Context, q Query, most int) (n int, err error) {
	since, err := l.Since(ctx, q.Dataset)
	if err != nil {
		return 0, err
	}
	if q.From.Before(since) {
		q.From = since
	}
	in, err := l.queryInput(q)
	if in == nil || err != nil {
		return 0, err
	}
	in.Select = types.SelectCount
	for {
		// Never more than a page of a megabyte, whatever the limit.
		in.Limit = aws.Int32(int32(min(most-n, countPage)))
		out, err := query(ctx, l.db, in)
		if err != nil {
			return 0, err
		}
		n += int(out.Count)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) == 0 || n >= most {
			return n, nil
		}
	}
}

// countPage is how many rows one request counts at most: more than a megabyte has.
const countPage = 100_000
