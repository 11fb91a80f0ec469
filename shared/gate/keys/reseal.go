package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/attr"
)

// Resealed is what [Store.Reseal] found and did.
type Resealed struct {
	Secrets  int // that it looked at
	Resealed int // that the current data key seals since
	// Older are secrets that another data key seals still: their data key is not in
	// the ring, or they were changed meanwhile. While there is one, its data key is
	// needed.
	Older int
	// Complete means that it looked at all. It is false when ctx ended before; what
	// was done is done, and another run does the rest.
	Complete bool
}

// resealAtOnce bounds the writes that are under way.
const resealAtOnce = 16

// Reseal seals every stored secret with the current data key of the ring, so that
// older ones are needed no more. Secrets themselves stay, and keys can be used,
// reset and deleted meanwhile.
func (s *Store) Reseal(ctx context.Context) (Resealed, error) {
	var (
		out Resealed
		mu  sync.Mutex
	)
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(resealAtOnce)
	err := s.eachSecret(working, func(accessKey string, it item) {
		group.Go(func() error {
			done, older, err := s.reseal(working, accessKey, it)
			mu.Lock()
			defer mu.Unlock()
			out.Secrets++
			if done {
				out.Resealed++
			}
			if older {
				out.Older++
			}
			return err
		})
	})
	if failed := group.Wait(); failed != nil { // which has ended the reading too
		err = failed
	}
	return resealed(ctx, out, err)
}

// eachSecret reads the secrets of all distributors and of the sub-keys in their lists.
func (s *Store) eachSecret(ctx context.Context, use func(accessKey string, it item)) error {
	distributors, err := s.query(ctx, distributorsPartition, "", only("sk"))
	if err != nil {
		return err
	}
	for _, entry := range distributors {
		distributor := attr.Text(entry, "sk")
		if err := s.secretsOf(ctx, []string{distributor}, use); err != nil {
			return err
		}
		err := s.EachRow(ctx, distributor, Filter{}, time.Time{}, func(rows []Row) error {
			accessKeys := make([]string, len(rows))
			for i := range rows {
				accessKeys[i] = rows[i].AccessKey
			}
			return s.secretsOf(ctx, accessKeys, use)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) secretsOf(ctx context.Context, accessKeys []string, use func(accessKey string, it item)) error {
	keys := make([]item, len(accessKeys))
	for i, accessKey := range accessKeys {
		keys[i] = keyKey(accessKey)
	}
	items, err := s.readAll(ctx, keys, only("pk", "sk", "secret", "data_key"))
	for _, it := range items {
		use(strings.TrimPrefix(attr.Text(it, "pk"), keyPrefix), it)
	}
	return err
}

// resealed is how a run ended: running out of time is no failure.
func resealed(ctx context.Context, out Resealed, err error) (Resealed, error) {
	out.Complete = err == nil
	if err != nil && ctx.Err() == nil {
		return out, fmt.Errorf("reseal secrets: %w", err)
	}
	return out, nil
}

// reseal seals one secret again, unless it is sealed with the current data key. A
// secret that does not open is left as it is: it may with the data key that the
// ring lacks.
func (s *Store) reseal(ctx context.Context, accessKey string, it item) (done, older bool, err error) {
	f := fieldsOf(it)
	box := f.sealed()
	if f.Err != nil {
		return false, true, f.Err
	}
	if box.dataKey == s.ring.current {
		return false, false, nil
	}
	secret, err := s.ring.open(accessKey, box)
	if err != nil {
		return false, true, nil //nolint:nilerr // it is counted
	}
	c := &change{}
	for name, value := range s.ring.seal(accessKey, secret).attributes() {
		c.Set(name, value)
		c.If(name, box.attributes()[name])
	}
	done, err = s.update(ctx, c.update(s.table, item{"pk": it["pk"], "sk": it["sk"]}))
	return done, !done, ignoreBusy(err)
}

// ignoreBusy leaves a secret to the next run that is changed all the time.
func ignoreBusy(err error) error {
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}
