package keys

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// A batch changes the status of up to 100 sub-keys in one transaction, which has no
// room for their rows. Before it, the distributor is marked with the access keys; after
// it, the rows are brought up to date and the mark goes. Whoever reads lists or figures
// while there is a mark does the same first, so that they hold what was answered even
// where the batch's own process has ended in between.

// maxBatch is the most sub-keys that one transaction can change.
const maxBatch = 100

// maxRows is the most rows that are brought up to date together with the figures.
const maxRows = 50

// abandoned is the age of a mark whose batch has ended, however it did: no function
// runs as long.
const abandoned = 2 * time.Minute

// batchMark names sub-keys whose rows may show another status than they have.
type batchMark struct {
	ID         string
	At         time.Time
	AccessKeys []string // at most maxRows
}

// markPrefix begins the names of the attributes of a distributor that hold marks.
const markPrefix = "batch_"

func (m *batchMark) attribute() string { return markPrefix + m.ID }

func (m *batchMark) value() types.AttributeValue {
	return attr.S(strconv.FormatInt(m.At.UnixMilli(), 10) + "," + strings.Join(m.AccessKeys, ","))
}

// batchMarks reads the marks of a distributor.
func (f *fields) batchMarks() (marks []batchMark) {
	for name := range f.Item {
		id, is := strings.CutPrefix(name, markPrefix)
		if !is {
			continue
		}
		parts := strings.Split(f.Text(name), ",")
		at, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil {
			f.Fail(name)
			continue
		}
		marks = append(marks, batchMark{id, time.UnixMilli(at), parts[1:]})
	}
	return marks
}

// SetActive enables or disables sub-keys: all of them, or none when one is not
// the distributor's. Naming one twice is as good as once.
func (s *Store) SetActive(ctx context.Context, distributor string, accessKeys []string, active bool) error {
	if n := len(accessKeys); n < 1 || n > maxBatch {
		return invalid("access_keys must name 1 to %d sub-keys, not %d", maxBatch, n)
	}
	var named, unknown []string
	for _, accessKey := range accessKeys {
		switch {
		case slices.Contains(named, accessKey) || slices.Contains(unknown, accessKey):
		case !isAccessKey(accessKey):
			unknown = append(unknown, accessKey)
		default:
			named = append(named, accessKey)
		}
	}
	missing, err := s.missing(ctx, distributor, named)
	if err != nil {
		return fmt.Errorf("change sub-keys: %w", err)
	}
	if unknown = append(unknown, missing...); len(unknown) > 0 {
		return unknownKeys(unknown)
	}
	err = s.setActive(ctx, distributor, named, active)
	var failed *unmetError
	switch {
	case errors.As(err, &failed):
		// Not every engine reports each condition that failed.
		missing, err := s.missing(ctx, distributor, named)
		if err != nil {
			return fmt.Errorf("change sub-keys: %w", err)
		}
		if len(missing) == 0 { // one that was deleted has been made again
			return ErrBusy
		}
		return unknownKeys(missing)
	case err != nil && !isInput(err):
		return fmt.Errorf("change sub-keys: %w", err)
	}
	return err
}

// setActive carries out a batch.
func (s *Store) setActive(ctx context.Context, distributor string, accessKeys []string, active bool) error {
	now := s.now()
	var marks []batchMark
	for part := range slices.Chunk(accessKeys, maxRows) {
		marks = append(marks, batchMark{strings.ToLower(rand.Text()), now, part})
	}
	if err := s.mark(ctx, distributor, marks, true); err != nil {
		return err
	}
	writes := make([]types.TransactWriteItem, len(accessKeys))
	for i, accessKey := range accessKeys {
		var c change
		c.Set("status", attr.N(statusOf(active)))
		c.Set("updated_at", attr.N(now.UnixMilli()))
		c.If("distributor", attr.S(distributor))
		writes[i] = types.TransactWriteItem{Update: c.update(s.table, keyKey(accessKey))}
	}
	err := s.retry(ctx, func() error { return s.transact(ctx, writes...) })
	var failed *unmetError
	if errors.As(err, &failed) || errors.Is(err, ErrBusy) { // nothing was written
		return errors.Join(err, s.mark(ctx, distributor, marks, false))
	}
	if err != nil {
		return err // it may have been carried out: the marks stay
	}
	// The change is made. Rows that cannot be written now are by whoever reads the list next.
	for listed := true; listed && len(marks) > 0; marks = marks[1:] {
		listed = s.list(ctx, distributor, marks[0], true) == nil
	}
	return nil
}

// mark puts marks on a distributor, or takes them off.
func (s *Store) mark(ctx context.Context, distributor string, marks []batchMark, on bool) error {
	var c change
	for _, m := range marks {
		value := m.value()
		if !on {
			value = nil
		}
		c.Set(m.attribute(), value)
	}
	switch done, err := s.update(ctx, c.update(s.table, distributorKey(distributor))); {
	case err != nil:
		return err
	case !done:
		return ErrUnknown
	}
	return nil
}

// list brings the rows of the sub-keys of a mark up to date with what they are, and
// takes the mark off where its batch is over. Every other change of a row raises the
// list's version, so what was read is what is changed.
func (s *Store) list(ctx context.Context, distributor string, m batchMark, over bool) error {
	return s.retry(ctx, func() error {
		a, err := s.readAccount(ctx, distributor)
		if err != nil {
			return err
		}
		rows, activated, err := s.outdatedRows(ctx, distributor, m.AccessKeys)
		if err != nil || len(rows) == 0 && !over {
			return err
		}
		count := countKeys(0, activated, 0)
		count.If("list_version", attr.N(a.version))
		if over {
			count.Set(m.attribute(), nil)
		}
		return stale(s.transact(ctx, append(rows, types.TransactWriteItem{Update: count.update(s.table, distributorKey(distributor))})...))
	})
}

// outdatedRows returns the updates of those rows that show another status than their
// sub-keys have, and how many more are active after them.
func (s *Store) outdatedRows(ctx context.Context, distributor string, accessKeys []string) (writes []types.TransactWriteItem, activated int64, _ error) {
	wanted := make([]item, len(accessKeys))
	for i, accessKey := range accessKeys {
		wanted[i] = keyKey(accessKey)
	}
	subs, err := s.readAll(ctx, wanted, only("pk", "distributor", "status", "created_at"))
	if err != nil {
		return nil, 0, err
	}
	var keys []item
	status := map[string]int64{}
	for _, it := range subs {
		f := fieldsOf(it)
		k := f.subKey()
		if f.Text("distributor") != distributor || f.Err != nil {
			continue
		}
		status[k.AccessKey] = k.status()
		keys = append(keys, rowKey(distributor, k.AccessKey, k.CreatedAt))
	}
	rows, err := s.readAll(ctx, keys, only("pk", "sk", "status"))
	if err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		accessKey, _, err := ofRow(attr.Text(row, "sk"))
		if err != nil {
			return nil, 0, err
		}
		seen := attr.Int(row, "status")
		if status[accessKey] == seen {
			continue
		}
		activated += status[accessKey] - seen
		var c change
		c.Set("status", attr.N(status[accessKey]))
		c.If("status", attr.N(seen))
		writes = append(writes, types.TransactWriteItem{Update: c.update(s.table, item{"pk": row["pk"], "sk": row["sk"]})})
	}
	return writes, activated, nil
}

func unknownKeys(accessKeys []string) error {
	return invalid("access_keys names unknown sub-keys, so nothing was changed: %s", quoteList(accessKeys, maxBatch))
}

// missing returns those access keys that are no sub-keys of the distributor.
func (s *Store) missing(ctx context.Context, distributor string, accessKeys []string) ([]string, error) {
	keys := make([]item, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = keyKey(accessKey)
	}
	items, err := s.readAll(ctx, keys, only("pk", "distributor"))
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(items))
	for _, it := range items {
		if attr.Text(it, "distributor") == distributor {
			found[strings.TrimPrefix(attr.Text(it, "pk"), keyPrefix)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(accessKeys), func(k string) bool { return found[k] }), nil
}
