package admission

import (
	"strconv"

	"quotary/shared/keys"
)

// Caller is who an admitted request comes from, with the limits in force. The
// authorizer hands it to the function, which therefore need not read the key
// again.
type Caller struct {
	AccessKey   string
	Distributor string // primary access key of the distributor
	Primary     bool

	MonthlyQuota  int64 // requests per month, 0 = no cap
	RateLimit     int64 // requests per minute, 0 = no cap
	MaxTimeRange  int64 // seconds, 0 = no limit
	MaxTotalQuota int64 // requests per month of all sub-keys, 0 = no cap
}

func callerOf(p *keys.Principal) Caller {
	c := Caller{
		AccessKey:     p.AccessKey,
		Distributor:   p.Distributor,
		Primary:       p.Primary,
		MonthlyQuota:  p.MonthlyQuota,
		RateLimit:     p.RateLimit,
		MaxTimeRange:  p.MaxTimeRange,
		MaxTotalQuota: p.MaxTotalQuota,
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
	contextQuota       = "monthlyQuota"
	contextRate        = "rateLimit"
	contextSpan        = "maxTimeRange"
	contextTotal       = "maxTotalQuota"
	contextSignature   = "signature"
	contextRefused     = "refused"
)

// ReasonContext is the context name under which the authorizer tells the
// gateway why it denied; the gateway's template shows it.
const ReasonContext = "reason"

// Context returns the caller as an authorizer's context.
func (c Caller) Context() map[string]any {
	return map[string]any{
		contextKey:         c.AccessKey,
		contextDistributor: c.Distributor,
		contextPrimary:     strconv.FormatBool(c.Primary),
		contextQuota:       strconv.FormatInt(c.MonthlyQuota, 10),
		contextRate:        strconv.FormatInt(c.RateLimit, 10),
		contextSpan:        strconv.FormatInt(c.MaxTimeRange, 10),
		contextTotal:       strconv.FormatInt(c.MaxTotalQuota, 10),
	}
}

// BodyContext marks a request whose signature the function finds in its body.
func BodyContext() map[string]any { return map[string]any{contextSignature: "body"} }

// RefusedContext carries a 401 that its caller may read through to the
// function, which answers with it: the gateway's own 401 has a fixed text.
func RefusedContext(r *Refusal) map[string]any { return map[string]any{contextRefused: r.Message} }

// Verdict is what an authorizer's context says about a request.
type Verdict int

// The verdicts. The zero value refuses.
const (
	VerdictNone    Verdict = iota // no authorizer has seen the request
	VerdictCaller                 // authenticated and authorised
	VerdictBody                   // the signature is in the body
	VerdictRefused                // refused, with a message for the caller
)

// CallerFrom reads an authorizer's context. The message belongs to
// [VerdictRefused].
func CallerFrom(context map[string]any) (c Caller, v Verdict, message string) {
	text := func(name string) string { s, _ := context[name].(string); return s }
	if refused := text(contextRefused); refused != "" {
		return Caller{}, VerdictRefused, refused
	}
	if text(contextSignature) == "body" {
		return Caller{}, VerdictBody, ""
	}
	c = Caller{AccessKey: text(contextKey), Distributor: text(contextDistributor), Primary: text(contextPrimary) == "true"}
	for name, field := range map[string]*int64{
		contextQuota: &c.MonthlyQuota, contextRate: &c.RateLimit, contextSpan: &c.MaxTimeRange, contextTotal: &c.MaxTotalQuota,
	} {
		n, err := strconv.ParseInt(text(name), 10, 64)
		if err != nil {
			return Caller{}, VerdictNone, ""
		}
		*field = n
	}
	if c.AccessKey == "" || c.Distributor == "" {
		return Caller{}, VerdictNone, ""
	}
	return c, VerdictCaller, ""
}
