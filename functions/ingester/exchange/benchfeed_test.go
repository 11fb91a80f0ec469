package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// feedFactor is the environment variable that makes the test binary a process that pushes
// what three exchanges push, so many times as fast.
const feedFactor = "QUOTARY_TEST_FEED_FACTOR"

// TestFeedProcess is no test: it is what [BenchmarkExchanges] runs in a process of its own.
// It says where it listens, and ends with its input.
func TestFeedProcess(t *testing.T) {
	factor, err := strconv.ParseFloat(os.Getenv(feedFactor), 64)
	if err != nil {
		t.Skip("it runs with the benchmark of the exchanges")
	}
	server := httptest.NewServer(feed{factor, openDepth(t)})
	defer server.Close()
	fmt.Println("listening", server.URL)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// Frames a second of bitcoin. Those of Binance were recorded in August 2024, trades of one
// taker at one price as one; of the coin that is n-th by volume there are 1/n as many. The
// others are taken to be as busy.
const (
	swapTrades, spotTrades, inverseTrades = 30.4, 16.8, 3.8

	markPrices  = 1 / 3. // Binance's of every perpetual
	bybitQuotes = 10.    // Bybit's tickers: one each 100 ms
	okxRates    = 1 / 60.
	forced      = 1 / 60. // orders that close positions, of each perpetual
)

// feed pushes frames of what a connection subscribes to.
type feed struct {
	factor float64
	depth  *depthSession
}

// topic is something that is pushed.
type topic struct {
	rate  float64 // a second
	frame func(n, ms int64) string
}

// ServeHTTP implements [http.Handler].
func (f feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		fmt.Fprint(w, f.depth.snapshot(1000))
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	c := &feeding{conn: conn, path: r.URL.Path}
	go c.push(r.Context(), f.factor)
	for {
		_, line, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var m struct {
			Params []string          `json:"params"`
			Args   []json.RawMessage `json:"args"`
			ID     int64             `json:"id"`
			ReqID  string            `json:"req_id"`
		}
		if string(line) == "ping" || json.Unmarshal(line, &m) != nil {
			continue
		}
		c.mu.Lock()
		switch {
		case m.Params != nil:
			c.write(r.Context(), fmt.Sprintf(`{"result":null,"id":%d}`, m.ID))
			for _, name := range m.Params {
				c.topics = append(c.topics, f.binanceTopic(name, c.path))
			}
		case strings.HasPrefix(c.path, "/v5/public/"):
			c.write(r.Context(), fmt.Sprintf(`{"success":true,"ret_msg":"","conn_id":"a","req_id":%q,"op":"subscribe"}`, m.ReqID))
			for _, arg := range m.Args {
				var name string
				if json.Unmarshal(arg, &name) == nil {
					c.topics = append(c.topics, f.bybitTopic(name, strings.HasSuffix(c.path, "spot")))
				}
			}
		default:
			for _, arg := range m.Args {
				c.write(r.Context(), fmt.Sprintf(`{"event":"subscribe","arg":%s,"connId":"a"}`, arg))
				var a struct{ Channel, InstID string }
				if json.Unmarshal(arg, &a) == nil {
					c.topics = append(c.topics, f.okxTopic(a.Channel, a.InstID))
				}
			}
		}
		c.mu.Unlock()
	}
}

// feeding is a connection.
type feeding struct {
	conn *websocket.Conn
	path string

	mu     sync.Mutex
	topics []topic
}

func (c *feeding) write(ctx context.Context, line string) {
	_ = c.conn.Write(ctx, websocket.MessageText, []byte(line)) // one that went away is not pushed to
}

// push pushes each topic at its rate. The first frame of each is of the minute before, so
// that trades make the open one.
func (c *feeding) push(ctx context.Context, factor float64) {
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	var owed []float64
	var sent []int64
	before := time.Now().Truncate(time.Minute).UnixMilli() - 1
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		passed := now.Sub(last).Seconds()
		last = now
		c.mu.Lock()
		topics := c.topics
		c.mu.Unlock()
		for i := range topics {
			if i == len(owed) {
				owed, sent = append(owed, 1), append(sent, 0)
			}
			owed[i] += topics[i].rate * factor * passed
			for ; owed[i] >= 1; owed[i]-- {
				ms := now.UnixMilli()
				if sent[i]++; sent[i] == 1 {
					ms = before
				}
				c.write(ctx, topics[i].frame(sent[i], ms))
			}
		}
	}
}

// share is what part of bitcoin's trades those of a symbol are.
func share(symbol string) float64 {
	symbol = strings.ToUpper(symbol)
	for i, coin := range names(mostTraded) {
		if strings.HasPrefix(symbol, coin+"USD") || strings.HasPrefix(symbol, coin+"-") {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// side is that of every n-th trade.
func side(n int64, buy, sell string) string {
	if n%2 == 0 {
		return buy
	}
	return sell
}

func (f feed) binanceTopic(name, path string) topic {
	symbol, kind, _ := strings.Cut(name, "@")
	upper := strings.ToUpper(symbol)
	switch kind {
	case "depth", "depth@500ms":
		every := 10
		if kind != "depth" {
			every = 5
		}
		return f.depth.binance(name, upper, every, kind != "depth")
	case "markPrice":
		return topic{markPrices, func(n, ms int64) string {
			return fmt.Sprintf(`{"stream":%q,"data":{"e":"markPriceUpdate","E":%d,"s":%q,"p":"61234.50","ap":"61234.5","i":"61200.1","P":"61210.0","r":"0.0001%04d","T":%d}}`, name, ms, upper, n%10000, ms+3_600_000)
		}}
	case "forceOrder":
		return topic{forced, func(n, ms int64) string {
			return fmt.Sprintf(`{"stream":%q,"data":{"e":"forceOrder","E":%d,"o":{"s":%q,"S":%q,"o":"LIMIT","f":"IOC","q":"0.014","p":"61000","ap":"61005.5","X":"FILLED","l":"0.014","z":"0.014","T":%d}}}`, name, ms, upper, side(n, "BUY", "SELL"), ms)
		}}
	}
	rate := map[string]float64{"/stream": spotTrades, "/market/stream": swapTrades, "/dapi/stream": inverseTrades}[path]
	return topic{rate * share(symbol), func(n, ms int64) string {
		return fmt.Sprintf(`{"stream":%q,"data":{"e":"aggTrade","E":%d,"s":%q,"a":%d,"p":"612%02d.50","q":"%d.015","nq":"0.015","f":%d,"l":%d,"T":%d,"m":%s}}`, name, ms, upper, n, n%100, n%7, 2*n, 2*n+1, ms, side(n, "true", "false"))
	}}
}

func (f feed) okxTopic(channel, symbol string) topic {
	switch channel {
	case "books":
		return f.depth.okx(symbol)
	case "funding-rate":
		return topic{okxRates, func(n, ms int64) string {
			return fmt.Sprintf(`{"arg":{"channel":"funding-rate","instId":%q},"data":[{"formulaType":"withRate","fundingRate":"0.0001%04d","fundingTime":"%d","impactValue":"20000","instId":%q,"instType":"SWAP","interestRate":"0.0001","maxFundingRate":"0.00375","method":"current_period","minFundingRate":"-0.00375","nextFundingRate":"","nextFundingTime":"%d","premium":"-0.0002","settFundingRate":"0.00005","settState":"settled","ts":"%d"}]}`, symbol, n%10000, ms+3_600_000, symbol, ms+32_400_000, ms)
		}}
	case "liquidation-orders":
		return topic{30 * forced, func(n, ms int64) string {
			return fmt.Sprintf(`{"arg":{"channel":"liquidation-orders","instType":"SWAP"},"data":[{"details":[{"bkLoss":"0","bkPx":"61155.7","ccy":"","posSide":%q,"side":"sell","sz":"8.55","ts":"%d"}],"instFamily":"BTC-USDT","instId":"BTC-USDT-SWAP","instType":"SWAP","uly":"BTC-USDT"}]}`, side(n, "long", "short"), ms)
		}}
	}
	rate := spotTrades
	if strings.HasSuffix(symbol, "-USD-SWAP") {
		rate = inverseTrades
	} else if strings.HasSuffix(symbol, "-SWAP") {
		rate = swapTrades
	}
	return topic{rate * share(symbol), func(n, ms int64) string {
		return fmt.Sprintf(`{"arg":{"channel":"trades","instId":%q},"data":[{"instId":%q,"tradeId":"%d","px":"612%02d.5","sz":"%d","side":%q,"ts":"%d","count":"1","seqId":%d}]}`, symbol, symbol, n, n%100, 1+n%7, side(n, "buy", "sell"), ms, n)
	}}
}

func (f feed) bybitTopic(name string, spot bool) topic {
	kind, symbol, _ := strings.Cut(name, ".")
	switch kind {
	case "orderbook":
		_, symbol, _ = strings.Cut(symbol, ".") // behind how many levels
		every := 1
		if spot {
			every = 2
		}
		return f.depth.bybit(name, symbol, every)
	case "tickers":
		return topic{bybitQuotes, func(n, ms int64) string {
			if n == 1 {
				return fmt.Sprintf(`{"topic":%q,"type":"snapshot","data":{"symbol":%q,"tickDirection":"PlusTick","price24hPcnt":"0.017103","lastPrice":"61216.00","markPrice":"61217.33","indexPrice":"61227.36","openInterest":"68744.761","openInterestValue":"4208366235.91","turnover24h":"1570383121.943499","volume24h":"91705.276","fundingIntervalHour":"8","nextFundingTime":"%d","fundingRate":"-0.000212","bid1Price":"61215.50","ask1Price":"61216.00","singleOpenInterest":"34372.3805"},"cs":%d,"ts":%d}`, name, symbol, ms+3_600_000, n, ms)
			}
			return fmt.Sprintf(`{"topic":%q,"type":"delta","data":{"symbol":%q,"markPrice":"612%02d.06","openInterestValue":"4208347675.23","bid1Price":"61215.90","bid1Size":"3.543"},"cs":%d,"ts":%d}`, name, symbol, n%100, n, ms)
		}}
	case "allLiquidation":
		return topic{forced, func(n, ms int64) string {
			return fmt.Sprintf(`{"topic":%q,"type":"snapshot","ts":%d,"data":[{"T":%d,"s":%q,"S":%q,"v":"0.006","p":"61196.90"}]}`, name, ms, ms, symbol, side(n, "Buy", "Sell"))
		}}
	}
	rate := swapTrades
	if spot {
		rate = spotTrades
	} else if strings.HasSuffix(symbol, "USD") {
		rate = inverseTrades
	}
	return topic{rate * share(symbol), func(n, ms int64) string {
		return fmt.Sprintf(`{"topic":%q,"type":"snapshot","ts":%d,"data":[{"T":%d,"s":%q,"S":%q,"v":"%d.015","p":"612%02d.50","L":"PlusTick","i":"5a1c9c8e-0000-5d31-9112-%012d","BT":false,"RPI":false,"seq":%d}]}`, name, ms, ms, symbol, side(n, "Buy", "Sell"), n%7, n%100, n, n)
	}}
}
