// Package alerts holds the alerts of sub-keys, and what of them has gone off.
//
// An alert is a document of its sub-key, found by an id that follows from its pair and type:
// asking for the same alert again is asking for the one that is there. Which sub-keys of a distributor
// have any is said by small documents, of which one gets a new revision with each change of its
// sub-key's alerts: by those the ingester finds what has changed. Which distributors have such is said
// by one document of each, which an instance writes once. So no request of one distributor writes an
// item or a partition that those of another depend on, but for that document.
//
// What went off is a log by sub-key: a row is named by its alert and by the candle that brought it
// about, so that it is one however often the candle is looked at.
package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/lru"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Most is how many alerts a sub-key may have.
const Most = 100

// MostRemark is how many bytes the remark of an alert may have.
const MostRemark = 256

// Name of the log of what went off.
const Name = "firedalerts"

const (
	kind         = "alerts"
	owners       = "alert owners"       // by distributor
	distributors = "alert distributors" // of all
	all          = "all"

	largest    = 1024 // bytes of a document
	keptFor    = 30 * 24 * time.Hour
	mostListed = 100

	remembered = 1000 // distributors that an instance knows to be listed
	atOnce     = 16   // distributors whose owners are read at a time
)

// Alert is what a sub-key waits for.
type Alert struct {
	ID     int64  `json:"-"`
	Pair   string `json:"pair"`             // its key
	Type   string `json:"type"`             // of [market.AlertType]
	Remark string `json:"remark,omitempty"` // the caller's own words
	Price  string `json:"price"`            // of the pair when it was set; "" where it was not known
	Time   int64  `json:"time"`             // when it was set, ms
}

// IDOf is the number of an alert: the same for the same pair and type, and below 2^53, so that
// any JSON reader takes it.
func IDOf(pair string, of market.AlertType) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(pair + "|" + of.String()))
	return int64(h.Sum64()>>11) | 1
}

// Store holds the alerts. It is safe for concurrent use.
type Store struct {
	alerts, owners, distributors *store.Documents
	listed                       lru.Cache[string, bool] // distributors
}

// Open returns the alerts in documents, which open opens.
func Open(open func(kind string, limits store.DocumentLimits) *store.Documents) *Store {
	return &Store{
		alerts: open(kind, store.DocumentLimits{Bytes: largest, Count: Most}),
		owners: open(owners, store.DocumentLimits{Bytes: largest}), distributors: open(distributors, store.DocumentLimits{Bytes: largest}),
		listed: lru.Cache[string, bool]{Size: remembered},
	}
}

// ErrTooMany is of a sub-key that has as many alerts as one may have, and ErrNone of an alert that
// it does not have.
var (
	ErrTooMany = errors.New("the key has as many alerts as one may have")
	ErrNone    = errors.New("the key has no such alert")
)

// Add sets up an alert of a sub-key of a distributor. One that is there stays as it is.
func (s *Store) Add(ctx context.Context, distributor, key string, a *Alert) error {
	_, err := s.alerts.Create(ctx, key, strconv.FormatInt(a.ID, 10), dataset.JSON(a))
	switch {
	case errors.Is(err, store.ErrTooManyDocuments):
		if _, err := s.alerts.Get(ctx, key, strconv.FormatInt(a.ID, 10)); err == nil {
			return nil
		}
		return ErrTooMany
	case err != nil && !errors.Is(err, store.ErrDocumentExists):
		return err
	}
	_, err = s.changed(ctx, distributor, key)
	return err
}

// Remove removes an alert of a sub-key of a distributor.
func (s *Store) Remove(ctx context.Context, distributor, key string, id int64) error {
	name := strconv.FormatInt(id, 10)
	found, err := s.alerts.Get(ctx, key, name)
	if err == nil {
		err = s.alerts.Delete(ctx, key, name, found.Revision)
	}
	switch {
	case errors.Is(err, store.ErrNoDocument):
		return ErrNone
	case err != nil:
		return err
	}
	// Whoever adds one meanwhile changes the revision behind its alert: then the key stays listed.
	revision, err := s.changed(ctx, distributor, key)
	if err != nil {
		return err
	}
	for _, err := range s.alerts.List(ctx, key) {
		return err // one is left, or it is not known
	}
	return s.unlist(ctx, distributor, key, revision)
}

// unlist takes a sub-key whose alerts are all gone out of those that have any, unless they have
// changed since a revision.
func (s *Store) unlist(ctx context.Context, distributor, key, revision string) error {
	err := s.owners.Delete(ctx, distributor, key, revision)
	if errors.Is(err, store.ErrDocumentChanged) || errors.Is(err, store.ErrNoDocument) {
		return nil
	}
	return err
}

// Forget removes all alerts of a sub-key that there is no longer, which was listed as owner.
func (s *Store) Forget(ctx context.Context, key string, owner Owner) error {
	for doc, err := range s.alerts.List(ctx, key) {
		if err != nil {
			return err
		}
		if err := s.alerts.Delete(ctx, key, doc.ID, doc.Revision); err != nil && !errors.Is(err, store.ErrNoDocument) {
			return err
		}
	}
	return s.unlist(ctx, owner.Distributor, key, owner.Revision)
}

// List returns the alerts of a sub-key, by id.
func (s *Store) List(ctx context.Context, key string) (list []Alert, err error) {
	for doc, err := range s.alerts.List(ctx, key) {
		if err != nil {
			return nil, err
		}
		var a Alert
		if err := json.Unmarshal(doc.Body, &a); err != nil {
			return nil, fmt.Errorf("read alert %s of a key: %w", doc.ID, err)
		}
		if a.ID, err = strconv.ParseInt(doc.ID, 10, 64); err != nil {
			return nil, fmt.Errorf("read the id of an alert: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

// changed says that the alerts of a sub-key are others, by a new revision.
func (s *Store) changed(ctx context.Context, distributor, key string) (revision string, err error) {
	if _, ok := s.listed.Get(distributor); !ok {
		if _, err := s.distributors.Set(ctx, all, distributor, dataset.JSON(struct{}{})); err != nil {
			return "", err
		}
		s.listed.Set(distributor, true)
	}
	return s.owners.Set(ctx, distributor, key, dataset.JSON(struct{}{}))
}

// Owner is a sub-key that has alerts.
type Owner struct {
	Distributor string
	Revision    string // another one whenever its alerts are others
}

// Owners returns the sub-keys that have alerts.
func (s *Store) Owners(ctx context.Context) (map[string]Owner, error) {
	var mu sync.Mutex
	found := map[string]Owner{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for of, err := range s.distributors.List(ctx, all) {
		group.Go(func() error {
			if err != nil {
				return err
			}
			for doc, err := range s.owners.List(ctx, of.ID) {
				if err != nil {
					return err
				}
				mu.Lock()
				found[doc.ID] = Owner{of.ID, doc.Revision}
				mu.Unlock()
			}
			return nil
		})
	}
	return found, group.Wait()
}

// Fired is an alert that went off with a candle.
type Fired struct {
	Key  string // the sub-key
	ID   int64  // of the alert
	Pair string
	Type string
	Side market.Side // for whom it speaks
	Px   string      // close of the candle, quote units
	Time int64       // when the candle closed, ms
}

// stored is the body of a row.
type stored struct {
	Pair string `json:"pair"`
	Type string `json:"type"`
	Side string `json:"side"`
	Px   string `json:"px"`
}

var log = dataset.Log[Fired]{
	Name: Name,
	Row: func(f *Fired) store.Row {
		at := time.UnixMilli(f.Time).UTC()
		return store.Row{
			Subject: f.Key, Time: at, ID: strconv.FormatInt(f.ID, 10), Expires: at.Add(keptFor),
			Body: dataset.JSON(stored{f.Pair, f.Type, f.Side.String(), f.Px}),
		}
	},
	Decode: func(r store.Row) (f Fired, err error) {
		s, err := dataset.FromJSON[stored](r.Body)
		if err != nil {
			return f, err
		}
		f = Fired{Key: r.Subject, Pair: s.Pair, Type: s.Type, Px: s.Px, Time: r.Time.UnixMilli(), Side: market.Sell}
		if s.Side == market.Buy.String() {
			f.Side = market.Buy
		}
		f.ID, err = strconv.ParseInt(r.ID, 10, 64)
		return f, err
	},
}

// AppendRows appends the row of each to rows.
func AppendRows(rows []store.Row, list []Fired) []store.Row { return log.AppendRows(rows, list) }

// Newest returns what went off of a sub-key's alerts in the last 30 days: the newest 100, the last
// one first.
func Newest(ctx context.Context, l *store.Log, key string, now time.Time) (list []Fired, err error) {
	for f, err := range log.Read(ctx, l, dataset.Query{Subject: key, From: now.Add(-keptFor), Newest: true, Limit: mostListed}) {
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}
