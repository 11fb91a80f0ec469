package api_test

import (
	"bytes"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/gate/keys"
)

func TestDenialsAndFaultsAreCountedWithoutNamingAnybody(t *testing.T) {
	t.Parallel()
	w := market(t)
	var out bytes.Buffer
	w.Family.Metrics = metrics.New(&out, "quotary-test", w.Now)
	one, many := int64(1), int64(100)
	spent := w.Issue(t, w.Primary, keys.NewSubKey{Name: "spent", MonthlyQuota: &one})
	hurried := w.Issue(t, w.Primary, keys.NewSubKey{Name: "hurried", RateLimit: 1, MonthlyQuota: &many})
	for _, step := range []struct {
		name   string
		key    apitest.Key
		path   string
		status int
		counts string         // in the line; "" for no line
		reason catalog.Reason // in the log line of the request
	}{
		{"an answer", w.SubKey, tickers, 200, "", ""},
		{"a mistake of the caller", w.SubKey, ticker + "BAD", 400, "", catalog.ReasonBadParameter},
		{"the only request of a quota", spent, tickers, 200, "", ""},
		{"one over the quota", spent, tickers, 429, `"Reason":"quota_exhausted","Denials":1`, catalog.ReasonQuotaExhausted},
		{"the only request of a minute", hurried, tickers, 200, "", ""},
		{"one over the rate", hurried, tickers, 429, `"Reason":"rate_limited","Denials":1`, catalog.ReasonRateLimited},
		{"a fault", w.SubKey, ticker + "FAULT", 500, `"Function":"` + string(catalog.PerpMarket) + `","Faults":1`, catalog.ReasonInternal},
	} {
		out.Reset()
		w.Logs.Reset()
		if a := w.Get(t, step.key, step.path); a.Status != step.status {
			t.Errorf("%s: status %d, want %d: %s", step.name, a.Status, step.status, a.Body)
		}
		if line := w.Logs.String(); strings.Contains(line, `"reason"`) != (step.reason != "") || !strings.Contains(line, string(step.reason)) {
			t.Errorf("%s: the log line has another reason than %q: %s", step.name, step.reason, line)
		}
		if line := out.String(); !strings.Contains(line, step.counts) || (line == "") != (step.counts == "") || strings.Contains(line, step.key.AccessKey) {
			t.Errorf("%s: counted as %q, want %q", step.name, line, step.counts)
		}
	}
}
