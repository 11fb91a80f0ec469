package admission

import (
	"strconv"

	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
)

// Caller is who an admitted request comes from, with the limits in force. The
// authorizer passes it to the function, which therefore need not read the key
// again.
type Caller struct {
	AccessKey   string
	Distributor string // primary access key of the distributor
	Primary     bool
	Level       string // name of the sub-key's
	ExpiresAt   int64  // when the sub-key expires, seconds; 0 = never
	Generation  int64  // of the secret that signed: how often it was reset before

	MonthlyQuota  int64 // requests per month, 0 = no cap
	RateLimit     int64 // requests per minute, 0 = no cap
	MaxTimeRange  int64 // seconds, 0 = no limit
	MaxTotalQuota int64 // requests per month of all sub-keys, 0 = no cap

	DistributorRateLimit   int64 // requests per minute of all sub-keys, 0 = no cap
	WSConnLimit            int64 // WebSocket connections of the sub-key, 0 = no cap
	WSSubLimit             int64 // subscriptions of the sub-key, 0 = no cap
	WSConnSince            int64 // when WSConnLimit was set where there was none, ms; 0 = with the key
	DistributorWSConnLimit int64 // connections of all the distributor's sub-keys, 0 = no cap
	DistributorWSConnSince int64 // as WSConnSince
	DistributorWSSubLimit  int64 // subscriptions of all the distributor's sub-keys, 0 = no cap
}

func callerOf(p *keys.Principal) Caller {
	c := Caller{
		AccessKey:     p.AccessKey,
		Distributor:   p.Distributor,
		Primary:       p.Primary,
		Level:         p.LevelName,
		Generation:    p.Generation,
		MonthlyQuota:  p.MonthlyQuota,
		RateLimit:     p.RateLimit,
		MaxTimeRange:  p.MaxTimeRange,
		MaxTotalQuota: p.MaxTotalQuota,

		DistributorRateLimit:   p.DistributorRateLimit,
		WSConnLimit:            p.WSConnLimit,
		WSSubLimit:             p.WSSubLimit,
		WSConnSince:            p.WSConnSince,
		DistributorWSConnLimit: p.DistributorWSConnLimit,
		DistributorWSSubLimit:  p.DistributorWSSubLimit,
		DistributorWSConnSince: p.DistributorWSConnSince,
	}
	if !p.ExpiresAt.IsZero() {
		c.ExpiresAt = p.ExpiresAt.Unix()
	}
	if p.Level != nil {
		if c.RateLimit == 0 {
			c.RateLimit = p.Level.RateLimit
		}
		c.MaxTimeRange = tighter(p.Level.MaxTimeRange, p.MaxTimeRange)
	}
	return c
}

// tighter returns the smaller of two limits of which 0 means unset.
func tighter(a, b int64) int64 {
	if a == 0 {
		return b
	}
	if b == 0 {
		return a
	}
	return min(a, b)
}

// Names of the authorizer's context, as gateway and functions see them.
const (
	contextKey         = "key"
	contextDistributor = "distributor"
	contextPrimary     = "primary"
	contextLevel       = "level"
	contextSignature   = "signature"
	contextRefused     = "refused"
	contextRefusedFor  = "refusedFor"
)

// ReasonContext is the context name under which the authorizer gives the
// gateway the reason why it denied; the gateway's template shows it.
const ReasonContext = "reason"

// numbers lists the limits under the names they have in an authorizer's context.
func (c *Caller) numbers() [9]struct {
	name  string
	value *int64
} {
	return [9]struct {
		name  string
		value *int64
	}{
		{"monthlyQuota", &c.MonthlyQuota},
		{"rateLimit", &c.RateLimit},
		{"maxTimeRange", &c.MaxTimeRange},
		{"maxTotalQuota", &c.MaxTotalQuota},
		{"distributorRateLimit", &c.DistributorRateLimit},
		{"wsConnLimit", &c.WSConnLimit},
		{"wsSubLimit", &c.WSSubLimit},
		{"distributorWsConnLimit", &c.DistributorWSConnLimit},
		{"distributorWsSubLimit", &c.DistributorWSSubLimit},
	}
}

// rare lists what the context names only where it is not 0.
func (c *Caller) rare() map[string]*int64 {
	return map[string]*int64{
		"expiresAt": &c.ExpiresAt, "generation": &c.Generation,
		"wsConnSince": &c.WSConnSince, "distributorWsConnSince": &c.DistributorWSConnSince,
	}
}

// Context returns the caller as an authorizer's context.
func (c Caller) Context() map[string]any {
	context := map[string]any{
		contextKey:         c.AccessKey,
		contextDistributor: c.Distributor,
		contextPrimary:     strconv.FormatBool(c.Primary),
	}
	if c.Level != "" {
		context[contextLevel] = c.Level
	}
	for name, value := range c.rare() {
		if *value != 0 {
			context[name] = strconv.FormatInt(*value, 10)
		}
	}
	for _, n := range c.numbers() {
		context[n.name] = strconv.FormatInt(*n.value, 10)
	}
	return context
}

// BodyContext marks a request whose signature the function finds in its body.
func BodyContext() map[string]any { return map[string]any{contextSignature: "body"} }

// RefusedContext carries a 401 that its caller may read through to the
// function, which answers with it: the gateway's own 401 has a fixed text.
func RefusedContext(r *Refusal) map[string]any {
	return map[string]any{contextRefused: r.Message, contextRefusedFor: string(r.Reason)}
}

// Verdict is what an authorizer's context says about a request.
type Verdict int

// The verdicts. The zero value refuses.
const (
	VerdictNone    Verdict = iota // no authorizer has seen the request
	VerdictCaller                 // authenticated and authorised
	VerdictBody                   // the signature is in the body
	VerdictRefused                // refused, as its caller may read
)

// unseen is the refusal of a request that no authorizer has seen.
func unseen() *Refusal {
	return Unsigned(catalog.ReasonSignatureMissing, "the request did not pass the authorizer")
}

// CallerFrom reads an authorizer's context. The refusal is that of every verdict but
// [VerdictCaller].
func CallerFrom(context map[string]any) (c Caller, v Verdict, refusal *Refusal) {
	text := func(name string) string { s, _ := context[name].(string); return s }
	if refused := text(contextRefused); refused != "" {
		reason := catalog.Reason(text(contextRefusedFor))
		if reason.Status() != catalog.ReasonNonceUsed.Status() { // left by an authorizer of another version
			reason = catalog.ReasonNonceUsed
		}
		return Caller{}, VerdictRefused, &Refusal{Reason: reason, Message: refused, Proven: true, Counted: true}
	}
	if text(contextSignature) == "body" {
		return Caller{}, VerdictBody, Unsigned(catalog.ReasonSignatureMissing, "the signature parameters must be in the query")
	}
	c = Caller{AccessKey: text(contextKey), Distributor: text(contextDistributor), Primary: text(contextPrimary) == "true", Level: text(contextLevel)}
	for name, value := range c.rare() {
		*value, _ = strconv.ParseInt(text(name), 10, 64)
	}
	for _, n := range c.numbers() {
		// A limit that got lost must not read as "no limit".
		var err error
		if *n.value, err = strconv.ParseInt(text(n.name), 10, 64); err != nil {
			return Caller{}, VerdictNone, unseen()
		}
	}
	if c.AccessKey == "" || c.Distributor == "" {
		return Caller{}, VerdictNone, unseen()
	}
	return c, VerdictCaller, nil
}
