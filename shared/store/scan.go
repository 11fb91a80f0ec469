package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
)

// defaultScan is how many rows a request looks through: about half of the
// megabyte at which DynamoDB ends a page.
const defaultScan = 1000

// Page is a part of a scan.
type Page struct {
	Rows       map[string][]Row // by dataset
	Unreadable []UnreadableRow
	Next       string // the cursor of the page behind this one, "" after the last
}

// UnreadableRow is an item of a dataset that is no row of the log.
type UnreadableRow struct {
	Dataset string
	Key     string // both parts of its key, as they are stored
	Reason  error
	Item    string // all of it, as JSON; bytes are in base64
}

// Scan reads the rows of whole datasets, page by page and in any order: what
// builds something new from all that the log has ever held needs no order. An item
// that cannot be read as a row is reported beside the others.
//
// A scan begins with the cursor "" and goes on from the cursor of the page before,
// also after a restart. A page looks through pageSize rows of the table, of whatever
// dataset, 1,000 when it is 0, and may hold none. Reads are strongly consistent: every row that was written
// before the scan began is in it once; one that is written meanwhile may be. What
// DynamoDB refuses for lack of capacity is tried again until ctx ends.
func (l *Log) Scan(ctx context.Context, datasets []string, cursor string, pageSize int) (Page, error) {
	return l.scan(ctx, datasets, cursor, pageSize, func(*dynamodb.ScanInput) {})
}

// Unarchived selects rows that are in no archive, which is those that never expire.
type Unarchived struct {
	Datasets []string

	// Before leaves out the rows of its time and later ones, and has reads eventually
	// consistent, at half the price: what is so young that a scan misses it is for the
	// next one. Zero takes all rows.
	Before time.Time

	// Segment is which of so many parts of the table is scanned, from 0 on. Parts have
	// about the same size and lie apart, so that many can be read at a time. With no
	// Segments it is the whole table.
	Segment, Segments int

	PageSize int // rows of the table that a page looks through; 0 means 1,000
}

// ScanUnarchived is [Log.Scan] for the rows that are in no archive. A cursor is good
// for the segment that it was returned of, and for any time.
func (l *Log) ScanUnarchived(ctx context.Context, of Unarchived, cursor string) (Page, error) {
	return l.scan(ctx, of.Datasets, cursor, of.PageSize, func(in *dynamodb.ScanInput) {
		filter := "(" + *in.FilterExpression + ") AND attribute_not_exists(#exp)"
		in.ExpressionAttributeNames["#exp"] = attrExpires
		if !of.Before.IsZero() {
			filter += " AND #sk < :before"
			in.ConsistentRead = aws.Bool(false)
			in.ExpressionAttributeNames["#sk"] = attrSK
			in.ExpressionAttributeValues[":before"] = attr.S(sortMillis(firstMillis(of.Before)))
		}
		in.FilterExpression = &filter
		if of.Segments > 0 {
			in.Segment, in.TotalSegments = aws.Int32(int32(of.Segment)), aws.Int32(int32(of.Segments))
		}
	})
}

func (l *Log) scan(ctx context.Context, datasets []string, cursor string, pageSize int, narrow func(*dynamodb.ScanInput)) (Page, error) {
	if len(datasets) == 0 {
		return Page{}, nil
	}
	in, err := l.scanInput(datasets, cursor, pageSize)
	if err != nil {
		return Page{}, err
	}
	narrow(in)
	out, err := l.scanPage(ctx, in)
	if err != nil {
		return Page{}, fmt.Errorf("scan rows of %s: %w", strings.Join(datasets, ", "), err)
	}
	page := Page{Rows: make(map[string][]Row, len(datasets))}
	for _, it := range out.Items {
		dataset := firstPart(attr.Text(it, attrPK))
		r, err := row(it)
		if err != nil {
			page.Unreadable = append(page.Unreadable, unreadable(dataset, it, err))
			continue
		}
		page.Rows[dataset] = append(page.Rows[dataset], r)
	}
	if len(out.LastEvaluatedKey) > 0 {
		page.Next = keyOf(out.LastEvaluatedKey).cursor()
	}
	return page, nil
}

// unreadable describes an item. Its attributes are written with their kind, as in
// {"body":{"S":"text"}}.
func unreadable(dataset string, it item, reason error) UnreadableRow {
	kinds := make(map[string]map[string]json.RawMessage, len(it))
	for name, value := range it {
		var of struct{ Value json.RawMessage }
		text, _ := json.Marshal(value) // attributes are texts, bytes and what holds them
		_ = json.Unmarshal(text, &of)
		kinds[name] = map[string]json.RawMessage{strings.TrimPrefix(fmt.Sprintf("%T", value), "*types.AttributeValueMember"): of.Value}
	}
	text, _ := json.Marshal(kinds)
	k := keyOf(it)
	return UnreadableRow{Dataset: dataset, Key: k.pk + " " + k.sk, Reason: reason, Item: string(text)}
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
