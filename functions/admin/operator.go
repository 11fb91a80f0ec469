package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"quotary/shared/gate/keys"
	"quotary/shared/gate/usage"
	"quotary/shared/text/strictjson"
)

// operator carries out the operator's actions.
type operator struct {
	keys  *keys.Store
	usage *usage.Counters
	now   func() time.Time
	log   *slog.Logger
}

// action carries out one kind of event.
type action func(ctx context.Context, event strictjson.Object) (any, error)

func (o *operator) actions() map[string]action {
	return map[string]action{
		"create_invite":       typed(o.createInvite),
		"list_invites":        typed(o.listInvites),
		"revoke_invite":       typed(o.revokeInvite),
		"list_distributors":   typed(o.listDistributors),
		"disable_distributor": typed(o.disableDistributor),
		"enable_distributor":  typed(o.enableDistributor),
		"set_grants":          typed(o.setGrants),
		"set_limits":          typed(o.setLimits),
		"usage_history":       typed(o.usageHistory),
		"reseal_secrets":      typed(o.resealSecrets),
	}
}

// result is the beginning of every answer.
type result struct {
	Success bool `json:"success"`
}

// failure is the answer to a request that cannot be done.
type failure struct {
	result
	Type  string `json:"error_type"` // invalid, not_found or busy
	Error string `json:"error"`      // one sentence
}

// invoke carries out one event. Its error is a fault of the service; what is
// wrong with the event is reported in the answer.
func (o *operator) invoke(ctx context.Context, event json.RawMessage) (any, error) {
	started := o.now()
	name, out, err := o.carryOut(ctx, event)
	outcome := "done"
	refused := refusal(err)
	if refused != nil {
		out, outcome, err = refused, refused.Type, nil
	}
	attrs := []slog.Attr{slog.String("action", name), slog.String("outcome", outcome), slog.Int64("us", o.now().Sub(started).Microseconds())}
	if err != nil {
		attrs[1] = slog.String("outcome", "fault")
		o.log.LogAttrs(ctx, slog.LevelError, "operator", append(attrs, slog.String("err", err.Error()))...)
		return nil, err
	}
	o.log.LogAttrs(ctx, slog.LevelInfo, "operator", attrs...)
	return out, nil
}

// carryOut returns the name of the action as far as it is a known one.
func (o *operator) carryOut(ctx context.Context, event json.RawMessage) (name string, out any, err error) {
	in, err := strictjson.Decode(event, "the event")
	if err != nil {
		return "", nil, err
	}
	actions := o.actions()
	if name, err = in.Choice("action", slices.Sorted(maps.Keys(actions))...); err != nil {
		return "", nil, err
	}
	out, err = actions[name](ctx, in)
	return name, out, err
}

// refusal is the answer to an error that the operator can do something about,
// nil for any other.
func refusal(err error) *failure {
	var invalid *keys.InvalidError
	var unreadable *strictjson.Error
	switch {
	case errors.As(err, &invalid):
		return &failure{Type: "invalid", Error: invalid.Message}
	case errors.As(err, &unreadable):
		return &failure{Type: "invalid", Error: unreadable.Error()}
	case errors.Is(err, keys.ErrUnknown):
		return &failure{Type: "not_found", Error: "access_key names no distributor, nor a sub-key where one is accepted"}
	case errors.Is(err, keys.ErrUnknownInvite):
		return &failure{Type: "not_found", Error: "id names no invite"}
	case errors.Is(err, keys.ErrBusy):
		return &failure{Type: "busy", Error: "other changes came first every time: nothing was changed, try again"}
	}
	return nil
}
