package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/aws/batch"
)

// Principal is a caller as admission needs it. Of a primary key the fields of
// a sub-key are zero. Limits of 0 are unset.
type Principal struct {
	AccessKey   string
	Distributor string // primary access key
	Primary     bool
	Secret      Secret
	Generation  int64 // of the secret: how often it was reset

	Disabled     bool      // the sub-key
	ExpiresAt    time.Time // zero = never
	MonthlyQuota int64     // requests per calendar month
	RateLimit    int64     // requests per minute, before the level's
	MaxTimeRange int64     // seconds, before the level's
	WSConnLimit  int64     // 0 = as many as DistributorWSConnLimit allows
	WSConnSince  int64     // when that was set where there was none, ms; 0 = with the key
	WSSubLimit   int64     // 0 = as many as DistributorWSSubLimit allows
	LevelName    string
	Level        *Level // nil when the distributor has no such level

	DistributorDisabled    bool
	Grants                 Grants
	MaxTotalQuota          int64 // requests per calendar month of all sub-keys together
	DistributorRateLimit   int64 // requests per minute of all sub-keys together
	DistributorWSConnLimit int64 // connections of all sub-keys together
	DistributorWSConnSince int64 // when that was set where there was none, ms; 0 = with the distributor
	DistributorWSSubLimit  int64 // subscriptions of all sub-keys together
}

// Grants is the set of grants of a distributor. The zero value holds every one.
type Grants struct{ names map[string]struct{} }

// Has reports whether the distributor holds the grant.
func (g Grants) Has(name string) bool {
	if g.names == nil {
		return true
	}
	_, ok := g.names[name]
	return ok
}

// Resolve reads who an access key is, strongly consistent: two items of one unit each,
// in one request once the key has been seen. It returns ErrUnknown for a key that does
// not exist.
func (s *Store) Resolve(ctx context.Context, accessKey string) (Principal, error) {
	if !isAccessKey(accessKey) {
		return Principal{}, ErrUnknown
	}
	it, head, err := s.keyAndHead(ctx, accessKey)
	if err != nil {
		return Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	if it == nil || head == nil {
		s.owners.Delete(accessKey)
		return Principal{}, ErrUnknown
	}
	p, err := s.principal(ctx, accessKey, it, head)
	if err != nil {
		return Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	return p, nil
}

// keyAndHead reads the item of a key and a head of its distributor, nil where there is
// none.
func (s *Store) keyAndHead(ctx context.Context, accessKey string) (it, head item, err error) {
	if owner, ok := s.owners.Get(accessKey); ok {
		items, err := batch.Get(ctx, s.db, s.request(accessKey, owner), unread)
		for _, found := range items {
			if attr.Text(found, "sk") == keySort {
				it = found
			} else {
				head = found
			}
		}
		return it, head, err
	}
	if it, err = s.read(ctx, keyKey(accessKey)); err != nil || it == nil {
		return nil, nil, err
	}
	owner := ownerOf(accessKey, it)
	s.owners.Set(accessKey, owner)
	head, err = s.read(ctx, anyHead(owner))
	return it, head, err
}

// request reads a key and a head of its distributor.
func (s *Store) request(accessKey, distributor string) *dynamodb.BatchGetItemInput {
	want := resolved.keys()
	want.ConsistentRead = aws.Bool(true)
	want.Keys = []item{keyKey(accessKey), anyHead(distributor)}
	return &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.table: want}}
}

// ownerOf is the distributor of a key, which never changes. The item of a primary key
// names none: it is its own.
func ownerOf(accessKey string, it item) string {
	return cmp.Or(attr.Text(it, "distributor"), accessKey)
}

// resolved are the attributes that a request needs of a key and of a head.
var resolved = only("sk", "distributor", "level", "status", "secret", "data_key", "expires_at",
	"monthly_quota", "rate_limit", "max_time_range", "ws_conn_limit", "ws_sub_limit", "ws_conn_since", "generation",
	"policy", "disabled", "max_total_quota", "grants")

func (s *Store) principal(ctx context.Context, accessKey string, it, head item) (Principal, error) {
	f, d := fieldsOf(it), fieldsOf(head)
	p := Principal{
		AccessKey: accessKey, Distributor: ownerOf(accessKey, it), Primary: f.Text("distributor") == "",
		DistributorDisabled: d.Bool("disabled"), MaxTotalQuota: d.Int("max_total_quota"), DistributorRateLimit: d.Int("rate_limit"),
		DistributorWSConnLimit: d.Int("ws_conn_limit"), DistributorWSSubLimit: d.Int("ws_sub_limit"), DistributorWSConnSince: d.Int("ws_conn_since"),
		Grants: s.decodeGrants(&d),
	}
	if !p.Primary {
		p.Disabled, p.ExpiresAt = f.Int("status") != 1, f.millis("expires_at")
		p.MonthlyQuota, p.RateLimit, p.MaxTimeRange = f.Int("monthly_quota"), f.Int("rate_limit"), f.Int("max_time_range")
		p.WSConnLimit, p.WSSubLimit, p.WSConnSince = f.Int("ws_conn_limit"), f.Int("ws_sub_limit"), f.Int("ws_conn_since")
		p.Generation = f.Int("generation")
		p.LevelName = f.Text("level")
	}
	box := f.sealed()
	if err := errors.Join(f.Err, d.Err); err != nil {
		return Principal{}, err
	}
	var err error
	if p.Secret, err = s.ring.open(accessKey, box); err != nil || p.Primary {
		return p, err
	}
	p.Level, err = s.levelUnder(ctx, p.Distributor, p.LevelName, d.Int("policy"))
	return p, err
}

// decodeGrants reads the grants of a distributor. The set is a pure function
// of its text, so it is remembered by that text and shared between requests.
func (s *Store) decodeGrants(f *fields) Grants {
	text := f.Text("grants")
	if text == "" {
		return Grants{}
	}
	names, ok := s.grants.Get(text)
	if !ok {
		var list []string
		f.json("grants", &list)
		names = make(map[string]struct{}, len(list))
		for _, name := range list {
			names[name] = struct{}{}
		}
		if f.Err == nil {
			s.grants.Set(text, names)
		}
	}
	return Grants{names}
}
