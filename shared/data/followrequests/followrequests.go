// Package followrequests holds what clients ask for and the ingester does not follow by itself: the
// accounts whose state the venue is to be asked for ([market.Anchor]), and the pairs of
// exchanges whose past and present are to be read.
//
// Each distributor has documents of its own, one a thing, and may want a small number of
// things, so that none takes the others' part of an upstream's budget. Besides, one small
// document says of each distributor that there are any, and has another revision whenever
// there are more: by those the ingester finds what is wanted. No request of one distributor
// writes an item or a partition that those of another depend on, but for that document,
// which it writes once for many requests.
//
// A function remembers what it has written: requests for the same things write nothing for
// minutes. Where the store refuses, the request goes on without ([Store.Want]).
//
// A request that waits for a thing holds an instance of its function, of which all
// distributors have so many together. So it waits only for what has just been asked for first
// ([Store.Recent]), and only while few others of its distributor do ([Store.MayWait]).
package followrequests

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quotary/shared/lru"
	"quotary/shared/store"
)

// Kind is one kind of what is wanted: Accounts or Pairs.
type Kind struct {
	Name string // of its documents
	Most int    // things that a distributor may want at a time

	// Lasts is for how long a thing is wanted after its document was written, and Refresh
	// from what age on that is written again when the thing is asked for.
	Lasts, Refresh time.Duration

	// Wait is for how long a request waits at most for a thing, from when its document was
	// written on, and Waits is how many requests of a distributor do at a time.
	Wait  time.Duration
	Waits int
}

var (
	// Accounts are wanted by their addresses.
	Accounts = Kind{Name: "anchors", Most: 500, Lasts: 10 * time.Minute, Refresh: 5 * time.Minute, Wait: time.Second, Waits: 4}

	// Pairs are wanted by their keys.
	Pairs = Kind{Name: "pairs", Most: 20, Lasts: 24 * time.Hour, Refresh: 6 * time.Hour, Wait: 4 * time.Second, Waits: 2}
)

const (
	// distributors is the owner of the documents that say who wants anything; their IDs are
	// the distributors, who own those of the things.
	distributors = "all"

	largest = 256 // bytes of a document

	// atOnce is how many documents are read or written at a time, and createdAtOnce how many
	// in one transaction.
	atOnce        = 16
	createdAtOnce = 50

	// patience is how long a request is held up at most by documents, and pause for how long
	// those of its distributor are not after a failure.
	patience = 250 * time.Millisecond
	pause    = time.Second

	// rereadAfter is from what age on the documents of a distributor are read again before
	// something new is added to them, or where there is no room.
	rereadAfter = 10 * time.Second

	// relistAfter is from what age on they are read again by the ingester though there are no
	// new ones: to see which are wanted still.
	relistAfter = time.Minute
)

// Store is what is wanted of a kind. Want is safe for concurrent use; List is not.
type Store struct {
	Kind
	things       *store.Documents // by distributor
	distributors *store.Documents // see distributors
	waits        *store.Documents // by distributor: see MayWait

	asked  lru.Cache[string, *remembered]
	listed map[string]*listed
}

// Open returns what is wanted of the kind in documents, which open opens.
func (k Kind) Open(open func(kind string, limits store.DocumentLimits) *store.Documents) *Store {
	return &Store{
		Kind: k, things: open(k.Name, store.DocumentLimits{Bytes: largest, Count: k.Most}),
		distributors: open(k.Name+" wanted by", store.DocumentLimits{Bytes: largest}), waits: open(k.Name+" waited for", store.DocumentLimits{Bytes: largest}),
		asked: lru.Cache[string, *remembered]{Size: 200}, listed: map[string]*listed{},
	}
}

// body is that of a document.
type body struct {
	Since int64 `json:"since,omitempty"` // ms: when it was written first
	Time  int64 `json:"time"`            // ms: and last
}

func (b body) json() []byte { return fmt.Appendf(nil, `{"since":%d,"time":%d}`, b.Since, b.Time) }

// request is a document of one.
type request struct {
	body
	revision string
}

func (t request) age(now time.Time) time.Duration { return now.Sub(time.UnixMilli(t.Time)) }

func (s *Store) read(ctx context.Context, distributor string) (map[string]request, error) {
	things := map[string]request{}
	for one, err := range s.things.List(ctx, distributor) {
		if err != nil {
			return nil, err
		}
		var b body // of the beginning of time where it cannot be read: it has ended
		_ = json.Unmarshal(one.Body, &b)
		things[one.ID] = request{b, one.Revision}
	}
	return things, nil
}
