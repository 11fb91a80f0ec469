package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/attr"
	"quotary/shared/batch"
)

// defaultScan is how many rows a request looks through: about half of the
// megabyte at which DynamoDB ends a page.
const defaultScan = 1000

// Scan reads the rows of whole datasets, page by page and in any order: what
// builds something new from all that the log has ever held needs no order.
//
// A scan begins with the cursor "" and goes on from the cursor that the page
// before returned, also after a restart; next is "" after the last page. A page
// looks through pageSize rows of the table, of whatever dataset, 1,000 when it is
// 0, and may hold none. Reads are strongly consistent: every row that was written
// before the scan began is in it once; one that is written meanwhile may be. What
// DynamoDB refuses for lack of capacity is tried again until ctx ends.
func (l *Log) Scan(ctx context.Context, datasets []string, cursor string, pageSize int) (rows map[string][]Row, next string, err error) {
	if len(datasets) == 0 {
		return nil, "", nil
	}
	in, err := l.scanInput(datasets, cursor, pageSize)
	if err != nil {
		return nil, "", err
	}
	out, err := l.scanPage(ctx, in)
	if err != nil {
		return nil, "", fmt.Errorf("scan rows of %s: %w", strings.Join(datasets, ", "), err)
	}
	rows = make(map[string][]Row, len(datasets))
	for _, it := range out.Items {
		r, err := row(it)
		if err != nil {
			return nil, "", fmt.Errorf("scan rows of %s: %w", strings.Join(datasets, ", "), err)
		}
		dataset := firstPart(attr.Text(it, attrPK))
		rows[dataset] = append(rows[dataset], r)
	}
	if len(out.LastEvaluatedKey) > 0 {
		next = keyOf(out.LastEvaluatedKey).cursor()
	}
	return rows, next, nil
}

func (l *Log) scanInput(datasets []string, cursor string, pageSize int) (*dynamodb.ScanInput, error) {
	if pageSize <= 0 {
		pageSize = defaultScan
	}
	in := &dynamodb.ScanInput{
		TableName: &l.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(pageSize)),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK}, ExpressionAttributeValues: item{},
	}
	wanted := make([]string, len(datasets))
	for i, dataset := range datasets {
		placeholder := ":d" + strconv.Itoa(i)
		wanted[i] = "begins_with(#pk, " + placeholder + ")"
		in.ExpressionAttributeValues[placeholder] = attr.S(partition(dataset, ""))
	}
	in.FilterExpression = aws.String(strings.Join(wanted, " OR "))
	if cursor != "" {
		from, err := parseCursor(cursor)
		if err != nil {
			return nil, err
		}
		in.ExclusiveStartKey = from.item()
	}
	return in, nil
}

func (l *Log) scanPage(ctx context.Context, in *dynamodb.ScanInput) (out *dynamodb.ScanOutput, err error) {
	err = batch.WhileThrottled(ctx, pauses, func() (err error) {
		out, err = l.scanOnce(ctx, in)
		return err
	})
	return out, err
}

func (l *Log) scanOnce(ctx context.Context, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return l.db.Scan(ctx, in)
}

var errCursor = errors.New("the cursor was not returned by a scan of the log")

// cursor is the key as a text that says nothing to others.
func (k rowKey) cursor() string {
	text, _ := json.Marshal([2]string{k.pk, k.sk}) // texts always marshal
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseCursor(cursor string) (rowKey, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var parts [2]string
	if err != nil || json.Unmarshal(text, &parts) != nil || parts[0] == "" || parts[1] == "" {
		return rowKey{}, errCursor
	}
	return rowKey{parts[0], parts[1]}, nil
}
