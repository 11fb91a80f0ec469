package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/store/retention"
	"quotary/shared/store/schema"
)

// Log holds immutable rows in order of time. A row is found under its subject
// and under up to four more, through the indexes A to D.
//
// A row's key is (dataset, subject, time in ms, ID). It may be written any
// number of times.
type Log struct {
	// Parallel is how many batch requests of one call run at a time; 0 means 4.
	Parallel int

	// Retention is for how long rows can be read with [Log.Rows]; the zero value is
	// for ever. Now is its clock, nil means time.Now.
	Retention retention.Setting
	Now       func() time.Time

	db       LogDB
	table    string
	expiries expiries
}

// LogDB is the part of the DynamoDB client that Log needs.
type LogDB interface {
	Rows
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// NewLog returns the log that is kept in the table.
func NewLog(db LogDB, table string) *Log { return &Log{db: db, table: table} }

// Row is one immutable fact under a subject.
type Row struct {
	Subject string    // not empty, e.g. an address
	Time    time.Time // ms precision: what is finer is cut off
	ID      string    // unique within (subject, time), e.g. "<coin>#<tid>#<side>"; at most 1,000 bytes

	// Seq is the order within one millisecond where the source knows it, else
	// 0. It is no part of the key.
	Seq int64

	// Index holds the subjects under which the row is found in the indexes A to
	// D; "" leaves it out of that index.
	Index [4]string

	// Arrival is the row's place in the order of arrival, 0 where that is of no interest. A row
	// that is written Again, or may be, keeps the place that is stored.
	Arrival int64
	Again   bool

	// New says that the row is written only where none is stored with its key. That takes no more write units than in a
	// batch, but a request of its own.
	New bool

	Body []byte // JSON in UTF-8

	// Expires is when the table may delete the row, in whole seconds; zero is never.
	// Only what is archived has it: see the package archive.
	Expires time.Time
}

// Index selects where a query looks.
type Index int

// Main finds rows by Row.Subject, A to D by Row.Index[0] to Row.Index[3].
const (
	Main Index = iota
	A
	B
	C
	D
)

// Query selects rows of one subject.
type Query struct {
	Dataset, Subject string
	Index            Index
	From, To         time.Time // both inclusive; zero is open
	Newest           bool      // from the newest row to the oldest
	PageSize         int       // rows the first request reads; 0 means 250. Each further one reads twice as many, up to a bound
}

// defaultPage keeps a request for a few rows from reading DynamoDB's full
// megabyte.
const defaultPage = 250

// mostPage is how many rows a further page has at most: about half of the megabyte that
// DynamoDB puts into a page.
const mostPage = 1000

// Put writes rows. It may be repeated; of rows with the same key in one call
// the last one stays. What DynamoDB refuses for lack of capacity is tried again
// until ctx ends. The error is an [*InvalidRowsError] when all rows but those it
// names have been written; after any other, any part of them may have been.
func (l *Log) Put(ctx context.Context, dataset string, rows []Row) error {
	puts := encodeAll(rows, func(r Row) (item, error) { return logItem(dataset, r) })
	if err := l.keepArrivals(ctx, rows, puts); err != nil {
		return fmt.Errorf("look when %s rows arrived: %w", dataset, err)
	}
	fresh := puts.cut(func(row int) bool { return rows[row].New })
	err := fresh.putEach(ctx, l.Parallel, l.putNew)
	if err == nil || errors.As(err, new(*InvalidRowsError)) {
		puts.invalid = append(puts.invalid, fresh.invalid...)
		err = puts.putAll(ctx, l.db, l.table, l.Parallel)
	}
	if err != nil {
		return fmt.Errorf("put %s rows: %w", dataset, err)
	}
	return nil
}

// putNew writes an item where none is stored with its key.
func (l *Log) putNew(ctx context.Context, it item) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := l.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &l.table, Item: it,
		ConditionExpression: aws.String("attribute_not_exists(#p)"), ExpressionAttributeNames: map[string]string{"#p": attrPK}})
	if errors.As(err, new(*types.ConditionalCheckFailedException)) {
		return nil
	}
	return err
}

// keepArrivals gives the items of rows that may be there already the arrival that is stored.
func (l *Log) keepArrivals(ctx context.Context, rows []Row, puts *puts) error {
	var again []rowKey
	for i := range puts.items {
		if r := &rows[puts.rows[i]]; r.Again {
			again = append(again, keyOf(puts.items[i]))
		}
	}
	if len(again) == 0 {
		return nil
	}
	found, err := getAll(ctx, l.db, l.table, l.Parallel, false, untilContextEnds, again, attrArrival)
	if err != nil {
		return err
	}
	for _, it := range puts.items {
		have, ok := found[keyOf(it)]
		switch place := have[attrArrival]; {
		case !ok:
		case place == nil: // it was stored before rows had one
			delete(it, attrArrival)
		default:
			it[attrArrival] = place
		}
	}
	return nil
}

// Missing counts how many of the rows are not in the log, strongly consistent.
// Only their keys are looked at. A row given twice counts once.
func (l *Log) Missing(ctx context.Context, dataset string, rows []Row) (missing int, err error) {
	keys, found, err := l.find(ctx, dataset, rows)
	if err != nil {
		return 0, err
	}
	different := map[rowKey]bool{}
	for _, k := range keys {
		different[k] = true
	}
	return len(different) - len(found), nil
}

// StoredArrival says of a row whether it is stored, and then at which place in the order of arrival, 0 for none.
type StoredArrival struct {
	Stored  bool
	Arrival int64
}

// Arrivals says of each of the rows whether it is in the log, strongly consistent, and when it arrived.
func (l *Log) Arrivals(ctx context.Context, dataset string, rows []Row) ([]StoredArrival, error) {
	return lookUp(ctx, l, dataset, rows, attrArrival, func(read *attr.Reader) StoredArrival {
		return StoredArrival{Stored: true, Arrival: read.Int(attrArrival)}
	})
}

// Bodies says of each of the rows what is stored of it, strongly consistent; nil where it is not in the log.
func (l *Log) Bodies(ctx context.Context, dataset string, rows []Row) ([][]byte, error) {
	return lookUp(ctx, l, dataset, rows, attrBody, func(read *attr.Reader) []byte { return []byte(read.Text(attrBody)) })
}

// lookUp makes something of an attribute of each of the rows; of those that are not stored the zero value.
func lookUp[T any](ctx context.Context, l *Log, dataset string, rows []Row, attribute string, of func(*attr.Reader) T) ([]T, error) {
	keys, found, err := l.find(ctx, dataset, rows, attribute)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(keys))
	for i, k := range keys {
		if it, ok := found[k]; ok {
			read := attr.Reader{Item: it}
			list[i] = of(&read)
			if read.Err != nil {
				return nil, fmt.Errorf("look for %s rows: %w", dataset, read.Err)
			}
		}
	}
	return list, nil
}

// find looks for rows, and returns the key of each, and what is stored of them: their keys, and some attributes.
func (l *Log) find(ctx context.Context, dataset string, rows []Row, attributes ...string) ([]rowKey, map[rowKey]item, error) {
	keys, different := make([]rowKey, len(rows)), make(map[rowKey]bool, len(rows))
	for i, r := range rows {
		var err error
		if keys[i], err = logKey(dataset, r); err != nil {
			return nil, nil, fmt.Errorf("look for %s row %q of %q: %w", dataset, r.ID, r.Subject, err)
		}
		different[keys[i]] = true
	}
	found, err := getAll(ctx, l.db, l.table, l.Parallel, false, untilContextEnds, slices.Collect(maps.Keys(different)), attributes...)
	if err != nil {
		return nil, nil, fmt.Errorf("look for %s rows: %w", dataset, err)
	}
	return keys, found, nil
}

// Rows returns the rows that q selects in order of time; within one
// millisecond in order of Seq, then of ID, then of subject. With q.Newest the
// whole order is reversed. Pages are read as the caller asks for rows, and a
// millisecond is returned only when all of it has been read: the order is
// exact at page borders too. Reads are eventually consistent. An error ends the
// sequence.
//
// Rows that are no longer retained are left out, and so are those of before anything
// has expired: see [Log.SaveExpiries]. Where q asks for older ones, and all that are
// left have been returned, that is reported to ctx: [retention.Reached].
func (l *Log) Rows(ctx context.Context, q Query) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		since, err := l.Since(ctx, q.Dataset)
		if err != nil {
			yield(Row{}, fmt.Errorf("query %s rows of %q: %w", q.Dataset, q.Subject, err))
			return
		}
		beyond := q.From.Before(since)
		if beyond {
			q.From = since
		}
		if beyond && !q.Newest { // what is missing would have come first
			retention.Reached(ctx, since)
		}
		if l.rows(ctx, q, yield) && beyond {
			retention.Reached(ctx, since)
		}
	}
}

// rows yields the rows that q selects, and reports whether it came to their end.
func (l *Log) rows(ctx context.Context, q Query, yield func(Row, error) bool) (all bool) {
	in, err := l.queryInput(q)
	if err != nil {
		yield(Row{}, fmt.Errorf("query %s rows of %q: %w", q.Dataset, q.Subject, err))
		return false
	}
	var rows []Row // read, not returned yet
	for in != nil {
		out, err := query(ctx, l.db, in)
		if err == nil {
			rows, err = appendRows(rows, out.Items)
		}
		if err != nil {
			yield(Row{}, fmt.Errorf("query %s rows of %q: %w", q.Dataset, q.Subject, err))
			return false
		}
		complete := len(rows)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(out.LastEvaluatedKey) > 0 {
			complete = lastMillis(rows)
			in.Limit = aws.Int32(max(*in.Limit, min(2**in.Limit, mostPage)))
		} else {
			in = nil
		}
		sortRows(rows[:complete], q.Newest)
		for _, r := range rows[:complete] {
			if !yield(r, nil) {
				return false
			}
		}
		rows = append(rows[:0], rows[complete:]...)
	}
	return true
}

// Since is the first moment of which all rows of a dataset can be read, zero where none
// has ever expired. What has been published of that by others may be some minutes old.
func (l *Log) Since(ctx context.Context, dataset string) (time.Time, error) {
	clock := l.Now
	if clock == nil {
		clock = time.Now
	}
	now := clock()
	since := l.Retention.Since(dataset, now)
	expired, err := l.expired(ctx, dataset, now)
	if expired.After(since) {
		since = expired
	}
	return since, err
}

// queryInput returns the first page's request. A row's sort key is its
// milliseconds, '#' and its ID, so the bare milliseconds sort before every row
// of that millisecond and equal none.
func (l *Log) queryInput(q Query) (*dynamodb.QueryInput, error) {
	if q.Subject == "" {
		return nil, errNoSubject
	}
	from, to := int64(0), int64(maxMillis)
	if !q.From.IsZero() {
		from = firstMillis(q.From)
	}
	if !q.To.IsZero() {
		to = min(q.To.UnixMilli(), maxMillis)
	}
	pk := partition(q.Dataset, q.Subject)
	if from > to || !storable(pk) {
		return nil, nil
	}
	upper := "~" // after every digit
	if to < maxMillis {
		upper = sortMillis(to + 1)
	}
	in := rangeQuery(l.table, pk, sortMillis(from), upper)
	if q.Index != Main {
		if q.Index < A || q.Index > D {
			return nil, fmt.Errorf("no index %d", q.Index)
		}
		index := schema.LogIndexes[q.Index-A]
		in.IndexName = &index.Name
		in.ExpressionAttributeNames["#p"] = index.Partition
	}
	in.ScanIndexForward = aws.Bool(!q.Newest)
	in.Limit = aws.Int32(int32(q.PageSize))
	if q.PageSize <= 0 {
		in.Limit = aws.Int32(defaultPage)
	}
	return in, nil
}

// rangeQuery selects the items of one partition with a sort key between lower
// and upper, both inclusive.
func rangeQuery(table, partition, lower, upper string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                &table,
		KeyConditionExpression:   aws.String("#p = :p AND #s BETWEEN :lower AND :upper"),
		ExpressionAttributeNames: map[string]string{"#p": attrPK, "#s": attrSK},
		ExpressionAttributeValues: item{
			":p":     attr.S(partition),
			":lower": attr.S(lower),
			":upper": attr.S(upper),
		},
	}
}

// lastMillis returns where the rows of the last row's millisecond begin.
func lastMillis(rows []Row) int {
	i := len(rows)
	for i > 0 && rows[i-1].Time.Equal(rows[len(rows)-1].Time) {
		i--
	}
	return i
}

func sortRows(rows []Row, newest bool) {
	slices.SortFunc(rows, func(a, b Row) int {
		if newest {
			a, b = b, a
		}
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Seq, b.Seq),
			strings.Compare(a.ID, b.ID), strings.Compare(a.Subject, b.Subject))
	})
}

var errNoSubject = errors.New("the subject is empty")

func logKey(dataset string, r Row) (rowKey, error) {
	if r.Subject == "" {
		return rowKey{}, errNoSubject
	}
	at, err := sortTime(r.Time)
	return rowKey{partition(dataset, r.Subject), at + "#" + r.ID}, err
}

func logItem(dataset string, r Row) (item, error) {
	key, err := logKey(dataset, r)
	if err != nil {
		return nil, err
	}
	it := key.item()
	it[attrBody] = attr.S(string(r.Body))
	if r.Seq != 0 {
		it[attrSeq] = attr.N(r.Seq)
	}
	if r.Arrival != 0 {
		it[attrArrival] = attr.N(r.Arrival)
	}
	if !r.Expires.IsZero() {
		it[attrExpires] = attr.N(r.Expires.Unix())
	}
	for i, subject := range r.Index {
		if subject != "" {
			it[schema.LogIndexes[i].Partition] = attr.S(partition(dataset, subject))
		}
	}
	return it, nil
}

func appendRows(rows []Row, items []item) ([]Row, error) {
	for _, it := range items {
		r, err := row(it)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func row(it item) (Row, error) {
	read := attr.Reader{Item: it}
	at, id, err := parseSort(read.Text(attrSK))
	if err != nil {
		return Row{}, err
	}
	r := Row{Subject: lastPart(read.Text(attrPK)), Time: at, ID: id, Seq: read.Int(attrSeq), Arrival: read.Int(attrArrival), Body: []byte(read.Text(attrBody))}
	if expires := read.Int(attrExpires); expires != 0 {
		r.Expires = time.Unix(expires, 0).UTC()
	}
	for i, index := range schema.LogIndexes {
		if subject := read.Text(index.Partition); subject != "" {
			r.Index[i] = lastPart(subject)
		}
	}
	return r, read.Err
}
