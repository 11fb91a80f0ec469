package keys

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/attr"
	"quotary/shared/batch"
)

// Principal is a caller as admission needs it. Of a primary key the fields of
// a sub-key are zero. Limits of 0 are unset.
type Principal struct {
	AccessKey   string
	Distributor string // primary access key
	Primary     bool
	Secret      Secret

	Disabled     bool      // the sub-key
	ExpiresAt    time.Time // zero = never
	MonthlyQuota int64     // requests per calendar month
	RateLimit    int64     // requests per minute, before the level's
	MaxTimeRange int64     // seconds, before the level's
	WSConnLimit  int64     // 0 = as many as DistributorWSConnLimit allows
	WSSubLimit   int64     // 0 = as many as DistributorWSSubLimit allows
	LevelName    string
	Level        *Level // nil when the distributor has no such level

	DistributorDisabled    bool
	Grants                 Grants
	MaxTotalQuota          int64 // requests per calendar month of all sub-keys together
	DistributorWSConnLimit int64 // connections of all sub-keys together
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

// route is where the items of a key are: what never changes of it, and the
// level that it had when last seen. The request is made once and only read
// afterwards.
type route struct {
	distributor string
	primary     bool
	level       string
	request     *dynamodb.BatchGetItemInput
}

// Resolve reads who an access key is, strongly consistent, in one request once
// the key has been seen. It returns ErrUnknown for a key that does not exist.
func (s *Store) Resolve(ctx context.Context, accessKey string) (Principal, error) {
	if !isAccessKey(accessKey) {
		return Principal{}, ErrUnknown
	}
	r, ok := s.routes.get(accessKey)
	if !ok {
		it, err := s.read(ctx, pointerKey(accessKey))
		if err != nil {
			return Principal{}, fmt.Errorf("resolve key: %w", err)
		}
		if it == nil {
			return Principal{}, ErrUnknown
		}
		f := fieldsOf(it)
		r = s.route(accessKey, f.Text("distributor"), f.Text("level"))
		if f.Err != nil {
			return Principal{}, fmt.Errorf("resolve key: %w", f.Err)
		}
		s.routes.set(accessKey, r)
	}
	items, err := batch.Get(ctx, s.db, r.request, unread)
	if err != nil {
		return Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	return s.principal(ctx, accessKey, r, items)
}

// route makes the request for the items of a key.
func (s *Store) route(accessKey, distributor, level string) route {
	r := route{distributor: distributor, primary: accessKey == distributor, level: level}
	want := resolved.keys()
	want.ConsistentRead = aws.Bool(true)
	want.Keys = []item{distributorKey(distributor)}
	if !r.primary {
		want.Keys = append(want.Keys, subKeyKey(distributor, accessKey), levelKey(distributor, level))
	}
	r.request = &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.table: want}}
	return r
}

// resolved are the attributes that a request needs of the three items.
var resolved = only("sk", "level", "status", "disabled", "secret", "data_key", "expires_at",
	"monthly_quota", "rate_limit", "max_time_range", "ws_conn_limit", "ws_sub_limit",
	"max_total_quota", "grants", "permissions")

func (s *Store) principal(ctx context.Context, accessKey string, r route, items []item) (Principal, error) {
	var distributor, sub, level item
	for _, it := range items {
		switch sk := attr.Text(it, "sk"); {
		case sk == distributorSort:
			distributor = it
		case strings.HasPrefix(sk, subPrefix):
			sub = it
		default:
			level = it
		}
	}
	if distributor == nil || (sub == nil && !r.primary) {
		s.routes.drop(accessKey)
		return Principal{}, ErrUnknown
	}

	d := fieldsOf(distributor)
	p := Principal{
		AccessKey: accessKey, Distributor: r.distributor, Primary: r.primary,
		DistributorDisabled: d.Bool("disabled"), MaxTotalQuota: d.Int("max_total_quota"),
		DistributorWSConnLimit: d.Int("ws_conn_limit"), DistributorWSSubLimit: d.Int("ws_sub_limit"),
		Grants: s.decodeGrants(&d),
	}
	var box sealed
	if r.primary {
		box = d.sealed()
	} else {
		f := fieldsOf(sub)
		p.Disabled, p.ExpiresAt = f.Int("status") != 1, f.millis("expires_at")
		p.MonthlyQuota, p.RateLimit, p.MaxTimeRange = f.Int("monthly_quota"), f.Int("rate_limit"), f.Int("max_time_range")
		p.WSConnLimit, p.WSSubLimit = f.Int("ws_conn_limit"), f.Int("ws_sub_limit")
		p.LevelName = f.Text("level")
		box = f.sealed()
		if f.Err != nil {
			return Principal{}, fmt.Errorf("resolve key: %w", f.Err)
		}
		if err := s.attachLevel(ctx, &p, r, level); err != nil {
			return Principal{}, fmt.Errorf("resolve key: %w", err)
		}
	}
	if d.Err != nil {
		return Principal{}, fmt.Errorf("resolve key: %w", d.Err)
	}
	var err error
	if p.Secret, err = s.ring.open(accessKey, box); err != nil {
		return Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	return p, nil
}

// attachLevel decodes the level that was read along, or reads the right one
// when the sub-key's turned out to be another.
func (s *Store) attachLevel(ctx context.Context, p *Principal, r route, level item) (err error) {
	if p.LevelName != r.level {
		if level, err = s.read(ctx, levelKey(p.Distributor, p.LevelName)); err != nil {
			return err
		}
		s.routes.set(p.AccessKey, s.route(p.AccessKey, p.Distributor, p.LevelName))
	}
	if level != nil {
		p.Level, err = s.decodeLevel(level)
	}
	return err
}

// decodeGrants reads the grants of a distributor. The set is a pure function
// of its text, so it is remembered by that text and shared between requests.
func (s *Store) decodeGrants(f *fields) Grants {
	text := f.Text("grants")
	if text == "" {
		return Grants{}
	}
	names, ok := s.grants.get(text)
	if !ok {
		var list []string
		f.json("grants", &list)
		names = make(map[string]struct{}, len(list))
		for _, name := range list {
			names[name] = struct{}{}
		}
		if f.Err == nil {
			s.grants.set(text, names)
		}
	}
	return Grants{names}
}
