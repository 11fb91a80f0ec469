package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/aws/attr"
)

// listID names a list.
type listID struct{ distributor, status, keyword string }

func (f *Filter) list(distributor string) listID {
	id := listID{distributor: distributor, keyword: strings.ToLower(f.Keyword)}
	if f.Status != nil {
		id.status = strconv.FormatInt(*f.Status, 10)
	}
	return id
}

// starts remembers where parts of a list begin, for as long as the list has the version.
type starts struct {
	version int64
	total   int64 // -1 = unknown
	after   []start
}

// start says that so many sub-keys of the list come before what follows a row.
type start struct {
	offset int64
	sort   string // of the row, "" = the beginning
}

// maxStarts bounds what is remembered of one list.
const maxStarts = 1000

// before is the last start that is not beyond an offset.
func (p *starts) before(offset int64) start {
	found := start{}
	for _, at := range p.after {
		if at.offset <= offset && at.offset > found.offset {
			found = at
		}
	}
	return found
}

func (p *starts) add(at start) {
	if at.offset > 0 && len(p.after) < maxStarts && !slices.Contains(p.after, at) {
		p.after = append(slices.Clip(p.after), at) // a copy: other requests read the former
	}
}

// SubKeys returns a part of the selected sub-keys of a distributor, the newest first:
// at most size of them from offset on, and how many there are in all. It reads rows from
// the nearest start before the offset that this store remembers, and whole sub-keys of
// the part alone.
func (s *Store) SubKeys(ctx context.Context, distributor string, filter Filter, offset, size int64) (list []SubKey, total int64, _ error) {
	a, err := s.account(ctx, distributor)
	if err != nil {
		return nil, 0, fmt.Errorf("list sub-keys: %w", err)
	}
	id := filter.list(distributor)
	known, ok := s.starts.Get(id)
	if !ok || known.version != a.version {
		known = starts{version: a.version, total: -1}
	}
	if n, ok := filter.total(&a.Distributor); ok {
		known.total = n
	}
	part, err := s.rowsAt(ctx, distributor, &filter, &known, offset, size)
	if err != nil {
		return nil, 0, fmt.Errorf("list sub-keys: %w", err)
	}
	s.starts.Set(id, known)
	if list, err = s.subKeysOf(ctx, part); err != nil {
		return nil, 0, fmt.Errorf("list sub-keys: %w", err)
	}
	return list, known.total, nil
}

// rowsAt returns the access keys of a part of a list, and adds to the starts what it
// has seen. While the total is unknown it reads to the end.
func (s *Store) rowsAt(ctx context.Context, distributor string, filter *Filter, known *starts, offset, size int64) (part []string, _ error) {
	counting := known.total < 0
	if !counting && offset >= known.total {
		return nil, nil
	}
	at := start{}
	if !counting {
		at = known.before(offset)
	}
	in := s.partition(rowsPartition(distributor), only("sk"))
	filter.apply(in)
	if at.sort != "" {
		in.ExclusiveStartKey = key(rowsPartition(distributor), at.sort)
	}
	for limit := offset + size - at.offset; ; limit = min(limit*4, 1<<20) {
		if !counting {
			in.Limit = aws.Int32(int32(min(limit, 1<<20))) // of rows before the filter: more with each turn that was not enough
		}
		out, err := s.db.Query(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, row := range out.Items {
			at = start{at.offset + 1, attr.Text(row, "sk")}
			if at.offset > offset && at.offset <= offset+size {
				accessKey, _, err := ofRow(at.sort)
				if err != nil {
					return nil, err
				}
				part = append(part, accessKey)
			}
			if at.offset == offset+size || at.offset%1000 == 0 {
				known.add(at)
			}
		}
		switch {
		case out.LastEvaluatedKey == nil:
			known.total = at.offset
			return part, nil
		case !counting && (int64(len(part)) == size || at.offset >= known.total):
			return part, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// listed leaves out the sealed secret.
var listed = only("pk", "name", "level", "status", "monthly_quota", "rate_limit", "max_time_range",
	"ws_conn_limit", "ws_sub_limit", "created_at", "updated_at", "expires_at")

// subKeysOf reads sub-keys in the order of their access keys as given; one that has just
// been deleted is absent.
func (s *Store) subKeysOf(ctx context.Context, accessKeys []string) ([]SubKey, error) {
	keys := make([]item, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = keyKey(accessKey)
	}
	items, err := s.readAll(ctx, keys, listed)
	if err != nil {
		return nil, err
	}
	list := make([]SubKey, len(items))
	for i, it := range items {
		f := fieldsOf(it)
		if list[i] = f.subKey(); f.Err != nil {
			return nil, f.Err
		}
	}
	slices.SortFunc(list, func(a, b SubKey) int {
		return slices.Index(accessKeys, a.AccessKey) - slices.Index(accessKeys, b.AccessKey)
	})
	return list, nil
}

// Row is what the list holds of a sub-key.
type Row struct {
	AccessKey    string
	Name         string
	Active       bool
	MonthlyQuota int64 // requests per calendar month
	CreatedAt    time.Time
}

// EachRow calls use with all selected sub-keys of a distributor that were created at a time
// or later, the oldest first, some thousand at a time, until it returns an error: that one,
// or nil for [ErrEnough].
func (s *Store) EachRow(ctx context.Context, distributor string, filter Filter, from time.Time, use func([]Row) error) error {
	if _, err := s.Distributor(ctx, distributor); err != nil { // which brings the rows up to date
		return fmt.Errorf("list sub-keys: %w", err)
	}
	in := s.partition(rowsPartition(distributor), only("sk", "name", "status", "monthly_quota"))
	filter.apply(in)
	in.ScanIndexForward = aws.Bool(false)
	if !from.IsZero() {
		in.KeyConditionExpression = aws.String("pk = :pk AND sk < :before")
		in.ExpressionAttributeValues[":before"] = attr.S(rowsBefore(from))
	}
	for pages := dynamodb.NewQueryPaginator(s.db, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list sub-keys: %w", err)
		}
		rows := make([]Row, len(page.Items))
		for i, it := range page.Items {
			f := fieldsOf(it)
			accessKey, created, err := ofRow(f.Text("sk"))
			rows[i] = Row{accessKey, f.Text("name"), f.Int("status") == 1, f.Int("monthly_quota"), created}
			if err != nil || f.Err != nil {
				return fmt.Errorf("list sub-keys: the row %q cannot be read", f.Text("sk"))
			}
		}
		switch err := use(rows); {
		case errors.Is(err, ErrEnough):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// ErrEnough ends [Store.EachRow].
var ErrEnough = errors.New("enough was read")
