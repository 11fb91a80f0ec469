package hyperliquid

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/upstream"
)

func TestAPaymentOfEachAccountIsReadAndTheRateOfEachCoin(t *testing.T) {
	t.Parallel()
	var e market.Events
	skipped, err := ReadMisc(&e, `{"local_time":"2026-06-11T01:00:00.312725258","block_time":"2026-06-11T01:00:00.039772125","block_number":7,"events":[
		{"time":"2026-06-11T01:00:00.039772125","hash":"0x00","inner":{"Funding":{"deltas":[
			{"user":"0x0000000000000000000000000000000000000001","coin":"ZEC","funding_amount":"9.3","szi":"280.0","funding_rate":"-0.0000810249"},
			{"user":"0x0000000000000000000000000000000000000002","coin":"HYPE","funding_amount":"4.5","szi":"-2744.84","funding_rate":"0.0000308526"},
			{"user":"0x0000000000000000000000000000000000000002","coin":"ZEC","funding_amount":"1.3","szi":"1.0","funding_rate":"-0.0000810249"},
			{"user":"0x0000000000000000000000000000000000000003","coin":"BAD","funding_amount":"1.3","szi":"1.0","funding_rate":"none"}]}}},
		{"time":"2026-06-11T01:00:00.039772125","hash":"0x00","inner":{"ValidatorRewards":{"validator_to_reward":[]}}}]}`, 0)
	at := time.Date(2026, 6, 11, 1, 0, 0, 39_000_000, time.UTC).UnixMilli()
	want := []market.Funding{{Coin: "ZEC", Rate: "-0.0000810249", Time: at}, {Coin: "HYPE", Rate: "0.0000308526", Time: at}}
	if skipped != 1 || err == nil || !slices.Equal(e.Funding, want) {
		t.Errorf("emitted %+v, %d skipped, %v", e.Funding, skipped, err)
	}
	address := func(n string) string { return "0x000000000000000000000000000000000000000" + n }
	payments := []market.FundingPayment{
		{Address: address("1"), Coin: "ZEC", Time: at, USDC: "9.3", Szi: "280.0", Rate: "-0.0000810249", Seq: 7_000_000},
		{Address: address("2"), Coin: "HYPE", Time: at, USDC: "4.5", Szi: "-2744.84", Rate: "0.0000308526", Seq: 7_000_000},
		{Address: address("2"), Coin: "ZEC", Time: at, USDC: "1.3", Szi: "1.0", Rate: "-0.0000810249", Seq: 7_000_000},
	}
	check.Equalf(t, payments, e.Payments, "payments")
	if skipped, err = ReadMisc(&e, `{"inner":{"CDeposit":{}}}`, 0); skipped != 0 || err != nil || len(e.Funding) != 2 {
		t.Errorf("of a line without funding: %d skipped, %v", skipped, err)
	}
	if skipped, err = ReadMisc(&e, `{"inner":{"Funding"`, 0); skipped != 1 || err == nil {
		t.Errorf("of half a line: %d skipped, %v", skipped, err)
	}
}

func TestALedgerUpdateIsDeliveredForEveryAccountItNames(t *testing.T) {
	t.Parallel()
	line := blockHead + `{"time":"2026-06-11T01:00:02.896899363","hash":"0x5b","inner":{"CDeposit":{"user":"0x163014fed389c392a0a214d2c4a28a73ec804741","amount":"1.0"}}},` +
		`{"time":"2026-06-11T01:00:02.896899363","hash":"0x5a","inner":{"LedgerUpdate":{"users":["0x8B1c0722a978599bb254c2bdd75992fa605073f6",` +
		`"0x2000000000000000000000000000000000000000"],"delta":{"type":"send","amount":"500.008953"}}}}]}`
	var e market.Events
	if skipped, err := ReadMisc(&e, line, 0); err != nil || skipped != 0 {
		t.Fatalf("%d skipped, %v", skipped, err)
	}
	delta := []byte(`{"type":"send","amount":"500.008953"}`)
	want := []market.Ledger{
		{Address: "0x8b1c0722a978599bb254c2bdd75992fa605073f6", Time: 1781139602896, Hash: "0x5a", Type: "send", Delta: delta, Seq: 1_000_001},
		{Address: "0x2000000000000000000000000000000000000000", Time: 1781139602896, Hash: "0x5a", Type: "send", Delta: delta, Seq: 1_000_001},
	}
	check.Equal(t, want, e.Ledgers)
}

// TestWhatAnEventMayLackNeverCostsIt: null, absent and of another type are all the same.
// A row of a time that no key has would be kept for a look, and a hundred of them would stop the domain.
func TestALedgerUpdateOfNoTimeIsSkipped(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"0001-01-01T00:00:00", "1969-12-31T23:59:59.999", "1970-01-01T00:00:00", "9999-12-31T23:59:59", "today"} {
		var e market.Events
		line := blockHead + `{"time":"` + at + `","hash":"0x5a","inner":{"LedgerUpdate":{"users":["0x8b1c0722a978599bb254c2bdd75992fa605073f6"],"delta":{"type":"deposit","usdc":"1.0"}}}}]}`
		if skipped, err := ReadMisc(&e, line, 0); !errors.Is(err, errMiscTime) || skipped != 1 || len(e.Ledgers) != 0 {
			t.Errorf("%s: %d updates, %d skipped, %v", at, len(e.Ledgers), skipped, err)
		}
	}
}

func TestWhatAnEventMayLackNeverCostsIt(t *testing.T) {
	t.Parallel()
	const user = "0x0000000000000000000000000000000000000001"
	ledger := func(hash, users, delta string) string {
		return blockHead + `{"time":"2026-06-11T01:00:02.896899363",` + hash + `"inner":{"LedgerUpdate":{` + users + `"delta":` + delta + `}}}]}`
	}
	for name, c := range map[string]struct {
		line             string
		updates, skipped int
	}{
		"no hash":                 {ledger(``, `"users":["`+user+`"],`, `{"type":"deposit","usdc":"5.0"}`), 1, 0},
		"a null hash":             {ledger(`"hash":null,`, `"users":["`+user+`"],`, `{"type":"deposit","usdc":"5.0"}`), 1, 0},
		"a hash of another type":  {ledger(`"hash":[5],`, `"users":["`+user+`"],`, `{"type":"deposit","usdc":"5.0"}`), 1, 0},
		"an amount as a number":   {ledger(``, `"users":["`+user+`"],`, `{"type":"withdraw","usdc":5.0,"fee":null}`), 1, 0},
		"a user of another type":  {ledger(``, `"users":["`+user+`",7],`, `{"type":"send"}`), 1, 1},
		"no users":                {ledger(``, ``, `{"type":"send"}`), 0, 1},
		"users of another type":   {ledger(``, `"users":{"a":1},`, `{"type":"send"}`), 0, 1},
		"a time of another type":  {strings.Replace(ledger(``, `"users":["`+user+`"],`, `{"type":"send"}`), `"2026-06-11T01:00:02.896899363"`, `5`, 1), 0, 1},
		"a delta of another type": {ledger(``, `"users":["`+user+`"],`, `[]`), 0, 1},
	} {
		var e market.Events
		skipped, err := ReadMisc(&e, c.line, 0)
		if len(e.Ledgers) != c.updates || skipped != c.skipped || (err != nil) != (c.skipped > 0) {
			t.Errorf("%s: %+v, %d skipped, %v", name, e.Ledgers, skipped, err)
		}
	}
	var e market.Events
	payment := func(szi string) string {
		return `{"user":"` + user + `","coin":"ZEC","funding_amount":"9.3","szi":` + szi + `,"funding_rate":"-0.00008"}`
	}
	skipped, err := ReadMisc(&e, blockHead+`{"time":"2026-06-11T01:00:00.039","inner":{"Funding":{"deltas":[`+payment(`"280.0"`)+`,`+payment(`280.0`)+`,7,`+payment(`"281.0"`)+`]}}}]}`, 0)
	if len(e.Payments) != 2 || skipped != 2 || err == nil {
		t.Errorf("payments: %+v, %d skipped, %v", e.Payments, skipped, err)
	}
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	for begin, ask := range map[string]func(*Info) error{
		`[`:           func(i *Info) error { _, err := i.PerpDexs(t.Context()); return err },
		`{"a":[`:      func(i *Info) error { _, err := i.AllMids(t.Context(), ""); return err },
		`{"tokens":[`: func(i *Info) error { _, err := i.SpotMeta(t.Context()); return err },
	} {
		sourcetest.RefusesEndless(t, upstream.Bounds{Bytes: 8 << 20, Rows: 20_000}, begin, func(url string) error { return ask(NewInfo(url)) })
	}
}

// A line that cannot be read costs no more than any other: it is looked at once, counted and,
// of a file, logged once.
func TestLinesOfTooManyRowsAreSkipped(t *testing.T) {
	t.Parallel()
	rows := blockHead + strings.Repeat("{},", 1_000_001) + "{}]}\n"
	for name, read := range map[string]func(*market.Events, string, int64) (int, error){"fills": nil, "orders": ReadOrders, "misc": ReadMisc, "twaps": ReadTwaps} {
		var log bytes.Buffer
		var stats Stats
		path := filepath.Join(t.TempDir(), "0")
		must.Do(t, os.WriteFile(path, []byte(rows+"x\nx\n"+fillLine(1)+strings.Repeat("[\n", 10)), 0o600))
		file := must.Get(os.Open(path))(t)
		defer file.Close()
		c := &collector{name: "0", stats: &stats, log: slog.New(slog.NewTextHandler(&log, nil)), now: time.Now, read: read}
		fills := 0
		must.Do(t, c.drain(t.Context(), &lines{r: file, max: maxLine}, func(_ context.Context, d Delivery) error { fills += len(d.Events.Fills); return nil }))
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), upstream.ErrBounds.Error()) {
			t.Errorf("%s: %d lines are logged: %.300s", name, n, log.String())
		}
		if bad := stats.Malformed.Load(); read == nil && (bad != 13 || fills != 1) {
			t.Errorf("%s: %d are malformed, and %d fills read", name, bad, fills)
		}
	}
}

// What comes out of a node's lines is bounded.
func TestHostileLinesOfANodeAreBounded(t *testing.T) {
	t.Parallel()
	const user = "0x8cdba352268065be9d5444e1f82b8fe83717bbd5"
	event := func(hash string, users int) string {
		return `{"time":"2026-06-11T01:00:02.8","hash":"` + hash + `","inner":{"LedgerUpdate":{"users":["` + user + `"` +
			strings.Repeat(`,"`+user+`"`, users-1) + `],"delta":{"type":"send"}}}}`
	}
	for name, c := range map[string]struct {
		line    string
		updates int
		hash    string
	}{
		"an update":                  {event("0x1", 1), 1, "0x1"},
		"a hash that is too long":    {event(strings.Repeat("a", 300), 1), 1, ""},
		"a hash that is hidden":      {event("0x\u202e1", 1), 1, "0x1"},
		"as many accounts as may be": {event("0x1", 10), 10, "0x1"},
		"an account too many":        {event("0x1", 11), 0, ""},
	} {
		var e market.Events
		skipped, err := ReadMisc(&e, c.line, 0)
		if len(e.Ledgers) != c.updates || c.updates == 0 && (skipped != 1 || err == nil) || c.updates > 0 && e.Ledgers[0].Hash != c.hash {
			t.Errorf("%s: %d updates, %d skipped, %v", name, len(e.Ledgers), skipped, err)
		}
	}
}

// What a line becomes is its length and a bound, however many accounts its updates name.
func TestALineIsNotMultipliedByTheAccountsItNames(t *testing.T) {
	t.Parallel()
	const users = `"0x8cdba352268065be9d5444e1f82b8fe83717bbd5","0x0000000000000000000000000000000000000001"`
	for name, delta := range map[string]string{"long updates": strings.Repeat("x", 4000), "short updates": ""} {
		for accounts, named := range map[int]string{2: users, 10: strings.Repeat(users+",", 4) + users} {
			event := `{"time":"2026-06-11T01:00:02.8","inner":{"LedgerUpdate":{"users":[` + named + `],"delta":{"type":"send","x":"` + delta + `"}}}}`
			line := blockHead + strings.Repeat(event+",", mostCopied/((accounts-1)*(len(delta)+copiedRow))) + event + "]}"
			var e market.Events
			skipped, err := ReadMisc(&e, line, 0)
			if skipped == 0 || err == nil || len(e.Ledgers) == 0 {
				t.Fatalf("%s: %d updates, %d skipped, %v", name, len(e.Ledgers), skipped, err)
			}
			bytes := 0
			for i := range e.Ledgers {
				bytes += len(e.Ledgers[i].Delta) + copiedRow
			}
			if most := len(line) + mostCopied + copiedRow*len(e.Ledgers)/2; bytes > most {
				t.Errorf("%s: a line of %d bytes becomes %d, at most %d may be", name, len(line), bytes, most)
			}
		}
	}
}

// The longest lines that are genuine are read: the block of the most liquidations, the airdrop
// of a token to 94,000 accounts, and the payments of an hour.
func TestTheLongestGenuineLinesAreReadAndNoLongerOnes(t *testing.T) {
	t.Parallel()
	const fill = `["0x8cdba352268065be9d5444e1f82b8fe83717bbd5",{"coin":"BTC","px":"104123.0","sz":"0.12345","side":"B","time":1760130964831,"startPosition":"-123.12345","dir":"Auto-Deleveraging","closedPnl":"-1234.123456",` +
		`"hash":"0x0000000000000000000000000000000000000000000000000000000000000000","oid":123456789012,"crossed":true,"fee":"0.123456","tid":123456789012345,"cloid":"0x0000000000000000000000000000000a",` +
		`"liquidation":{"liquidatedUser":"0x5ef843ccf26810073ee689a954f6d05f5b48fccb","markPx":"104123.0","method":"backstop"},"feeToken":"USDC","twapId":null}]`
	const genesis = `{"time":"2026-06-11T01:00:02.8","hash":"0x00","inner":{"LedgerUpdate":{"users":["0x8cdba352268065be9d5444e1f82b8fe83717bbd5"],"delta":{"type":"spotGenesis","token":"HYPE","amount":"1234.12345678"}}}}`
	const payment = `{"user":"0x8cdba352268065be9d5444e1f82b8fe83717bbd5","coin":"BTC","funding_amount":"-1234.123456","szi":"-123.12345","funding_rate":"-0.0000810249"}`
	lines := func(head, one, tail string, n int) string { return head + strings.Repeat(one+",", n-1) + one + tail }
	hour := blockHead + `{"time":"2026-06-11T01:00:00.039","inner":{"Funding":{"deltas":[`
	for name, c := range map[string]struct {
		read func(*market.Events, string, int64) (int, error)
		line string
		of   func(*market.Events) int
		want int
	}{
		"a block of liquidations": {nil, lines(blockHead, fill, "]}", 23_267), func(e *market.Events) int { return len(e.Fills) }, 23_267},
		"a block beyond any":      {nil, lines(blockHead, fill, "]}", maxBlock/len(fill)+1), func(e *market.Events) int { return len(e.Fills) }, 0},
		"an airdrop":              {ReadMisc, lines(blockHead, genesis, "]}", 94_000), func(e *market.Events) int { return len(e.Ledgers) }, 94_000},
		"updates beyond any":      {ReadMisc, lines(blockHead, genesis, "]}", maxBlock/len(genesis)+1), func(e *market.Events) int { return len(e.Ledgers) }, 0},
		"payments of an hour":     {ReadMisc, lines(hour, payment, "]}}}]}", 300_000), func(e *market.Events) int { return len(e.Payments) }, 300_000},
		"TWAPs beyond any":        {ReadTwaps, lines(blockHead, "{}"+strings.Repeat(" ", 1000), "]}", maxBlock>>10+1000), func(e *market.Events) int { return len(e.Twaps) }, 0},
		"orders beyond any":       {ReadOrders, lines(blockHead, "{}"+strings.Repeat(" ", 1000), "]}", maxBlock>>10+1000), func(e *market.Events) int { return len(e.Orders) }, 0},
	} {
		if !testenv.Prove() && c.want > 50_000 { // the race detector takes half a minute for them
			continue
		}
		var e market.Events
		skipped, err := readLine(c.read, &e, []byte(c.line), 0)
		if got := c.of(&e); got != c.want || (c.want == 0) != errors.Is(err, errBlock) || c.want == 0 && skipped != 1 {
			t.Errorf("%s of %d bytes: %d are read, want %d; %d skipped, %v", name, len(c.line), got, c.want, skipped, err)
		}
	}
}
