package events_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/datatest"
	"quotary/shared/data/drop"
	"quotary/shared/data/fills"
	"quotary/shared/data/flashes"
	"quotary/shared/data/funding"
	"quotary/shared/data/indices"
	"quotary/shared/data/largeorders"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/news"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/orders"
	"quotary/shared/data/pairbooks"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/payments"
	"quotary/shared/data/treasuries"
	"quotary/shared/data/twaps"
	"quotary/shared/data/whales"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// busyWorld is how much is stored of what the dearest requests ask for.
type busyWorld struct {
	rows      int // of each log, of one account in one coin; and buckets of each series
	addresses int // accounts that are known
	days      int // of which each of them has statistics
	subKeys   int // of the distributor who asks
}

var (
	smallWorld = busyWorld{rows: 400, addresses: 60, days: 3, subKeys: 25}
	largeWorld = busyWorld{rows: 20_000, addresses: 2000, days: market.StatDays, subKeys: 2000}
)

// dearestFile holds what the requests of TestTheDearestRequests cost in the large world, and
// smallFile what they read in the small one.
const (
	dearestFile = "testdata/dearest.json"
	smallFile   = "testdata/dearest_small.json"
)

// lateAgo is how long before now a cursor is behind which something is late.
const lateAgo = time.Hour

// gateReads is what the gate reads of each request: its key and its distributor.
const gateReads = 2

// TestTheDearestRequests asks every endpoint for as much as its parameters allow, of
// accounts and coins that have much, and counts by DynamoDB's rules what that reads. No
// request may read more than the catalog grants it, whatever its parameters are: it is
// refused then. As a proof it does so in a large world, and writes the guide's table.
func TestTheDearestRequests(t *testing.T) {
	t.Parallel()
	if os.Getenv("QUOTARY_DYNAMODB_ENDPOINT") != "" {
		t.Skip("the sizes that another engine counts in are its own")
	}
	size := smallWorld
	if testenv.Prove() {
		size = largeWorld
	}
	c := &costs{deployment: deploy(t), t: t}
	now := time.Now().UnixMilli()
	size.fill(c, now)
	distributor := size.distributor(c)
	if catalog.MostReadUnits != 5000 {
		t.Errorf("a request may read %v units, want 5000", catalog.MostReadUnits)
	}
	var all []cost
	for _, e := range catalog.All() {
		caller := c.SubKey
		switch {
		case e.Planned || e.Method == catalog.MethodWS || !e.Access.Counted():
			continue
		case !e.Access.Charged() && e.Method != http.MethodGet: // what changes keys reads few of them
			continue
		case !e.Access.Charged():
			caller = distributor
		}
		most, answered, filled := cost{Request: e.String()}, false, false
		for _, r := range dearest(e, now) {
			one, status, refused, empty := c.dear(caller, r)
			answered = answered || status == http.StatusOK || status == http.StatusNotFound || refused
			filled = filled || !empty
			if status >= http.StatusInternalServerError {
				t.Errorf("%s %s is answered %d: what it asks for is not stored", r.Target(), text(r.Body()), status)
			}
			if program, _ := catalog.ProgramOf(e.Function()); one.Reads > program.ReadUnits+gateReads {
				t.Errorf("%s %s reads %v units, more than %v", r.Target(), text(r.Body()), one.Reads, program.ReadUnits)
			}
			if testenv.Prove() && refused {
				t.Logf("%s %.200s is refused behind %v units", r.Target(), text(r.Body()), one.Reads)
			}
			if one.Reads > most.Reads || one.Reads == most.Reads && one.KB > most.KB {
				most = one
			}
		}
		if !answered {
			t.Errorf("no request for %s was answered", e)
		}
		if !filled && most.Reads > gateReads { // else it reads views
			t.Errorf("every answer of %s is empty: fill what it reads", e)
		}
		all = append(all, most)
	}
	slices.SortStableFunc(all, func(a, b cost) int { return cmp.Or(cmp.Compare(b.Reads, a.Reads), cmp.Compare(b.KB, a.KB)) })
	if !testenv.Prove() {
		holdReads(t, all)
		return
	}
	written, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(dearestFile, append(written, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	writeGuide(t, true)
}

// asksIngester is what a request that may ask the ingester reads more where the last one of its
// distributor did so more than ten seconds ago, as on a busy machine: all that it asks for.
const asksIngester = 25

// holdReads compares what requests read in the small world with what they did: one that reads
// more has lost a bound. What a window reads differs with the time of the day, as the rows at
// its edges do: by more than a half of it just after midnight.
func holdReads(t *testing.T, counted []cost) {
	t.Helper()
	reads := map[string]float64{}
	for _, c := range counted {
		reads[c.Request] = math.Round(10*c.Reads) / 10 // sums of fractions leave something behind
	}
	if *apitest.Update {
		written, err := json.MarshalIndent(reads, "", "  ")
		if err == nil {
			err = os.WriteFile(smallFile, append(written, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	mayAsk := map[string]bool{}
	for _, e := range catalog.All() {
		program, _ := catalog.ProgramOf(e.Function())
		mayAsk[e.String()] = slices.Contains(program.Tables[catalog.DocumentsTable], "PutItem")
	}
	var held map[string]float64
	text, err := os.ReadFile(smallFile)
	if err == nil {
		err = json.Unmarshal(text, &held)
	}
	if err != nil {
		t.Fatal(err)
	}
	for request, n := range reads {
		was, ok := held[request]
		most := was*1.6 + 2
		if mayAsk[request] {
			most += asksIngester
		}
		if !ok || n > most {
			t.Errorf("%s reads %v units, %v before: if that is meant, run go test ./events -run Dearest -update", request, n, was)
		}
	}
}

func text(body any) string {
	written, err := json.Marshal(body)
	if err != nil {
		panic(err) // it was made of texts and numbers
	}
	return string(written)
}

// dear counts a request, once the programs know of what it asks for. It returns the status
// of its answer, and whether it was refused because its answer is too much.
func (c *costs) dear(caller apitest.Key, r apitest.Request) (one cost, status int, refused, empty bool) {
	c.t.Helper()
	for range 2 {
		p := c.sign(caller)
		c.rules.Take()
		var answer []byte
		status, answer = c.send(p, r.Endpoint.Method, r.Target(), r.Body())
		// What a function keeps of the first request the second does not read.
		if taken := c.taken(r.Endpoint.String(), answer); taken.Reads >= one.Reads || r.Endpoint.Family != catalog.Futures {
			one = taken
		}
		empty = strings.Contains(string(answer), `"data":[]`) || strings.Contains(string(answer), `"data":null`)
		refused = strings.Contains(string(answer), "more would have to be read") || strings.Contains(string(answer), "would exceed 6 MB")
	}
	return one, status, refused, empty
}

// dearest are requests that ask an endpoint for as much as its parameters allow: one with
// the most of each, and beside it one for every other value by which the work differs.
func dearest(e *catalog.Endpoint, now int64) []apitest.Request {
	base := apitest.Example(e)
	parameters := apitest.Parameters(e)
	all := make([][]any, len(parameters))
	for i, p := range parameters {
		field, _ := e.In.FieldByName(p.Field)
		all[i] = mostOf(p.Name, field)
		switch { // what only this endpoint asks for
		case strings.Contains(e.Path, "/completed-position-") && p.Name == "endTime":
			all[i] = []any{now}
		case field.Type == reflect.TypeFor[catalog.EventCursor](): // before something late of long ago
			frame := market.CursorAt("", market.ArrivalAt(time.UnixMilli(now).Add(-lateAgo)))
			all[i] = []any{nil, frame.Text()}
		case e == catalog.LiquidationSums.Endpoint && p.Name == "coinKey":
			all[i] = []any{"bitcoin"}
		case e == catalog.CommonKlines.Endpoint && p.Name == "symbol":
			all[i] = append(all[i], indices.VIX)
		case e == catalog.Discover.Endpoint && p.Name == "loadPnls", e == catalog.SmartFind.Endpoint && p.Name == "pnlList":
			all[i] = []any{true}
		case e == catalog.StockCompany.Endpoint && p.Name == "symbol":
			all[i] = []any{shareKey}
		}
		if len(all[i]) > 0 {
			base = base.With(p, all[i][0])
		}
	}
	requests := []apitest.Request{base}
	if e == catalog.Info.Endpoint || e == catalog.VenueInfo.Endpoint {
		requests = infoRequests(base, parameters)
	}
	for i, p := range parameters {
		for _, value := range all[i][min(1, len(all[i])):] {
			requests = append(requests, base.With(p, value))
		}
	}
	return requests
}

// infoRequests asks for every type that is built and reads tables, of as much as its members
// allow.
func infoRequests(base apitest.Request, parameters []apitest.Parameter) (requests []apitest.Request) {
	members := map[string][]any{
		"user": {trader}, "coin": {"BTC"}, "startTime": {1}, "oid": {busyID}, "aggregateByTime": {true}, "req": nil,
	}
	for width := range strings.SplitSeq(catalog.CandleIntervals, "|") {
		members["req"] = append(members["req"], map[string]any{"coin": "BTC", "interval": width, "startTime": 1})
	}
	for _, kind := range catalog.InfoTypes {
		switch kind.From {
		case nil, catalog.VenueMids, catalog.VenueMeta, catalog.VenueContexts, catalog.VenueBooks: // of views alone
			continue
		}
		of := []apitest.Request{base}
		for _, p := range parameters {
			switch values, asked := members[p.Name]; {
			case p.Name == "type":
				of[0] = of[0].With(p, kind.Name)
			case !slices.Contains(kind.Needs, p.Name) && !slices.Contains(kind.Takes, p.Name) || !asked:
				for i := range of {
					of[i] = of[i].With(p, nil)
				}
			default:
				var each []apitest.Request
				for _, one := range of {
					for _, value := range values {
						each = append(each, one.With(p, value))
					}
				}
				of = each
			}
		}
		requests = append(requests, of...)
	}
	return requests
}

// mostOf are values of a parameter with which much has to be read, the dearest first; none
// where it is left as the example has it.
func mostOf(name string, field reflect.StructField) (values []any) {
	most, scalar := field.Tag.Get("max"), field.Type
	if scalar.Kind() == reflect.Pointer {
		scalar = scalar.Elem()
	}
	switch scalar {
	case reflect.TypeFor[catalog.Address]():
		return []any{trader}
	case reflect.TypeFor[catalog.Coin]():
		if field.Tag.Get("path") != "" {
			return []any{"BTC"}
		}
		return []any{nil, "BTC"}
	case reflect.TypeFor[catalog.PairKey](), reflect.TypeFor[catalog.Key]():
		if name == "symbol" || name == "dbkey" || name == "dbKey" || name == "key" && scalar == reflect.TypeFor[catalog.PairKey]() {
			return []any{busyPair, perpKey, followedKey}
		}
	case reflect.TypeFor[catalog.Millis](), reflect.TypeFor[catalog.Seconds](), reflect.TypeFor[catalog.Moment]():
		return []any{nil}
	case reflect.TypeFor[catalog.Lookback]():
		return []any{cmp.Or(most, "180d")}
	case reflect.TypeFor[catalog.KlinePeriod]():
		for _, period := range catalog.KlinePeriods() {
			values = append(values, int64(period))
		}
		slices.SortFunc(values, func(a, b any) int { return cmp.Compare(b.(int64), a.(int64)) })
		return values
	case reflect.TypeFor[catalog.Days]():
		return []any{365, 0, 30}
	case reflect.TypeFor[catalog.WindowDays]():
		return []any{30, 7}
	case reflect.TypeFor[catalog.LongDays](), reflect.TypeFor[catalog.LongWindowDays]():
		return []any{90}
	}
	if list := field.Tag.Get("enum"); list != "" {
		for value := range strings.SplitSeq(strings.TrimPrefix(list, "|"), "|") {
			values = append(values, value)
		}
		return values
	}
	switch scalar.Kind() {
	case reflect.Int64:
		if n, err := strconv.ParseInt(most, 10, 64); err == nil {
			values = append(values, n)
			if name == "pageNum" {
				values = append(values, 1)
			}
			return values
		}
		if name == "oid" || name == "twapid" {
			return []any{busyID}
		}
	case reflect.Slice:
		if scalar.Elem() == reflect.TypeFor[catalog.Address]() {
			n, err := strconv.Atoi(cmp.Or(most, field.Tag.Get("cut")))
			if err != nil {
				panic(fmt.Sprintf("the list %s has no bound", name))
			}
			list := []string{trader}
			for i := 1; i < n; i++ {
				list = append(list, numbered(i))
			}
			return []any{list}
		}
	}
	return nil
}

// busyPair is the pair of an exchange that has much.
const busyPair = "btcswapusdt:binance"

// followedKey is a pair that is followed all the time.
const followedKey = "btcusdt:binance"

// busyID is the number of the order and of the TWAP that all fills are of.
const busyID = int64(77)

func numbered(n int) string { return fmt.Sprintf("0x%040x", n) }

// sampledBooks are samples of the book of the busy pair until now, ms.
func sampledBooks(now int64, n int) (list []market.PairBook) {
	for i := range n {
		b := market.PairBook{Pair: busyPair, Time: pairbooks.SampleEvery.StartMs(now) - int64(i)*10_000}
		for l := range int64(pairbooks.SampleLevels) {
			b.Bids = append(b.Bids, market.PairLevel{Px: market.DecimalFromInt(64_000 - l), Sz: market.DecimalFromInt(100 + l)})
			b.Asks = append(b.Asks, market.PairLevel{Px: market.DecimalFromInt(64_001 + l), Sz: market.DecimalFromInt(100 + l)})
		}
		list = append(list, b)
	}
	return list
}

// shareKey is a share of which much is stored.
const shareKey = "i:mstr:nasdaq"

// shareChanges are as many purchases of whoever's share it is as a page holds, each of another month.
func shareChanges(now time.Time) (v treasuries.View) {
	for n := range 100 {
		date := time.Date(now.Year(), now.Month()-time.Month(n+1), 10, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		v.Entries = append(v.Entries, treasuries.Dropped{
			Entry: treasuries.Entry{Coin: "BTC", Name: "Acme", Key: shareKey, Date: date, Type: "buy", Amount: "12.5", Cost: "1125000"},
			Place: drop.Place{Time: now.UnixMilli(), File: "acme.ndjson", Line: int64(n) + 1},
		})
	}
	return v
}

// shareDays has a share with prices of each day of more than a year.
func (c *costs) shareDays(now int64) {
	months := map[store.SeriesAt]indices.Days{}
	for ago := range 400 {
		date := time.UnixMilli(now).UTC().AddDate(0, 0, -ago).Format(time.DateOnly)
		at, _ := indices.At(shareKey, date)
		months[at], _ = months[at].Add(indices.Day{Date: date, Open: "312.25", High: "318.5", Low: "305.125", Close: "316.75", Volume: "12345678", Unit: "USD", Place: drop.Place{Time: now}})
	}
	var rows []store.SeriesRow
	for at, days := range months {
		rows = append(rows, indices.Row(at, days))
	}
	must.Do(c.t, c.Series().Put(c.t.Context(), rows))
}

// fill stores the world, as the ingester would.
func (w busyWorld) fill(c *costs, now int64) {
	c.openOrders()
	c.shareDays(now)
	log, series := c.Log(), c.Series()
	log.Parallel, series.Parallel = 16, 16
	step := 30 * 24 * time.Hour.Milliseconds() / int64(w.rows) // all of them within 30 days
	at := func(n int) int64 { return now - int64(w.rows-1-n)*step }
	twap := busyID
	var (
		filled   []market.Fill
		placed   []market.OrderStatus
		moved    []market.Ledger
		paid     []market.FundingPayment
		executed []market.TwapStatus
		closed   []market.CompletedTrade
		large    []market.LargeOrder
		traded   []market.Trade
		changed  []market.PairChange
		hours    []funding.Hour
		minute   []market.Candle
	)
	one := market.DecimalFromInt(1)
	busy := new(market.TraderStats)
	for n := range w.rows {
		ms, tid := at(n), int64(n+1)
		filled = append(filled, market.Fill{
			Address: trader, Coin: "BTC", Px: "64000.5", Sz: "0.00100", Side: market.Buy, Time: ms, StartPosition: fmt.Sprintf("%d.5", n), Dir: "Open Long", ClosedPnl: "0.0",
			Hash: "0x" + strings.Repeat("ab", 32), Oid: busyID, Crossed: true, Fee: "1.234567", Tid: tid, FeeToken: "USDC", TwapID: &twap, Builder: trader, BuilderFee: "0.1",
		})
		placed = append(placed, market.OrderStatus{
			Address: trader, Time: ms, Status: market.StatusFilled, Coin: "BTC", Side: "B", LimitPx: "64000.5", Sz: "0.0", OrigSz: "1.0", Oid: busyID + int64(n%2)*tid,
			Timestamp: ms, OrderType: "Limit", Tif: "Gtc", Hash: "0x" + strings.Repeat("cd", 32), Seq: tid,
		})
		moved = append(moved, market.Ledger{Address: trader, Time: ms, Hash: fmt.Sprintf("0x%064x", n), Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "100.5", Delta: json.RawMessage(`{"type":"deposit","usdc":"100.5"}`)})
		paid = append(paid, market.FundingPayment{Address: trader, Coin: "BTC", Time: ms, USDC: "-1.25", Szi: "2.5", Rate: "0.0000125", Seq: tid})
		executed = append(executed, market.TwapStatus{
			Address: trader, TwapID: &tid, Time: ms, Status: market.TwapActivated, Seq: tid,
			Twap: market.Twap{Coin: "BTC", Side: market.Buy, Sz: "123.45678", ExecutedSz: "0.0", ExecutedNtl: "0.0", Minutes: 60, Timestamp: ms},
		})
		trade := market.CompletedTrade{
			Address: trader, Coin: "BTC", Long: true, Size: one, EntryPx: one, ClosePx: one, Start: ms - 1000, End: ms, Tid: tid, Pnl: one, Fee: one, Funding: one,
			MaxSize: one, MaxValue: one, Fills: 3, OpenOrders: 1, CloseOrders: 1,
		}
		closed = append(closed, trade)
		large = append(large, market.LargeOrder{
			Pair: busyPair, Side: market.Buy, Px: market.DecimalFromInt(98_765), Start: now - int64(n)*1000, Changed: now, End: now,
			First: market.DecimalFromInt(25), Highest: market.DecimalFromInt(25), Gone: market.DecimalFromInt(25), Met: one, Trades: 1, LargestTrade: one, FirstTrade: now, LastTrade: now,
		})
		busy.Complete(&trade)
		traded = append(traded, market.Trade{Coin: "BTC", Side: market.Buy, Time: now - int64(n)*60_000, Tid: tid, Px: one, Sz: one})
		hours = append(hours, funding.Hour{Funding: market.Funding{Coin: "BTC", Rate: "0.0000125", Premium: "0.0001", Time: market.Hour1.StartMs(now) - int64(n)*3_600_000}})
		changed = append(changed, market.PairChange{Pair: busyPair, Kind: market.NewHigh, Time: now - int64(n)*60_000, Px: one})
		minute = append(minute, market.Candle{OpenTime: market.Minute1.StartMs(now) - int64(n)*60_000, Trades: 5, Size: one, Amount: one, Open: one, High: one, Low: one, Close: one})
	}
	closed[w.rows-1].Start = at(0) // the last one was held all the time
	arrived := time.UnixMilli(now).Add(time.Minute - lateAgo)
	for _, name := range []string{fills.Name, orders.OtherName} { // something of the oldest day has come late
		must.Do(c.t, (&arrivals.Late{Series: series}).Add(c.t.Context(), name, market.ArrivalAt(arrived), at(0)))
	}
	must.Do(c.t, arrivals.SaveStored(c.t.Context(), series, market.ArrivalAt(time.UnixMilli(now))))
	storetest.PutLog(c.t, log, fills.Name, fills.AppendRows, filled...)
	datatest.PutOrders(c.t, log, placed...)
	storetest.PutLog(c.t, log, ledgers.Name, ledgers.AppendRows, moved...)
	storetest.PutLog(c.t, log, payments.Name, payments.AppendRows, paid...)
	storetest.PutLog(c.t, log, twaps.StatusesName, twaps.AppendRows, executed...)
	storetest.PutLog(c.t, log, completedtrades.Name, completedtrades.AppendRows, closed...)
	storetest.PutLog(c.t, log, largeorders.Name, largeorders.AppendRows, large...)
	storetest.PutLog(c.t, log, pairchanges.Name, pairchanges.AppendRows, changed...)
	datatest.PutKlines(c.t, series, "BTC", traded...)
	datatest.PutFunding(c.t, series, hours...)
	datatest.PutIndexDays(c.t, series, w.indexDays(now)...)
	for _, tier := range market.PairTiers {
		bars, open := slices.Clone(minute), tier.StartMs(now)
		for n := range bars {
			bars[n].OpenTime, open = open, tier.StartMs(open-1)
		}
		datatest.PutPairKlines(c.t, series, busyPair, tier, bars...)
	}
	for _, what := range []string{pairpast.Klines, pairpast.Contracts, pairpast.Trades} {
		storetest.PutSeries(c.t, series, pairpast.Row(busyPair, what, pairpast.AllStored), pairpast.Row(followedKey, what, pairpast.AllStored))
	}
	for _, tier := range pairseries.Tiers {
		var bars []market.Bar
		var sums []market.Liquidated
		for n, open := 0, tier.Part.StartMs(now); n < w.rows; n, open = n+1, tier.Part.StartMs(open-1) {
			bars = append(bars, market.Bar{Time: open, Open: one, High: one, Low: one, Close: one, First: open, Last: open})
			sums = append(sums, market.Liquidated{Time: open, Long: one, Short: one, Count: 2, Largest: one})
		}
		for _, of := range []struct {
			series pairseries.Series[market.Bar]
			key    string
		}{
			{pairseries.Funding, busyPair}, {pairseries.Interest, busyPair}, {pairseries.CoinFunding, "btc"},
			{pairseries.CoinInterest, pairseries.Stable("btc")}, {pairseries.CoinInterest, pairseries.CoinMargined("btc")},
		} {
			must.Do(c.t, of.series.Put(c.t.Context(), series, of.key, tier, bars...))
		}
		must.Do(c.t, pairseries.Liquidations.Put(c.t.Context(), series, busyPair, tier, sums...))
	}
	datatest.PutTopFills(c.t, series, "BTC", filled, func(market.Interval, int64) bool { return true })
	datatest.PutLiquidations(c.t, series, w.liquidated(now)...)
	var open []openinterest.Sample
	var depth []bookdepth.Sample
	samples := int64(min(w.rows, 2000)) // in half a year
	for n := range samples {
		ms := now - (samples-n)*(180*86_400_000/samples)
		open = append(open, openinterest.Sample{Time: ms, Coin: "BTC", PositionCount: 10, LongCount: 5, LongPv: "1000.5", TotalPv: "2000.5", AvgPv: "200.05"})
		depth = append(depth, bookdepth.Sample{Time: ms / 1000, Coin: "BTC", BidVolume: "10.5", AskVolume: "11.5"})
	}
	datatest.PutOpenInterest(c.t, series, open...)
	datatest.PutBookDepth(c.t, series, depth...)
	datatest.PutPairDepth(c.t, series, sampledBooks(now, min(w.rows, 1001))...)
	for _, interval := range whales.Intervals {
		for n := range int64(w.rows) {
			ms := now - n*(interval.NextMs(0)-interval.StartMs(0))
			sides := whales.NewSides(ms, market.WhaleSides{Longs: 1000, Shorts: 900, LongValue: 1e15, ShortValue: 1e15})
			storetest.PutSeries(c.t, series, whales.Row(interval, interval.StartMs(ms), &sides))
		}
	}
	for n := range min(w.rows, 1000) { // states of one flash and one story
		place := drop.Place{Time: at(n), File: "states.ndjson", Line: 1}
		storetest.PutLog(c.t, log, flashes.Name, flashes.AppendRows, flashes.Flash{Entry: flashes.Entry{ID: 1, Time: now / 1000, Language: "en", Platform: flashes.House, Title: "T", Content: strings.Repeat("x", 2000)}, Place: place})
		storetest.PutLog(c.t, log, news.Name, news.AppendRows, news.Item{ID: 1, Source: "S", Key: "K", Title: "T", Content: strings.Repeat("x", 8000), Seen: at(n)})
	}
	stats := map[string]*market.TraderStats{trader: busy}
	past := w.past(now)
	rows := []store.SeriesRow{w.accountRow(trader, now), accountstats.PastRow(trader, &past)}
	for n := 1; n < w.addresses; n++ {
		address := numbered(n)
		stats[address] = w.stats(address, now)
		rows = append(rows, w.accountRow(address, now), accountstats.PastRow(address, &past))
	}
	datatest.PutAccountStats(c.t, series, stats)
	storetest.PutSeries(c.t, series, rows...)
}

// liquidated are the fills by which positions were closed within 60 days, the newest half a minute
// ago: a half of them in one coin, the others in a hundred.
func (w busyWorld) liquidated(now int64) (list []market.Fill) {
	count := 5 * w.rows
	for n := range count {
		f := market.Fill{
			Address: numbered(n % w.addresses), Coin: "BTC", Px: "64000.5", Sz: "0.00100", Side: market.Sell, Time: now - 30_000 - int64(n)*(60*86_400_000/int64(count)),
			StartPosition: "1.5", Dir: "Close Long", ClosedPnl: "-1.25", Oid: int64(n + 1), Crossed: true, Tid: int64(n + 1),
		}
		if n%2 == 1 {
			f.Coin = fmt.Sprint("COIN", n/2%100)
		}
		f.Liquidation = &market.Liquidation{LiquidatedUser: f.Address, MarkPx: "64000.0", Method: market.LiquidationMarket}
		list = append(list, f)
	}
	return list
}

// indexDays are those of half a century at most.
func (w busyWorld) indexDays(now int64) (list []indices.DayEntry) {
	for n := range min(10*w.rows, 50*365) {
		list = append(list, indices.EntryOf(market.DayQuote{
			Key: indices.VIX, Date: time.UnixMilli(now).UTC().AddDate(0, 0, -n).Format(time.DateOnly), Open: "16.82", High: "18.70", Low: "15.82", Close: "15.99", Volume: "143375790", Unit: "USD",
		}, drop.Place{Time: now}))
	}
	return list
}

// distributor is one who has issued many sub-keys.
func (w busyWorld) distributor(c *costs) apitest.Key {
	c.t.Helper()
	primary := c.Register(c.t, keys.Preset{Name: "Busy", Level: "gold", MaxSubKeys: int64(w.subKeys), MaxTotalQuota: int64(w.subKeys)})
	for n := range 100 {
		must.Do(c.t, c.Keys.PutLevel(c.t.Context(), primary.AccessKey, fmt.Sprint("level", n), keys.Allow(catalog.Actions()...)))
	}
	one := int64(1)
	for n := range w.subKeys {
		must.Get2(c.Keys.CreateSubKey(c.t.Context(), primary.AccessKey, keys.NewSubKey{Name: fmt.Sprint("client ", n), MonthlyQuota: &one}))(c.t)
	}
	return primary
}

// accountRow is that of an account with 20 positions, which the venue has just been asked
// about.
func (w busyWorld) accountRow(address string, now int64) store.SeriesRow {
	var a market.Account
	state := market.AccountState{Time: now}
	for n := range 20 {
		state.Positions = append(state.Positions, market.PositionState{Coin: fmt.Sprintf("COIN%d", n), Szi: market.DecimalFromInt(1), EntryPx: market.DecimalFromInt(10)})
	}
	a.Anchor(&market.Anchor{Address: address, Dexes: []market.AccountState{state}}, nil, nil)
	a.Dexes[0].Cash = market.DecimalFromInt(1000)
	return accounts.Row(&a)
}

// past is that of an account that always has a position and trades every three hours.
func (w busyWorld) past(now int64) (p accountstats.Past) {
	hour := time.Hour.Milliseconds()
	for n := range int64(w.days) * 24 {
		part := market.CurvePart{Value: market.Micros(10_000_000_000 + n*n*7_919%60_000_000), Volume: market.Micros(n / 3 * 500_000_000)}
		p.Curve = append(p.Curve, market.CurvePoint{Time: now/hour*hour - (int64(w.days)*24-n)*hour, Perp: part, Spot: market.CurvePart{Value: 5_000_000}})
	}
	p.Curve = p.Curve.Thin()
	return p
}

// stats are those of an account that completes trades every day, as many as are kept one
// by one, and deposits something.
func (w busyWorld) stats(address string, now int64) *market.TraderStats {
	s := new(market.TraderStats)
	day := 24 * time.Hour.Milliseconds()
	for n := range w.days {
		for i := range int64(16) {
			end := now - int64(n)*day - i*1000
			s.Complete(&market.CompletedTrade{Address: address, Coin: "BTC", Long: true, Size: market.DecimalFromInt(1), Start: end - 1000, End: end, Tid: i, Pnl: market.DecimalFromInt(1)})
		}
		s.Flow(now-int64(n)*day, market.DecimalFromInt(1000), market.Decimal{})
	}
	return s
}
