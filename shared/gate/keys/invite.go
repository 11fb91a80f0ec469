package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
)

// Preset is what an operator decides about a distributor before it registers.
type Preset struct {
	Name          string
	Level         string   // the distributor's own level, which its sub-keys inherit
	MaxSubKeys    int64    // upper bound of existing sub-keys
	MaxTotalQuota int64    // requests per calendar month of all sub-keys together, 0 = no cap
	RateLimit     int64    // requests per minute of all sub-keys together, 0 = no cap
	WSConnLimit   int64    // WebSocket connections of all sub-keys together, 0 = no cap
	WSSubLimit    int64    // WebSocket subscriptions of all sub-keys together, 0 = no cap
	Grants        []string // grants held, nil = all
}

func (p *Preset) check() error {
	if err := checkName("name", p.Name); err != nil {
		return err
	}
	if err := checkLevelName(p.Level); err != nil {
		return err
	}
	var err error
	if p.Grants, err = checkGrants(p.Grants); err != nil {
		return err
	}
	if err := checkTotalRate(&p.RateLimit); err != nil {
		return err
	}
	return checkNumbers(
		number{"max_sub_keys", &p.MaxSubKeys, 0, maxSubKeys},
		number{"max_total_quota", &p.MaxTotalQuota, 0, maxQuota},
		number{"ws_conn_limit", &p.WSConnLimit, 0, maxCount},
		number{"ws_sub_limit", &p.WSSubLimit, 0, maxCount},
	)
}

func (p *Preset) attributes() item {
	it := item{
		"name": attr.S(p.Name), "level": attr.S(p.Level),
		"max_sub_keys": attr.N(p.MaxSubKeys), "max_total_quota": attr.N(p.MaxTotalQuota), "rate_limit": attr.N(p.RateLimit),
		"ws_conn_limit": attr.N(p.WSConnLimit), "ws_sub_limit": attr.N(p.WSSubLimit),
	}
	if p.Grants != nil {
		it["grants"] = jsonText(p.Grants)
	}
	return it
}

func (f *fields) preset() Preset {
	p := Preset{
		Name: f.Text("name"), Level: f.Text("level"),
		MaxSubKeys: f.Int("max_sub_keys"), MaxTotalQuota: f.Int("max_total_quota"), RateLimit: f.Int("rate_limit"),
		WSConnLimit: f.Int("ws_conn_limit"), WSSubLimit: f.Int("ws_sub_limit"),
	}
	f.json("grants", &p.Grants)
	return p
}

// Invite is what is stored of an invite: everything but its token.
type Invite struct {
	Preset
	ID        string // SHA-256 of the token in hexadecimal digits
	CreatedAt time.Time
	ExpiresAt time.Time // zero = never
	UsedAt    time.Time // zero = not used
	UsedBy    string    // primary access key of who registered with it
	RevokedAt time.Time // zero = not revoked
}

// Status is "used", "revoked", "expired" or "unused".
func (i *Invite) Status(now time.Time) string {
	switch {
	case !i.UsedAt.IsZero():
		return "used"
	case !i.RevokedAt.IsZero():
		return "revoked"
	case !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt):
		return "expired"
	}
	return "unused"
}

// CreateInvite stores an invite that expires after so many seconds (0 = never)
// and returns its token, which nothing can show again.
func (s *Store) CreateInvite(ctx context.Context, preset Preset, expiresIn int64) (token string, _ Invite, _ error) {
	if err := preset.check(); err != nil {
		return "", Invite{}, err
	}
	if err := checkNumber("expires_in", expiresIn, 0, maxSeconds); err != nil {
		return "", Invite{}, err
	}
	token = newToken()
	id, _ := inviteID(token)
	now := s.now().UTC().Truncate(time.Millisecond)
	invite := Invite{Preset: preset, ID: id, CreatedAt: now, ExpiresAt: expiry(now, expiresIn)}

	it := with(inviteKey(id), preset.attributes(), item{"created_at": attr.N(now.UnixMilli())})
	if expiresIn > 0 {
		it["expires_at"] = attr.N(invite.ExpiresAt.UnixMilli())
	}
	err := s.retry(ctx, func() error {
		return s.transact(ctx, s.put(it), s.put(key(invitesPartition, id)))
	})
	if err != nil {
		return "", Invite{}, fmt.Errorf("create invite: %w", err)
	}
	return token, invite, nil
}

// Invites returns all invites, the newest first.
func (s *Store) Invites(ctx context.Context) ([]Invite, error) {
	invites, err := listIndexed(ctx, s, invitesPartition, inviteKey, decodeInvite)
	if err != nil {
		return nil, fmt.Errorf("list invites: %w", err)
	}
	slices.SortFunc(invites, func(a, b Invite) int {
		return compareNewest(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return invites, nil
}

// RevokeInvite makes an unused invite invalid for good. Revoking it again
// changes nothing.
func (s *Store) RevokeInvite(ctx context.Context, id string) error {
	if !isHex(id, 64) {
		return ErrUnknownInvite
	}
	var c change
	c.set = append(c.set, c.name("revoked_at")+" = if_not_exists(#revoked_at, "+c.value("now", attr.N(s.now().UnixMilli()))+")")
	c.IfText("attribute_not_exists(#used_at)", "used_at")
	done, err := s.update(ctx, c.update(s.table, inviteKey(id)))
	switch {
	case err != nil:
		return fmt.Errorf("revoke invite: %w", err)
	case done:
		return nil
	}
	it, err := s.read(ctx, inviteKey(id))
	switch {
	case err != nil:
		return fmt.Errorf("revoke invite: %w", err)
	case it == nil:
		return ErrUnknownInvite
	}
	return invalid("id names an invite that is already used: disable its distributor instead")
}

// Registration is the answer to a consumed invite: the only time that a
// primary secret is shown.
type Registration struct {
	AccessKey string
	Secret    Secret
	Name      string
	Level     string
}

// Register consumes an invite token and creates its distributor. A token is
// consumed once, whoever else tries at the same moment.
func (s *Store) Register(ctx context.Context, token string) (Registration, error) {
	refused := invalid("invite_token is not valid: it is unknown, used, revoked or expired")
	id, ok := inviteID(token)
	if !ok {
		return Registration{}, refused
	}
	it, err := s.read(ctx, inviteKey(id))
	if err != nil {
		return Registration{}, fmt.Errorf("register: %w", err)
	}
	if it == nil {
		return Registration{}, refused
	}
	invite, err := decodeInvite(it)
	if err != nil {
		return Registration{}, fmt.Errorf("register: %w", err)
	}
	now := s.now()
	if invite.Status(now) != "unused" {
		return Registration{}, refused
	}

	r := Registration{AccessKey: newAccessKey(), Secret: newSecret(), Name: invite.Name, Level: invite.Level}
	consume := &change{}
	consume.Set("used_at", attr.N(now.UnixMilli()))
	consume.Set("used_by", attr.S(r.AccessKey))
	consume.IfText("attribute_not_exists(#used_at) AND attribute_not_exists(#revoked_at)", "used_at", "revoked_at")
	writes := []types.TransactWriteItem{
		{Update: consume.update(s.table, inviteKey(id))},
		s.put(with(distributorKey(r.AccessKey), invite.attributes(), item{
			"created_at": attr.N(now.UnixMilli()), "sub_key_count": attr.N(0), "active_count": attr.N(0),
			"allocated": attr.N(0), "list_version": attr.N(0), "level_count": attr.N(0),
		})),
		s.put(with(keyKey(r.AccessKey), s.ring.seal(r.AccessKey, r.Secret).attributes())),
		s.put(key(distributorsPartition, r.AccessKey)),
	}
	for i := range headCopies {
		writes = append(writes, s.put(with(headKey(r.AccessKey, i), headOf(&invite.Preset))))
	}
	err = s.retry(ctx, func() error { return s.transact(ctx, writes...) })
	var failed *unmetError
	switch {
	case errors.As(err, &failed) && slices.Contains(failed.conditions, 0):
		return Registration{}, refused
	case err != nil:
		return Registration{}, fmt.Errorf("register: %w", err)
	}
	return r, nil
}

func decodeInvite(it item) (Invite, error) {
	f := fieldsOf(it)
	invite := Invite{
		Preset: f.preset(), ID: strings.TrimPrefix(f.Text("pk"), "invite#"),
		CreatedAt: f.millis("created_at"), ExpiresAt: f.millis("expires_at"),
		UsedAt: f.millis("used_at"), UsedBy: f.Text("used_by"), RevokedAt: f.millis("revoked_at"),
	}
	return invite, f.Err
}

// listIndexed reads what an index partition lists.
func listIndexed[T any](ctx context.Context, s *Store, partition string, keyOf func(string) item, decode func(item) (T, error)) ([]T, error) {
	index, err := s.query(ctx, partition, "", projection{})
	if err != nil {
		return nil, err
	}
	keys := make([]item, len(index))
	for i, entry := range index {
		keys[i] = keyOf(attr.Text(entry, "sk"))
	}
	items, err := s.readAll(ctx, keys, projection{})
	if err != nil {
		return nil, err
	}
	all := make([]T, len(items))
	for i, it := range items {
		if all[i], err = decode(it); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// compareNewest orders by time, the newest first, and then by name.
func compareNewest(a, b time.Time, nameA, nameB string) int {
	if c := b.Compare(a); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}
