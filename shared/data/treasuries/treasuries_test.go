package treasuries

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

// drawn makes entries. Each test has a generator of its own: they write notes to themselves.
func drawn() *rapid.Generator[Dropped] {
	return rapid.Custom(func(t *rapid.T) Dropped {
		coin, name := rapid.SampledFrom([]string{"BTC", "ETH"}).Draw(t, "coin"), rapid.SampledFrom([]string{"Acme", "Other"}).Draw(t, "name")
		return Dropped{Entry{
			Coin: coin, Name: name, Key: rapid.SampledFrom([]string{"", "i:acme:nyse"}).Draw(t, "key"), Date: fmt.Sprint("2026-01-", rapid.IntRange(10, 28).Draw(t, "day")),
			Type: rapid.SampledFrom([]string{"buy", "sell", holding}).Draw(t, "type"), Amount: fmt.Sprint(rapid.IntRange(1, 99).Draw(t, "amount")),
			Cost: rapid.SampledFrom([]string{"", "7.5"}).Draw(t, "cost"), Removed: rapid.Bool().Draw(t, "removed"),
		}, drop.Place{Time: markettest.Time().Draw(t, "put"), File: "a.ndjson", Line: rapid.Int64Range(1, 9).Draw(t, "line")}}
	})
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Entries: rapid.SliceOfNDistinct(drawn(), 0, 8, func(d Dropped) string { return d.Identity() }).Draw(t, "entries")}
			for i := range rapid.IntRange(0, 3).Draw(t, "filed") {
				v.Filed = append(v.Filed, Filed{Key: fmt.Sprint("i:", i), Coin: "BTC", Date: "2026-03-31", Amount: "5", On: "2026-05-01"})
			}
			Published.Encode(v) // sorts
			return v
		}),
		Encode: Published.Encode, Decode: Published.Decode, Use: func(v View) { HoldingsOf(v) },
	}.Test(t)
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Dropped]{
		Values: drawn(),
		Encode: func(d Dropped) []byte { return row(&d).Body },
		Decode: func(body []byte) (Dropped, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, lines, Name, "treasuries.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	put := drop.Place{Time: markettest.Base, File: "a", Line: 1}
	for line, want := range map[string]string{
		`{"coin":"btc","name":"Acme","key":"i:acme:nyse","ticker":"ACME","entity_type":"public-companies","date":"2025-11-20","type":"buy","amount":"1.5","cost_usd":"9","price_usd":"6","stock_price":"2","id":"7","removed":false}`: "",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"holding","amount":"0"}`:                          "",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":"0"}`:                              "amount must be more than 0",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"bought","amount":"1"}`:                           "type must be one of buy, sell, holding",
		`{"coin":"BTC","name":"Acme","date":"2025-11-31","type":"buy","amount":"1"}`:                              "date must be a day",
		`{"coin":"BTC","name":"Acme","date":"2999-01-01","type":"buy","amount":"1"}`:                              "date must not be later",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":"-1"}`:                             "amount must be",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":1}`:                                "amount must be",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":"1","cost_usd":"1e9"}`:             "cost_usd must be",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":"1","entity_type":"Public firms"}`: "entity_type must be",
		`{"coin":"a b","name":"Acme","date":"2025-11-20","type":"buy","amount":"1"}`:                              "coin must be",
		`{"name":"Acme","date":"2025-11-20","type":"buy","amount":"1"}`:                                           "coin is missing",
		`{"coin":"BTC","date":"2025-11-20","type":"buy","amount":"1"}`:                                            "name is missing",
		`{"coin":"BTC","name":"Acme","date":"2025-11-20","type":"buy","amount":"1","holdings":"1"}`:               "no member",
	} {
		e, err := Parse([]byte(line), put)
		if want == "" && (err != nil || e.Coin != "BTC") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// view reads lines, each the later of the two where they have the same identity.
func view(t *testing.T, lines ...string) View {
	t.Helper()
	byIdentity := map[string]Dropped{}
	for i, line := range lines {
		d := must.Get(Parse([]byte(line), drop.Place{Time: markettest.Base, File: "a", Line: int64(i + 1)}))(t)
		byIdentity[d.Identity()] = d
	}
	var v View
	for _, d := range byIdentity {
		v.Entries = append(v.Entries, d)
	}
	return v
}

func TestHoldingsOfEntities(t *testing.T) {
	t.Parallel()
	v := view(t,
		`{"coin":"BTC","name":"Acme Inc","key":"i:acme:nyse","entity_type":"miners","date":"2025-01-10","type":"buy","amount":"2","price_usd":"100"}`,
		`{"coin":"BTC","name":"Acme Corp","key":"i:acme:nyse","date":"2025-02-10","type":"sell","amount":"0.5","price_usd":"120"}`,
		`{"coin":"BTC","name":"Atlantis","entity_type":"governments","date":"2025-01-05","type":"holding","amount":"7"}`,
		`{"coin":"BTC","name":"ATLANTIS","date":"2025-03-05","type":"buy","amount":"9"}`,
		`{"coin":"BTC","name":"ATLANTIS","date":"2025-03-05","type":"buy","amount":"1","cost_usd":"250"}`,
		`{"coin":"ETH","name":"Wrong","date":"2025-03-05","type":"buy","amount":"1"}`,
		`{"coin":"ETH","name":"Wrong","date":"2025-03-05","type":"buy","amount":"1","removed":true}`,
	)
	v.Filed = []Filed{
		{Key: "i:acme:nyse", Name: "ACME CORP", Coin: "BTC", Date: "2024-12-31", Amount: "99", On: "2025-02-01"}, // the drop begins later
		{Key: "i:acme:nyse", Name: "ACME CORP", Coin: "BTC", Date: "2025-03-31", Amount: "4", On: "2025-05-01"},
		{Key: "i:filer:nasdaq", Name: "FILER LTD", Coin: "ETH", Date: "2025-03-31", Amount: "12.25", On: "2025-05-01"},
	}
	h, got := HoldingsOf(v), ""
	for i := range h.Holders {
		o := &h.Holders[i]
		got += fmt.Sprintf("%s %s (%s, %s) holds %s for %s\n", o.Coin, o.Name, o.Ticker, o.Type, o.Amount, text(o.Cost))
		sum := market.Decimal{}
		for _, c := range o.Changes {
			sum = sum.Add(c.Change)
			got += fmt.Sprintf("  %s at %s = %s for %s\n", c.Change, c.Price, c.Balance, text(c.Cost))
		}
		if !sum.Equal(o.Amount) {
			t.Errorf("%s holds %s, its changes add up to %s", o.Name, o.Amount, sum)
		}
	}
	want := `BTC ATLANTIS (, governments) holds 8 for ?
  7 at  = 7 for ?
  1 at 250 = 8 for ?
BTC Acme Corp (ACME, miners) holds 4 for ?
  2 at 100 = 2 for 200
  -0.5 at 120 = 1.5 for 150
  2.5 at  = 4 for ?
ETH FILER LTD (FILER, public-companies) holds 12.25 for ?
  12.25 at  = 12.25 for ?
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(h.Changes) != 6 || h.Changes[0].Holder.Name != "ATLANTIS" || h.Changes[0].ID == h.Changes[1].ID || fmt.Sprint(h.Coins()) != "[BTC ETH]" {
		t.Errorf("%d changes of %v", len(h.Changes), h.Coins())
	}
}

func text(d *market.Decimal) string {
	if d == nil {
		return "?"
	}
	return d.String()
}
