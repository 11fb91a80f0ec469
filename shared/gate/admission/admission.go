// Package admission is the one gate that every request passes, in this order:
// signature, nonce, status of the key, permission, time span, rate and quota.
//
// The authorizer runs the first four ([Gate.Check]) and passes the result to the
// function ([Caller.Context], [CallerFrom]), which runs the rest once it knows
// that the request is well formed: only then is a request counted. A POST that
// carries its signature in the body passes the authorizer unchecked and marked;
// the function then runs the first four itself. Whatever is not expressly
// allowed is refused.
package admission

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
)

// Resolver reads everything about an access key, consistently.
// Its error is [keys.ErrUnknown] for a key that does not exist.
type Resolver interface {
	Resolve(ctx context.Context, accessKey string) (keys.Principal, error)
}

// Gate checks requests. All fields are required but Nonces.
type Gate struct {
	Keys     Resolver      // nil in a function that the authorizer leaves no signature to check
	Nonces   *usage.Nonces // nil when the operator has switched replay protection off
	Counters *usage.Counters
	Clock    func() time.Time
	// ManagementRate is how many management requests of a primary key are admitted in
	// any minute, 0 = any number.
	ManagementRate int64
}

// Refusal is the error of a request that the gate turns away.
type Refusal struct {
	Reason     catalog.Reason
	Message    string        // one sentence for the caller
	RetryAfter time.Duration // with 429
	// Proven says that the caller knows the secret of the key. Nobody else
	// learns more than that the signature failed.
	Proven bool
	// Counted says that it was counted where it was made.
	Counted bool
	// Denied is what the caps have left, with 429 of a request for data; else nil.
	Denied *usage.Denied
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Reason, r.Message) }

// Unsigned is the refusal of a request without a valid signature.
func Unsigned(reason catalog.Reason, message string) *Refusal {
	return &Refusal{Reason: reason, Message: "signature authentication failed: " + message}
}

// Unverified is the refusal of a request whose signature cannot be read.
func Unverified(err error) *Refusal {
	if errors.Is(err, signature.ErrExpired) {
		return Unsigned(catalog.ReasonTimestampExpired, err.Error())
	}
	return Unsigned(catalog.ReasonSignatureMalformed, err.Error())
}

func forbidden(reason catalog.Reason, message string) *Refusal {
	return &Refusal{Reason: reason, Message: message, Proven: true}
}

// unknownKey stands in for the secret of a key that does not exist, so that
// its refusal takes as long as that of a wrong signature.
var unknownKey = []byte("00000000000000000000000000000000")

// Repeatable names a request that may be repeated with its signature: a GET, by its
// path and its whole query. Clients that sign once repeat such an address when it is
// answered with 429 or 5xx. An endpoint that writes by GET must therefore be idempotent.
func Repeatable(path string, query url.Values) string {
	return path + "?" + query.Encode()
}

// Check authenticates the signature and authorises it for an endpoint that
// demands access. Request is what [Repeatable] says of it, "" for one that is
// accepted once. The error is a [*Refusal] or a fault of a store.
func (g *Gate) Check(ctx context.Context, p signature.Params, request string, access catalog.Access) (Caller, error) {
	if g.Keys == nil {
		return Caller{}, errors.New("check a signature: this function has no access to keys")
	}
	now := g.Clock()
	signed, err := p.Check(now)
	if err != nil {
		return Caller{}, Unverified(err)
	}
	principal, err := g.Keys.Resolve(ctx, p.AccessKeyID)
	secret := []byte(principal.Secret)
	switch {
	case errors.Is(err, keys.ErrUnknown):
		secret = unknownKey
	case err != nil:
		return Caller{}, fmt.Errorf("look up an access key: %w", err)
	}
	if !p.Verify(secret) || err != nil {
		return Caller{}, Unsigned(catalog.ReasonSignatureWrong, "the AccessKeyId or the Signature is wrong")
	}
	if g.Nonces != nil {
		// A signature is valid until its timestamp is too old; the nonce is
		// kept one second longer than that, and never less than from now on.
		until := signed
		if now.After(until) {
			until = now
		}
		switch err := g.Nonces.Use(ctx, p.AccessKeyID, p.Nonce, request, until.Add(signature.Validity+time.Second)); {
		case errors.Is(err, usage.ErrNonceUsed):
			return Caller{}, &Refusal{Reason: catalog.ReasonNonceUsed, Message: err.Error(), Proven: true}
		case err != nil:
			return Caller{}, err
		}
	}
	if refusal := authorize(&principal, access, now); refusal != nil {
		return Caller{}, refusal
	}
	return callerOf(&principal), nil
}

// authorize decides, from the state of the key alone, whether it may call an
// endpoint that demands access.
func authorize(p *keys.Principal, access catalog.Access, now time.Time) *Refusal {
	if p.DistributorDisabled {
		return forbidden(catalog.ReasonDistributorDisabled, "the distributor is disabled")
	}
	if p.Primary {
		if access.Kind != catalog.Management {
			return forbidden(catalog.ReasonWrongKeyKind, "a distributor's primary key may call management endpoints only: use a sub-key")
		}
		return nil
	}
	switch {
	case access.Kind == catalog.Management:
		return forbidden(catalog.ReasonWrongKeyKind, "not a distributor: management endpoints take a distributor's primary key")
	case p.Disabled:
		return forbidden(catalog.ReasonKeyDisabled, "the sub-key is disabled")
	case !p.ExpiresAt.IsZero() && !now.Before(p.ExpiresAt):
		return forbidden(catalog.ReasonKeyExpired, "the sub-key has expired")
	case p.Level == nil:
		return forbidden(catalog.ReasonLevelMissing, "the level "+p.LevelName+" of the sub-key is not configured")
	case p.Level.Empty():
		return forbidden(catalog.ReasonLevelMissing, "the level "+p.LevelName+" of the sub-key has no permissions")
	}
	switch access.Kind {
	case catalog.AnyLevel:
		return nil
	case catalog.ActionAccess:
		if p.Level.Permits(access.Name) {
			return nil
		}
		return forbidden(catalog.ReasonActionMissing, "the level "+p.LevelName+" of the sub-key does not list the action "+access.Name)
	case catalog.GrantAccess:
		if p.Grants.Has(access.Name) {
			return nil
		}
		return forbidden(catalog.ReasonGrantMissing, "the distributor has no grant "+access.Name)
	case catalog.Public, catalog.Management: // no sub-key gets here
	}
	return forbidden(catalog.ReasonWrongKeyKind, "this endpoint is not open to any key")
}

// Admit counts one request of the caller: one of a sub-key is charged to its rate, its
// quota and those of its distributor, one of a primary key to the rate of management,
// which it learns here. The error is a [*Refusal] when a cap is met.
func (g *Gate) Admit(ctx context.Context, c *Caller) (receipt usage.Receipt, err error) {
	if c.Primary {
		if c.RateLimit = g.ManagementRate; c.RateLimit > 0 {
			receipt, err = g.Counters.TakeManagement(ctx, c.AccessKey, c.RateLimit)
		}
	} else {
		receipt, err = g.Counters.Take(ctx, c.AccessKey, c.Distributor, usage.Limits{
			PerMonth: c.MonthlyQuota, PerMinute: c.RateLimit, Total: c.MaxTotalQuota, TotalRate: c.DistributorRateLimit,
		})
	}
	var denied *usage.Denied
	if errors.As(err, &denied) {
		return usage.Receipt{}, &Refusal{Reason: reasonOf(denied.Cap), Message: denied.Error(), RetryAfter: denied.RetryAfter, Proven: true, Denied: denied}
	}
	return receipt, err
}

func reasonOf(c usage.Cap) catalog.Reason {
	switch c {
	case usage.PerMinute:
		return catalog.ReasonRateLimited
	case usage.PerMonth:
		return catalog.ReasonQuotaExhausted
	case usage.Total:
		return catalog.ReasonDistributorQuotaExhausted
	case usage.TotalRate:
		return catalog.ReasonDistributorRateLimited
	}
	panic(fmt.Sprintf("admission: no reason for the cap %q", c))
}

// CheckSpan refuses a query whose time span is longer than the caller's limit.
// A zero start means that the query has none.
func CheckSpan(c *Caller, start, end time.Time) error {
	if c.MaxTimeRange <= 0 || start.IsZero() || end.Sub(start) <= time.Duration(c.MaxTimeRange)*time.Second {
		return nil
	}
	return &Refusal{Reason: catalog.ReasonSpanExceeded, Message: "time range exceeded", Proven: true}
}
