package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
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
	index, err := s.query(ctx, distributorsPartition, "", projection{})
	if err != nil {
		return out, fmt.Errorf("reseal secrets: %w", err)
	}
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(resealAtOnce)
	for _, entry := range index {
		f := fieldsOf(entry)
		items, err := s.query(working, partition(f.Text("sk")), "", only("pk", "sk", "secret", "data_key"))
		if err != nil {
			_ = group.Wait() // whose error, if any, has ended this query
			return resealed(ctx, out, err)
		}
		for _, it := range items {
			accessKey, ok := holder(it)
			if !ok {
				continue
			}
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
		}
	}
	return resealed(ctx, out, group.Wait())
}

// resealed is how a run ended: running out of time is no failure.
func resealed(ctx context.Context, out Resealed, err error) (Resealed, error) {
	out.Complete = err == nil
	if err != nil && ctx.Err() == nil {
		return out, fmt.Errorf("reseal secrets: %w", err)
	}
	return out, nil
}

// holder is the access key whose secret an item of a distributor's partition
// holds; ok is false for an item without one.
func holder(it item) (accessKey string, ok bool) {
	f := fieldsOf(it)
	if sort := f.Text("sk"); sort != distributorSort {
		return strings.CutPrefix(sort, subPrefix)
	}
	return strings.CutPrefix(f.Text("pk"), partition(""))
}

// reseal seals one secret anew, unless it is sealed with the current data key. A
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
