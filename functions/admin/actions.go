package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/text/strictjson"
)

// reads bounds the requests to the counters that are under way at once.
const reads = 8

// preset is the contract of a distributor as invites and distributors show it.
type preset struct {
	Name          string `json:"name"`
	Level         string `json:"level"`
	MaxSubKeys    int64  `json:"max_sub_keys"`
	MaxTotalQuota int64  `json:"max_total_quota"` // requests per calendar month, 0 = no cap
	RateLimit     int64  `json:"rate_limit"`      // requests per minute of all sub-keys together, 0 = no cap
	WSConnLimit   int64  `json:"ws_conn_limit"`   // of all sub-keys together, 0 = no cap
	WSSubLimit    int64  `json:"ws_sub_limit"`    // of all sub-keys together, 0 = no cap
	Grants        grants `json:"grants"`
}

func presetOf(p keys.Preset) preset {
	return preset{p.Name, p.Level, p.MaxSubKeys, p.MaxTotalQuota, p.RateLimit, p.WSConnLimit, p.WSSubLimit, p.Grants}
}

type invite struct {
	ID string `json:"id"`
	preset
	Status    string  `json:"status"` // unused, used, revoked or expired
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"`
	UsedAt    *string `json:"used_at"`
	UsedBy    *string `json:"used_by"` // primary access key
	RevokedAt *string `json:"revoked_at"`
}

func (o *operator) inviteOf(i *keys.Invite) invite {
	out := invite{
		ID: i.ID, preset: presetOf(i.Preset), Status: i.Status(o.now()), CreatedAt: catalog.Timestamp(i.CreatedAt),
		ExpiresAt: catalog.TimestampOrNull(i.ExpiresAt), UsedAt: catalog.TimestampOrNull(i.UsedAt), RevokedAt: catalog.TimestampOrNull(i.RevokedAt),
	}
	if i.UsedBy != "" {
		out.UsedBy = &i.UsedBy
	}
	return out
}

type createInviteIn struct {
	Name          string      `param:"name" required:"true"`
	Level         string      `param:"level" required:"true"`
	MaxSubKeys    catalog.Int `param:"max_sub_keys" required:"true"`
	MaxTotalQuota catalog.Int `param:"max_total_quota" required:"true"`
	RateLimit     catalog.Int `param:"rate_limit"`
	WSConnLimit   catalog.Int `param:"ws_conn_limit"`
	WSSubLimit    catalog.Int `param:"ws_sub_limit"`
	Grants        grants      `param:"grants"`
	ExpiresIn     catalog.Int `param:"expires_in"`
}

type createInviteOut struct {
	result
	Token string `json:"token"` // shown here and never again
	invite
}

func (o *operator) createInvite(ctx context.Context, in createInviteIn) (createInviteOut, error) {
	token, created, err := o.keys.CreateInvite(ctx, keys.Preset{
		Name: in.Name, Level: in.Level, MaxSubKeys: int64(in.MaxSubKeys), MaxTotalQuota: int64(in.MaxTotalQuota),
		RateLimit: int64(in.RateLimit), WSConnLimit: int64(in.WSConnLimit), WSSubLimit: int64(in.WSSubLimit), Grants: in.Grants,
	}, int64(in.ExpiresIn))
	return createInviteOut{result{true}, token, o.inviteOf(&created)}, err
}

type listInvitesIn struct {
	Status string `param:"status"`
}

type listInvitesOut struct {
	result
	Invites []invite `json:"invites"` // the newest first
}

func (o *operator) listInvites(ctx context.Context, in listInvitesIn) (listInvitesOut, error) {
	if !slices.Contains([]string{"", "unused", "used", "revoked", "expired"}, in.Status) {
		return listInvitesOut{}, strictjson.Errorf("status must be one of unused, used, revoked, expired, not %.64q", in.Status)
	}
	all, err := o.keys.Invites(ctx)
	out := listInvitesOut{result{true}, []invite{}}
	for i := range all {
		if shown := o.inviteOf(&all[i]); in.Status == "" || in.Status == shown.Status {
			out.Invites = append(out.Invites, shown)
		}
	}
	return out, err
}

type revokeInviteIn struct {
	ID string `param:"id" required:"true"`
}

type revokeInviteOut struct {
	result
	ID string `json:"id"`
}

func (o *operator) revokeInvite(ctx context.Context, in revokeInviteIn) (revokeInviteOut, error) {
	return revokeInviteOut{result{true}, in.ID}, o.keys.RevokeInvite(ctx, in.ID)
}

type distributor struct {
	AccessKey string `json:"access_key"`
	preset
	SubKeyCount    int64  `json:"sub_key_count"`
	AllocatedQuota int64  `json:"allocated_quota"` // sum of the monthly quotas of its sub-keys
	UsedQuota      int64  `json:"used_quota"`      // requests this month
	Disabled       bool   `json:"disabled"`
	CreatedAt      string `json:"created_at"`
}

type listDistributorsOut struct {
	result
	Distributors []distributor `json:"distributors"` // the newest first
}

func (o *operator) listDistributors(ctx context.Context, _ struct{}) (listDistributorsOut, error) {
	all, err := o.keys.Distributors(ctx)
	out := listDistributorsOut{result{true}, make([]distributor, len(all))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(reads)
	for i, d := range all {
		group.Go(func() error {
			used, err := o.usage.Distributor(groupCtx, d.AccessKey, o.now())
			out.Distributors[i] = distributor{
				d.AccessKey, presetOf(d.Preset), d.SubKeyCount, d.AllocatedQuota, used, d.Disabled, catalog.Timestamp(d.CreatedAt),
			}
			return err
		})
	}
	return out, errors.Join(err, group.Wait())
}

type accessKeyIn struct {
	AccessKey string `param:"access_key" required:"true"`
}

type distributorOut struct {
	result
	distributor
}

func (o *operator) disableDistributor(ctx context.Context, in accessKeyIn) (distributorOut, error) {
	return o.after(ctx, in.AccessKey, o.keys.SetDisabled(ctx, in.AccessKey, true))
}

func (o *operator) enableDistributor(ctx context.Context, in accessKeyIn) (distributorOut, error) {
	return o.after(ctx, in.AccessKey, o.keys.SetDisabled(ctx, in.AccessKey, false))
}

type setGrantsIn struct {
	AccessKey string `param:"access_key" required:"true"`
	Grants    grants `param:"grants" required:"true"`
}

func (o *operator) setGrants(ctx context.Context, in setGrantsIn) (distributorOut, error) {
	return o.after(ctx, in.AccessKey, o.keys.SetGrants(ctx, in.AccessKey, in.Grants))
}

type setLimitsIn struct {
	AccessKey     string       `param:"access_key" required:"true"`
	MaxSubKeys    *catalog.Int `param:"max_sub_keys"`
	MaxTotalQuota *catalog.Int `param:"max_total_quota"`
	RateLimit     *catalog.Int `param:"rate_limit"`
	WSConnLimit   *catalog.Int `param:"ws_conn_limit"`
	WSSubLimit    *catalog.Int `param:"ws_sub_limit"`
}

func (o *operator) setLimits(ctx context.Context, in setLimitsIn) (distributorOut, error) {
	return o.after(ctx, in.AccessKey, o.keys.SetLimits(ctx, in.AccessKey, keys.Limits{
		MaxSubKeys: (*int64)(in.MaxSubKeys), MaxTotalQuota: (*int64)(in.MaxTotalQuota),
		RateLimit: (*int64)(in.RateLimit), WSConnLimit: (*int64)(in.WSConnLimit), WSSubLimit: (*int64)(in.WSSubLimit),
	}))
}

type resealSecretsOut struct {
	result
	Secrets  int  `json:"secrets"`  // looked at
	Resealed int  `json:"resealed"` // sealed with the current data key now
	Older    int  `json:"older"`    // sealed with another one still
	Complete bool `json:"complete"` // false: time ran out, do it again
}

// toAnswer is kept of the function's time for the answer.
const toAnswer = 5 * time.Second

func (o *operator) resealSecrets(ctx context.Context, _ struct{}) (resealSecretsOut, error) {
	if end, ok := ctx.Deadline(); ok {
		sooner, done := context.WithDeadline(ctx, end.Add(-toAnswer))
		defer done()
		ctx = sooner
	}
	r, err := o.keys.Reseal(ctx)
	return resealSecretsOut{result{true}, r.Secrets, r.Resealed, r.Older, r.Complete}, err
}

// after answers with the distributor as it is after a change, unless that
// failed.
func (o *operator) after(ctx context.Context, accessKey string, changed error) (distributorOut, error) {
	if changed != nil {
		return distributorOut{}, changed
	}
	d, err := o.keys.Distributor(ctx, accessKey)
	if err != nil {
		return distributorOut{}, err
	}
	used, err := o.usage.Distributor(ctx, accessKey, o.now())
	return distributorOut{result{true}, distributor{
		d.AccessKey, presetOf(d.Preset), d.SubKeyCount, d.AllocatedQuota, used, d.Disabled, catalog.Timestamp(d.CreatedAt),
	}}, err
}
