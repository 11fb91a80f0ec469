package events_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/api/apitest"
	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/fills"
	"quotary/shared/data/mids"
	"quotary/shared/data/openorders"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// cost is what a request costs of DynamoDB in all functions that it passes, those warm.
type cost struct {
	Request string  `json:"request"`
	Reads   float64 `json:"reads"`  // units
	Writes  float64 `json:"writes"` // units
	KB      int     `json:"kb"`     // of the answer's body, compressed, begun ones included; 0 where it has none
}

// What the guide's sums are made of.
const (
	unknownAccounts = "The states of 50 accounts that nobody has asked for"
	unknownAgain    = "The same again before they are known"
	longLog         = "1,000 rows of a log"

	cheapest     = "A view: the last prices of 230 coins"
	connects     = "A socket connects"
	heartbeat    = "it sends a heartbeat"
	keyLook      = "A look at a socket's key"
	secondOfRows = "Rows of K-lines and largest fills, a second of 100 trades"
	fillRow      = "A row of a fill, with its copies in indexes"

	uncapped, capped = ", without caps", ", under caps of its key and its distributor" // behind what a socket does
)

// costsFile holds what TestCostsOfRequests has counted; the guide's tables are made of it.
const costsFile = "testdata/costs.json"

// TestCostsOfRequests counts, by DynamoDB's rules and through the real programs, what
// each kind of request reads and writes. What has changed is to be accepted by
// make costs, which writes the guide's tables too.
func TestCostsOfRequests(t *testing.T) {
	t.Parallel()
	if os.Getenv("QUOTARY_DYNAMODB_ENDPOINT") != "" {
		t.Skip("the sizes that another engine counts in are its own")
	}
	c := &costs{deployment: deploy(t), t: t}
	if !*apitest.Update {
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(costsFile))(t), &c.want))
	}
	c.fill()
	c.data()
	c.refused()
	c.management()
	c.sockets()
	c.settled(c.looks)
	c.rows()
	text := must.Get(json.MarshalIndent(c.counted, "", "  "))(t)
	text = append(text, '\n')
	if *apitest.Update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(costsFile, text, 0o644))
		writeGuide(t, true)
		return
	}
	if slices.Equal(c.counted, c.want) {
		return
	}
	for i := range max(len(c.counted), len(c.want)) {
		var got, want cost
		if i < len(c.counted) {
			got = c.counted[i]
		}
		if i < len(c.want) {
			want = c.want[i]
		}
		if got != want {
			t.Errorf("%+v is counted, and %s says %+v (run make generate to accept)", got, costsFile, want)
		}
	}
}

// onBusyMachine takes from what was counted what a busy machine adds to it.
func (c *costs) onBusyMachine(got *cost) {
	i := slices.IndexFunc(c.want, func(want cost) bool { return want.Request == got.Request })
	if i < 0 {
		return
	}
	want := c.want[i]
	switch got.Request {
	case unknownAccounts: // which look less often until they are over
		got.Reads, got.Writes = max(got.Reads, want.Reads), max(got.Writes, want.Writes)
	case unknownAgain: // which notes what the first could not in time
		if got.Writes >= float64(len(traders())) {
			got.Reads, got.Writes = want.Reads, want.Writes
		}
	case longLog: // which counts in two seconds where it begins at the end of one
		if got.Writes == want.Writes+1 {
			got.Writes--
		}
	case connects + uncapped, connects + capped: // which look once more at what was last seen long ago
		if got.Reads == want.Reads+.5 {
			got.Reads -= .5
		}
	}
}

// settled counts what a measurement does, which it makes again where that is another number than
// it was: a busy machine may try something twice, or reach another second between two steps.
func (c *costs) settled(measure func()) {
	const tries = 5
	for range tries {
		c.noted = nil
		measure()
		if !slices.ContainsFunc(c.noted, func(one string) bool {
			of := func(all []cost) int { return slices.IndexFunc(all, func(c cost) bool { return c.Request == one }) }
			was := of(c.want)
			return was >= 0 && c.counted[of(c.counted)] != c.want[was]
		}) {
			return
		}
	}
}

// costs counts.
type costs struct {
	*deployment
	t       *testing.T
	want    []cost // that were counted before; none where they are written anew
	counted []cost
	noted   []string // requests, since a measurement began
	opened  int      // sockets
	unknown int      // lists of accounts that nobody had asked for
}

// note notes what was counted since the last request, in the place of what was noted of
// the same request before: the first is new to the programs.
func (c *costs) note(request string, answer []byte) {
	one := c.taken(request, answer)
	c.onBusyMachine(&one)
	c.noted = append(c.noted, request)
	if i := slices.IndexFunc(c.counted, func(o cost) bool { return o.Request == request }); i >= 0 {
		c.counted[i] = one
		return
	}
	c.counted = append(c.counted, one)
}

// taken is what was counted since the last request.
func (c *costs) taken(request string, answer []byte) cost {
	taken := c.rules.Take()
	one := cost{Request: request, Reads: taken.Reads, Writes: math.Round(100*taken.Writes) / 100} // sums of fractions leave something behind
	if len(answer) > 0 {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := w.Write(answer)
		if err = errors.Join(err, w.Close()); err != nil {
			c.t.Fatal(err)
		}
		one.KB = (packed.Len() + 1023) / 1024
	}
	return one
}

// sign signs at the real time, which is that of the programs.
func (c *costs) sign(key apitest.Key) signature.Params {
	c.Move(time.Since(c.Now()))
	return c.Sign(key)
}

// authorize asks the authorizer, and returns the status that the gateway makes of its
// answer: 200 where the request goes on to its function.
func (c *costs) authorize(p signature.Params, event events.APIGatewayCustomAuthorizerRequestTypeRequest) (context map[string]any, status int) {
	c.t.Helper()
	event.Type, event.MethodArn = "REQUEST", "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/api/GET/"
	event.QueryStringParameters = map[string]string{
		signature.AccessKeyID: p.AccessKeyID, signature.Nonce: p.Nonce, signature.Timestamp: p.Timestamp, signature.Signature: p.Signature,
	}
	text := must.Get(json.Marshal(event))(c.t)
	answer, err := c.host.Invoke(c.t.Context(), catalog.FunctionAuthorizer, text)
	var failed *lambdahost.FunctionError
	if errors.As(err, &failed) && failed.Message == "Unauthorized" {
		return nil, http.StatusUnauthorized
	}
	var out events.APIGatewayCustomAuthorizerResponse
	if err != nil || json.Unmarshal(answer, &out) != nil || len(out.PolicyDocument.Statement) != 1 {
		c.t.Fatalf("authorizer: %s, %v", answer, err)
	}
	if out.PolicyDocument.Statement[0].Effect != "Allow" {
		return nil, http.StatusForbidden
	}
	return out.Context, http.StatusOK
}

// send sends a request through the authorizer and, where that allows it, the function,
// and returns the status of its answer and the body.
func (c *costs) send(p signature.Params, method, target string, body any) (status int, answer []byte) {
	c.t.Helper()
	event := apitest.Event(c.t, method, target, body)
	context, status := c.authorize(p, events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Resource: event.Resource, Path: event.Path, HTTPMethod: method, PathParameters: event.PathParameters,
	})
	if status != http.StatusOK {
		return status, nil
	}
	event.RequestContext.Authorizer = context
	text, err := json.Marshal(event)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err = c.host.Invoke(c.t.Context(), endpointOf(method, event.Resource).Function(), text)
	var res events.APIGatewayProxyResponse
	if err != nil || json.Unmarshal(answer, &res) != nil {
		c.t.Fatalf("%s %s: %s, %v", method, target, answer, err)
	}
	return res.StatusCode, []byte(res.Body)
}

// call counts a request, which is made twice, and fails the test where its status is
// another.
func (c *costs) call(request string, key apitest.Key, status int, method, target string, body any) {
	c.t.Helper()
	c.callBy(request, []apitest.Key{key, key}, status, method, target, body)
}

// callBy makes a request with each of the keys, of which the last one's is noted.
func (c *costs) callBy(request string, by []apitest.Key, status int, method, target string, body any) {
	c.t.Helper()
	c.settled(func() {
		for _, key := range by {
			p := c.sign(key)
			c.rules.Take()
			got, answer := c.send(p, method, target, body)
			if got != status {
				c.t.Fatalf("%s: status %d, want %d: %s", request, got, status, answer)
			}
			c.note(request, answer)
		}
	})
}

const (
	trader    = "0xa11ce00000000000000000000000000000000001"
	costsFrom = int64(1_790_000_000_000) // ms, of rows
)

// fill stores what is asked for.
func (c *costs) fill() {
	var list []market.Fill
	for n := range int64(1000) {
		list = append(list, market.Fill{
			Address: trader, Coin: "BTC", Px: fmt.Sprint(64_000 + n%7), Sz: fmt.Sprintf("0.%05d", n+1), Side: market.Buy, Time: costsFrom + 1000*n,
			StartPosition: fmt.Sprintf("%d.5", n), Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x" + strings.Repeat("ab", 32), Oid: 9_000_000 + n,
			Crossed: true, Fee: "1.234567", Tid: 100_000_000 + n, FeeToken: "USDC",
		})
	}
	storetest.PutLog(c.t, c.Log(), fills.Name, fills.AppendRows, list...)
	var trades []market.Trade
	for n := range int64(1000) {
		trades = append(trades, market.Trade{Coin: "ETH", Side: market.Buy, Time: costsFrom + 60_000*n, Tid: n, Px: market.DecimalFromInt(4000 + n%9), Sz: market.DecimalFromInt(n + 1)})
	}
	datatest.PutKlines(c.t, c.Series(), "ETH", trades...)
	last := tickers.View{Time: costsFrom}
	for n := range int64(230) {
		last.Tickers = append(last.Tickers, tickers.Ticker{Coin: fmt.Sprintf("COIN%d", n), Price: fmt.Sprintf("%d.25", 7*n+1), Time: costsFrom})
	}
	storetest.Publish(c.t, c.views, tickers.Published, last)
	storetest.Publish(c.t, c.views, mids.Published, mids.View{Time: time.Now().UnixMilli(), Mids: map[string]map[string]string{"": {"BTC": "64000.5"}}})
	var rows []store.SeriesRow
	for _, address := range traders() {
		var a market.Account
		a.Anchor(&market.Anchor{Address: address, Dexes: []market.AccountState{{Time: time.Now().UnixMilli()}}}, nil, nil)
		a.Dexes[0].Cash = market.DecimalFromInt(1000)
		rows = append(rows, accounts.Row(&a))
	}
	storetest.PutSeries(c.t, c.Series(), rows...)
}

// traders are as many as one request may ask for.
func traders() (all []string) {
	for n := range 50 {
		all = append(all, fmt.Sprintf("0x%040x", n+1))
	}
	return all
}

// unknownOf are as many accounts that nobody has asked for before, others for each n.
func unknownOf(n int) (all []string) {
	for i := range 50 {
		all = append(all, fmt.Sprintf("0x%040x", 1_000_000*(n+1)+i))
	}
	return all
}

// data counts requests of clients.
func (c *costs) data() {
	// What one distributor reads of the same within a second is counted, so another one comes first.
	other := c.Register(c.t, keys.Preset{Name: "Other", Level: "all", MaxSubKeys: 1})
	must.Do(c.t, c.Keys.PutLevel(c.t.Context(), other.AccessKey, "all", keys.Allow(catalog.Actions()...)))
	quota := int64(1000)
	warm := c.Issue(c.t, other, keys.NewSubKey{Name: "warm", MonthlyQuota: &quota})
	get := func(request, target string) {
		c.t.Helper()
		c.callBy(request, []apitest.Key{warm, warm, c.SubKey}, http.StatusOK, http.MethodGet, target, nil)
	}
	c.call(cheapest, c.SubKey, http.StatusOK, http.MethodGet, catalog.Tickers.Path, nil)
	get("20 rows of a log", "/upgrade/v2/hl/fills/"+trader+"?limit=20")
	get(longLog, "/upgrade/v2/hl/fills/"+trader+"?limit=1000")
	span := fmt.Sprintf("?startTime=%d&endTime=%d&limit=", costsFrom, costsFrom+60_000_000)
	get("100 K-lines", "/upgrade/v2/hl/klines-with-taker-vol/ETH/1m"+span+"100")
	get("1,000 K-lines", "/upgrade/v2/hl/klines-with-taker-vol/ETH/1m"+span+"1000")
	c.call("The states of 50 accounts", c.SubKey, http.StatusOK, http.MethodPost, catalog.ClearinghouseStates.Path, map[string]any{"addresses": traders()})

	c.settled(func() {
		for range 2 { // the first is new to the function
			c.unknown++
			p := c.sign(c.SubKey)
			c.rules.Take()
			status, answer := c.send(p, http.MethodPost, catalog.ClearinghouseStates.Path, map[string]any{"addresses": unknownOf(c.unknown)})
			if status != http.StatusOK {
				c.t.Fatalf("unknown accounts: %d %s", status, answer)
			}
			c.note(unknownAccounts, answer)
		}
	})
	c.call(unknownAgain, c.SubKey, http.StatusOK, http.MethodPost, catalog.ClearinghouseStates.Path, map[string]any{"addresses": unknownOf(c.unknown)})

	id := 0
	c.settled(func() {
		for range 3 { // the first makes the count of what is asked, and is new to the function
			id++
			p := c.sign(c.SubKey)
			c.rules.Take()
			status, answer := c.send(p, http.MethodPost, catalog.Info.Path, map[string]any{"type": "marginTable", "id": id})
			if status != http.StatusOK {
				c.t.Fatalf("a question to the exchange: %d %s", status, answer)
			}
			c.note("A question that the exchange itself is asked", answer)
		}
	})

	event := apitest.Event(c.t, http.MethodPost, "/upgrade/v2/hl/info", nil)
	c.settled(func() {
		for range 2 { // the first is new to the function
			p := c.sign(c.SubKey)
			c.rules.Take()
			status, answer := c.send(signature.Params{}, event.HTTPMethod, event.Path, map[string]string{
				"type": "allMids", signature.AccessKeyID: p.AccessKeyID, signature.Nonce: p.Nonce, signature.Timestamp: p.Timestamp, signature.Signature: p.Signature,
			})
			if status != http.StatusOK {
				c.t.Fatalf("a POST signed in its body: %d %s", status, answer)
			}
		}
		c.note("A POST with its signature in the body, of a view", nil)
	})
	c.settled(func() {
		p := c.sign(c.SubKey)
		c.send(p, http.MethodGet, catalog.Tickers.Path, nil)
		c.rules.Take()
		status, answer := c.send(p, http.MethodGet, catalog.Tickers.Path, nil)
		if status != http.StatusOK {
			c.t.Fatalf("the same GET once more: %d %s", status, answer)
		}
		c.note("The same GET once more, of a view", answer)
	})
}

// refused counts requests that are refused.
func (c *costs) refused() {
	quota, little := int64(1_000_000), int64(1)
	get := func(request string, key apitest.Key, status int, target string) {
		c.t.Helper()
		c.call(request, key, status, http.MethodGet, target, nil)
	}
	get("401: an unknown key", apitest.Key{AccessKey: strings.Repeat("0", 32), Secret: c.SubKey.Secret}, http.StatusUnauthorized, catalog.Tickers.Path)
	get("401: a wrong signature", apitest.Key{AccessKey: c.SubKey.AccessKey, Secret: "wrong"}, http.StatusUnauthorized, catalog.Tickers.Path)
	get("403: a primary key asks for data", c.Primary, http.StatusForbidden, catalog.Tickers.Path)
	get("400: a wrong parameter", c.SubKey, http.StatusBadRequest, "/upgrade/v2/hl/fills/"+trader+"?limit=x")
	over := c.Issue(c.t, c.Primary, keys.NewSubKey{Name: "over", MonthlyQuota: &little})
	if status, answer := c.send(c.sign(over), http.MethodGet, catalog.Tickers.Path, nil); status != http.StatusOK {
		c.t.Fatalf("the only request of a month: %d %s", status, answer)
	}
	get("429: over a month's quota", over, http.StatusTooManyRequests, catalog.Tickers.Path)
	small := c.Register(c.t, keys.Preset{Name: "Small", Level: "all", MaxSubKeys: 1, MaxTotalQuota: 1})
	must.Do(c.t, c.Keys.PutLevel(c.t.Context(), small.AccessKey, "all", keys.Allow(catalog.Actions()...)))
	shared := c.Issue(c.t, small, keys.NewSubKey{Name: "shared", MonthlyQuota: &quota})
	if status, answer := c.send(c.sign(shared), http.MethodGet, catalog.Tickers.Path, nil); status != http.StatusOK {
		c.t.Fatalf("the only request of a distributor's month: %d %s", status, answer)
	}
	get("429: over the month's quota of a distributor", shared, http.StatusTooManyRequests, catalog.Tickers.Path)

	// The six seconds that a rate is counted in may pass in between, and then it costs more.
	for range 10 {
		fast := c.Issue(c.t, c.Primary, keys.NewSubKey{Name: "fast", MonthlyQuota: &quota, RateLimit: 1})
		c.send(c.sign(fast), http.MethodGet, catalog.Tickers.Path, nil)
		get("429: over a rate, in the same 6 s", fast, http.StatusTooManyRequests, catalog.Tickers.Path)
		if c.counted[len(c.counted)-1].Writes <= 1 {
			return
		}
	}
}

// management counts requests of distributors with 100 sub-keys.
func (c *costs) management() {
	many := c.Register(c.t, keys.Preset{Name: "Many", Level: "all", MaxSubKeys: 200, MaxTotalQuota: 1_000_000})
	quota := int64(10)
	var one apitest.Key
	var all []string
	for n := range 100 {
		one = c.Issue(c.t, many, keys.NewSubKey{Name: fmt.Sprint("client ", n), MonthlyQuota: &quota})
		all = append(all, one.AccessKey)
	}
	const root = "/upgrade/v2/distributor/sub-keys"
	c.call("Management: a page of 20 sub-keys, of 100", many, http.StatusOK, http.MethodGet, root, nil)
	c.call("Management: statistics", many, http.StatusOK, http.MethodGet, root+"/stats", nil)
	c.call("Management: a new sub-key", many, http.StatusOK, http.MethodPost, root, map[string]any{"name": "new", "monthly_quota": 10})
	c.call("Management: a change of a sub-key", many, http.StatusOK, http.MethodPut, root+"/"+one.AccessKey, map[string]any{"name": "changed"})
	batch := func(request, to string) {
		c.t.Helper()
		p := c.sign(many)
		c.rules.Take()
		status, answer := c.send(p, http.MethodPost, root+"/batch-"+to, map[string]any{"access_keys": all})
		if status != http.StatusOK {
			c.t.Fatalf("%s: status %d: %s", request, status, answer)
		}
		c.note(request, answer)
	}
	c.settled(func() {
		batch("Management: a change of the status of 100 sub-keys", "disable")
		batch("Management: a change of the status of 100 sub-keys", "enable")
	})
	c.call("404: management deletes a level that there is not", many, http.StatusNotFound, http.MethodDelete, "/upgrade/v2/distributor/levels/none", nil)
}

// sockets counts what a socket costs.
func (c *costs) sockets() {
	quota := int64(10)
	caps := c.Register(c.t, keys.Preset{Name: "Caps", Level: "all", MaxSubKeys: 1, WSConnLimit: 100, WSSubLimit: 1000})
	must.Do(c.t, c.Keys.PutLevel(c.t.Context(), caps.AccessKey, "all", keys.Allow(catalog.Actions()...)))
	limited := c.Issue(c.t, caps, keys.NewSubKey{Name: "limited", MonthlyQuota: &quota, WSConnLimit: 10, WSSubLimit: 100})
	for _, kind := range []struct {
		with string
		key  apitest.Key
	}{{uncapped, c.SubKey}, {capped, limited}} {
		c.settled(func() {
			for range 2 { // the first is new to the programs
				c.socketOf(kind.with, kind.key)
			}
		})
	}
	c.settled(c.overCaps)
	c.settled(c.addresses)
}

// overCaps counts what caps refuse of a socket, the second time.
func (c *costs) overCaps() {
	quota := int64(10)
	key := c.Issue(c.t, c.Primary, keys.NewSubKey{Name: "one socket", MonthlyQuota: &quota, WSConnLimit: 1, WSSubLimit: 1})
	const follow = `{"method":"subscribe","subscription":{"type":"trades","coin":"%s"}}`
	send := c.socket(key, channel.FeedChannels)
	send("", "$connect", "")
	for _, coin := range []string{"BTC", "ETH", "SOL"} {
		request := "A socket subscribes over its key's cap of 1"
		if coin == "BTC" {
			request = ""
		}
		send(request, "$default", fmt.Sprintf(follow, coin))
	}
	for range 2 {
		c.socket(key, channel.FeedChannels)("429: a socket connects over its key's cap of 1", "$connect", "")
	}
}

// addresses counts the messages of a socket that follows as many addresses as it may, with
// about as many in a message as fit into it, and leaves as many that it does not follow.
func (c *costs) addresses() {
	const each = connections.MostAddresses / 12
	send := c.socket(c.SubKey, channel.FeedFills)
	message := func(request, kind string, from, to int) {
		list := make([]string, 0, to-from)
		for i := range to - from {
			list = append(list, numbered(from+i))
		}
		send(request, "$default", text(map[string]any{"type": kind, "address": list}))
	}
	send("", "$connect", "")
	for i := range 11 {
		message(fmt.Sprintf("A socket follows %d addresses more, of %d", each, connections.MostAddresses), "subscribe", i*each, (i+1)*each)
	}
	message("it follows one more", "subscribe", 11*each, 11*each+1)
	message("it asks for one again", "subscribe", 0, 1)
	for range 4 {
		message(fmt.Sprintf("it leaves %d that it does not follow", each), "unsubscribe", 12*each, 13*each)
	}
	message("it asks for one again, behind four such messages", "subscribe", 0, 1)
	message("it leaves one", "unsubscribe", 0, 1)
	send("it disconnects from them all", "$disconnect", "")
}

// looks counts a look at the keys of sockets, each with a key of its own.
func (c *costs) looks() {
	quota := int64(1)
	of := c.Register(c.t, keys.Preset{Name: "Looks", Level: "all", MaxSubKeys: 100, MaxTotalQuota: 100})
	accessKeys := make([]string, 100)
	for n := range accessKeys {
		accessKeys[n] = c.Issue(c.t, of, keys.NewSubKey{Name: fmt.Sprint("client ", n), MonthlyQuota: &quota}).AccessKey
	}
	statuses := keys.New(c.rules.DynamoDB(c.DB), c.Prefix+schema.KeysTable, nil, c.Now)
	must.Get(statuses.Statuses(c.t.Context(), of.AccessKey, accessKeys))(c.t)
	c.noteShare(keyLook, float64(len(accessKeys)))
}

// silent has the last message of a connection be one of long ago.
func (c *costs) silent(connection string, ms int64) {
	must.Get(c.DB.UpdateItem(c.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(c.Prefix + schema.ConnectionsTable), Key: attr.Item{"pk": attr.S("c#" + connection), "sk": attr.S("c")},
		UpdateExpression: aws.String("SET seen = :ms"), ExpressionAttributeValues: attr.Item{":ms": attr.N(ms)},
	}))(c.t)
}

// socket lets a socket of a feed in, and returns what sends an event of it; a request with
// a name is noted. That is answered 200, or 429 where its name says so.
func (c *costs) socket(key apitest.Key, feed channel.Feed) (send func(request, route, body string)) {
	var event events.APIGatewayWebsocketProxyRequest
	strict(c.t, catalog.FunctionSocket, &event)
	c.opened++
	event.RequestContext.ConnectionID = fmt.Sprint("connection ", c.opened) // its shard, and what is found there, follow from it
	event.StageVariables = maps.Clone(event.StageVariables)
	event.StageVariables[catalog.VariableFeed] = string(feed)
	c.rules.Take()
	context, status := c.authorize(c.sign(key), events.APIGatewayCustomAuthorizerRequestTypeRequest{StageVariables: event.StageVariables})
	if status != http.StatusOK {
		c.t.Fatalf("a socket is not let in: %d", status)
	}
	event.RequestContext.Authorizer = context
	return func(request, route, body string) {
		now := time.Now().UnixMilli()
		if strings.HasPrefix(request, heartbeat) { // the last message was recorded so long ago that this one is, too
			c.silent(event.RequestContext.ConnectionID, now-30_000)
		}
		event.RequestContext.RequestID = rand.Text()
		event.RequestContext.RouteKey, event.RequestContext.RequestTimeEpoch, event.Body = route, now, body
		event.RequestContext.EventType = map[string]string{"$connect": "CONNECT", "$disconnect": "DISCONNECT", "$default": "MESSAGE"}[route]
		answer, err := c.host.Invoke(c.t.Context(), catalog.FunctionSocket, must.Get(json.Marshal(event))(c.t))
		status := http.StatusOK
		if strings.HasPrefix(request, "429") {
			status = http.StatusTooManyRequests
		}
		if err != nil || !strings.Contains(string(answer), fmt.Sprintf(`"statusCode":%d`, status)) {
			c.t.Fatalf("%s: %s, %v", request, answer, err)
		}
		if request == "" {
			c.rules.Take()
			return
		}
		c.note(request, nil)
	}
}

func (c *costs) socketOf(with string, key apitest.Key) {
	send := c.socket(key, channel.FeedChannels)
	const follow = `{"method":"%ssubscribe","subscription":{"type":"trades","coin":"BTC"}}`
	for _, step := range []struct{ request, route, body string }{
		{connects, "$connect", ""},
		{heartbeat, "$default", `{"method":"ping"}`},
		{"it subscribes", "$default", fmt.Sprintf(follow, "")},
		{"it unsubscribes", "$default", fmt.Sprintf(follow, "un")},
		{"it disconnects", "$disconnect", ""},
	} {
		send(step.request+with, step.route, step.body)
	}
}

// openOrders has as many of the trader's orders rest as the venue lets most accounts have, in
// markets that have figures.
func (c *costs) openOrders() {
	c.t.Helper()
	now := time.Now().UnixMilli()
	of := market.AccountOrders{Address: trader, Listed: map[string]int64{"": now}}
	for n := range int64(1000) {
		of.Orders = append(of.Orders, market.OrderStatus{Coin: "BTC", Side: "B", LimitPx: "64000.0", Sz: "0.5", OrigSz: "0.5", Oid: n, Timestamp: now - n, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"})
	}
	part := openorders.Accounts{Newest: now}
	part.Set(&of)
	storetest.Publish(c.t, c.views, openorders.PublishedAccounts(openorders.Part(trader)), part)
	none := json.RawMessage(`[{"universe":[]},[]]`)
	storetest.Publish(c.t, c.views, contexts.Published, contexts.View{Time: now, Perps: map[string]json.RawMessage{"": none}, Spot: none})
}
