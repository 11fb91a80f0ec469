package main

import (
	"context"
	"errors"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/usage"
)

// management serves the distributor endpoints.
type management struct {
	keys       *keys.Store
	usage      *usage.Counters
	exportPage int // sub-keys that one answer exports at most; 0 means exportPage
}

func (m *management) serve(f *api.Family) {
	handle(f, catalog.Register, m.register)
	handle(f, catalog.GetInfo, m.info)
	handle(f, catalog.GetQuota, m.quota)

	handle(f, catalog.ListLevels, m.listLevels)
	handle(f, catalog.GetLevel, m.getLevel)
	handle(f, catalog.PutLevel, m.putLevel)
	handle(f, catalog.DeleteLevel, m.deleteLevel)

	handle(f, catalog.CreateSubKey, m.createSubKey)
	handle(f, catalog.ListSubKeys, m.listSubKeys)
	handle(f, catalog.SubKeyStats, m.subKeyStats)
	handle(f, catalog.ExportKeys, m.export)
	handle(f, catalog.GetSubKey, m.getSubKey)
	handle(f, catalog.UpdateSubKey, m.updateSubKey)
	handle(f, catalog.DeleteSubKey, m.deleteSubKey)
	handle(f, catalog.EnableKey, m.enable)
	handle(f, catalog.DisableKey, m.disable)
	handle(f, catalog.ResetSecret, m.resetSecret)
	handle(f, catalog.BatchEnable, m.batchEnable)
	handle(f, catalog.BatchDisable, m.batchDisable)
}

// handle gives a handler the calling distributor's primary access key, which is
// empty for registration, and turns the key store's errors into answers.
func handle[In, Out any](f *api.Family, r catalog.Route[In, Out], h func(ctx context.Context, distributor string, in In) (Out, error)) {
	api.Handle(f, r, func(ctx context.Context, in In) (Out, error) {
		out, err := h(ctx, api.Caller(ctx).Distributor, in)
		return out, answer(err)
	})
}

// answer turns an error of the key store into what its caller may read. Any
// other stays as it is: a fault.
func answer(err error) error {
	var bad *keys.InvalidError
	switch {
	case errors.As(err, &bad):
		return api.BadParameter("%s", bad.Message)
	case errors.Is(err, keys.ErrUnknown):
		return api.NotFound("access_key names no sub-key of this distributor")
	case errors.Is(err, keys.ErrUnknownLevel):
		return api.NotFound("level names no configured level of this distributor")
	case errors.Is(err, keys.ErrBusy):
		return api.Refuse(catalog.ReasonBusy, "too many requests change this distributor's keys at the same moment: nothing was changed, try again")
	}
	return err
}

func (m *management) register(ctx context.Context, _ string, in catalog.RegisterIn) (catalog.Registered, error) {
	r, err := m.keys.Register(ctx, in.InviteToken)
	api.SetMessage(ctx, "the distributor is registered: keep the secret_key, it is never shown again")
	return catalog.Registered{AccessKey: r.AccessKey, SecretKey: string(r.Secret), Name: r.Name, Level: r.Level}, err
}

func (m *management) info(ctx context.Context, distributor string, _ catalog.None) (catalog.DistributorInfo, error) {
	d, err := m.keys.Distributor(ctx, distributor)
	return catalog.DistributorInfo{
		AccessKey: d.AccessKey, Name: d.Name, Level: d.Level,
		MaxSubKeys: d.MaxSubKeys, SubKeyCount: d.SubKeyCount, MaxTotalQuota: d.MaxTotalQuota,
	}, err
}

func (m *management) quota(ctx context.Context, distributor string, _ catalog.None) (catalog.QuotaSummary, error) {
	d, err := m.keys.Distributor(ctx, distributor)
	if err != nil {
		return catalog.QuotaSummary{}, err
	}
	used, err := m.usage.Distributor(ctx, distributor, api.Now(ctx))
	return catalog.QuotaSummary{
		MaxTotalQuota: d.MaxTotalQuota, AllocatedQuota: d.AllocatedQuota, AvailableQuota: d.AvailableQuota(),
		UsedQuota: used, RemainingQuota: max(d.MaxTotalQuota-used, 0),
	}, err
}

func (m *management) listLevels(ctx context.Context, distributor string, _ catalog.None) ([]string, error) {
	return m.keys.Levels(ctx, distributor)
}

func (m *management) getLevel(ctx context.Context, distributor string, in catalog.LevelIn) (catalog.Level, error) {
	level, err := m.keys.Level(ctx, distributor, in.Level)
	if err != nil {
		return catalog.Level{}, err
	}
	out := catalog.Level{Permissions: make([]catalog.Permission, len(level.Permissions)), RequestLimits: catalog.RequestLimits{
		MaxTimeRange: catalog.Int(level.MaxTimeRange), MaxRequest: catalog.Int(level.MaxRequest), RequestRateLimit: catalog.Int(level.RateLimit),
	}}
	for i, p := range level.Permissions {
		out.Permissions[i] = catalog.Permission(p)
	}
	return out, nil
}

func (m *management) putLevel(ctx context.Context, distributor string, in catalog.PutLevelIn) (catalog.None, error) {
	if in.RequestLimits == nil && in.Permissions == nil {
		return catalog.None{}, api.BadParameter("missing permissions and request_limits: at least one of them must be in the body, as the level is replaced")
	}
	api.SetMessage(ctx, "the level is saved and in force for its sub-keys at once")
	var limits catalog.RequestLimits
	if in.RequestLimits != nil {
		limits = *in.RequestLimits
	}
	level := keys.LevelSettings{
		MaxTimeRange: int64(limits.MaxTimeRange), MaxRequest: int64(limits.MaxRequest), RateLimit: int64(limits.RequestRateLimit),
		Permissions: make([]keys.Permission, len(in.Permissions)),
	}
	for i, p := range in.Permissions {
		level.Permissions[i] = keys.Permission(p)
	}
	return catalog.None{}, m.keys.PutLevel(ctx, distributor, in.Level, level)
}

func (m *management) deleteLevel(ctx context.Context, distributor string, in catalog.LevelIn) (catalog.None, error) {
	api.SetMessage(ctx, "the level is deleted: its sub-keys are refused until it exists again")
	return catalog.None{}, m.keys.DeleteLevel(ctx, distributor, in.Level)
}
