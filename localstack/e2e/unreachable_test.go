package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// nowhere is an address at which nobody answers.
const nowhere = "http://127.0.0.1:1"

// TestWithoutItsUpstreamsAStackSaysSo starts a stack whose upstreams cannot be reached, as
// behind a firewall: the start waits for them, names each with its last error and goes on, and
// no endpoint answers as if there were nothing.
func TestWithoutItsUpstreamsAStackSaysSo(t *testing.T) {
	t.Parallel()
	var progress bytes.Buffer
	const within = 20 * time.Second // in which each is asked, on a busy machine, too
	cut := must.Get(stack.Start(t.Context(), stack.Config{
		Data: t.TempDir(), Programs: programs, Tools: filepath.Join(root, "localstack"),
		Upstream: "hyperliquid", SourcesWithin: within, Progress: &progress,
		IngesterEnv: []string{
			catalog.EnvHyperliquidURL.Name + "=" + nowhere,
			catalog.EnvExchanges.Name + "=binance", catalog.EnvBinanceURL.Name + "=" + nowhere,
			catalog.EnvNewsFeeds.Name + `=[{"url":"` + nowhere + `/rss","language":"en","source":"Nobody"}]`,
			catalog.EnvCoinGeckoURL.Name + "=" + nowhere,
		},
	}))(t)
	t.Cleanup(func() {
		stopping, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		if err := cut.Stop(stopping); err != nil {
			t.Error(err)
		}
	})
	awaited := []string{
		"perp: source hyperliquid has not said anything yet: ", "perp: source contexts has not said anything yet: ",
		"exchange: source binance spot has not said anything yet: ", "exchange: source binance spot polls has not said anything yet: ",
		"content: source feed 127.0.0.1:1 ", "reference: source coingecko has not said anything yet: ",
	}
	_, without, _ := strings.Cut(progress.String(), "going on without, after ")
	if regexp.MustCompile(`(?m)^  data +ready `).MatchString(progress.String()) {
		t.Errorf("the start says that the data is ready: %s", progress.String())
	}
	for _, name := range awaited {
		_, why, found := strings.Cut(without, name)
		if why, _, _ = strings.Cut(why, ";"); !found || !strings.Contains(why, "refused") {
			t.Errorf("the start does not say that %s refused: %s", name, progress.String())
		}
	}
	answer := must.Get(http.Get(cut.State.Ingesters[0] + "/readyz"))(t)
	defer answer.Body.Close()
	var condition struct {
		Status  string
		Domains map[string]struct{ Awaited []string }
	}
	must.Do(t, json.NewDecoder(answer.Body).Decode(&condition))
	if answer.StatusCode != http.StatusServiceUnavailable || condition.Status != "not ready" || len(condition.Domains["perp"].Awaited) != 2 {
		t.Errorf("/readyz: %d %+v", answer.StatusCode, condition)
	}

	at := client.Client{BaseURL: cut.State.BaseURL}
	asked := 0
	for _, e := range catalog.All() {
		switch {
		case e.Planned || e.Method == catalog.MethodWS || !e.Access.Charged() || e == catalog.KeyPlanNow.Endpoint:
			continue
		case len(e.Needs) == 1 && e.Needs[0].OnDemand: // many accounts: what is not known of one is null
			continue
		}
		asked++
		path, query, body := example(t, e)
		answer := must.Get(at.Do(t.Context(), cut.State.Demo.SubKey, e.Method, path, query, body))(t)
		if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(message(t, answer), " not ") {
			t.Errorf("%s %v %v: %d %.300s", e, query, body, answer.Status, answer.Body)
		}
	}
	if asked < 50 {
		t.Errorf("only %d endpoints were asked", asked)
	}
}

const somebody = "0x0123456789abcdef0123456789abcdef01234567"

// example is a request that an endpoint accepts.
func example(t *testing.T, e *catalog.Endpoint) (path string, query url.Values, body any) {
	t.Helper()
	path, query = e.Documented(), url.Values{}
	members := map[string]any{}
	for _, p := range catalog.Parameters(e.In) {
		name := p.Names[0]
		given := p.Field.Tag.Get("example")
		if p.Required && given == "" {
			given, _, _ = strings.Cut(p.Field.Tag.Get("enum"), "|")
			given = cmp.Or(given, map[string]string{"address": somebody, "addresses": somebody, "builder": somebody, "coin": "BTC", "interval": "1h"}[name], "1")
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", given)
		case given == "":
		case p.In == "query":
			query.Set(name, given)
		default:
			members[name] = given
		}
	}
	if e.Method == http.MethodGet {
		return path, query, nil
	}
	return path, query, members
}
