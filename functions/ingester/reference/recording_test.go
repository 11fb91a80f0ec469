package reference

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source/daily"
	"quotary/functions/ingester/source/sec"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/treasuries"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// facts are recorded facts of treasuries, as somebody collected them of filings.
type facts struct {
	Entities []struct {
		Entity, Ticker, Asset string
		Type                  string      `json:"entity_type"`
		Holdings              json.Number `json:"holdings"`
		Date                  string      `json:"holdings_date"`
		Average               json.Number `json:"cost_basis_avg_usd"`
	} `json:"entities"`
	Holdings []struct {
		Entity, Ticker, Asset, Date string
		Holdings                    json.Number `json:"holdings"`
		StockPrice                  json.Number `json:"stock_price"`
	} `json:"holdings"`
	Purchases []struct {
		Entity, Ticker, Asset, Date string
		Quantity                    json.Number
		Price                       json.Number `json:"price_usd"`
		Cost                        json.Number `json:"cost_usd"`
	} `json:"purchases"`
}

// lines are the facts as lines of a drop of treasuries, by the place where they stand.
func (f *facts) lines() (all []string) {
	add := func(line map[string]any) {
		for name, value := range line {
			if text := fmt.Sprint(value); text == "" {
				delete(line, name)
			} else {
				line[name] = text
			}
		}
		text, _ := json.Marshal(line)
		all = append(all, string(text))
	}
	share := func(ticker string) string { return "i:" + strings.ToLower(ticker) + ":recorded" }
	for _, h := range f.Holdings {
		add(map[string]any{"coin": h.Asset, "name": h.Entity, "key": share(h.Ticker), "date": h.Date, "type": "holding", "amount": h.Holdings, "stock_price": h.StockPrice})
	}
	for _, e := range f.Entities {
		cost := ""
		if average, ok := new(big.Rat).SetString(e.Average.String()); ok {
			held, _ := new(big.Rat).SetString(e.Holdings.String())
			cost = new(big.Rat).Mul(average, held).FloatString(2)
		}
		add(map[string]any{"coin": e.Asset, "name": e.Entity, "key": share(e.Ticker), "entity_type": e.Type, "date": e.Date, "type": "holding", "amount": e.Holdings, "cost_usd": cost})
	}
	seen := map[string]int{}
	for _, p := range f.Purchases {
		day := p.Ticker + p.Asset + p.Date
		seen[day]++
		add(map[string]any{"coin": p.Asset, "name": p.Entity, "key": share(p.Ticker), "date": p.Date, "type": "buy", "amount": p.Quantity, "cost_usd": p.Cost, "price_usd": p.Price, "id": fmt.Sprint("buy ", p.Date, " ", seen[day])})
	}
	return all
}

// loaded is what a dataset takes of lines of a drop, and why it refuses the others.
func loaded(t *testing.T, dataset string, lines []string) (*Batch, map[string]int) {
	t.Helper()
	i := slices.IndexFunc(Drops, func(d engine.DropDataset[*Batch]) bool { return d.Name == dataset })
	b, refused := NewBatch(), map[string]int{}
	for n, line := range lines {
		at := drop.Place{Time: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli(), File: "recorded.ndjson", Line: int64(n + 1)}
		if err := Drops[i].Append(b, []byte(line), at); err != nil {
			refused[err.Error()]++
		}
	}
	return b, refused
}

// held folds lines, and checks that what each entity bought and sold adds up to what it holds, and
// that it holds what was reported last, with what was bought since.
func held(t *testing.T, lines []string) (treasuries.Holdings, map[string]int) {
	t.Helper()
	b, refused := loaded(t, treasuries.Name, lines)
	p := newTreasuryFacts()
	must.Do(t, p.Apply(b, nil, time.Now()))
	v := must.Get(treasuries.Published.Decode(p.Changes(time.Now(), true).Views[0].Body))(t)
	h := treasuries.HoldingsOf(v)
	for i := range h.Holders {
		holder, sum, last, since := &h.Holders[i], new(big.Rat), "", new(big.Rat)
		for _, c := range holder.Changes {
			sum.Add(sum, rat(c.Change.String()))
			if sum.Cmp(rat(c.Balance.String())) != 0 {
				t.Errorf("%s of %s: changes add up to %s, the balance is %s", holder.Coin, holder.Name, sum.FloatString(8), c.Balance)
			}
		}
		if sum.Cmp(rat(holder.Amount.String())) != 0 {
			t.Errorf("%s holds %s %s, its changes add up to %s", holder.Name, holder.Amount, holder.Coin, sum.FloatString(8))
		}
		for _, e := range v.Entries {
			if e.Coin == holder.Coin && e.Entity() == holder.Entity && e.Type == "holding" && e.Date >= last {
				last, since = e.Date, rat(e.Amount)
			}
		}
		for _, e := range v.Entries {
			if e.Coin != holder.Coin || e.Entity() != holder.Entity || e.Date <= last {
				continue
			}
			if e.Type == "buy" {
				since.Add(since, rat(e.Amount))
			} else {
				since.Sub(since, rat(e.Amount))
			}
		}
		if since.Cmp(rat(holder.Amount.String())) != 0 {
			t.Errorf("%s holds %s %s, reported are %s", holder.Name, holder.Amount, holder.Coin, since.FloatString(8))
		}
	}
	return h, refused
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func TestCollectedFactsOfTreasuriesAddUp(t *testing.T) {
	t.Parallel()
	var f facts
	must.Do(t, json.Unmarshal([]byte(`{"entities":[{"entity":"Acme","ticker":"ACME","asset":"BTC","entity_type":"miner","holdings":130.5,"holdings_date":"2026-03-01","cost_basis_avg_usd":1000}],
		"holdings":[{"entity":"Acme","ticker":"ACME","asset":"BTC","date":"2026-01-31","holdings":100,"stock_price":5.5},{"entity":"Acme","ticker":"ACME","asset":"BTC","date":"not known","holdings":1}],
		"purchases":[{"entity":"Acme","ticker":"ACME","asset":"BTC","date":"2026-01-10","quantity":60,"price_usd":900,"cost_usd":54000},{"entity":"Acme","ticker":"ACME","asset":"BTC","date":"2026-01-10","quantity":30,"price_usd":950,"cost_usd":null}]}`), &f))
	h, refused := held(t, f.lines())
	if len(refused) != 1 || len(h.Holders) != 1 || len(h.Changes) != 4 || h.Holders[0].Amount.String() != "130.5" || h.Holders[0].Cost.String() != "130500" || h.Changes[2].Change.String() != "10" {
		t.Errorf("%v, %+v", refused, h.Changes)
	}
}

// The facts that were recorded: every one is taken. Strategy's purchases alone are what was
// published of them.
func TestRecordedFactsOfTreasuries(t *testing.T) {
	t.Parallel()
	var f facts
	must.Do(t, json.Unmarshal([]byte(testenv.RecordingText(t, "treasury/dat_facts.json")), &f))
	lines := f.lines()
	h, refused := held(t, lines)
	bought := new(big.Rat)
	for _, p := range f.Purchases {
		if p.Ticker == "MSTR" {
			bought.Add(bought, rat(p.Quantity.String()))
		}
	}
	if len(lines) != 55+487+182 || len(refused) > 0 || bought.Cmp(rat("712649")) != 0 {
		t.Errorf("%d lines, refused %v, Strategy bought %s", len(lines), refused, bought.RatString())
	}
	t.Logf("%d lines of %d entities, %d changes, refused %v", len(lines), len(h.Holders), len(h.Changes), refused)
}

func TestRecordedDaysOfShares(t *testing.T) {
	t.Parallel()
	scanner := testenv.Recording(t, "stocks/daily.csv")
	var lines []string
	for first := true; scanner.Scan(); first = false {
		row := must.Get(csv.NewReader(strings.NewReader(scanner.Text())).Read())(t)
		if first {
			continue
		}
		unit := map[string]string{"HK": "HKD", "T": "JPY"}[row[0][strings.LastIndex(row[0], ".")+1:]]
		line := map[string]string{"key": "i:" + strings.ToLower(row[0]) + ":recorded", "date": row[1], "open": row[2], "high": row[3], "low": row[4], "close": row[5], "volume": row[6], "unit": "USD"}
		if unit != "" {
			line["unit"] = unit
		}
		lines = append(lines, string(must.Get(json.Marshal(line))(t)))
	}
	b, refused := loaded(t, indices.Name, lines)
	keys := map[string]bool{}
	for _, d := range b.Indices {
		keys[d.Key] = true
	}
	if len(lines) != 11_603 || len(b.Indices) != len(lines) {
		t.Errorf("%d of %d days are taken, refused %v", len(b.Indices), len(lines), refused)
	}
	t.Logf("%d days of %d shares, refused %v", len(b.Indices), len(keys), refused)
}

func TestRecordedAnswersOfSharesAndFilings(t *testing.T) {
	t.Parallel()
	csv := testenv.RecordingText(t, "stocks/stooq_tsla_us_d.csv")
	rows := strings.Count(csv, "\n")
	days, malformed, err := daily.ReadStooq([]byte(csv), daily.Symbol{Key: "i:tsla:nasdaq", Unit: "USD"})
	if err != nil || len(days)+malformed != rows-1 || malformed != 0 || len(days) != 808 {
		t.Errorf("%d days, %d malformed of %d rows: %v", len(days), malformed, rows-1, err)
	}
	filed := testenv.RecordingText(t, "treasury/sec_companyfacts_CIK0001050446.json.gz")
	facts, bad, err := sec.Read([]byte(filed), sec.Company{Key: "i:mstr:nasdaq", CIK: 1_050_446}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || bad != 0 || facts.Shares.Value == "" || facts.Diluted.Value == "" || facts.Cash.Value == "" || facts.Debt.Value == "" {
		t.Errorf("%+v, %d malformed: %v", facts, bad, err)
	}
	t.Logf("%d days of a share; of a company %+v", len(days), facts)
}

// flowLines are the days of a table of what funds took in, millions of US dollars, as lines of a drop
// of treasuries, by the price of the day. Days without a flow or without a price have no line.
func flowLines(t *testing.T, flows, closes string) (lines []string, quiet, unpriced int) {
	t.Helper()
	table := func(text string) [][]string { return must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(t) }
	prices := map[string]string{}
	all := table(closes)
	column := slices.Index(all[0], "BTC")
	for _, row := range all[1:] {
		prices[row[0]] = row[column]
	}
	for _, row := range table(flows)[1:] {
		flow, price := rat(row[1]), prices[row[0]]
		switch {
		case flow.Sign() == 0:
			quiet++
			continue
		case price == "":
			unpriced++
			continue
		}
		line := map[string]string{"coin": "BTC", "name": "Spot funds", "entity_type": "etfs", "date": row[0], "type": "buy", "price_usd": price}
		if flow.Sign() < 0 {
			line["type"] = "sell"
		}
		line["amount"] = new(big.Rat).Quo(new(big.Rat).Mul(new(big.Rat).Abs(flow), big.NewRat(1_000_000, 1)), rat(price)).FloatString(8)
		lines = append(lines, string(must.Get(json.Marshal(line))(t)))
	}
	return lines, quiet, unpriced
}

func TestFlowsOfFundsAreChangesOfWhatTheyHold(t *testing.T) {
	t.Parallel()
	lines, quiet, unpriced := flowLines(t, "date,net_flow_usd_m\n2026-01-05,10\n2026-01-06,0\n2026-01-07,-2.5\n2026-01-08,3\n", "date,ETH,BTC\n2026-01-05,3,50000\n2026-01-07,3,50000\n")
	h, refused := held(t, lines)
	if len(refused) > 0 || quiet != 1 || unpriced != 1 || len(h.Changes) != 2 || h.Holders[0].Amount.String() != "150" || h.Holders[0].Cost.String() != "7500000" {
		t.Errorf("%v, %d quiet, %d unpriced, %+v", refused, quiet, unpriced, h.Holders)
	}
}

func TestRecordedFlowsOfFunds(t *testing.T) {
	t.Parallel()
	lines, quiet, unpriced := flowLines(t, testenv.RecordingText(t, "treasury/btc_etf_flows.csv"), testenv.RecordingText(t, "coins/daily_close.csv"))
	h, refused := held(t, lines)
	if len(refused) > 0 || len(lines)+quiet+unpriced != 512 || len(h.Holders) != 1 || len(h.Changes) != len(lines) {
		t.Errorf("%d lines, refused %v, %d changes", len(lines), refused, len(h.Changes))
	}
	t.Logf("%d days with a flow, %d without, %d without a price; held %s BTC", len(lines), quiet, unpriced, h.Holders[0].Amount)
}
