package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/completedtrades"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

const traders = "/upgrade/v2/hl/traders/"

// now is the clock of a world, ms: Saturday, 2026-11-21 10:00 UTC.
var now = apitest.Start.UnixMilli()

// book is a world with the trades and statistics of accounts.
type book struct {
	*apitest.World
	reader *reader
	log    *store.Log
	series *store.Series
	wanted *followrequests.Store // the accounts that the venue is asked about; nil where none are held
	stats  map[string]*market.TraderStats
	trades []market.CompletedTrade
	views  *store.Views // of accounts that are valued
}

func openBook(t testing.TB) *book {
	t.Helper()
	b := &book{stats: map[string]*market.TraderStats{}}
	b.World = apitest.Open(t, catalog.PerpTraders, func(open *apitest.World) {
		b.log, b.series, b.wanted = open.Log(), open.Series(), followrequests.Accounts.Open(open.Documents)
		accounts := accountlookup.New(catalog.PerpTraders, b.series, b.wanted, open.Views(t), open.Now)
		accounts.Patience = 0
		b.reader = &reader{log: b.log, series: b.series, accounts: accounts}
		b.reader.register(open.Family)
	})
	for _, address := range []string{alice, bob, carol} {
		b.hold(t, &market.Account{Address: address})
	}
	return b
}

// TestWhatComesWhileARequestWaitsIsInItsAnswer: what an account has done is read once it is
// known.
func TestWhatComesWhileARequestWaitsIsInItsAnswer(t *testing.T) {
	t.Parallel()
	for n, path := range []string{"addr-stat", "completed-trades", "best-trades", "detailed-trading-statistics?period=0", "completed-trades/by-time"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := openBook(t)
			b.reader.accounts.Patience = time.Minute
			address := fmt.Sprintf("0x%040x", n+1)
			answered := make(chan apitest.Answer, 1)
			go func() {
				if strings.HasSuffix(path, "by-time") {
					answered <- b.post(t, address+"/"+path, body{})
				} else {
					answered <- b.get(t, address+"/"+path)
				}
			}()
			testenv.Until(t, "the account is wanted", func() bool {
				wanted, err := b.wanted.List(t.Context(), b.Now())
				return err == nil && len(wanted) == 1
			})
			b.complete(t, address, "BTC", now-1000, 60, "77.25", "0")
			b.write(t)
			b.hold(t, &market.Account{Address: address, Anchored: now})
			if a := <-answered; a.Status != http.StatusOK || !strings.Contains(string(a.Body), "77.25") {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
}

func decimal(t testing.TB, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// of are the statistics of an account.
func (b *book) of(address string) *market.TraderStats {
	if b.stats[address] == nil {
		b.stats[address] = new(market.TraderStats)
	}
	return b.stats[address]
}

// complete takes in a trade that ended at a time and was held for some seconds.
func (b *book) complete(t testing.TB, address, coin string, end, held int64, pnl, fee string, change ...func(*market.CompletedTrade)) {
	t.Helper()
	one := market.CompletedTrade{
		Address: address, Coin: coin, Long: true, Size: decimal(t, "2.5"), EntryPx: decimal(t, "100"), ClosePx: decimal(t, "104.5"),
		Start: end - 1000*held, End: end, Tid: int64(len(b.trades) + 1), Pnl: decimal(t, pnl), Fee: decimal(t, fee), Fills: 3, OpenOrders: 2, CloseOrders: 1,
	}
	for _, c := range change {
		c(&one)
	}
	b.trades = append(b.trades, one)
	b.of(address).Complete(&one)
}

func short(t *market.CompletedTrade)    { t.Long = false }
func isolated(t *market.CompletedTrade) { t.Isolated = true }

// write stores what was taken in.
func (b *book) write(t testing.TB) {
	t.Helper()
	storetest.PutLog(t, b.log, completedtrades.Name, completedtrades.AppendRows, b.trades...)
	datatest.PutAccountStats(t, b.series, b.stats)
}

// usual has three trades of alice within a day, and older ones.
func usual(t testing.TB) *book {
	t.Helper()
	b := openBook(t)
	b.complete(t, alice, "BTC", now-40*dayMs, 3600, "500", "1", isolated)
	b.complete(t, alice, "ETH", now-3*dayMs, 60, "-20.25", "0.5", short)
	b.complete(t, alice, "BTC", now-2000, 7, "12.345678", "0.25")
	b.complete(t, alice, "BTC", now-1000, 2, "-3", "-0.01", short, isolated)
	b.complete(t, bob, "SOL", now, 90, "7", "0.1")
	b.write(t)
	return b
}

func (b *book) get(t testing.TB, path string) apitest.Answer {
	t.Helper()
	return b.Call(t, b.SubKey, http.MethodGet, traders+path, nil)
}

func (b *book) post(t testing.TB, path string, in body) apitest.Answer {
	t.Helper()
	return b.Call(t, b.SubKey, http.MethodPost, traders+path, in)
}

func TestCompletedTradesOfAnAccount(t *testing.T) {
	t.Parallel()
	b := usual(t)
	b.get(t, alice+"/completed-trades").Golden(t, "completed-trades")
	for name, c := range map[string]struct {
		query string
		want  []string // profits
	}{
		"the newest ones, oldest first": {"?limit=2", []string{"12.345678", "-3.0"}},
		"of one coin":                   {"?coin=ETH", []string{"-20.25"}},
		"the newest of one coin":        {"?coin=BTC&limit=1", []string{"-3.0"}},
		"of a coin never traded":        {"?coin=SOL", nil},
	} {
		got := apitest.Data[[]catalog.CompletedTrade](t, b.get(t, alice+"/completed-trades"+c.query))
		if pnls := profits(got); !slices.Equal(pnls, c.want) {
			t.Errorf("%s: %v, want %v", name, pnls, c.want)
		}
	}
	if a := b.get(t, carol+"/completed-trades"); string(a.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("an unknown account: %s", a.Body)
	}
	b.get(t, alice+"/completed-trades?limit=2001").Refused(t, http.StatusBadRequest, "limit", "2000")
	b.get(t, "0xnope/completed-trades").Refused(t, http.StatusBadRequest, "address")
}

func profits(list []catalog.CompletedTrade) (pnls []string) {
	for _, one := range list {
		pnls = append(pnls, one.Pnl)
	}
	return pnls
}

func TestCompletedTradesByTheTimeTheyEndedInPages(t *testing.T) {
	t.Parallel()
	b := usual(t)
	path := alice + "/completed-trades/by-time"
	b.post(t, path, body{"pageSize": 2, "endTimeFrom": now - 3*dayMs}).Golden(t, "completed-trades-by-time")
	for name, c := range map[string]struct {
		in    body
		total int64
		want  []string // profits
	}{
		"everything":               {body{}, 4, []string{"500.0", "-20.25", "12.345678", "-3.0"}},
		"both edges are inside":    {body{"endTimeFrom": now - 2000, "endTimeTo": now - 1000}, 2, []string{"12.345678", "-3.0"}},
		"one ms beyond the edges":  {body{"endTimeFrom": now - 1999, "endTimeTo": now - 1001}, 0, nil},
		"a coin":                   {body{"Coin": "BTC"}, 3, []string{"500.0", "12.345678", "-3.0"}},
		"a coin, as users send it": {body{"coin": "ETH"}, 1, []string{"-20.25"}},
		"the second page":          {body{"pageNum": "2", "pageSize": "3"}, 4, []string{"-3.0"}},
		"a page behind the last":   {body{"pageNum": 50, "pageSize": 2000}, 4, nil},
	} {
		page := apitest.Data[catalog.CompletedTradePage](t, b.post(t, path, c.in))
		if pnls := profits(page.List); page.Total != c.total || !slices.Equal(pnls, c.want) {
			t.Errorf("%s: %d trades, %v; want %d, %v", name, page.Total, pnls, c.total, c.want)
		}
	}
	if a := b.post(t, carol+"/completed-trades/by-time", body{}); string(a.Body) != `{"code":"0","msg":"success","data":{"list":[],"total":0,"pageNum":1,"pageSize":20}}` {
		t.Errorf("an unknown account: %s", a.Body)
	}
	b.post(t, path, body{"pageSize": 2001}).Refused(t, http.StatusBadRequest, "pageSize", "2000")
	b.post(t, path, body{"pageNum": 51}).Refused(t, http.StatusBadRequest, "pageNum", "50")
}

func TestBestTradesOfAWindow(t *testing.T) {
	t.Parallel()
	b := usual(t)
	b.get(t, alice+"/best-trades").Golden(t, "best-trades")
	for query, want := range map[string][]string{
		"?period=0":         {"500.0", "12.345678", "-3.0", "-20.25"},
		"?period=0&limit=1": {"500.0"},
		"?period=90d":       {"500.0", "12.345678", "-3.0", "-20.25"},
		"?period=39":        {"12.345678", "-3.0", "-20.25"},
		"?period=1":         {"12.345678", "-3.0"},
	} {
		var pnls []string
		for _, one := range apitest.Data[[]catalog.BestTrade](t, b.get(t, alice+"/best-trades"+query)) {
			pnls = append(pnls, one.Pnl)
		}
		if !slices.Equal(pnls, want) {
			t.Errorf("%s: %v, want %v", query, pnls, want)
		}
	}
	for _, path := range []string{"/best-trades", "/best-trades?period=0", "/performance-by-coin", "/performance-by-coin?period=0"} {
		if a := b.get(t, carol+path); string(a.Body) != `{"code":"0","msg":"success","data":[]}` {
			t.Errorf("%s of an unknown account: %s", path, a.Body)
		}
	}
	b.get(t, alice+"/best-trades?limit=101").Refused(t, http.StatusBadRequest, "limit", "100")
	b.get(t, alice+"/performance-by-coin?limit=101").Refused(t, http.StatusBadRequest, "limit", "100")
	b.get(t, alice+"/best-trades?period=week").Refused(t, http.StatusBadRequest, "period", "7d")
}

func TestPerformanceByCoinOfAWindow(t *testing.T) {
	t.Parallel()
	b := usual(t)
	b.get(t, alice+"/performance-by-coin?period=0").Golden(t, "performance-by-coin")
	for query, want := range map[string][]catalog.CoinPerformance{
		"":                  {{Coin: "BTC", Fees: "0.24", Pnl: "9.345678", Trades: 2}, {Coin: "ETH", Fees: "0.5", Pnl: "-20.25", Trades: 1}},
		"?period=2":         {{Coin: "BTC", Fees: "0.24", Pnl: "9.345678", Trades: 2}},
		"?period=0&limit=1": {{Coin: "BTC", Fees: "1.24", Pnl: "509.345678", Trades: 3}},
	} {
		if got := apitest.Data[[]catalog.CoinPerformance](t, b.get(t, alice+"/performance-by-coin"+query)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestDetailedStatisticsOfAWindow(t *testing.T) {
	t.Parallel()
	b := usual(t)
	b.get(t, alice+"/detailed-trading-statistics").Golden(t, "detailed-trading-statistics")
	all := apitest.Data[catalog.DetailedStatistics](t, b.get(t, alice+"/detailed-trading-statistics?period=0"))
	if all.Total != 4 || all.Gross != "489.095678" || all.Fees != "1.74" || all.TotalPnl != "487.355678" || all.MaxDuration != 3600 || all.TradeDuration != 917 {
		t.Errorf("all time: %+v", all)
	}
	none := apitest.Data[catalog.DetailedStatistics](t, b.get(t, carol+"/detailed-trading-statistics"))
	if none.Total != 0 || none.TotalPnl != "0.0" || none.BestTrades == nil || none.PerformanceAssets == nil {
		t.Errorf("an unknown account: %+v", none)
	}
	b.get(t, alice+"/detailed-trading-statistics?period=14").Refused(t, http.StatusBadRequest, "period", "0 (all time), 1, 7, 30")
}

// A trade counts where it ended after the beginning of the window, up to now.
func TestWindowsAreExactAtTheirEdges(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	for _, days := range []int64{1, 7, 30, 90} {
		b.complete(t, alice, "BTC", now-days*dayMs-1, 1, "1000", "0")
		b.complete(t, alice, "BTC", now-days*dayMs, 1, "100", "0")
		b.complete(t, alice, "BTC", now-days*dayMs+1, 1, "1", "0")
	}
	b.complete(t, alice, "BTC", now, 1, "1", "0")
	b.complete(t, alice, "BTC", now+1, 1, "100000", "0") // of a clock that is ahead
	slices.SortStableFunc(b.trades, func(x, y market.CompletedTrade) int { return int(x.End - y.End) })
	b.stats[alice] = new(market.TraderStats)
	for i := range b.trades {
		b.of(alice).Complete(&b.trades[i])
	}
	b.write(t)
	for _, c := range []struct{ period, count int64 }{{1, 2}, {7, 5}, {30, 8}, {90, 11}} {
		count := map[string]int64{}
		count["addr-stat"] = apitest.Data[catalog.AddressStatistics](t, b.get(t, fmt.Sprintf("%s/addr-stat?period=%dd", alice, c.period))).ClosePosCount
		count["best-trades"] = int64(len(apitest.Data[[]catalog.BestTrade](t, b.get(t, fmt.Sprintf("%s/best-trades?limit=100&period=%d", alice, c.period)))))
		count["performance-by-coin"] = apitest.Data[[]catalog.CoinPerformance](t, b.get(t, fmt.Sprintf("%s/performance-by-coin?period=%d", alice, c.period)))[0].Trades
		if c.period < 90 {
			count["detailed"] = apitest.Data[catalog.DetailedStatistics](t, b.get(t, fmt.Sprintf("%s/detailed-trading-statistics?period=%d", alice, c.period))).Total
			count["batch"] = *apitest.Data[[]catalog.AddressStatisticsRow](t, b.post(t, "batch-addr-stat", body{"addresses": []string{alice}, "period": c.period}))[0].ClosePosCount
		}
		for name, got := range count {
			if got != c.count {
				t.Errorf("%s of %d days counts %d trades, want %d", name, c.period, got, c.count)
			}
		}
	}
}

func TestStatisticsOfAnAccount(t *testing.T) {
	t.Parallel()
	b := usual(t)
	s := b.of(alice)
	for i, value := range []string{"1000", "800", "600", "900"} {
		if i == 2 {
			s.Ledger(&market.Ledger{Time: now, Type: "accountClassTransfer"}, nil, nil)
			s.Moved(decimal(t, "-100"), market.Decimal{}) // no loss
		}
		markettest.Valued(s, now-int64(8-i)*hourMs, decimal(t, value))
	}
	b.write(t)
	b.get(t, alice+"/addr-stat").Golden(t, "addr-stat")
	if all := apitest.Data[catalog.AddressStatistics](t, b.get(t, alice+"/addr-stat?period=0")); all.ClosePosCount != 4 || all.OrderCount != 12 || all.TotalPnl != "489.095678" || all.WinRate != 0.5 || *all.MaxDrawdown != 0.3 {
		t.Errorf("all time: %+v", all)
	}
	if none := apitest.Data[catalog.AddressStatistics](t, b.get(t, carol+"/addr-stat")); none != (catalog.AddressStatistics{TotalPnl: "0.0"}) {
		t.Errorf("an unknown account: %+v", none)
	}
	b.get(t, alice+"/addr-stat?period=366").Refused(t, http.StatusBadRequest, "period", "365")
}

// What an account completed on a busy day at the edge of a window is read from the log,
// and a window with many trades in parts.
func TestABusyAccountIsSummedUpExactly(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	want := int64(0)
	for i := range int64(6000) {
		end := now - 8*dayMs + i*8*dayMs/6000
		b.complete(t, alice, "BTC", end, 1, "1", "0")
		if end > now-7*dayMs {
			want++
		}
	}
	b.write(t)
	got := apitest.Data[[]catalog.AddressStatisticsRow](t, b.post(t, "batch-addr-stat", body{"addresses": []string{carol, alice, alice}}))
	if len(got) != 2 || got[0] != (catalog.AddressStatisticsRow{Address: carol}) || *got[1].ClosePosCount != want || *got[1].OrderCount != 3*want || *got[1].WinRate != 1 {
		t.Errorf("%+v, want %d trades", got, want)
	}
	if want <= 2*readAtOnce {
		t.Fatalf("%d trades are read in one or two parts", want)
	}
	detailed := apitest.Data[catalog.DetailedStatistics](t, b.get(t, alice+"/detailed-trading-statistics?period=7"))
	if detailed.Total != want || detailed.Gross != fmt.Sprintf("%d.0", want) || detailed.BestTrades[0].CreateAt <= now-7*dayMs-1000 {
		t.Errorf("in detail: %+v, want %d trades", detailed, want)
	}
}

// TestTheTotalOfABusyTraderIsNotReadFromAllTrades: of days and years that lie within a
// window the statistics tell it; here the log lacks half of their trades.
func TestTheTotalOfABusyTraderIsNotReadFromAllTrades(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	end := func(i int64) int64 { return now - 200*dayMs + i*200*dayMs/2000 }
	for i := range int64(2000) {
		b.complete(t, alice, []string{"BTC", "ETH"}[i%2], end(i), 1, "1", "0")
	}
	all := b.trades
	total := func(in body) int64 {
		t.Helper()
		in["pageSize"] = 1
		return apitest.Data[catalog.CompletedTradePage](t, b.post(t, alice+"/completed-trades/by-time", in)).Total
	}
	stats := b.stats
	b.trades = slices.Concat(all[:500], all[1500:])
	b.write(t)
	if n := total(body{}); n != 2000 {
		t.Errorf("%d trades of all time", n)
	}
	if n := total(body{"coin": "ETH"}); n != 1000 {
		t.Errorf("%d trades of a coin", n)
	}
	b.trades = all
	b.write(t)
	later := now - 1 // of which the statistics do not know yet
	b.stats = map[string]*market.TraderStats{}
	b.complete(t, alice, "BTC", later, 1, "1", "0")
	b.stats = stats
	b.write(t)
	for _, window := range [][2]int64{{0, 1999}, {1, 1998}, {700, 701}, {500, 1999}, {3, 1500}, {1200, 1900}, {1995, 1999}} {
		want := window[1] - window[0] + 1
		if got := total(body{"endTimeFrom": end(window[0]), "endTimeTo": end(window[1])}); got != want {
			t.Errorf("from %d to %d: %d trades, want %d", window[0], window[1], got, want)
		}
		if got := total(body{"endTimeFrom": end(window[0]), "endTimeTo": end(window[1]), "coin": "BTC"}); got < want/2 || got > (want+1)/2 {
			t.Errorf("of BTC from %d to %d: %d trades of %d", window[0], window[1], got, want)
		}
	}
	if got := total(body{"endTimeFrom": end(1990)}); got != 11 {
		t.Errorf("with the newest: %d trades", got)
	}
	if got := total(body{}); got != 2001 {
		t.Errorf("all with the newest: %d trades", got)
	}
}

// TestADeepPageOfABusyTraderIsNotReadFromTheFirstOne: all pages together have each trade
// once, and the last one costs no more than the trades of its days.
func TestADeepPageOfABusyTraderIsNotReadFromTheFirstOne(t *testing.T) {
	t.Parallel()
	b := openBook(t)
	const trades, size = 10_000, 200 // 125 a day
	for i := range int64(trades) {
		b.complete(t, alice, "BTC", now-80*dayMs+i*80*dayMs/trades, 1, "1", "0")
	}
	b.write(t)
	last := ""
	for page := range trades / size {
		got := apitest.Data[catalog.CompletedTradePage](t, b.post(t, alice+"/completed-trades/by-time", body{"pageNum": page + 1, "pageSize": size}))
		if got.Total != trades || len(got.List) != size {
			t.Fatalf("page %d has %d trades of %d", page+1, len(got.List), got.Total)
		}
		for _, one := range got.List {
			if one.EndTime <= last {
				t.Fatalf("page %d: %s comes after %s", page+1, one.EndTime, last)
			}
			last = one.EndTime
		}
		if units := b.ReadUnits(t); units > 60 {
			t.Errorf("page %d reads %v units", page+1, units)
		}
	}
}

func TestStatisticsOfManyAccounts(t *testing.T) {
	t.Parallel()
	b := usual(t)
	b.post(t, "batch-addr-stat", body{"addresses": []string{bob, alice, carol}}).Golden(t, "batch-addr-stat")
	for period, want := range map[any]int64{0: 4, "1": 2, "7d": 3, 30: 3} {
		rows := apitest.Data[[]catalog.AddressStatisticsRow](t, b.post(t, "batch-addr-stat", body{"addresses": []string{"0xA11CE00000000000000000000000000000000001"}, "period": period}))
		if len(rows) != 1 || rows[0].Address != alice || *rows[0].ClosePosCount != want {
			t.Errorf("period %v: %+v, want %d trades", period, rows, want)
		}
	}
	for _, path := range []string{"batch-addr-stat", "batch-behavior-metrics"} {
		b.post(t, path, body{"addresses": []string{alice}, "period": 90}).Refused(t, http.StatusBadRequest, "period", "0 (all time), 1, 7, 30")
		b.post(t, path, body{"addresses": []string{alice, "nope"}}).Refused(t, http.StatusBadRequest, "addresses", "address")
		b.post(t, path, body{"addresses": []string{}}).Refused(t, http.StatusBadRequest, "addresses")
		many := make([]string, 2001)
		for i := range many {
			many[i] = fmt.Sprintf("0x%040x", i)
		}
		var rows []json.RawMessage
		if rows = apitest.Data[[]json.RawMessage](t, b.post(t, path, body{"addresses": many})); len(rows) != 2000 {
			t.Errorf("%s: %d rows for 2,001 addresses, want 2,000", path, len(rows))
		}
	}
}

// behaving trades on today's and on earlier days.
func behaving(t testing.TB) *book {
	t.Helper()
	b := openBook(t)
	s := b.of(alice)
	today := now / dayMs * dayMs
	fill := func(ms int64, pnl string, a market.AddOn) {
		s.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: ms, StartPosition: "0", Px: "100", Sz: "2", ClosedPnl: pnl, Fee: "0.5", Tid: 1}, a)
	}
	markettest.Valued(s, today-8*dayMs, decimal(t, "500"))
	fill(today-7*dayMs, "1000", market.NoAddOn) // a day before the last seven
	b.complete(t, alice, "BTC", today-6*dayMs-1, 60, "1000", "0.5")
	s.Ledger(&market.Ledger{Time: today - 6*dayMs, Type: market.LedgerDeposit, Funds: market.LedgerDeposit, USDC: "70"}, nil, nil)
	s.Moved(decimal(t, "70"), market.Decimal{})
	markettest.Valued(s, today-6*dayMs, decimal(t, "1000"))
	fill(today-6*dayMs, "30", market.NoAddOn)
	fill(today-6*dayMs, "0.0", market.ProfitableAddOn)
	fill(today-1, "-10", market.AddOnAtLoss)
	fill(now, "-10", market.AddOnAtLoss)
	markettest.Valued(s, today, decimal(t, "750"))
	b.complete(t, alice, "BTC", today-6*dayMs, 60, "30", "0.5")
	b.complete(t, alice, "BTC", today, 60, "-10", "0.5")
	s.Order(&market.OrderStatus{Coin: "BTC", Time: today, Seq: 1, Status: market.StatusFilled, ReduceOnly: true, OrderType: "Take Profit Market"})
	s.Order(&market.OrderStatus{Coin: "BTC", Time: today, Seq: 2, Status: market.StatusFilled, ReduceOnly: true, OrderType: "Limit"})
	b.write(t)
	return b
}

func TestBehaviorIsMeasuredByUTCDays(t *testing.T) {
	t.Parallel()
	b := behaving(t)
	b.post(t, "batch-behavior-metrics", body{"addresses": []string{alice, carol}, "period": 7}).Golden(t, "batch-behavior-metrics")
	rows := func(period any) catalog.BehaviorMetricsRow {
		return apitest.Data[[]catalog.BehaviorMetricsRow](t, b.post(t, "batch-behavior-metrics", body{"addresses": []string{alice}, "period": period}))[0]
	}
	if r := rows(1); *r.FillsCount != 1 || *r.TradingActivity != 100 || r.TotalPnl != "-10.0" || *r.WinRate != 0 || r.MaxDrawdown != nil { // one value today
		t.Errorf("today alone: %+v", r)
	}
	if r := rows("30d"); *r.FillsCount != 5 || r.TotalPnl != "1020.0" || *r.TradingActivity != 13.333333 || *r.TpslCloseOrderRatio != 50 || *r.Roi != 1.789474 {
		t.Errorf("30 days: %+v", r)
	}
	if r := rows(0); *r.FillsCount != 5 || r.TotalPnl != "1020.0" || *r.TradingActivity != 4.444444 {
		t.Errorf("all time: %+v", r)
	}
	// A day later what was today is yesterday, and the first day has left the week.
	b.Move(14 * time.Hour)
	if r := rows(7); *r.FillsCount != 2 || r.TotalPnl != "-10.0" {
		t.Errorf("seven days from the next day on: %+v", r)
	}
}

// BenchmarkCompletedTradesPage answers for a trader with 50,000 completed trades.
func BenchmarkCompletedTradesPage(b *testing.B) {
	w := openBook(b)
	for i := range int64(50_000) {
		w.complete(b, alice, "BTC", now-80*dayMs+i*80*dayMs/50_000, 1, "1", "0")
	}
	w.write(b)
	for _, page := range []int{1, 25} {
		b.Run(fmt.Sprint(page), func(b *testing.B) {
			for b.Loop() {
				got := apitest.Data[catalog.CompletedTradePage](b, w.post(b, alice+"/completed-trades/by-time", body{"pageSize": 2000, "pageNum": page}))
				if got.Total != 50_000 || len(got.List) != 2000 {
					b.Fatalf("%d trades of %d", len(got.List), got.Total)
				}
			}
		})
	}
}
