package admission_test

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/gate/admission"
)

func TestACallerSurvivesTheWayThroughTheGateway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 1<<50)
		want := admission.Caller{
			AccessKey: "k", Distributor: "d", Primary: rapid.Bool().Draw(t, "primary"),
			MonthlyQuota: limit.Draw(t, "quota"), RateLimit: limit.Draw(t, "rate"), MaxTimeRange: limit.Draw(t, "span"),
			MaxTotalQuota: limit.Draw(t, "total"), DistributorRateLimit: limit.Draw(t, "all rate"), WSConnLimit: limit.Draw(t, "conns"), WSSubLimit: limit.Draw(t, "subs"),
			DistributorWSConnLimit: limit.Draw(t, "all conns"), DistributorWSSubLimit: limit.Draw(t, "all subs"),
		}
		got, verdict, _ := admission.CallerFrom(want.Context())
		if verdict != admission.VerdictCaller || got != want {
			t.Fatalf("%+v became %+v (%v)", want, got, verdict)
		}
	})
}

func TestAContextThatNobodyWroteRefuses(t *testing.T) {
	t.Parallel()
	for name, context := range map[string]map[string]any{
		"nil":               nil,
		"no distributor":    {"key": "k"},
		"no key":            {"distributor": "d"},
		"a limit in words":  {"key": "k", "distributor": "d", "rateLimit": "many"},
		"not a string":      {"key": 1, "distributor": 2},
		"no limits":         {"key": "k", "distributor": "d"},
		"an overlong limit": {"key": "k", "distributor": "d", "rateLimit": "99999999999999999999"},
	} {
		if c, verdict, _ := admission.CallerFrom(context); verdict != admission.VerdictNone || c != (admission.Caller{}) {
			t.Errorf("%s: %+v, %v", name, c, verdict)
		}
	}
}
