package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quotary/localstack/client"
	"quotary/localstack/stack"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// BenchmarkSignedRequest measures a whole signed request from the client's side:
// gateway, authorizer, function and, in "engine", the DynamoDB engine. In
// "without-engine" a stand-in answers the programs' requests to the engine at
// once with what the engine answered before, so that the rest is what remains.
// "net-http" is a plain handler that verifies the same signature: the others
// report their ratio to it.
func BenchmarkSignedRequest(b *testing.B) {
	key := client.Key{AccessKey: strings.Repeat("1", 32), SecretKey: strings.Repeat("2", 32)}
	plain := httptest.NewServer(plainHandler(key))
	defer plain.Close()
	reference := make(map[int]time.Duration)
	for _, concurrency := range []int{1, 32} {
		b.Run(fmt.Sprintf("net-http/c%d", concurrency), func(b *testing.B) {
			reference[concurrency] = measure(b, concurrency, plain.URL, key, planRequest, 0)
		})
	}
	for _, concurrency := range []int{1, 32} {
		b.Run(fmt.Sprintf("engine/c%d", concurrency), func(b *testing.B) {
			measure(b, concurrency, world.State.BaseURL, world.State.Demo.SubKey, planRequest, reference[concurrency])
		})
	}
	echo := httptest.NewServer(&standIn{engine: world.State.DynamoDB, seen: make(map[string][]byte)})
	defer echo.Close()
	quiet := must.Get(stack.Start(b.Context(), stack.Config{
		Data: b.TempDir(), Programs: programs, Tools: filepath.Join(root, "localstack"),
		DynamoDB: echo.URL, Upstream: "none", MaxEach: 32,
		// The stand-in shares the engine of the first stack, not its tables.
	}))(b)
	defer func() {
		if err := quiet.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	echo.Config.Handler.(*standIn).instant.Store(true)
	b.Run("stand-in/c1", func(b *testing.B) { measureStandIn(b, echo.URL) })
	for _, concurrency := range []int{1, 32} {
		b.Run(fmt.Sprintf("without-engine/c%d", concurrency), func(b *testing.B) {
			measure(b, concurrency, quiet.State.BaseURL, quiet.State.Demo.SubKey, planRequest, reference[concurrency])
		})
	}
}

// BenchmarkFamilies measures requests to each family of endpoints from one client and from 32
// at a time, of a stack whose upstreams are simulated beside it, with as many days as the readings
// of coins need. What batches of more accounts than it has cost, in read units and CPU, is
// measured at their handlers.
func BenchmarkFamilies(b *testing.B) {
	live := must.Get(stack.Start(b.Context(), stack.Config{
		Data: b.TempDir(), Programs: programs, Tools: filepath.Join(root, "localstack"), Upstream: "simulated", History: 12, MaxEach: 32,
	}))(b)
	defer func() {
		if err := live.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	traders := live.Venue.Truth().Addresses
	account := hl + "/traders/" + traders[1]
	accounts, many := map[string]any{"addresses": traders[:50]}, map[string]any{"addresses": traders, "period": 30}
	for name, one := range map[string]request{
		"market": tickersRequest, "fills": {path: hl + "/fills/" + traders[1]}, "info": {path: hl + "/info", body: map[string]any{"type": "meta"}},
		"orders/top": {path: hl + "/orders/top-open-orders"}, "orders/stats": {path: hl + "/orders/active-stats"},
		"traders/stat": {path: account + "/addr-stat"}, "traders/trades": {path: account + "/completed-trades"},
		"traders/position": {path: account + "/current-position-history/BTC"}, "traders/states": {path: hl + "/traders/clearinghouse-state", body: accounts},
		"traders/batch": {path: hl + "/traders/batch-addr-stat", body: many},
		"curves/pnls":   {path: hl + "/pnls/" + traders[1] + "?period=30"}, "curves/portfolio": {path: hl + "/portfolio/" + traders[1] + "/month"},
		"curves/drawdown": {path: hl + "/max-drawdown/" + traders[1]}, "curves/batch-pnls": {path: hl + "/batch-pnls", body: many}, "curves/batch-drawdown": {path: hl + "/batch-max-drawdown", body: many},
		"ledgers/net-flow": {path: hl + "/ledger-updates/net-flow/" + traders[1]}, "ledgers/batch-net-flow": {path: hl + "/ledger-updates/batch-net-flow", body: many},
		"liquidations/stat": {path: hl + "/liquidations/stat?interval=60d"}, "liquidations/by-coin": {path: hl + "/liquidations/stat-by-coin?interval=60d"},
		"liquidations/history": {path: hl + "/liquidations/history?interval=1h&limit=100"}, "liquidations/top": {path: hl + "/liquidations/top-positions?coin=BTC&interval=60d&limit=100"},
		"liquidations/heatmap": {path: hl + "/liquidations/estimated-heatmap?interval=1m&limit=100"},
		"liquidations/market":  {path: hl + "/liquidations/market-heatmap"}, "whales/positions": {path: hl + "/whales/open-positions?take=200&topBy=position-value"}, "whales/events": {path: hl + "/whales/latest-events?limit=100"},
		"whales/directions": {path: hl + "/whales/directions"}, "whales/ratio": {path: hl + "/whales/history-long-ratio?limit=200"},
		"twaps/states": {path: hl + "/twap-states/" + traders[1] + "/latest"}, "twaps/wall": {path: hl + "/twaps/execution-wall?topContributors=100"}, "twaps/impact": {path: hl + "/twaps/top-impact?limit=100"},
		"info/portfolio": {path: hl + "/info", body: map[string]any{"type": "portfolio", "user": traders[1]}}, "info/webData2": {path: hl + "/info", body: map[string]any{"type": "webData2", "user": traders[1]}},
		"discover": discovers(map[string]any{}), "discover/count": discovers(map[string]any{"countOnly": true}), "discover/tags": discovers(map[string]any{"tags": []string{"Taker"}, "loadTags": true}),
		"discover/3-filters": discovers(map[string]any{"period": 30, "filters": above("totalPnl", "winRate", "positionCount")}),
		"discover/8-filters": discovers(map[string]any{"period": 0, "pageNum": 20, "filters": above("positionCount", "winRate", "winCount", "lossCount", "longCount", "shortCount", "maxPnl", "avgDurationMin")}),
		"discover/coins":     discovers(map[string]any{"anyCoins": []string{"BTC", "ETH"}}), "discover/pnls": discovers(map[string]any{"loadPnls": true}),
		"discover/history": {path: hl + "/traders/discover-history", body: map[string]any{"period": 10}}, "discover/smart": {path: hl + "/smart/find", body: map[string]any{}},
		"discover/tags-of": {path: hl + "/traders/query-addr-tags", body: map[string]any{"addresses": traders[:50]}},
		"kline":            {path: "/v2/commonKline/dataRecords?symbol=btcusdt:binance&period=60"},
		"kline/perp":       {path: "/v2/commonKline/dataRecords?symbol=btcswapusdc:hyperliquid&period=60"},
		"coin":             {path: "/v2/coin/ticker?coin_list=bitcoin"}, "coin/list": {path: "/v2/coin"}, "coin/search": {path: "/upgrade/v2/coin/search?search=s"},
		"coin/config": {path: "/v2/coin/config?coin_list=bitcoin,ethereum"}, "coin/theme": {path: "/v2/market/hotTabCoins?key=defi"},
		"index": {path: "/v2/index/getIndex"}, "index/price": {path: "/v2/index/indexPrice?key=i:fgi:alternative"}, "index/info": {path: "/v2/index/indexInfo?key=i:fgi:alternative"},
		"content":           {path: "/v2/content/news-list"},
		"content/newsflash": {path: "/v2/content/newsflash"}, "content/flash-list": {path: "/v2/content/flashList?language=tc"},
		"content/listings": {path: "/v2/content/exchange-listing-flash?language=en"}, "content/pages": {path: "/upgrade/v2/content/newsflash/list?pagesize=50"},
		"content/search": {path: "/upgrade/v2/content/newsflash/search?word=bitcoin"}, "content/social": {path: "/upgrade/v2/content/social/latest"},
		"content/airdrops":    {path: "/upgrade/v2/content/airdrop/list"},
		"futures/funding":     {path: "/upgrade/v2/futures/funding-rate/history?symbol=btcswapusdt:binance&interval=15m"},
		"futures/weighted":    {path: "/upgrade/v2/futures/funding-rate/vol-weight-history?symbol=btcswapusdt&interval=15m"},
		"futures/interest":    {path: "/v2/futures/interest?currency=usd"},
		"futures/coin":        {path: "/upgrade/v2/futures/open-interest/aggregated-stablecoin-history?symbol=BTC"},
		"futures/liquidated":  {path: "/upgrade/v2/futures/liquidation/history?symbol=btcswapusdt:binance"},
		"futures/map":         {path: "/upgrade/v2/futures/liquidation/map?dbkey=btcswapusdt:binance"},
		"futures/trades":      {path: "/upgrade/v2/futures/trade-data?dbkey=btcswapusdt:binance"},
		"futures/perp-trades": {path: "/upgrade/v2/futures/trade-data?dbkey=btcswapusdc:hyperliquid"},
		"mix/ls-ratio":        {path: "/v2/mix/ls-ratio"}, "mix/liq": {path: "/v2/mix/liq?currency=usd"},
		"mix/nav": {path: "/v2/mix/nav"}, "mix/stocks": {path: "/v2/mix/stock-market"}, "mix/trusts": {path: "/v2/mix/grayscale-trust"}, "mix/trust-coins": {path: "/v2/mix/gray-scale?coins=btc,eth"},
		"stock/quotes": {path: "/upgrade/v2/crypto_stock/quotes"}, "stock/company": {path: "/upgrade/v2/crypto_stock/company/i:mstr:nasdaq"}, "stock/gainers": {path: "/upgrade/v2/crypto_stock/top-gainer"},
		"treasury/entities": {path: treasuries + "/entities", body: map[string]any{"coin": "BTC"}}, "treasury/history": {path: treasuries + "/history", body: map[string]any{"page_size": 100}},
		"treasury/accumulated": {path: treasuries + "/history/accumulated", body: map[string]any{"coin": "BTC"}}, "treasury/summary": {path: treasuries + "/summary"},
		"content/readings": {path: "/v2/content/ai-coins", body: map[string]any{"coinKeys": []string{"bitcoin"}}}, "content/rss": {path: "/v2/content/square/market/news-list"},
		"signal/changes": {path: "/v2/signal/changeSignal"}, "signal/strategies": {path: "/v2/signal/strategySignal"},
		"tradingpair": {path: "/v2/trading-pair/ticker?key_list=btcusdt:binance,ethusdt:okex,btcswapusdt:bybit,btcswapusdc:hyperliquid"},
		"platforms":   {path: "/v2/market/ticker?market_list=binance,okex,hyperliquid"},
	} {
		for _, concurrency := range []int{1, 32} {
			if (name == "futures/perp-trades" || name == "stock/company") && concurrency > 1 {
				continue // what one distributor may read of a coin's seconds, or of a share's months, ends it
			}
			b.Run(fmt.Sprintf("%s/c%d", name, concurrency), func(b *testing.B) {
				measure(b, concurrency, live.State.BaseURL, live.State.Demo.SubKey, one, 0)
			})
		}
	}
}

// discovers asks for traders by a body.
func discovers(body map[string]any) request {
	return request{path: hl + "/traders/discover", body: body}
}

// above are filters that leave out few: those of whom a figure is known and at least 0.
func above(fields ...string) (filters []map[string]any) {
	for _, name := range fields {
		filters = append(filters, map[string]any{"field": name, "op": ">=", "val": 0})
	}
	return filters
}

var tickersRequest = request{path: hl + "/tickers"}

// planRequest is charged as any, and answered where no source has ever spoken.
var planRequest = request{path: "/v2/api-key-info"}

// request is what a benchmark sends; with a body it is a POST.
type request struct {
	path string
	body any
}

// send sends it, signed.
func (r request) send(c client.Client, key client.Key) (client.Answer, error) {
	method := http.MethodGet
	if r.body != nil {
		method = http.MethodPost
	}
	path, query, _ := strings.Cut(r.path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return client.Answer{}, err
	}
	return c.Do(context.Background(), key, method, path, values, r.body)
}

// measure sends b.N requests from so many clients and reports the quantiles of
// their latency in milliseconds, and how many times the reference its median is.
func measure(b *testing.B, concurrency int, base string, key client.Key, one request, reference time.Duration) (median time.Duration) {
	caller := client.Client{BaseURL: base, HTTP: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: concurrency},
	}}
	get := func() time.Duration {
		started := time.Now()
		answer, err := one.send(caller, key)
		if err != nil || answer.Status != http.StatusOK {
			b.Errorf("%d %.200s %v", answer.Status, answer.Body, err)
		}
		return time.Since(started)
	}
	testenv.Until(b, "what "+one.path+" shows is known", func() bool {
		answer, err := one.send(caller, key)
		return err == nil && answer.Status != http.StatusServiceUnavailable
	})
	var warm sync.WaitGroup
	for range concurrency {
		warm.Go(func() {
			for range 5 {
				get()
			}
		})
	}
	warm.Wait()
	var mu sync.Mutex
	var all []time.Duration
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			var own []time.Duration
			for left.Add(-1) >= 0 {
				own = append(own, get())
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	median = all[len(all)/2]
	b.ReportMetric(float64(median.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	if reference > 0 {
		b.ReportMetric(float64(median)/float64(reference), "x-net-http")
	}
	return median
}

// measureStandIn reports the median of one bare request to the stand-in, of
// which a whole request makes three one after the other: what "without-engine"
// still has of the engine's part.
func measureStandIn(b *testing.B, url string) {
	var all []time.Duration
	for b.Loop() {
		started := time.Now()
		req := must.Get(http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(`{}`)))(b)
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810.UpdateItem")
		res := must.Get(http.DefaultClient.Do(req))(b)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		all = append(all, time.Since(started))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
}

// standIn passes requests to the engine and remembers the answers to reads. Once
// instant, it answers reads from memory and writes with a success.
type standIn struct {
	engine  string
	instant atomic.Bool
	mu      sync.Mutex
	seen    map[string][]byte
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	operation := r.Header.Get("X-Amz-Target")
	key := operation + string(body)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	s.mu.Lock()
	answer, ok := s.seen[key]
	s.mu.Unlock()
	if s.instant.Load() {
		if ok {
			_, _ = w.Write(answer)
			return
		}
		if strings.HasSuffix(operation, ".UpdateItem") || strings.HasSuffix(operation, ".PutItem") {
			_, _ = io.WriteString(w, `{"Attributes":{"n":{"N":"1"},"used":{"N":"1"}}}`)
			return
		}
	}
	onward, err := http.NewRequestWithContext(r.Context(), r.Method, s.engine, bytes.NewReader(body))
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	onward.Header = r.Header.Clone()
	res, err := http.DefaultClient.Do(onward)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	answer, _ = io.ReadAll(res.Body)
	if res.StatusCode == http.StatusOK && (strings.HasSuffix(operation, ".BatchGetItem") || strings.HasSuffix(operation, ".GetItem")) {
		s.mu.Lock()
		s.seen[key] = answer
		s.mu.Unlock()
	}
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(answer)
}

// plainHandler verifies a signature and answers JSON, and nothing else.
func plainHandler(key client.Key) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		mac := hmac.New(sha1.New, []byte(key.SecretKey))
		fmt.Fprintf(mac, "AccessKeyId=%s&SignatureNonce=%s&Timestamp=%s", q.Get("AccessKeyId"), q.Get("SignatureNonce"), q.Get("Timestamp"))
		want := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%x", mac.Sum(nil)))
		if !hmac.Equal([]byte(want), []byte(q.Get("Signature"))) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"code":"0","msg":"success","data":[]}`)
	})
}
