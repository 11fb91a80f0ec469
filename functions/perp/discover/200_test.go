package main

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/delivered"
	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// know writes what the stores have of accounts beside the table: of each what it was worth an hour ago
// and two, and what it holds.
func (w *world) know(t testing.TB, numbers ...int) {
	t.Helper()
	now := w.Now().UnixMilli()
	stats := map[string]*market.TraderStats{}
	for _, n := range numbers {
		s := &market.TraderStats{Began: now - 3*3_600_000, LastOperation: now - 60_000}
		for hour, worth := range []int64{500_000, 512_345} {
			s.AddPoint(now-int64(2-hour)*3_600_000, &market.Worth{Perp: market.DecimalFromInt(worth), PerpKnown: true, SpotKnown: true})
		}
		stats[address(n)] = s
		storetest.PutSeries(t, w.reader.series, accounts.Row(w.account(n)))
	}
	datatest.PutAccountStats(t, w.reader.series, stats)
}

func TestTradersAreFound(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	w.mark(t)
	w.know(t, 0x25, 0x33)
	answer := w.post(t, discover, body{
		"pageSize": 3, "period": 30, "sort": body{"field": "totalPnl"}, "selects": []string{"totalPnl", "winRate", "snapTotalValue", "oaLastOrderAt", "trFee7d"},
		"filters":  []body{{"field": "positionCount", "val": "5"}, {"field": "snapPerpValue", "op": ">", "val": "1000.5"}, {"field": "oaLastOrderAt", "op": "exist"}},
		"anyCoins": []string{"BTC", "ETH"}, "loadTags": true, "loadPnls": true,
	})
	answer.Golden(t, "discover")
	if at, covered := answer.Header[catalog.HeaderDataVersion], answer.Header[catalog.HeaderDataCoverage]; at != "2026-11-21T10:00:00Z" || covered != "0.25" {
		t.Errorf("it is of %q and covers %q", at, covered)
	}
	w.post(t, smart, body{"pageSize": 2, "pnlList": true, "sort": "account-balance"}).Golden(t, "smart-find")
	w.post(t, tags, body{"addresses": []string{address(2), address(1), address(99)}, "lang": "zh"}).Golden(t, "query-addr-tags")
}

func TestVaultsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	found := w.post(t, discover, body{
		"pageSize": 2, "sort": body{"field": "vtCreateTime", "dir": "asc"}, "selects": []string{"vtName", "vtLeader", "vtCreateTime", "vlVaultCount"},
		"filters": []body{{"field": "vtName", "op": "!=", "val2": "Vault 1"}},
	})
	found.Golden(t, "discover-vaults")
	one := apitest.Data[page](t, found).List[0]
	again := apitest.Data[page](t, w.post(t, discover, body{"selects": []string{"vtName"}, "filters": []body{{"field": "vtLeader", "val2": one["vtLeader"]}}}))
	if again.Total != 1 || again.List[0]["vtName"] != one["vtName"] {
		t.Errorf("led by %v is %v", one["vtLeader"], again)
	}
}

func TestTradersAreFoundByTheirOtherVenues(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	fields := []string{"dexNames", "dexCount"}
	w.post(t, discover, body{
		"pageSize": 3, "sort": body{"field": "dexCount"}, "selects": fields, "filters": []body{{"field": "dexNames", "val2": "Venue B"}, {"field": "dexCount", "op": ">=", "val": "1"}},
	}).Golden(t, "discover-venues")
	for filter, want := range map[string][3]int64{ // of the 60, of whom it is not known of 15
		`{"field":"dexNames","op":"exist"}`:                 {45, 15, 0},
		`{"field":"dexNames","op":"=","val2":"Venue A"}`:    {10, 0, 0},
		`{"field":"dexNames","op":"!=","val2":"Venue A"}`:   {35, 15, 0},
		`{"field":"dexNames","op":"=","val2":"venue a"}`:    {0, 0, 0},
		`{"field":"dexCount","op":"=","val":0}`:             {15, 15, 0},
		`{"field":"snapPerpValue","op":">=","val":"-1e12"}`: {50, 15, 10},
	} {
		var f body
		must.Do(t, json.Unmarshal([]byte(filter), &f))
		got := [3]int64{}
		for page1 := 1; ; page1++ {
			p := apitest.Data[page](t, w.post(t, discover, body{"pageNum": page1, "pageSize": 25, "selects": fields, "filters": []body{f}}))
			for _, row := range p.List {
				names, is := row["dexNames"].([]any)
				switch {
				case is != (row["dexCount"] != nil) || is && float64(len(names)) != row["dexCount"]:
					t.Errorf("%v trades on %v, %v", row["address"], row["dexNames"], row["dexCount"])
				case !is:
					got[2]++
				case len(names) == 0:
					got[1]++
				}
			}
			if got[0] = p.Total; len(p.List) < 25 {
				break
			}
		}
		if got != want {
			t.Errorf("%s: %d are found, on none trade %d, not known is it of %d; want %d", filter, got[0], got[1], got[2], want)
		}
	}
}

func TestAnEmptyBodyIsAnswered(t *testing.T) {
	t.Parallel()
	w := published(t, 30)
	if p := apitest.Data[page](t, w.post(t, discover, body{})); p.Total != 30 || len(p.List) != 20 || len(p.List[0]) != 14 {
		t.Errorf("it has %d rows of %d, the first %v", len(p.List), p.Total, p.List[0])
	}
	if p := apitest.Data[page](t, w.post(t, discover, body{"countOnly": true})); p.Total != 30 || p.List == nil || len(p.List) != 0 {
		t.Errorf("countOnly has %v of %d", p.List, p.Total)
	}
	if rows := apitest.Data[[]catalog.SmartTrader](t, w.post(t, smart, body{})); len(rows) == 0 {
		t.Error("no smart account is found")
	}
}

// Of those that the stores do not know the curve is null, and that of others is what batch-pnls has.
func TestCurvesOfThoseThatAreKnown(t *testing.T) {
	t.Parallel()
	w := published(t, 5)
	w.know(t, 3)
	for _, row := range apitest.Data[page](t, w.post(t, discover, body{"loadPnls": true, "selects": []string{"totalPnl"}})).List {
		pnls, known := row["pnls"].([]any)
		if isThree := row["address"] == address(3); known != isThree || isThree && len(pnls) != 2 {
			t.Errorf("%v earned %v", row["address"], row["pnls"])
		}
		if known && pnls[1].(map[string]any)["v"] != "12345.0" { //nolint:forcetypeassert // else the test fails
			t.Errorf("it earned %v", pnls[1])
		}
	}
}

func TestNoMoreThan2000AddressesAreRead(t *testing.T) {
	t.Parallel()
	w := published(t, 5)
	var addrs []string
	for n := range 2000 {
		addrs = append(addrs, address(10_000+n))
	}
	if p := apitest.Data[page](t, w.post(t, discover, body{"addrs": append(slices.Clone(addrs), address(1))})); p.Total != 0 {
		t.Errorf("address 2,001 is found")
	}
	if p := apitest.Data[page](t, w.post(t, discover, body{"addrs": append(addrs[1:], address(1), address(1), address(2))})); p.Total != 1 {
		t.Errorf("%d of the first 2,000 are found", p.Total)
	}
	if p := apitest.Data[page](t, w.post(t, discover, body{"addrs": []string{}})); p.Total != 5 {
		t.Errorf("an empty list leaves %d", p.Total)
	}
}

// Requests while versions are published are each answered from one of them, and in the end from the
// last.
func TestAnswersAreOfOneVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, 60_000, 40)
	if p := apitest.Data[page](t, w.post(t, discover, body{})); p.Total != 40 {
		t.Fatalf("%d traders", p.Total)
	}
	sizes := map[string]int64{"2026-11-21T09:59:00Z": 40, "2026-11-21T09:59:30Z": 50, "2026-11-21T09:59:50Z": 60}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 10 {
				answer := w.post(t, discover, body{"countOnly": true})
				if p := apitest.Data[page](t, answer); p.Total != sizes[answer.Header[catalog.HeaderDataVersion]] {
					t.Errorf("version %s has %d traders", answer.Header[catalog.HeaderDataVersion], p.Total)
				}
				w.Move(time.Second / 10)
			}
		})
	}
	now := w.Now().UnixMilli()
	datatest.PublishTraders(t, w.client, w.bucket, now/1000*1000-30_000, datatest.Traders(50, now))
	all.Wait()
}

func TestTheNewestVersionIsReadInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, 60_000, 10)
	apitest.Data[page](t, w.post(t, discover, body{}))
	w.publish(t, 30_000, 12)
	testenv.Until(t, "the newest version is read", func() bool {
		w.Move(2 * time.Second)
		return apitest.Data[page](t, w.post(t, discover, body{"countOnly": true})).Total == 12
	})
}

// TestAnAnswerIsWholeUpToWhenItsVersionIs, not up to what has come since that was made.
func TestAnAnswerIsWholeUpToWhenItsVersionIs(t *testing.T) {
	t.Parallel()
	w := published(t, 3)
	now := w.Now()
	table, past := must.Get(traders.Newest.Load(t.Context(), w.views))(t), must.Get(traderhistory.Newest.Load(t.Context(), w.views))(t)
	table.Until, past.Until = now.Add(-2*time.Hour).UnixMilli(), now.Add(-3*time.Hour).UnixMilli()
	storetest.Publish(t, w.views, traders.Newest, table)
	storetest.Publish(t, w.views, traderhistory.Newest, past)
	views := w.Views(t)
	storetest.Publish(t, views, delivered.Published(catalog.PerpDomain.Name), delivered.View{
		catalog.VenueFills.Name: {Since: 1, Sources: []string{"hours"}, Until: now.Add(-time.Hour).UnixMilli()},
	})
	w.Family.Delivered = delivered.Open(views, w.Now)
	for path, want := range map[string]int64{discover: table.Until, history: past.Until} {
		if got := w.post(t, path, body{}).Header[catalog.HeaderDataUntil]; got != time.UnixMilli(want).UTC().Format(time.RFC3339) {
			t.Errorf("%s says that it is whole up to %q, want %s", path, got, time.UnixMilli(want).UTC())
		}
	}
}
