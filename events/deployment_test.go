package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/books"
	"quotary/shared/data/coins"
	"quotary/shared/data/companies"
	"quotary/shared/data/contexts"
	"quotary/shared/data/contracts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/indices"
	"quotary/shared/data/meta"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/openorders"
	"quotary/shared/data/openpositions"
	"quotary/shared/data/pairbooks"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/pairtrades"
	"quotary/shared/data/tickers"
	"quotary/shared/data/treasuries"
	"quotary/shared/data/twaps"
	"quotary/shared/data/whales"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// perpKey is the key of a pair of the perpetual exchange.
const perpKey = "btcswapusdc:" + pairs.Hyperliquid

// otherKey is the key of a pair that no sample asks for.
const otherKey = "ethswapusdt:binance"

// sampleAddress is the account that samples ask for.
const sampleAddress = "0x0123456789abcdef0123456789abcdef01234567"

// deployment is all functions on a real engine, each with the rights that the
// deployment gives it.
type deployment struct {
	*apitest.World
	host      *lambdahost.Host
	way       string // to the stores
	rules     *awsrules.Rules
	bucket    *s3.Client              // of the bucket "views"
	functions map[string]*objectReads // what each reads of it
	views     *store.Views
	*calls
	*account
}

// calls are the requests of functions to their stores: function, table or
// bucket, action.
type calls struct {
	mu   sync.Mutex
	seen map[[3]string]bool
}

func (c *calls) note(function, resource, action string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[[3]string{function, resource, action}] = true
}

// venueThatAnswers is the address of a venue that answers whatever it is asked.
func venueThatAnswers(t *testing.T) string {
	t.Helper()
	venue := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(venue.Close)
	return venue.URL
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{World: apitest.New(t, catalog.FunctionPlanned), rules: awsrules.New(t), calls: &calls{seen: map[[3]string]bool{}}}
	d.rules.Hold, d.rules.Latency = 0, 0 // only what is counted matters
	d.account = &account{calls: d.calls}
	d.functions = map[string]*objectReads{}
	for _, name := range catalog.AllFunctions() {
		d.functions[name] = new(objectReads)
	}
	programs := must.Get(testenv.Programs())(t)
	keys := filepath.Join(t.TempDir(), "data-keys.json")
	// The data key of apitest's worlds.
	text, err := json.Marshal(map[string]any{"current": "test", "keys": map[string][]byte{"test": bytes.Repeat([]byte{7}, 32)}})
	if err == nil {
		err = os.WriteFile(keys, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.way = d.stores(t)
	apitest.Deliver(t, d.views, catalog.Datasets()...)
	storetest.Publish(t, d.views, coins.Published, coins.View{})
	storetest.Publish(t, d.views, treasuries.Published, shareChanges(time.Now()))
	storetest.Publish(t, d.views, pairtickers.Published, pairtickers.View{})
	storetest.Publish(t, d.views, companies.Published, companies.View{Companies: []companies.Company{{Key: shareKey, Entry: &companies.Entry{Key: shareKey}}}})
	storetest.Publish(t, d.views, indices.Published, indices.View{})
	storetest.Publish(t, d.views, openinterest.Published, openinterest.View{})
	storetest.Publish(t, d.views, openorders.PublishedTop, openorders.Top{Time: 1})
	storetest.Publish(t, d.views, meta.Published, meta.View{Time: 1, Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"BTC"},{"name":"ETH"},{"name":"SOL"}]}`)}})
	storetest.Publish(t, d.views, contexts.Published, contexts.View{Time: 1})
	storetest.Publish(t, d.views, openpositions.Published, &market.OpenTable{Time: 1})
	storetest.Publish(t, d.views, whales.PublishedEvents, whales.Events{Time: 1})
	storetest.Publish(t, d.views, twaps.PublishedRunning, twaps.Running{Time: 1})
	must.Do(t, d.views.Publish(t.Context(), openorders.ValuesName, openorders.EncodeValues(1, nil)))
	// A perpetual has figures, and no K-lines yet, so that what it takes to show either is
	// asked for.
	followed := contracts.View{Contracts: []contracts.Contract{{Pair: market.Pair{Key: "btcswapusdt:binance", Base: "BTC", Swap: true}}}}
	storetest.Publish(t, d.views, contracts.Published, followed)
	listed := pairs.View{Pairs: []pairs.Pair{{Pair: market.Pair{Key: "btcswapusdt:binance", Base: "BTC", Swap: true}}, {Pair: market.Pair{Key: otherKey, Base: "ETH", Swap: true}}, {Pair: market.Pair{Key: followedKey, Base: "BTC"}, Followed: true}}}
	storetest.Publish(t, d.views, pairs.Published, listed)
	storetest.Publish(t, d.views, pairtrades.Published, pairtrades.View{})
	level := market.PairLevel{Px: market.DecimalFromInt(64_000), Sz: market.DecimalFromInt(1)}
	storetest.Publish(t, d.views, pairbooks.Published, pairbooks.NewView(time.Now().Add(time.Hour), // so that it is not stale whenever it is read
		market.PairBook{Pair: "btcswapusdt:binance", Time: time.Now().UnixMilli(), Bids: []market.PairLevel{level}}))
	// The account of the samples is known, and the venue is to be asked about it again.
	must.Do(t, d.Series().Put(t.Context(), []store.SeriesRow{accounts.Row(&market.Account{Address: sampleAddress, Anchored: 1})}))
	// A perpetual of the perpetual exchange has just traded.
	now := time.Now().UnixMilli()
	storetest.Publish(t, d.views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "BTC", Price: "1.0", Time: now}}})
	storetest.Publish(t, d.views, books.Published, books.NewView(market.Book{Coin: "BTC", Time: now + time.Hour.Milliseconds()})) // not stale, as above
	datatest.PublishTraders(t, d.bucket, "views", now, datatest.Traders(80, now))
	px := market.DecimalFromInt(1)
	datatest.PutKlines(t, d.Series(), "BTC", market.Trade{Coin: "BTC", Side: market.Buy, Time: now, Tid: 1, Px: px, Sz: px})
	logs := new(bytes.Buffer) // one write at a time, says lambdahost
	cfg := lambdahost.Config{Functions: map[string]lambdahost.Function{}, Logs: logs}
	settings := map[string]string{
		catalog.EnvTablePrefix: d.Prefix, catalog.EnvViewsBucket: "views",
		catalog.EnvHyperliquidURL.Name: venueThatAnswers(t),
		catalog.EnvSecretsKey:          "key", catalog.EnvDataKeysParameter: "/quotary/prod/data-keys",
	}
	for _, name := range catalog.AllFunctions() {
		program := filepath.Join(programs, catalog.ProgramFile(name))
		env := []string{
			"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=eu-west-1",
			"AWS_ENDPOINT_URL_DYNAMODB=" + d.way + "/dynamodb/" + name + "/", "AWS_ENDPOINT_URL_S3=" + d.way + "/s3/" + name + "/",
			"AWS_ENDPOINT_URL_KMS=" + d.way + "/aws/" + name + "/", "AWS_ENDPOINT_URL_SSM=" + d.way + "/aws/" + name + "/",
		}
		declaration, _ := catalog.ProgramOf(name)
		for _, variable := range declaration.Environment() {
			if value, ok := settings[variable]; ok {
				env = append(env, variable+"="+value)
			}
			if variable == catalog.EnvDataKeys {
				env = append(env, catalog.EnvDataKeysFile+"="+keys)
			}
		}
		cfg.Functions[name] = lambdahost.Function{Path: program, Env: env}
	}
	if d.host, err = lambdahost.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), 2*time.Minute) // on a busy machine
		defer done()
		if err := d.host.Close(ctx); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the functions' log:\n%s", logs)
		}
	})
	return d
}

// stores is a way to the engine and to an S3 that notes who asks for what.
func (d *deployment) stores(t *testing.T) string {
	t.Helper()
	engine := must.Get(url.Parse(storetest.Endpoint(t)))(t)
	dynamodb, objects := httputil.NewSingleHostReverseProxy(engine), storetest.S3Handler()
	dynamodb.Transport = d.rules.RoundTripper(http.DefaultTransport)
	objects.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/views", nil)) // the bucket
	d.bucket = storetest.S3Client(t, objects)
	d.views = store.NewViews(d.bucket, "views")
	mux := http.NewServeMux()
	mux.HandleFunc("/dynamodb/{function}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		d.noteDynamoDB(r.PathValue("function"), r.Header.Get("X-Amz-Target"), body)
		r.URL.Path, r.Body = "/", io.NopCloser(bytes.NewReader(body))
		dynamodb.ServeHTTP(w, r)
	})
	mux.HandleFunc("/s3/{function}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(r.PathValue("rest"), "views/"), "/") // of the bucket
		action := r.Method
		if action == http.MethodGet {
			action = "GetObject"
		}
		d.note(r.PathValue("function"), "s3 views/"+folder+"/*", action)
		r.URL.Path = "/" + r.PathValue("rest")
		objects.ServeHTTP(d.functions[r.PathValue("function")].counted(w), r)
	})
	mux.Handle("/aws/{function}/{rest...}", d.account)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// noteDynamoDB notes a request under the actions that it needs the right to.
func (d *deployment) noteDynamoDB(function, target string, body []byte) {
	var in struct {
		TableName, IndexName string
		RequestItems         map[string]json.RawMessage
		TransactItems        []map[string]struct{ TableName string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		d.note(function, "a request", "that is no JSON")
		return
	}
	table := func(name string) string { return "dynamodb table/" + strings.TrimPrefix(name, d.Prefix) }
	_, action, _ := strings.Cut(target, ".")
	switch {
	case in.IndexName != "":
		d.note(function, table(in.TableName)+"/index/"+in.IndexName, action)
	case in.TableName != "":
		d.note(function, table(in.TableName), action)
	}
	for name := range in.RequestItems {
		d.note(function, table(name), action)
	}
	for _, item := range in.TransactItems {
		for operation, of := range item {
			d.note(function, table(of.TableName), map[string]string{
				"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem",
			}[operation])
		}
	}
}

// invoke feeds a sample, with keys that exist, to its function.
func (d *deployment) invoke(t *testing.T, function string, event []byte) ([]byte, error) {
	t.Helper()
	text := strings.NewReplacer(sampleSubKey, d.SubKey.AccessKey, samplePrimary, d.Primary.AccessKey).Replace(string(event))
	return d.host.Invoke(t.Context(), function, []byte(text))
}

// within holds what functions asked of their stores against what they declare to do:
// nothing else, and each of it.
func (d *deployment) within(t *testing.T) {
	t.Helper()
	d.calls.mu.Lock()
	defer d.calls.mu.Unlock()
	for _, name := range catalog.AllFunctions() {
		p, _ := catalog.ProgramOf(name)
		declared := map[[3]string]bool{}
		for table, actions := range p.Tables {
			for _, action := range actions {
				declared[[3]string{name, "dynamodb table/" + table, action}] = true
			}
		}
		for prefix, actions := range p.Objects {
			for _, action := range actions {
				declared[[3]string{name, "s3 views/" + prefix + "*", action}] = true
			}
		}
		asked := map[[3]string]bool{}
		for call := range d.seen {
			if call[0] == name {
				call[1], _, _ = strings.Cut(call[1], "/index/") // a right to query a table is one to query its indexes
				asked[call] = true
			}
		}
		if slices.Contains(p.Tables[catalog.UsageTable], "UpdateItem") {
			// In the first minute of a month, counting reads how the last one ended.
			asked[[3]string{name, "dynamodb table/" + catalog.UsageTable, "BatchGetItem"}] = true
		}
		if p.DataKey {
			for _, rights := range rightsFor {
				for _, action := range rights[1:] {
					declared[[3]string{name, rights[0], action}] = true
				}
			}
		}
		if !maps.Equal(asked, declared) {
			t.Errorf("%s declares and does not ask for %v, asks for and does not declare %v", name, without(declared, asked), without(asked, declared))
		}
	}
}

func without(all, some map[[3]string]bool) (rest [][3]string) {
	for call := range all {
		if !some[call] {
			rest = append(rest, call)
		}
	}
	return rest
}
