package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
)

// Series holds one row per name, key, interval and time bucket. A row is
// rewritten whole while its bucket is open. There is one writer at a time; see
// [Series.Under] for what becomes of one that does not know that it was
// replaced.
type Series struct {
	// Parallel is how many requests of one call run at a time; 0 means 4 batches
	// of reads, 16 writes.
	Parallel int

	// Eventual has Load read eventually consistent, for half the price.
	Eventual bool

	// Awaited has Load give up after about a second what DynamoDB refuses for lack of capacity:
	// somebody waits for it, and can ask again. Else it is tried again until the context ends.
	Awaited bool

	// Strong has Range read strongly consistent, for twice the price.
	Strong bool

	db    SeriesDB
	table string
	epoch int64
}

// SeriesDB is the part of the DynamoDB client that Series needs.
type SeriesDB interface {
	Rows
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// NewSeries returns the series that are kept in the table.
func NewSeries(db SeriesDB, table string) *Series { return &Series{db: db, table: table} }

// SeriesKey names one series.
type SeriesKey struct {
	Name     string // e.g. klines
	Key      string // e.g. a coin
	Interval string // e.g. 1m
}

// Point is one time bucket of a series.
type Point struct {
	Time time.Time // start of the bucket, ms precision
	Body []byte    // JSON in UTF-8

	// Extra is stored beside Body, and only Load reads it, e.g. the trade ids
	// of a one-second candle. Body and Extra together hold at most 400 KB.
	Extra []byte
}

// SeriesRow is a point with the series that it belongs to.
type SeriesRow struct {
	SeriesKey
	Point
}

// SeriesAt is the key of one point.
type SeriesAt struct {
	SeriesKey
	Time time.Time // start of the bucket, ms precision
}

// Put writes points, each whole: a point without Extra removes the Extra that
// was there. It may be repeated; of points with the same key in one call the
// last one stays. What DynamoDB refuses for lack of capacity is tried again
// until ctx ends. The error is an [*InvalidRowsError] when all points but those it
// names have been written; after any other, any part of them may have been. It is
// [ErrFenced] when a writer of a higher epoch has written one of them.
func (s *Series) Put(ctx context.Context, rows []SeriesRow) error {
	puts := encodeAll(rows, func(r SeriesRow) (item, error) { return s.item(r) })
	if err := s.putFenced(ctx, puts); err != nil {
		return fmt.Errorf("put series: %w", err)
	}
	return nil
}

// Range returns the points of a series from `from` (inclusive) to `to`
// (exclusive), either open when zero, oldest first and without Extra. Of more
// than limit points it returns the oldest, or with newest the newest ones;
// limit 0 returns all. Reads are eventually consistent but for [Series.Strong].
func (s *Series) Range(ctx context.Context, k SeriesKey, from, to time.Time, limit int, newest bool) ([]Point, error) {
	return s.between(ctx, k, from, to, limit, newest, attrBody)
}

// RangeWhole is [Series.Range] with Extra.
func (s *Series) RangeWhole(ctx context.Context, k SeriesKey, from, to time.Time, limit int, newest bool) ([]Point, error) {
	return s.between(ctx, k, from, to, limit, newest, attrBody, attrExtra)
}

func (s *Series) between(ctx context.Context, k SeriesKey, from, to time.Time, limit int, newest bool, attributes ...string) ([]Point, error) {
	lower, upper := int64(0), int64(maxMillis)
	if !from.IsZero() {
		lower = firstMillis(from)
	}
	if !to.IsZero() {
		upper = firstMillis(to) - 1
	}
	if lower > upper {
		return nil, nil
	}
	in := rangeQuery(s.table, k.partition(), sortMillis(lower), sortMillis(upper))
	projection := "#s"
	for _, name := range attributes {
		projection += ", #" + name
		in.ExpressionAttributeNames["#"+name] = name
	}
	in.ProjectionExpression = &projection
	in.ScanIndexForward = aws.Bool(!newest)
	in.ConsistentRead = aws.Bool(s.Strong)
	points, err := s.points(ctx, in, limit)
	if err != nil {
		return nil, fmt.Errorf("range of %s: %w", k, err)
	}
	if newest {
		slices.Reverse(points)
	}
	return points, nil
}

// points reads pages until there are limit points or no more.
func (s *Series) points(ctx context.Context, in *dynamodb.QueryInput, limit int) ([]Point, error) {
	var points []Point
	for {
		if limit > 0 {
			in.Limit = aws.Int32(int32(limit - len(points)))
		}
		out, err := query(ctx, s.db, in)
		if err != nil {
			return nil, err
		}
		for _, it := range out.Items {
			p, err := point(it)
			if err != nil {
				return nil, err
			}
			points = append(points, p)
		}
		if len(out.LastEvaluatedKey) == 0 || limit > 0 && len(points) >= limit {
			return points, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Latest returns the newest point of a series, without Extra, strongly
// consistent; ok is false when there is none.
func (s *Series) Latest(ctx context.Context, k SeriesKey) (p Point, ok bool, err error) {
	if !storable(k.partition()) {
		return Point{}, false, nil
	}
	in := rangeQuery(s.table, k.partition(), sortMillis(0), sortMillis(maxMillis))
	in.ProjectionExpression = aws.String("#s, #b")
	in.ExpressionAttributeNames["#b"] = attrBody
	in.ScanIndexForward = aws.Bool(false)
	in.ConsistentRead = aws.Bool(true)
	points, err := s.points(ctx, in, 1)
	if err != nil {
		return Point{}, false, fmt.Errorf("latest of %s: %w", k, err)
	}
	if len(points) == 0 {
		return Point{}, false, nil
	}
	return points[0], true, nil
}

// Load reads single points with their Extra, strongly consistent but for
// [Series.Eventual]. The result
// holds those that exist, each under the key by which the caller asked: one that could not be
// written, as its key is none, does not.
func (s *Series) Load(ctx context.Context, keys []SeriesAt) (map[SeriesAt]Point, error) {
	asked := make(map[rowKey][]SeriesAt, len(keys))
	var wanted []rowKey
	for _, at := range keys {
		k, err := seriesKey(at.SeriesKey, at.Time)
		if err != nil || validate(k.item()) != nil {
			continue
		}
		if asked[k] == nil {
			wanted = append(wanted, k)
		}
		asked[k] = append(asked[k], at)
	}
	retry := untilContextEnds
	if s.Awaited {
		retry = whileCallerWaits
	}
	found, err := getAll(ctx, s.db, s.table, s.Parallel, s.Eventual, retry, wanted, attrBody, attrExtra)
	if err != nil {
		return nil, fmt.Errorf("load series: %w", err)
	}
	points := make(map[SeriesAt]Point, len(found))
	for k, it := range found {
		p, err := point(it)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", asked[k][0].SeriesKey, err)
		}
		for _, at := range asked[k] {
			points[at] = p
		}
	}
	return points, nil
}

// Checkpoint returns what SaveCheckpoint saved last for the source, strongly
// consistent, or nil when there is nothing.
func (s *Series) Checkpoint(ctx context.Context, source string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &s.table,
		Key:            checkpointKey(source).item(),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read checkpoint of %s: %w", source, err)
	}
	return attr.Bytes(out.Item, attrBody), nil
}

// ErrInvalid is why something can never be written, however often it is tried: it is too
// large, say.
var ErrInvalid = errors.New("never to be written")

// SaveCheckpoint records how far the source has been consumed. The error is
// [ErrFenced] when a writer of a higher epoch has claimed or saved it, and [ErrInvalid]
// when no store would take it.
func (s *Series) SaveCheckpoint(ctx context.Context, source string, body []byte) error {
	it := checkpointKey(source).item()
	it[attrBody] = attr.B(body)
	if s.epoch > 0 {
		it[attrEpoch] = attr.N(s.epoch)
	}
	err := validate(it)
	if err != nil {
		return fmt.Errorf("save checkpoint of %s: %w: %w", source, ErrInvalid, err)
	}
	if err := s.putItem(ctx, it); refused(err) {
		return fmt.Errorf("save checkpoint of %s: %w: %w", source, ErrInvalid, err)
	} else if err != nil {
		return fmt.Errorf("save checkpoint of %s: %w", source, err)
	}
	return nil
}

// String returns the key for messages, e.g. "klines BTC 1m".
func (k SeriesKey) String() string { return k.Name + " " + k.Key + " " + k.Interval }

func (k SeriesKey) partition() string { return partition(k.Name, k.Key, k.Interval) }

func seriesKey(k SeriesKey, t time.Time) (rowKey, error) {
	if k.Name == "" || k.Key == "" || k.Interval == "" {
		return rowKey{}, errNoSeries
	}
	at, err := sortTime(t)
	return rowKey{k.partition(), at}, err
}

var errNoSeries = errors.New("a series needs a name, a key and an interval")

// checkpointKey has two parts where a series has three, so they never meet.
func checkpointKey(source string) rowKey { return rowKey{partition("checkpoint", source), "-"} }

func (s *Series) item(r SeriesRow) (item, error) {
	key, err := seriesKey(r.SeriesKey, r.Time)
	if err != nil {
		return nil, err
	}
	it := key.item()
	it[attrBody] = attr.S(string(r.Body))
	if len(r.Extra) > 0 {
		it[attrExtra] = attr.B(r.Extra)
	}
	if s.epoch > 0 {
		it[attrEpoch] = attr.N(s.epoch)
	}
	return it, nil
}

func point(it item) (Point, error) {
	at, _, err := parseSort(attr.Text(it, attrSK))
	return Point{Time: at, Body: []byte(attr.Text(it, attrBody)), Extra: attr.Bytes(it, attrExtra)}, err
}
